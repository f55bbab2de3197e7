"""Several labellers of the same rows, or one judge asked several times: Krippendorff's alpha and self-agreement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whileai.core.errors import InputError, UsageError
from whileai.core.results import Result
from whileai.stats.chance import Chance, bracket, share_interval, units_of
from whileai.stats.intervals import Codes, Floats, Spread, check_alpha, spread
from whileai.stats.labels import MISSING, numeric, read_labels, task_codes

LEVELS = ("nominal", "interval")


@dataclass(frozen=True)
class Krippendorff(Result):
    """Krippendorff's alpha [lo..hi] of several raters: 1 agrees always, 0 as chance would, None undefined (`why`).

    n_rows: rows with two labels or more, which alone can agree; n_labels: the labels on them; n_left_out: rows with
    fewer. `alpha` is the interval's level.
    """

    value: float | None
    lo: float | None
    hi: float | None
    why: str
    level: str
    n_raters: int
    n_rows: int
    n_labels: int
    n_left_out: int
    unit: str
    n_units: int
    alpha: float
    chance: Chance | None = field(repr=False)

    def __str__(self) -> str:
        value = "undefined" if self.value is None else bracket(self.value, self.lo, self.hi)
        left = f", {self.n_left_out} with fewer than two labels left out" if self.n_left_out else ""
        text = (
            f"Krippendorff's alpha ({self.level}) {value} ({self.n_raters} raters, {self.n_labels} labels on"
            f" {self.n_rows} rows{left}; {1 - self.alpha:.0%} score bounds over {self.n_units} {self.unit}s)"
        )
        return f"{text}\n  {self.why}" if self.why else text


def krippendorff_alpha(
    labels: Sequence[Iterable[Any]],
    *,
    level: str = "nominal",
    tasks: Sequence[Hashable] | None = None,
    alpha: float = 0.05,
) -> Krippendorff:
    """Krippendorff's alpha (2011) of `labels`, one sequence per rater, all over the same rows; None is missing.

    level: "nominal" (same or not) or "interval" (squared difference of numbers). Rows with a single label cannot
    agree or disagree and are left out; nothing is filled in. The interval is from influence values over rows, or
    over `tasks` (one per row). Raises InputError for fewer than two raters, differing lengths, no row with two labels,
    or text at the interval level; UsageError for an unknown level.
    """
    check_alpha(alpha)
    if level not in LEVELS:
        raise UsageError(f"level={level!r} is not known; it is one of {', '.join(LEVELS)}")
    raters = [list(rater) for rater in labels]
    if len(raters) < 2:
        raise InputError(f"{len(raters)} rater cannot agree with anyone; give one sequence of labels per rater")
    codes, categories = read_labels(raters, [f"rater {number}" for number in range(1, len(raters) + 1)])
    per_row = (codes != MISSING).sum(0)
    kept = per_row >= 2
    if not kept.any():
        raise InputError(f"no row of {kept.size} has two labels, so nobody can agree; have some rows labelled twice")
    clusters = task_codes(tasks, kept, kept.size)
    values = numeric(categories, "the interval level") if level == "interval" else None
    chance = _alpha(codes[:, kept], len(categories), values, clusters)
    interval = chance.interval(alpha) if chance else None
    why = "" if interval else "a single task shows no spread, so there is no interval"
    return Krippendorff(
        value=chance.spread.mean if chance else None,
        lo=interval[0] if interval else None,
        hi=interval[1] if interval else None,
        why=why if chance else "every label is the same, so alpha is undefined; label rows of another class",
        level=level,
        n_raters=len(raters),
        n_rows=int(kept.sum()),
        n_labels=int(per_row[kept].sum()),
        n_left_out=int((~kept).sum()),
        unit="row" if clusters is None else "task",
        n_units=units_of(int(kept.sum()), clusters),
        alpha=alpha,
        chance=chance,
    )


def _alpha(codes: Codes, n_categories: int, values: Floats | None, clusters: Codes | None) -> Chance | None:
    """1 - Do/De with per-row influence values; None when all labels are the same.

    codes: (raters, rows), every row with m >= 2 labels; N labels in all. A row's disagreement o is the sum over its
    ordered pairs of the difference, over m - 1; Do = sum(o) / N. values None: the difference is 0 or 1.
    """
    counts = np.stack([(codes == c).sum(0) for c in range(n_categories)], 1).astype(np.float64)  # (rows, categories)
    m = counts.sum(1)
    N, p = m.sum(), counts.sum(0) / m.sum()
    if np.count_nonzero(p) == 1:
        return None
    if values is None:
        o = (m**2 - (counts**2).sum(1)) / (m - 1)
        spread_all, longest = 1 - float(p @ p), 1.0
        pull = -2 * (counts @ p - m * float(p @ p))  # a row's push on 1 - sum p^2, times N
    else:
        centred = values - float(values @ p)
        o = 2 * (m * (counts @ centred**2) - (counts @ centred) ** 2) / (m - 1)
        spread_all, longest = 2 * float(centred**2 @ p), float(np.ptp(values[p > 0])) ** 2
        pull = 2 * (counts @ centred**2) - m * spread_all
    Do, De = float(o.sum() / N), spread_all * N / (N - 1)
    influence = -((o - m * Do) - Do / De * pull) / De * o.size / N
    found = spread(influence, clusters)
    return Chance(Do / longest, De / longest, Spread(1 - Do / De, found.se, found.df, found.n), int(N) // 2)


@dataclass(frozen=True)
class SelfAgreement(Result):
    """How often a judge asked again says the same of the same row.

    share [lo..hi]: of pairs of answers to one row that are the same, averaged over rows. n_flipped of n_rows rows got
    different answers; times: how often each was asked at most; n_left_out: rows answered less than twice.
    """

    share: float
    lo: float | None
    hi: float | None
    method: str
    n_flipped: int
    n_rows: int
    n_left_out: int
    times: int
    unit: str
    n_units: int
    alpha: float

    def __str__(self) -> str:
        left = f", {self.n_left_out} answered once or never left out" if self.n_left_out else ""
        return (
            f"self-agreement {bracket(self.share, self.lo, self.hi)} ({self.n_rows} rows, {self.times} times{left}"
            f"; {self.n_flipped} flipped; {1 - self.alpha:.0%}, {self.n_units} {self.unit}s, {self.method})"
        )


def self_agreement(
    answers: Sequence[Iterable[Any]], *, tasks: Sequence[Hashable] | None = None, alpha: float = 0.05
) -> SelfAgreement:
    """Self-agreement of one judge: `answers` holds one sequence per asking, all over the same rows; None is missing.

    Raises InputError for fewer than two askings, differing lengths, or no row answered twice.
    """
    check_alpha(alpha)
    if len(answers) < 2:
        raise InputError(f"{len(answers)} asking cannot agree with itself; ask the judge again about the same rows")
    codes, categories = read_labels([list(a) for a in answers], [f"asking {n}" for n in range(1, len(answers) + 1)])
    kept = (codes != MISSING).sum(0) >= 2
    if not kept.any():
        raise InputError(f"no row of {kept.size} was answered twice, so the judge cannot be held against itself")
    counts = np.stack([(codes[:, kept] == c).sum(0) for c in range(len(categories))], 1)
    m = counts.sum(1)
    alike = (counts * (counts - 1)).sum(1) / (m * (m - 1))
    clusters = task_codes(tasks, kept, kept.size)
    lo, hi, method = share_interval(alike, clusters, alpha)
    return SelfAgreement(
        share=float(alike.mean()),
        lo=lo,
        hi=hi,
        method=method,
        n_flipped=int(np.sum(alike < 1)),
        n_rows=int(kept.sum()),
        n_left_out=int((~kept).sum()),
        times=len(answers),
        unit="row" if clusters is None else "task",
        n_units=units_of(int(kept.sum()), clusters),
        alpha=alpha,
    )
