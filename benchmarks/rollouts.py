"""Offline rollouts and the published programs: rows a second, and seconds a program.

    python benchmarks/rollouts.py            # about a minute; writes benchmarks/rollouts.md
    python benchmarks/rollouts.py --dry-run  # a smaller run, prints only

Rates are of this machine at that moment; read whether the cost is linear, and which stage takes it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import whileai as wai
from whileai.core.files import write_text
from whileai.core.progress import set_quiet
from whileai.prove import get_order, order_desk_judge


def best(work: Callable[[], Any], tries: int = 3) -> float:
    """Seconds of CPU time of the quickest of a few runs."""
    times = []
    for _ in range(tries):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def simulated(budget: int) -> wai.Data:
    """Rollouts of the stand-in agent."""
    return wai.simulate(wai.seeded_agent([get_order]), tools=[get_order], system_prompt="Help.", budget=budget)


def table(budgets: tuple[int, ...]) -> str:
    """Rows a second of simulate and grade for growing budgets."""
    lines = ["| rollouts asked | got | tasks | simulate rows/s (CPU) | grade rows/s (CPU) |", "|---|---|---|---|---|"]
    simulated(64)  # imports and caches
    for budget in budgets:
        data = simulated(budget)
        tries = 3 if budget <= 10_000 else 1
        made = best(lambda: simulated(budget), tries)  # noqa: B023
        graded = best(lambda: data.grade(order_desk_judge), tries)  # noqa: B023
        tasks = len({row["scenario_id"] for row in data})
        lines.append(
            f"| {budget:,} | {len(data):,} | {tasks:,} | {len(data) / made:,.0f} | {len(data) / graded:,.0f} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Print the table and record it beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true")
    dry = parser.parse_args().dry_run
    set_quiet(True)
    warnings.simplefilter("ignore")
    text = table((640,) if dry else (640, 2_400, 10_000, 100_000))
    if not dry:
        head = "One tool, the stand-in agent, the seeded world, one core, concurrency 1. Last recorded run:"
        write_text(Path(__file__).with_suffix(".md"), f"# Offline rollouts\n\n{head}\n\n{text}\n")


if __name__ == "__main__":
    main()
