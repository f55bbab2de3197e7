"""`wai select`: keep the rows worth training on."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command, written
from whileai.core.files import load_jsonl
from whileai.core.results import plain


@command("wai select scored.jsonl --mode sft -o chosen.jsonl")
def select(
    rows: Annotated[str, typer.Argument(help='Graded rows; "-" is standard input.')],
    mode: Annotated[str, typer.Option(help="sft: passes only, one an ask.")] = "sft",
    out: Annotated[str, typer.Option("--out", "-o", help="Where the chosen rows go.")] = "-",
) -> Outcome:
    """Choose rows for a trainer and say what each gate kept and dropped."""
    from whileai.data import Data

    chosen = Data(load_jsonl(rows)).select(mode=mode)
    report = chosen.report.selection
    return written(chosen.rows, out, str(report), gates=plain(report))
