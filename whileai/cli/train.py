"""`wai train`: measure the base, train an adapter, measure again. The flags are the config's fields."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, get_type_hints

import typer

from whileai.cli.shell import Outcome, command, say
from whileai.cli.userfile import load_callable
from whileai.training.config import SFT


def flags_of(config: type) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Give a function one option for each field of a frozen dataclass; it gets them as `**settings`."""

    def decorate(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
        own = inspect.signature(function, eval_str=True)
        kinds, told = get_type_hints(config), described(config)
        options = [
            inspect.Parameter(
                f.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=f.default,
                annotation=Annotated[kinds[f.name], typer.Option(help=told.get(f.name))],
            )
            for f in fields(config)
        ]
        kept = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        function.__signature__ = own.replace(parameters=kept + options)  # type: ignore[attr-defined]
        return function

    return decorate


def described(config: type) -> dict[str, str]:
    """What the docstring of a dataclass says about its fields: "name, other: text; name: text"."""
    text = " ".join((inspect.getdoc(config) or "").split())
    names = "|".join(f.name for f in fields(config))
    _, *parts = re.split(rf"((?:\b(?:{names})\b(?:, )?)+): ", text)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: f"{told.strip(' ;.')}." for group, told in pairs for name in group.split(", ")}


@command("wai train train.jsonl --holdout holdout.jsonl --judge judge.py:judge -o runs/first --steps 24")
@flags_of(SFT)
def train(
    rows: Annotated[str, typer.Argument(help="The file `wai export` wrote.")],
    *,
    holdout: Annotated[str, typer.Option(help="Held-out rows; without them nothing is measured.")] = "",
    judge: Annotated[str, typer.Option(help="Grades the measured rows.", metavar="file.py:name")] = "",
    out: Annotated[
        str, typer.Option("--out", "-o", help="The run folder; a killed run goes on from there.")
    ] = "runs/sft",
    base_passes: Annotated[int, typer.Option(help="Passes of the base model: the noise floor.")] = 3,
    tries: Annotated[int, typer.Option("--repeats", "-r", help="Tries of each held-out ask in a pass.")] = 4,
    **settings: Any,
) -> Outcome:
    """Fine-tune a LoRA adapter, with base passes before and a trained pass after, all through one function."""
    from whileai.training.job import train as stage

    report = stage(
        rows,
        holdout=holdout or None,
        config=SFT(**settings),
        out=out,
        judge=load_callable(judge, "a judge") if judge else None,
        base_passes=base_passes,
        tries=tries,
        say=say,
    )
    return Outcome("", report.to_dict())
