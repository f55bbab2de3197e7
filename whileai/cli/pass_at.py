"""`wai pass-at`: pass@1, pass^k and pass@k with their intervals."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from whileai.cli.logs import Filter, Scorer, arms, only, read_rows
from whileai.cli.shell import Outcome, command


@command("wai pass-at scored.jsonl")
def pass_at(
    rows: Annotated[str, typer.Argument(help='Graded rows, or a log `wai.read` knows; "-" is rows on standard input.')],
    arm: Annotated[str, typer.Option(help="Only the rows of this model_version.")] = "",
    scorer: Scorer = "",
    filter_: Filter = "",
) -> Outcome:
    """How often the agent succeeds: once, every time out of k, and at least once out of k."""
    from whileai.stats.passat import pass_at as stage

    found = read_rows(rows, scorer, filter_)
    if arm:
        found = only(found, arm)
    elif len(arms(found)) > 1:
        warnings.warn(f"{rows} holds several arms ({', '.join(arms(found))}); name one with --arm", stacklevel=1)
    measured = stage(found)
    return Outcome(str(measured), measured.to_dict())
