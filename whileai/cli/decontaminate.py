"""`wai decontaminate`: drop training rows that copy a held-out ask."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command, written
from whileai.core.files import load_jsonl


@command("wai decontaminate rest.jsonl --against holdout.jsonl -o clean.jsonl")
def decontaminate(
    rows: Annotated[str, typer.Argument(help='Training rows; "-" is standard input.')],
    against: Annotated[str, typer.Option(help="The held-out rows.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the kept rows go.")] = "-",
) -> Outcome:
    """Keep the rows whose ask is no near copy of a held-out one."""
    from whileai.data import Data

    kept, report = Data(load_jsonl(rows)).decontaminate(against=load_jsonl(against))
    return written(kept.rows, out, str(report), contamination=report.to_dict())
