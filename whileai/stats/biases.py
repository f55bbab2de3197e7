"""What sways a judge beside the work: the reply's length and the place it is shown at.

Good replies may well be longer, so a judge that prefers long ones is not wrong by that alone: where there are labels,
the length is held against the verdicts of rows with the same label.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whileai.core.errors import InputError
from whileai.core.results import Result
from whileai.stats.chance import bracket, share_interval
from whileai.stats.intervals import (
    Codes,
    Floats,
    Spread,
    check_alpha,
    score_interval,
    spread,
    t_interval,
    t_quantile,
)
from whileai.stats.labels import read_label, read_numbers, same_length, task_codes

PLACES = {"a": 1.0, "b": -1.0, "a>b": 1.0, "b>a": -1.0, "tie": 0.0, "a=b": 0.0}


@dataclass(frozen=True)
class Correlation(Result):
    """Pearson's r [lo..hi] of `what` with the reply's length; value None and `why` when there is nothing to see."""

    what: str
    value: float | None
    lo: float | None
    hi: float | None
    n: int
    n_tasks: int
    why: str = ""

    @property
    def clear(self) -> bool:
        """Whether the interval leaves zero on one side."""
        return self.lo is not None and self.hi is not None and (self.lo > 0 or self.hi < 0)

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.what}: {self.why}"
        lacks = f"; {self.why}" if self.why else ""
        return f"{self.what}: r {signed(self.value, self.lo, self.hi)} ({self.n} rows, {self.n_tasks} tasks{lacks})"


@dataclass(frozen=True)
class LengthBias(Result):
    """Whether a judge prefers longer replies.

    longer_wins [lo..hi]: among n_pairs pairs of rows of one task that differ in verdict and in length, how often the
    longer has the better verdict; None without such pairs. within: the verdict's correlation with length inside
    tasks. beyond: the same with the label held fixed (the partial correlation), None without labels. biased: the
    interval of `beyond` leaves zero out; without labels None, because longer may be better.
    """

    longer_wins: float | None
    lo: float | None
    hi: float | None
    n_pairs: int
    n_tasks: int
    within: Correlation
    beyond: Correlation | None
    biased: bool | None
    alpha: float

    def __str__(self) -> str:
        if self.longer_wins is None:
            pairs = "no two rows of one task differ in verdict and length"
        else:
            share = bracket(self.longer_wins, self.lo, self.hi)
            pairs = f"the longer of two replies wins {share} ({self.n_pairs} pairs in {self.n_tasks} tasks)"
        lines = [f"length: {pairs}", str(self.within)]
        if self.beyond is not None:
            lines.append(str(self.beyond))
        else:
            lines.append("without labels this may be a merit of the longer replies")
        return "\n  ".join([*lines, f"{1 - self.alpha:.0%} intervals over tasks; r by Fisher's z, clustered"])


def length_bias(
    lengths: Iterable[Any],
    verdicts: Iterable[Any],
    tasks: Sequence[Hashable],
    *,
    labels: Iterable[Any] | None = None,
    alpha: float = 0.05,
) -> LengthBias:
    """Length bias of numeric `verdicts` on replies of the given `lengths` (any unit); rows of a task are compared.

    Missing numbers (None, NaN) leave their row out. Raises InputError when the columns differ in length, hold text or
    when no row has both a verdict and a length.
    """
    check_alpha(alpha)
    length, verdict = read_numbers(lengths, "lengths"), read_numbers(verdicts, "verdicts")
    label = None if labels is None else read_numbers(labels, "labels")
    same_length(lengths=length, verdicts=verdict, tasks=tasks, labels=label)
    kept = ~np.isnan(length) & ~np.isnan(verdict)
    if not kept.any():
        raise InputError("no row has both a length and a verdict, so length cannot sway anything; judge some rows")
    task = _codes(tasks, kept)
    found = _pairs(length[kept], verdict[kept], task, alpha)
    centred = [values[kept] - _means(values[kept], task) for values in (length, verdict)]
    within = correlation(centred[0], centred[1], task, alpha, "verdict with length inside tasks")
    beyond = None
    if label is not None:
        both = kept & ~np.isnan(label)
        x, y = (_without(label[both], values[both]) for values in (length, verdict))
        beyond = correlation(x, y, _codes(tasks, both), alpha, "verdict with length, the label held fixed")
    biased = beyond.clear if beyond and beyond.lo is not None else None
    return LengthBias(*found, within=within, beyond=beyond, biased=biased, alpha=alpha)


def _without(label: Floats, values: Floats) -> Floats:
    """What is left of `values` after a straight line on `label`; labels that do not vary explain nothing.

    Subtracting the label from the verdict would not do: random errors push good rows down and bad ones up, which
    looks like a taste for short replies wherever good replies are long.
    """
    centred = label - label.mean() if label.size else label
    square = float(centred @ centred)
    slope = float(centred @ values) / square if square > 0 else 0.0
    left: Floats = values - slope * centred
    return left


def _codes(tasks: Sequence[Hashable], keep: Any) -> Codes:
    """Codes of the kept rows' tasks, even when every row is its own task."""
    codes = task_codes(tasks, keep, len(tasks))
    return np.arange(int(np.sum(keep)), dtype=np.int64) if codes is None else codes


