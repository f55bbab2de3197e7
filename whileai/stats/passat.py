"""pass_at(): how often the agent succeeds once, every time out of k, and at least once out of k, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whileai.core.errors import InputError
from whileai.core.results import Result
from whileai.stats import text
from whileai.stats.columns import Columns, Label, Rows, scored, task_labels
from whileai.stats.intervals import Codes, Floats, check_alpha, score_interval, spread, t_interval
from whileai.stats.tables import METRICS, Table, check_k, smallest_group, table


@dataclass(frozen=True)
class Estimate(Result):
    """A mean over tasks with its interval. `n` tasks (or clusters) with `df` degrees of freedom.

    lo, hi and df are None when there is no interval; `why` then says why. method: "score" or "t".
    """

    value: float
    lo: float | None
    hi: float | None
    n: int
    df: float | None
    method: str
    why: str = ""

    def __str__(self) -> str:
        return text.estimate(self)


@dataclass(frozen=True)
class PassAt(Result):
    """What `pass_at` found. Tasks weigh the same, however many tries they have.

    pass_at_1: mean reward. pass_pow_k: share of tasks where k of k tries pass. pass_at_k: where at least one of k does.
    headroom: pass@k - pass@1. The last three are None when rewards are not 0/1 and no threshold was given.
    k_min, k_max: fewest and most scored tries of a task. n_excluded: tasks with fewer than k. n_answered of n_rows rows
    are scored; n_unscored tasks have no scored row and are left out. notes: warnings, as sentences.
    """

    pass_at_1: Estimate
    pass_pow_k: Estimate | None
    pass_at_k: Estimate | None
    headroom: Estimate | None
    k: int
    n_tasks: int
    n_rows: int
    n_answered: int
    n_unscored: int
    n_excluded: int
    k_min: int
    k_max: int
    n_clusters: int | None
    alpha: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return text.pass_at_report(self)


def pass_at(
    rows: Rows,
    k: int | None = None,
    cluster: Label | None = None,
    threshold: float | None = None,
    alpha: float = 0.05,
) -> PassAt:
    """pass@1, pass^k, pass@k and headroom over tasks, each with a score interval at level 1 - alpha.

    k: the smallest group of scored tries when left out; given, tasks with fewer than k are excluded from pass^k, pass@k
    and headroom, and counted. cluster: a row key, or a function of a row, whose groups of tasks are the independent
    units. threshold: a row passes when its reward reaches it; left out, 0/1 rewards are passes as they stand, and with
    other rewards pass@1 is the mean reward and the other three are not defined.

    Raises InputError for rows that cannot be measured, UsageError for arguments that make no sense.
    Estimators: Chen et al. 2021 (pass@k), Yao et al. 2024 (pass^k); interval: see `intervals.score_interval`.
    """
    check_alpha(alpha)
    check_k(k)
    if cluster is not None and not isinstance(rows, Sequence):
        rows = list(rows)
    found = scored(rows, threshold=threshold)
    counts = table(found)
    size = k or smallest_group(counts)
    _refuse_unreachable(size, counts)
    units = task_labels(rows, found, cluster) if cluster is not None else None  # type: ignore[arg-type]
    binary = found.binary()
    names = METRICS if binary else METRICS[:1]
    estimates = {name: _estimate(counts, name, size, units, alpha, found) for name in names}
    has_k = counts.n >= size
    return PassAt(
        **{name: estimates.get(name) for name in METRICS},  # type: ignore[arg-type]
        k=size,
        n_tasks=int(np.sum(counts.n > 0)),
        n_rows=len(found),
        n_answered=int(counts.n.sum()),
        n_unscored=int(np.sum(counts.n == 0)),
        n_excluded=int(np.sum((counts.n > 0) & ~has_k)),
        k_min=int(counts.n[counts.n > 0].min()),
        k_max=int(counts.n.max()),
        n_clusters=None if units is None else int(np.unique(units[counts.n > 0]).size),
        alpha=alpha,
        notes=tuple(_notes(found, binary, threshold)),
    )


def _refuse_unreachable(k: int, counts: Table) -> None:
    most = int(counts.n.max())
    if k > most:
        raise InputError(f"k={k}, but no task has {k} scored tries (the most is {most}); lower k or run more repeats")


def _estimate(counts: Table, metric: str, k: int, units: Codes | None, alpha: float, found: Columns) -> Estimate:
    values = counts.values(metric, k)
    kept = ~np.isnan(values)
    codes = None if units is None else np.unique(units[kept], return_inverse=True)[1]
    rows = int(counts.n[kept].sum()) if metric == "pass_at_1" and found.binary() else None
    return estimate(values[kept], codes, alpha, rows=rows, bounded=_in_unit(found))


def estimate(values: Floats, clusters: Codes | None, alpha: float, *, rows: int | None, bounded: bool) -> Estimate:
    """The mean of task values with its interval: score for values in [0, 1], t for others, none for a single unit."""
    seen = spread(values, clusters)
    if seen.n < 2:
        unit = "task" if clusters is None else "cluster"
        return Estimate(
            seen.mean, None, None, seen.n, None, "none", f"one {unit}, so the spread between them is unknown"
        )
    if bounded:
        lo, hi = score_interval(seen, alpha, rows=rows)
        return Estimate(seen.mean, lo, hi, seen.n, seen.df, "score")
    if seen.se == 0:
        why = "every task has the same mean, and rewards have no bounds to reason from"
        return Estimate(seen.mean, None, None, seen.n, None, "none", why)
    interval = t_interval(seen, alpha)
    return Estimate(seen.mean, interval.lo, interval.hi, seen.n, interval.df, "t")


def _in_unit(found: Columns) -> bool:
    lo, hi = found.bounds()
    return lo >= 0 and hi <= 1


def _notes(found: Columns, binary: bool, threshold: float | None) -> list[str]:
    lo, hi = found.bounds()
    notes = []
    if lo == hi and len(found) > 1:
        check = "check that the judge can fail a row" if lo > 0 else "check that the judge can pass a row"
        what = f"every row scored {lo:g}" if threshold is None else f"every row is on one side of {threshold:g}"
        notes.append(f"{what}; {check}")
    if not binary:
        notes.append("rewards are not all 0 or 1, so pass@1 is the mean reward; give threshold= for pass^k and pass@k")
    if not _in_unit(found):
        notes.append(f"rewards run from {lo:g} to {hi:g}, outside [0, 1], so the interval is a plain t interval")
    return notes
