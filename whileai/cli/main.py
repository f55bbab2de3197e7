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
    "simulate": simulate.simulate,
    "grade": grade.grade,
    "pass-at": pass_at.pass_at,
    "split": split.split,
    "decontaminate": decontaminate.decontaminate,
    "select": select.select,
    "export": export.export,
    "train": train.train,
    "evaluate": evaluate.evaluate,
    "compare": compare.compare,
    "report": report.report,
    "prove": prove.prove,
    "doctor": doctor.doctor,
}
for _name, _function in COMMANDS.items():
    app.command(_name)(_function)


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
