"""`wai`, also installed as `whileai`: the commands, in the order of the loop."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from whileai.cli import (
    compare,
    decontaminate,
    doctor,
    evaluate,
    export,
    grade,
    pass_at,
    prove,
    report,
    select,
    simulate,
    split,
    train,
)
from whileai.cli.shell import execute

app = typer.Typer(
    name="wai",
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = {
    "simulate": (simulate.simulate, "Run an agent over planned tasks."),
    "grade": (grade.grade, "Score rows with your judge."),
    "pass-at": (pass_at.pass_at, "pass@1, pass^k, pass@k with intervals."),
    "split": (split.split, "Lock whole tasks away."),
    "decontaminate": (decontaminate.decontaminate, "Drop rows that copy a held-out ask."),
    "select": (select.select, "Keep the rows worth training on."),
    "export": (export.export, "Write the file a trainer reads."),
    "train": (train.train, "Measure, train an adapter, measure again."),
    "evaluate": (evaluate.evaluate, "Run a local model over held-out asks."),
    "compare": (compare.compare, "Did the score move? Exit code for CI."),
    "report": (report.report, "One page about a run."),
    "prove": (prove.prove, "The whole loop, to the verdict."),
    "doctor": (doctor.doctor, "What is installed, and does it work?"),
}
for _name, (_function, _short) in COMMANDS.items():
    app.command(_name, short_help=_short)(_function)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"whileai {version('whileai')}")
        except PackageNotFoundError:
            print("whileai (not installed, run from a checkout)")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Find what an agent gets wrong, train a small model on it, and prove that the held-out score moved.

    Rows are JSONL files; "-" is standard input or output, so commands can be piped. Exit codes: 0 done or PASS, 1 gate
    failed, 2 usage, 3 no verdict, 4 refused input, 5 provider or training failed, 130 interrupted.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with `arguments` (the process's own when None); returns the exit code."""
    return execute(app, sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(run())
