"""`wai report`: one self-contained page about a run."""

from __future__ import annotations

from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command


@command("wai report runs/prove -o report.html")
def report(
    run: Annotated[str, typer.Argument(help="A run folder, or its holdout_rows.jsonl.")],
    out: Annotated[str, typer.Option("--out", "-o", help="The page.")] = "report.html",
) -> Outcome:
    """Write the verdict, its evidence and the conversations behind it as one HTML file that needs no network."""
    from whileai.report.html import write_report

    path = write_report(run, out)
    return Outcome(f"report written to {path}", {"path": str(path)})
