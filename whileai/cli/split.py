"""`wai split`: lock whole tasks away before anything is trained."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command
from whileai.core.files import load_jsonl, write_jsonl


@command("wai split scored.jsonl --holdout-tasks 40 --train rest.jsonl --holdout holdout.jsonl")
def split(
    rows: Annotated[str, typer.Argument(help='Rows to split; "-" is standard input.')],
    holdout_tasks: Annotated[int, typer.Option(help="How many tasks are locked away.")] = 40,
    seed: Annotated[int, typer.Option(help="The same seed locks the same tasks.")] = 0,
    train: Annotated[str, typer.Option(help="Where the rows of the other tasks go.")] = "rest.jsonl",
    holdout: Annotated[str, typer.Option(help="Where the locked tasks' rows go.")] = "holdout.jsonl",
) -> Outcome:
    """Split rows by task, so that no task has rows on both sides."""
    from whileai.data import Data

    rest, held = Data(load_jsonl(rows)).split(holdout_tasks=holdout_tasks, seed=seed)
    counts = {"train": write_jsonl(train, rest.rows), "holdout": write_jsonl(holdout, held.rows)}
    text = f"{counts['train']} rows to {train}; {counts['holdout']} rows of {holdout_tasks} locked tasks to {holdout}"
    paths = {"train_path": train, "holdout_path": holdout}
    return Outcome(text, {**counts, "holdout_tasks": holdout_tasks, **paths})
