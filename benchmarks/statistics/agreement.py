"""That the vectorised forms are the shipped functions: rows are built for single datasets and both are asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.statistics.experiments import BASE_PASSES, Cell, cells, draw_arms, rules
from benchmarks.statistics.populations import Counts, one_pass
from benchmarks.statistics.vectors import score, spreads
from whileai.stats.comparison import compare
from whileai.stats.noise import eval_variance
from whileai.stats.passat import pass_at

TOLERANCE = 1e-9
Row = dict[str, Any]


def rows_of(counts: Counts, dataset: int, run: int) -> list[Row]:
    """One dataset of a pass as rows."""
    return [
        {"scenario_id": f"t{task}", "rollout_index": j, "run": run, "reward": float(j < c)}
        for task, (c, k) in enumerate(zip(counts.c[dataset].tolist(), counts.k[dataset].tolist(), strict=True))
        for j in range(k)
    ]


def check_mean(cell: Cell, datasets: int) -> float:
    """Largest difference between `score` and the interval of `pass_at`."""
    rng = cell.rng("agreement, mean")
    counts = one_pass(rng, cell.population.draw(rng, datasets, cell.n), cell.tries)
    ends = score(spreads(counts.values), counts.k.sum(1))
    worst = 0.0
    for i in range(datasets):
        shipped = pass_at(rows_of(counts, i, 1)).pass_at_1
        worst = max(worst, abs(ends.lo[i] - _number(shipped.lo)), abs(ends.hi[i] - _number(shipped.hi)))
    return worst


def check_verdicts(cell: Cell, datasets: int) -> float:
    """Largest difference in interval or floor between `rules` and `compare`; an unlike verdict counts as infinite."""
    rng = cell.rng("agreement, verdicts")
    p = cell.population.draw(rng, datasets, cell.n)
    base, after = draw_arms(rng, p, cell.population.improved(p), cell.tries, cell.swing)
    found = rules(base, after, cell.tries)
    passed, worst = found.passes(), 0.0
    for i in range(datasets):
        passes = [rows_of(one, i, run) for run, one in enumerate(base, 1)]
        trained = rows_of(after, i, BASE_PASSES + 1)
        run_std = eval_variance(*passes).run_std
        shipped = {
            "t": compare(passes[0], trained),
            "t + literal floor": compare(passes[0], trained, run_std=run_std, run_std_runs=BASE_PASSES),
            "moderated": compare(passes, trained),
        }
        for rule, result in shipped.items():
            ends, bar = found.ends[rule], found.floor.get(rule, np.zeros(datasets))[i]
            floor = 0.0 if result.floor is None else result.floor.value
            gaps = (ends.lo[i] - _number(result.lo), ends.hi[i] - _number(result.hi), bar - floor)
            same = (result.verdict == "PASS") == bool(passed[rule][i])
            worst = max(worst, *map(abs, gaps)) if same else float("inf")
    return worst


def check(small: int = 2, large: int = 1) -> tuple[int, float]:
    """Compare on a few datasets of every cell: (datasets compared, largest difference). Raises when they differ."""
    asked, worst = 0, 0.0
    for cell in cells():
        if cell.n > 100 and cell.rate != 0.5:
            continue
        datasets = small if cell.n < 100 else large
        worst = max(worst, check_mean(cell, datasets), check_verdicts(cell, datasets))
        asked += 2 * datasets
    if worst > TOLERANCE:
        raise AssertionError(f"the simulated rules differ from the shipped functions by {worst}")
    return asked, worst


def _number(found: float | None) -> float:
    return float("nan") if found is None else found