def _means(values: Floats, task: Codes) -> Floats:
    means: Floats = np.bincount(task, weights=values)[task] / np.bincount(task)[task]
    return means


def _pairs(
    length: Floats, verdict: Floats, task: Codes, alpha: float
) -> tuple[float | None, float | None, float | None, int, int]:
    """Share of pairs that the longer reply wins with its bounds, number of pairs, tasks that have such a pair."""
    order = np.argsort(task, kind="stable")
    wins, sizes = [], []
    for rows in np.split(order, np.flatnonzero(np.diff(task[order])) + 1):
        by_length = np.sign(length[rows][:, None] - length[rows])
        by_verdict = np.sign(verdict[rows][:, None] - verdict[rows])
        product = np.triu(by_length * by_verdict)
        if np.any(product):
            wins.append(np.sum(product > 0))
            sizes.append(np.sum(product != 0))
    if not sizes:
        return None, None, None, 0, 0
    won, size = np.array(wins, np.float64), np.array(sizes, np.float64)
    share, n = float(won.sum() / size.sum()), won.size
    if n < 2:
        return share, None, None, int(size.sum()), n
    found = spread((won - share * size) * n / size.sum())
    lo, hi = score_interval(Spread(share, found.se, found.df, n), alpha)
    return share, lo, hi, int(size.sum()), n


def correlation(x: Floats, y: Floats, task: Codes, alpha: float, what: str) -> Correlation:
    """Pearson's r of x and y (n,), its interval by Fisher's z with influence values summed within tasks."""
    n, n_tasks = x.size, int(task.max(initial=-1)) + 1
    if n < 2 or np.ptp(x) <= 1e-12 * np.abs(x).max(initial=1) or np.ptp(y) <= 1e-12 * np.abs(y).max(initial=1):
        return Correlation(what, None, None, None, n, n_tasks, "nothing varies, so nothing can be correlated")
    u, v = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = float(np.clip(np.mean(u * v), -1, 1))
    if 1 - r**2 < 1e-9:
        return Correlation(what, r, None, None, n, n_tasks, "no interval: the rows lie on a line")
    found = spread(u * v - r * (u**2 + v**2) / 2, task)
    # below 4 tasks a line through the points is no news: Fisher's z has n - 3 degrees of freedom
    if n_tasks < 4 or found.se <= 1e-12:
        return Correlation(what, r, None, None, n, n_tasks, "no interval: fewer than 4 tasks or no spread")
    half = t_quantile(1 - alpha / 2, found.df) * found.se / (1 - r**2)
    return Correlation(what, r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half), n, n_tasks)


