"""The paired difference of one metric: task by task, after minus before, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whileai.core.results import Result
from whileai.stats.intervals import Codes, Floats, Interval, RunVariance, Spread, spread, t_interval
from whileai.stats.tables import Table


@dataclass(frozen=True)
class Delta(Result):
    """One metric before and after, over the `n` tasks (or, clustered, units) that both arms scored.

    delta = after - before with its interval [lo, hi], standard error, df and two-sided p, all None for a single unit.
    p_holm: p adjusted for the family the metric belongs to, None outside one. direction: up, down, no difference, or
    "too few tasks". unit: what n counts.
    """

    metric: str
    before: float
    after: float
    delta: float
    lo: float | None
    hi: float | None
    se: float | None
    df: float | None
    p: float | None
    n: int
    n_tasks: int
    unit: str = "task"
    direction: str = ""
    p_holm: float | None = None


@dataclass(frozen=True)
class Pair:
    """A Delta and what it came from: d (tasks,), their spread, the run variance, how far a value reaches."""

    result: Delta
    d: Floats
    spread: Spread
    run: RunVariance
    reach: float


FEWEST = 6  # five tasks that all go from 0 to 1 are still no evidence at 5%, see intervals.rule_of_three


def pair(
    metric: str,
    before: Table,
    after: Table,
    k: int,
    alpha: float,
    *,
    clusters: Codes | None = None,
    run: RunVariance | None = None,
    reach: float = 1.0,
) -> Pair | None:
    """The paired difference of pooled counts (tasks,); None when no task has a value in both arms."""
    one, other = before.values(metric, k), after.values(metric, k)
    kept = ~np.isnan(one) & ~np.isnan(other)
    if not kept.any():
        return None
    codes = None if clusters is None else np.unique(clusters[kept], return_inverse=True)[1]
    one, other = one[kept], other[kept]
    d = other - one
    seen = spread(d, codes)
    run = run or RunVariance()
    found = t_interval(seen, alpha, run=run, reach=reach).within(reach) if seen.n > 1 else None
    unit = "task" if clusters is None else "cluster"
    return Pair(_delta(metric, one, other, seen, found, unit), d, seen, run, reach)


def _delta(metric: str, one: Floats, other: Floats, seen: Spread, found: Interval | None, unit: str) -> Delta:
    numbers = (None,) * 5 if found is None else (found.lo, found.hi, found.se, found.df, found.p)
    lo, hi, se, df, p = (None if x is None or math.isnan(x) else x for x in numbers)
    before, after = float(one.mean()), float(other.mean())
    return Delta(metric, before, after, seen.mean, lo, hi, se, df, p, seen.n, one.size, unit, _word(seen.n, lo, hi))


def _word(n: int, lo: float | None, hi: float | None) -> str:
    if n < FEWEST or lo is None or hi is None:
        return "too few tasks"
    return "up" if lo > 0 else "down" if hi < 0 else "no difference"


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the chance of any false call among the family stays below the level."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, highest = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = highest
    return adjusted


def family(deltas: Sequence[Delta], alpha: float) -> list[Delta]:
    """The same deltas with Holm-adjusted p, and a direction only where that is below alpha.

    A delta over too few tasks cannot be called either way, so it is not a member and keeps p_holm None.
    """
    adjusted = iter(holm([d.p for d in deltas if d.p is not None and d.n >= FEWEST]))
    found = []
    for d in deltas:
        p = None if d.p is None or d.n < FEWEST else next(adjusted)
        quiet = p is not None and p >= alpha and d.direction in ("up", "down")
        found.append(replace(d, p_holm=p, direction="no difference" if quiet else d.direction))
    return found
