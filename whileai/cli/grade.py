"""`wai grade`: score rows with the user's judge."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command, written
from whileai.cli.userfile import load_callable
from whileai.core.files import load_jsonl


@command("wai grade rows.jsonl --judge judge.py:judge -o scored.jsonl")
def grade(
    rows: Annotated[str, typer.Argument(help='Rows to score; "-" is standard input.')],
    judge: Annotated[str, typer.Option("--judge", help="A function of one row.", metavar="file.py:name")],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the scored rows go.")] = "-",
) -> Outcome:
    """Score every row; a judge that fails on a row leaves it unscored, never zero."""
    from whileai.grading.grade import grade as stage

    scored = stage(load_jsonl(rows), load_callable(judge, "a judge"))
    health = scored.health
    head = str(health).splitlines()[0]  # its doubts were already told, as warnings
    return written(scored, out, head, health=health.to_dict())
