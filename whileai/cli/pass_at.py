"""`wai pass-at`: pass@1, pass^k and pass@k with their intervals."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command
from whileai.core.files import load_jsonl


@command("wai pass-at scored.jsonl")
def pass_at(
    rows: Annotated[str, typer.Argument(help='Graded rows; "-" is standard input.')],
) -> Outcome:
    """How often the agent succeeds: once, every time out of k, and at least once out of k."""
    from whileai.stats.passat import pass_at as stage

    found = stage(load_jsonl(rows))
    return Outcome(str(found), found.to_dict())
