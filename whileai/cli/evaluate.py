"""`wai evaluate`: run a local model over held-out asks."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command, written
from whileai.cli.train import flags_of
from whileai.cli.userfile import load_callable
from whileai.core.files import load_jsonl
from whileai.training.config import Sampling


@command("wai evaluate holdout.jsonl --adapter runs/first/adapter --judge judge.py:judge -o trained.jsonl")
@flags_of(Sampling)
def evaluate(
    rows: Annotated[str, typer.Argument(help="Held-out rows, each with its world.")],
    *,
    model: Annotated[str, typer.Option("--model", "-m", help="A name or a folder.")] = "SmolLM2-135M-Instruct",
    adapter: Annotated[str, typer.Option(help="A LoRA adapter's folder.")] = "",
    judge: Annotated[str, typer.Option(help="Grades the rows.", metavar="file.py:name")] = "",
    tries: Annotated[int, typer.Option("--repeats", "-r", help="Tries of each ask.")] = 4,
    seed: Annotated[int, typer.Option(help="Both arms of a comparison use the same one.")] = 1,
    run: Annotated[int, typer.Option(help="The number of this pass, from 1.")] = 1,
    model_version: Annotated[str, typer.Option(help="The name of this arm.")] = "",
    out: Annotated[str, typer.Option("--out", "-o", help="Where the rows go.")] = "-",
    **settings: object,
) -> Outcome:
    """Put every held-out ask to a model, in the world of its own row."""
    from whileai.training.evaluation import evaluate as stage
    from whileai.training.evaluation import share_cut

    found = stage(
        model,
        load_jsonl(rows),
        adapter=adapter or None,
        tries=tries,
        sampling=Sampling(**settings),  # type: ignore[arg-type]
        seed=seed,
        run=run,
        model_version=model_version or None,
        judge=load_callable(judge, "a judge") if judge else None,
    )
    cut = share_cut(found)
    return written(found, out, f"{len(found)} rows, {cut:.0%} cut off", share_cut=cut)