@dataclass(frozen=True)
class PositionBias(Result):
    """Whether a judge of two replies prefers a place, from asking in both orders.

    consistent [lo..hi]: pairs judged the same in both orders. first, second: inconsistent pairs where the first-shown
    (or second-shown) reply won both times; mixed: a win in one order, a tie in the other. preference [..]: the mean of
    +1 for the first-shown and -1 for the second-shown, 0 without bias. p: exact sign test of first against second.
    """

    consistent: float
    lo: float | None
    hi: float | None
    preference: float
    preference_lo: float | None
    preference_hi: float | None
    first: int
    second: int
    mixed: int
    p: float
    biased: bool
    n: int
    n_missing: int
    alpha: float

    def __str__(self) -> str:
        missing = f", {self.n_missing} without both orders left out" if self.n_missing else ""
        prefers = signed(self.preference, self.preference_lo, self.preference_hi)
        return (
            f"position: {bracket(self.consistent, self.lo, self.hi)} judged alike in both orders"
            f" ({self.n} pairs{missing})\n"
            f"  preference for the first shown {prefers}: both times the first {self.first}, both times the second"
            f" {self.second}, once a tie {self.mixed}; sign test p={self.p:.3f}\n"
            f"  {1 - self.alpha:.0%} intervals over pairs: Wilson for the share, paired t for the preference"
        )


def position_bias(original: Iterable[Any], swapped: Iterable[Any], *, alpha: float = 0.05) -> PositionBias:
    """Position bias from the same pairs judged in both orders.

    Each answer names a place *as shown*: "A" or "A>B" (or 1) for the first reply, "B" or "B>A" (or -1) for the
    second, "tie" or "A=B" (or 0); None is missing. So a judge without bias turns its answer round when the order is
    swapped. Raises InputError for other answers, differing lengths, or no pair with both orders.
    """
    check_alpha(alpha)
    one, two = _places(original, "original"), _places(swapped, "swapped")
    same_length(original=one, swapped=two)
    both = ~np.isnan(one) & ~np.isnan(two)
    if not both.any():
        raise InputError("no pair was judged in both orders, so a preference for a place cannot be seen; swap some")
    one, two = one[both], two[both]
    preference = (one + two) / 2
    first, second = int(np.sum(preference == 1)), int(np.sum(preference == -1))
    lo, hi, _ = share_interval((one == -two).astype(np.float64), None, alpha)
    found = t_interval(spread(preference), alpha) if one.size > 1 else None
    p = _sign_test(first, second)
    return PositionBias(
        consistent=float(np.mean(one == -two)),
        lo=lo,
        hi=hi,
        preference=float(preference.mean()),
        preference_lo=max(-1.0, found.lo) if found else None,
        preference_hi=min(1.0, found.hi) if found else None,
        first=first,
        second=second,
        mixed=int(np.sum(np.abs(preference) == 0.5)),
        p=p,
        biased=p < alpha,
        n=one.size,
        n_missing=int((~both).sum()),
        alpha=alpha,
    )


def _places(answers: Iterable[Any], source: str) -> Floats:
    """+1 first shown, -1 second shown, 0 tie, NaN missing."""
    read = []
    for i, answer in enumerate(answers, 1):
        label = read_label(answer, f"{source}, pair {i}")
        place = PLACES.get(label.replace(" ", "").lower()) if isinstance(label, str) else label
        if label is not None and place not in (1.0, -1.0, 0.0):
            raise InputError(f"{source}, pair {i}: {answer!r} names no place; use A, B or tie (or 1, -1, 0)")
        read.append(math.nan if place is None else place)
    return np.array(read, np.float64)


def _sign_test(first: int, second: int) -> float:
    """Two-sided exact binomial p of an even split."""
    from scipy.special import bdtr

    n = first + second
    return min(1.0, 2 * float(bdtr(min(first, second), n, 0.5))) if n else 1.0


def signed(value: float, lo: float | None, hi: float | None) -> str:
    """+0.12 [-0.05..+0.28], or the bare value when there is no interval."""
    return f"{value:+.2f}" if lo is None or hi is None else f"{value:+.2f} [{lo:+.2f}..{hi:+.2f}]"
