"""`wai export`: write the file a trainer reads."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command
from whileai.cli.userfile import load_tools
from whileai.core.files import load_jsonl


@command("wai export chosen.jsonl -o train.jsonl")
def export(
    rows: Annotated[str, typer.Argument(help='Selected rows; "-" is standard input.')],
    out: Annotated[str, typer.Option("--out", "-o", help="The training file.")] = "train.jsonl",
    system_prompt: Annotated[str, typer.Option(help="For rows that carry none.")] = "",
    tools: Annotated[str, typer.Option(help="For rows that carry none: file.py or file.py:name.")] = "",
) -> Outcome:
    """Write rows in the shape trainers read; a broken row is refused by number and nothing is written."""
    from whileai.data import Data

    given = {"system_prompt": system_prompt or None, "tools": load_tools(tools) if tools else None}
    report = Data(load_jsonl(rows)).export(out, **{key: value for key, value in given.items() if value is not None})
    return Outcome(str(report), report.to_dict())
