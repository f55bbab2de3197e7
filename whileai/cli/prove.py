"""`wai prove`: the whole loop with a real model, from nothing to the verdict."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.compare import check_gate, exit_code
from whileai.cli.shell import Outcome, command, say


@command("wai prove -o runs/prove --seed 0")
def prove(
    out: Annotated[
        str, typer.Option("--out", "-o", help="The run folder; a killed run goes on from there.")
    ] = "runs/prove",
    seed: Annotated[int, typer.Option(help="The same seed gives the same verdict.")] = 0,
    budget: Annotated[int, typer.Option(help="Rollouts the training rows come from.")] = 640,
    holdout_tasks: Annotated[int, typer.Option(help="Tasks locked away for the proof.")] = 40,
    tries: Annotated[int, typer.Option("--repeats", "-r", help="Tries of each held-out ask in a pass.")] = 4,
    base_passes: Annotated[int, typer.Option(help="Passes of the base model: the noise floor.")] = 3,
    steps: Annotated[int | None, typer.Option(help="Training steps.")] = None,
    base_model: Annotated[str, typer.Option(help="A name or a folder.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Exit 3 when there is no verdict.")] = False,
    fail_on: Annotated[str, typer.Option(help="worse, no-pass or never: when to exit 1.")] = "worse",
) -> Outcome:
    """Simulate, grade, lock, train and measure a small model on this machine, and say whether it got better."""
    from whileai.prove import prove as loop
    from whileai.training.config import SFT

    check_gate(fail_on)
    changes = {"steps": steps, "base_model": base_model or None}
    config = SFT(seed=seed, **{key: value for key, value in changes.items() if value is not None})  # type: ignore[arg-type]
    proof = loop(
        out,
        seed=seed,
        budget=budget,
        holdout_tasks=holdout_tasks,
        tries=tries,
        base_passes=base_passes,
        config=config,
        say=say,
    )
    return Outcome("", proof.to_dict(), code=exit_code(proof.verdict, fail_on, strict))
