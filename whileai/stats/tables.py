"""Counts per task, and the task values of every metric: pass@1, pass^k, pass@k and headroom.

pass^k_i = C(c, k) / C(n, k) and pass@k_i = 1 - C(n - c, k) / C(n, k), both unbiased (Chen et al. 2021 for pass@k,
Yao et al. 2024 for pass^k); a task with fewer than k scored tries has neither and is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whileai.core.errors import UsageError
from whileai.stats.columns import Columns
from whileai.stats.intervals import Codes, Floats

METRICS = ("pass_at_1", "pass_pow_k", "pass_at_k", "headroom")
_LONG_PRODUCT = 64
_FIELDS = ("n", "rows", "total", "square", "passes")


@dataclass(frozen=True)
class Table:
    """Per task, with a leading axis of runs where there are several: `n` scored tries, `rows` tries in all,
    `total` reward, `square` (sum of squared rewards) and `passes` (tries with reward 1)."""

    n: Codes
    rows: Codes
    total: Floats
    square: Floats
    passes: Codes

    def pooled(self) -> Table:
        """All runs together: the sum over the leading axis."""
        return Table(*(getattr(self, name).sum(0) for name in _FIELDS))

    def values(self, metric: str, k: int) -> Floats:
        """Task values of `metric`, NaN where a task has too few scored tries; the shape is that of `n`."""
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self.total / self.n
        if metric == "pass_at_1":
            return mean
        if metric == "pass_pow_k":
            return all_of_k(self.passes, self.n, k)
        at_k = 1 - all_of_k(self.n - self.passes, self.n, k)
        return at_k if metric == "pass_at_k" else np.where(np.isnan(at_k), np.nan, np.maximum(at_k - mean, 0.0))


def table(found: Columns) -> Table:
    """The counts of one pass, one entry per task of `found.tasks`."""
    size, answered = len(found.tasks), found.answered
    task, reward = found.task[answered], found.reward[answered]
    return Table(
        n=np.bincount(task, minlength=size),
        rows=np.bincount(found.task, minlength=size),
        total=np.bincount(task, weights=reward, minlength=size).astype(np.float64),
        square=np.bincount(task, weights=reward**2, minlength=size).astype(np.float64),
        passes=np.bincount(task[reward == 1], minlength=size),
    )


def aligned(passes: Sequence[Columns], tasks: Sequence[str]) -> Table:
    """(runs, tasks) counts of several passes on the given tasks; a task a pass does not have counts 0 there."""
    parts = [_reordered(table(found), found.tasks, tasks) for found in passes]
    return Table(*(np.stack([getattr(part, name) for part in parts]) for name in _FIELDS))


def _reordered(counts: Table, have: Sequence[str], want: Sequence[str]) -> Table:
    if have is want or have == want:
        return counts
    index = {task: position for position, task in enumerate(have)}
    where = np.array([index.get(task, -1) for task in want], dtype=np.int64)
    known = where >= 0
    return Table(*(np.where(known, getattr(counts, name)[where], 0) for name in _FIELDS))


def all_of_k(c: Codes, n: Codes, k: int) -> Floats:
    """C(c, k) / C(n, k): the chance that k tries drawn from the n are all among the c; NaN where n < k.

    A product of k factors for k up to 64, a table of log-factorials above (relative error 1e-13 and 2e-10).
    """
    possible = n >= k
    if k <= _LONG_PRODUCT:
        share = np.ones(np.shape(n))
        for j in range(k):
            share *= np.maximum(c - j, 0) / np.maximum(n - j, 1)
    else:
        from scipy.special import gammaln

        logs = gammaln(np.arange(int(np.max(n, initial=k)) + 2) + 1.0)  # log of j!
        few = c < k
        cc, nn = np.where(few, k, c), np.maximum(n, k)
        share = np.where(few, 0.0, np.exp(logs[cc] - logs[cc - k] - logs[nn] + logs[nn - k]))
    return np.where(possible, share, np.nan)


def check_k(k: int | None) -> None:
    """Raise UsageError unless k is None or a whole number of at least 1."""
    if k is not None and (isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1):
        raise UsageError(f"k={k!r} is not a whole number of at least 1")


def smallest_group(*tables: Table) -> int:
    """The fewest scored tries of any task that has one: the k that every task can be held to."""
    return min(int(t.n[t.n > 0].min()) for t in tables if (t.n > 0).any())
