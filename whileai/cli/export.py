"""`wai export`: write the file a trainer reads."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command, nothing_else_on_stdout
from whileai.cli.userfile import load_tools
from whileai.core.files import load_jsonl


@command("wai export chosen.jsonl -o train.jsonl")
def export(
    rows: Annotated[str, typer.Argument(help='Selected rows; "-" is standard input.')],
    out: Annotated[str, typer.Option("--out", "-o", help="The training file.")] = "train.jsonl",
    format: Annotated[str, typer.Option(help="openai, trl, prompt_completion or preference.")] = "openai",  # noqa: A002
    system_prompt: Annotated[str, typer.Option(help="Instead of the rows' own.")] = "",
    tools: Annotated[str, typer.Option(help="Instead of the rows' own: file.py or file.py:name.")] = "",
    drop_broken: Annotated[bool, typer.Option("--drop-broken", help="Leave broken rows out and list them.")] = False,
) -> Outcome:
    """Write rows in the shape trainers read; a broken row is refused by number and nothing is written."""
    from whileai.data import Data

    given = Data(load_jsonl(rows))
    functions = load_tools(tools) if tools else None
    with nothing_else_on_stdout() if out == "-" else nullcontext():
        report = given.export(
            out, format=format, system_prompt=system_prompt or None, tools=functions, drop_broken=drop_broken
        )
    if out == "-":
        print(report, file=sys.stderr)
        return Outcome()
    return Outcome(str(report), report.to_dict())
