"""`wai simulate`: run an agent over planned tasks and write the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whileai.cli.shell import Outcome, command, written
from whileai.cli.userfile import load_agent, load_tools
from whileai.core.errors import UsageError
from whileai.core.files import load_jsonl


@command("wai simulate --agent seeded:0.3 --tools tools.py --budget 64 -o rows.jsonl")
def simulate(
    agent: Annotated[str, typer.Option("--agent", help="file.py:name, or seeded:RATE.", metavar="AGENT")],
    tools: Annotated[str, typer.Option("--tools", help="file.py, or file.py:name,other.", metavar="FILE")],
    system_prompt: Annotated[str, typer.Option(help="Its text, or @FILE.", metavar="TEXT")] = "",
    tasks: Annotated[str, typer.Option(help="Rows whose tasks are run again, the same words and tries.")] = "",
    budget: Annotated[int | None, typer.Option(help="The most rollouts to run.")] = None,
    situations: Annotated[int | None, typer.Option(help="Exactly so many tasks.")] = None,
    phrasings: Annotated[int, typer.Option(help="Wordings of each ask.")] = 1,
    repeats: Annotated[int | None, typer.Option("--repeats", "-r", help="Tries of each ask (4 when left out).")] = None,
    runs: Annotated[int, typer.Option(help="Whole passes over the tasks.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.")] = 0,
    concurrency: Annotated[int, typer.Option("--concurrency", "-j", help="Rollouts at a time.")] = 1,
    model_version: Annotated[str, typer.Option(help="The name of this arm.")] = "",
    out: Annotated[str, typer.Option("--out", "-o", help="Where the rows go; a killed run goes on from there.")] = "-",
) -> Outcome:
    """Run an agent over planned tasks in a seeded world; one row a rollout."""
    from whileai.simulations import simulate as stage

    functions = load_tools(tools)
    data = stage(
        load_agent(agent, functions),
        tools=functions,
        system_prompt=_text(system_prompt),
        tasks=load_jsonl(tasks) if tasks else None,
        budget=budget,
        situations=situations,
        phrasings=phrasings,
        repeats=repeats,
        runs=runs,
        seed=seed,
        concurrency=concurrency,
        out=None if out == "-" else out,
        advanced={"model_version": model_version} if model_version else None,
    )
    plan = str(data.report.plan)
    if out == "-":
        return written(data.rows, out, plan)
    failed = sum(row.get("error") is not None for row in data.rows)
    said = f"{plan}\n{len(data.rows)} rows written to {out}"
    return Outcome(said, {"n": len(data.rows), "failed": failed, "plan": plan, "path": out})


def _text(value: str) -> str | None:
    """The system prompt itself, or the contents of @FILE."""
    if not value.startswith("@"):
        return value or None
    path = Path(value[1:])
    if not path.is_file():
        raise UsageError(f"--system-prompt {value}: no such file")
    return path.read_text("utf-8").strip()
