"""The page of results: which experiments run, with how many datasets, and the words around their tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from benchmarks.statistics import agreement, experiments, others, report
from benchmarks.statistics.experiments import Cell, Outcome, Verdicts, cells
from benchmarks.statistics.populations import HARD_NULLS, TASKS, TRIES
from whileai.core.progress import track

DATASETS = {10: 6_000, 20: 6_000, 40: 6_000, 100: 3_000, 500: 1_500}
QUICK = dict.fromkeys(TASKS, 300)
METRICS = ("pass^4", "pass@4", "headroom")
PEEKED = (
    ("nothing moved", 0.0),
    ("one in ten collapses", 0.0),
    ("half up, half down", 0.0),
    ("+5 points", 0.05),
    ("+10 points", 0.1),
    ("+15 points", 0.15),
    ("+25 points", 0.25),
)
RUNS = (1, 2, 3, 5)

HEAD = """# Simulated coverage, false PASS and power

Written by `python -m benchmarks.statistics`; docs/statistics.md explains the formulas. Shares are in per cent.

A dataset is n tasks whose pass rates come from a beta distribution with mean p in .02, .25, .5, .9 and intraclass
correlation (ICC) .05 or .5; each task is tried k = 1 or 4 times, or 1, 2, 4, 8 or 16 times with equal chance
("uneven"). A pooled row is the mean over the 8 cells of p and ICC, with the worst cell after the slash. "MC error" is
the Monte-Carlo standard error in points of a row's means (at 95% for a coverage); between two methods it is smaller,
since both see the same datasets, and for a single cell it is about three times as large. The percentile bootstrap over
tasks is computed exactly (the limit of endlessly many resamples).

Datasets in a cell: DATASETS.

Before anything was measured, ASKED datasets of all kinds were turned into rows and given to `pass_at` and `compare`:
the largest difference in any interval or floor was WORST, and every verdict was the same.
"""

SHIFTS = """\
The truth is the mean over passes, which one pass cannot see: no interval from a single pass covers it. A pass moves
its mean by this standard deviation, in points:
"""

RULES = """Nominal 2.5%. The rules, in the order of the columns:

* **percentile**: PASS when the percentile bootstrap's interval on the paired delta lies above zero; one pass each arm.
* **t**: the same with our interval (paired t, kurtosis-matched df, rule of three); `compare(pass1, trained)`.
* **literal**: percentile, and the delta above 4.30 x run_std x sqrt 2, run_std from three base passes.
* **t + literal floor**: that floor with our interval; `compare(pass1, trained, run_std=, run_std_runs=3)`.
* **moderated**: all three base passes pooled, moderated floor; `compare([pass1, pass2, pass3], trained)`.
"""

HARD = """`one in ten collapses`: a tenth of the tasks falls from .8 to .02, the rest gains a little.
`half up, half down`: by .2 each.
"""

LOOKS = """k=4, p=.5, ICC .3, a look every 10 tasks from 20 to 400, stopping at the first PASS.
"""

REPLICATION = """\
40 tasks, k=4, p=.5, ICC .3, three pooled base passes; the true gain of a run is the recipe's plus a normal
draw with the training sd. `replicate` and the vectorised form differ by at most GAP.
"""

Found = TypeVar("Found")


def section(title: str, *parts: str) -> str:
    return "\n".join([f"## {title}\n", *parts])


def over(grid: Sequence[Cell], label: str, ask: Callable[[Cell], Found]) -> list[Found]:
    """`ask` every cell, with a progress line."""
    found = []
    with track(len(grid), label) as bar:
        for cell in grid:
            found.append(ask(cell))
            bar.advance()
    return found


def head(datasets: dict[int, int]) -> str:
    asked, worst = agreement.check()
    counts = ", ".join(f"{d} at n={n}" for n, d in datasets.items())
    return HEAD.replace("DATASETS", counts).replace("ASKED", str(asked)).replace("WORST", f"{worst:.0e}")


def coverage_sections(means: Sequence[Outcome], datasets: dict[int, int]) -> list[str]:
    still, moving = ([o for o in means if o.cell.shift is shift] for shift in (False, True))
    grid = [cell for cell in cells((False,)) if cell.tries == 4]
    found = [
        section("Coverage of the 95% interval of pass@1", report.coverage_table(still)),
        section("The same when whole passes move", SHIFTS, report.run_effects(), report.coverage_table(moving)),
    ]
    for metric in METRICS:
        outcomes = [experiments.metric_coverage(cell, datasets[cell.n], metric) for cell in grid]
        found.append(section(f"Coverage of {metric}, k=4", report.coverage_table(outcomes, ("percentile", "score"))))
    return found


def verdict_sections(found: Sequence[Verdicts]) -> list[str]:
    still, moving = ([v for v in found if v.cell.shift is shift] for shift in (False, True))
    gains = f"The true gain: {report.gains()}.\n"
    shift = "whole passes shift"
    covered = "Coverage of the printed interval on the gain"
    return [
        section("False PASS, nothing moved", RULES, report.verdict_table(still, "false_pass", max)),
        section(f"False PASS, nothing moved, {shift}", report.verdict_table(moving, "false_pass", max)),
        section("Power", gains, report.verdict_table(still, "power", None)),
        section(f"Power, {shift}", report.verdict_table(moving, "power", None)),
        section(covered, report.verdict_table(still, "coverage", min)),
        section(f"{covered}, {shift}", report.verdict_table(moving, "coverage", min)),
    ]


def hard_section(datasets: dict[int, int]) -> str:
    found = [
        (name, n, tries, experiments.hard_null(name, n, tries, datasets[n]), datasets[n])
        for name in HARD_NULLS
        for n in TASKS
        for tries in TRIES
    ]
    return section("False PASS under nulls that are hard to see through", HARD, report.hard_table(found))


def other_sections(datasets: int) -> list[str]:
    peeked = [others.peeking(name, gain, datasets) for name, gain in PEEKED]
    claims = [
        claim for runs in RUNS for std in others.TRAINING_STD for claim in others.replication(runs, std, datasets)
    ]
    gap = REPLICATION.replace("GAP", f"{others.check_replication():.0e}")
    sized = others.sizes(4 * datasets)
    return [
        section("Looking early", LOOKS, report.peeking_table(peeked, datasets)),
        section("Replicating a training run", gap, report.claims_table(claims, datasets)),
        section("The number of tasks", "80% power is asked for.\n", report.sizes_table(sized, 4 * datasets)),
    ]


def cell_sections(means: Sequence[Outcome], found: Sequence[Verdicts]) -> list[str]:
    rules = " / ".join(report.RULES)
    return [
        section("Every cell: coverage of pass@1, percentile -> score", report.every_cell(means)),
        section(f"Every cell: false PASS ({rules})", report.every_verdict(found, "false_pass")),
        section(f"Every cell: power ({rules})", report.every_verdict(found, "power")),
    ]


def everything(datasets: dict[int, int]) -> str:
    """All experiments, as one page."""
    start, grid = head(datasets), list(cells())
    means = over(grid, "coverage of pass@1", lambda cell: experiments.mean_coverage(cell, datasets[cell.n]))
    found = over(grid, "verdicts", lambda cell: experiments.verdict_rates(cell, datasets[cell.n]))
    parts = [
        start,
        *coverage_sections(means, datasets),
        *verdict_sections(found),
        hard_section(datasets),
        *other_sections(datasets[40] // 2),
        *cell_sections(means, found),
    ]
    return "\n".join(parts)
