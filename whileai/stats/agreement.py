"""Do two raters, or several, agree beyond what their habits alone would give?

A judge that says yes to everything agrees with labels that are 90% yes nine times in ten, so the share of agreement
stands here beside Cohen's kappa, the base rates, and the constant predictor. Rows of one task are one unit. The usual
kappa +- 1.96 SE covers the truth 17 to 80% of the time for a good judge on 20 rows, and has no width at all when
everything agrees; the bounds here are Wilson's on the disagreement, with kappa's own standard error behind them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai.core.errors import InputError
from whileai.core.results import Result
from whileai.stats.chance import Chance, bracket, name_of, share_interval, units_of
from whileai.stats.intervals import Codes, Spread, check_alpha, spread
from whileai.stats.labels import MISSING, Label, read_labels, task_codes


@dataclass(frozen=True)
class Agreement(Result):
    """How far a rater agrees with reference labels.

    share [lo..hi]: rows on which both say the same. kappa [kappa_lo..kappa_hi]: Cohen's, None when both always say
    one and the same thing (`why` says so). table[i][j]: rows that the reference calls categories[i] and the rater
    categories[j]; label_shares and rater_shares are their base rates. constant_share: what a rater that always says
    `constant`, the commonest label, would agree on. n rows have both labels, in n_units independent `unit`s;
    n_missing rows lack one.
    """

    share: float
    lo: float | None
    hi: float | None
    method: str
    kappa: float | None
    kappa_lo: float | None
    kappa_hi: float | None
    why: str
    categories: tuple[Label, ...]
    table: tuple[tuple[int, ...], ...]
    label_shares: dict[str, float]
    rater_shares: dict[str, float]
    constant: Label
    constant_share: float
    n: int
    n_missing: int
    n_units: int
    unit: str
    alpha: float
    chance: Chance | None = field(repr=False)

    def __str__(self) -> str:
        where = f"{self.n} rows" if self.unit == "row" else f"{self.n} rows in {self.n_units} tasks"
        missing = f", {self.n_missing} without both labels left out" if self.n_missing else ""
        kappa = "undefined" if self.kappa is None else bracket(self.kappa, self.kappa_lo, self.kappa_hi)
        lines = [
            f"agreement {bracket(self.share, self.lo, self.hi)} | Cohen's kappa {kappa} ({where}{missing})",
            f"{1 - self.alpha:.0%} intervals over {self.n_units} {self.unit}s: {self.method}; kappa by score bounds",
            f"always saying {name_of(self.constant)} agrees on {self.constant_share:.2f}; {_rates(self)}",
        ]
        lines += [self.why] if self.why else []
        return "\n  ".join([*lines, *_table_lines(self)])

    def more_rows(self, target: float, power: float = 0.8) -> int | None:
        """How many more labelled rows would put kappa's interval clear of `target`, if they agree as these do.

        0 when it is clear already; None when kappa has no interval or no number of rows would do.
        """
        if self.kappa_lo is None or self.kappa_hi is None or self.chance is None:
            return None
        if self.kappa_lo >= target or self.kappa_hi < target:
            return 0
        units = self.chance.units_for(target, self.alpha, power)
        return None if units is None else max(1, math.ceil((units - self.n_units) * self.n / self.n_units))


def agreement(
    labels: Iterable[Any], ratings: Iterable[Any], *, tasks: Sequence[Hashable] | None = None, alpha: float = 0.05
) -> Agreement:
    """Agreement of `ratings` with reference `labels`, row by row: bools, numbers or category names; None is missing.

    Cohen's kappa (1960), with the large-sample variance of Fleiss, Cohen and Everitt (1969) as influence values
    summed within `tasks` (one per row), so repeats of a task do not pass for fresh evidence. The share has Wilson's
    interval, with an effective sample size when tasks repeat. Raises InputError when the lengths differ, when text
    and numbers are mixed, or when no row has both labels; UsageError for alpha outside (0, 1).
    """
    check_alpha(alpha)
    codes, categories = read_labels([list(labels), list(ratings)], ["labels", "ratings"])
    both = (codes != MISSING).all(0)
    if not both.any():
        raise InputError(
            f"no row of {both.size} has both a label and a rating, so they cannot be compared; label some that are"
        )
    clusters = task_codes(tasks, both, both.size)
    table = np.zeros((len(categories), len(categories)), np.int64)
    np.add.at(table, (codes[0, both], codes[1, both]), 1)
    chance, why = _kappa(codes[:, both], table, categories, clusters)
    interval = chance.interval(alpha) if chance and not why else None
    agreed = (codes[0, both] == codes[1, both]).astype(np.float64)
    lo, hi, method = share_interval(agreed, clusters, alpha)
    common = int(table.sum(1).argmax())
    return Agreement(
        share=float(agreed.mean()),
        lo=lo,
        hi=hi,
        method=method,
        kappa=chance.spread.mean if chance else None,
        kappa_lo=interval[0] if interval else None,
        kappa_hi=interval[1] if interval else None,
        why=why or ("a single task shows no spread, so there is no interval" if interval is None else ""),
        categories=tuple(categories),
        table=tuple(tuple(int(n) for n in line) for line in table),
        label_shares=_shares(table.sum(1), categories),
        rater_shares=_shares(table.sum(0), categories),
        constant=categories[common],
        constant_share=float(table.sum(1)[common] / table.sum()),
        n=int(both.sum()),
        n_missing=int((~both).sum()),
        n_units=units_of(agreed.size, clusters),
        unit="row" if clusters is None else "task",
        alpha=alpha,
        chance=chance,
    )


def _kappa(
    codes: Codes, table: Codes, categories: Sequence[Label], clusters: Codes | None
) -> tuple[Chance | None, str]:
    """Cohen's kappa as a Chance, and why it says nothing when a rater uses a single category.

    codes: (2, n); table: (C, C) counts. Influence of a row (a, b):
    [(1[a=b] - po)(1 - pe) - (1 - po)(q_a + p_b - 2 pe)] / (1 - pe)^2.
    """
    p, q = table.sum(1) / table.sum(), table.sum(0) / table.sum()
    po, pe = float(np.trace(table) / table.sum()), float(p @ q)
    lonely = [name for name, shares in (("label", p), ("rating", q)) if np.count_nonzero(shares) == 1]
    if len(lonely) == 2 and np.array_equal(p > 0, q > 0):
        only = name_of(categories[int(p.argmax())])
        return None, f"every label and every rating is {only}, so kappa is undefined; label rows of another class"
    same = (codes[0] == codes[1]).astype(np.float64)
    influence = ((same - po) * (1 - pe) - (1 - po) * (q[codes[0]] + p[codes[1]] - 2 * pe)) / (1 - pe) ** 2
    found = spread(influence, clusters)
    kappa = 1 - (1 - po) / (1 - pe)
    chance = Chance(1 - po, 1 - pe, Spread(kappa, found.se, found.df, found.n), same.size)
    if lonely:
        other = "ratings" if lonely[0] == "label" else "labels"
        return chance, f"every {lonely[0]} is the same, so kappa is 0 whatever the {other} say"
    return chance, ""


def _shares(counts: NDArray[Any], categories: Sequence[Label]) -> dict[str, float]:
    return {name_of(c): float(n / counts.sum()) for c, n in zip(categories, counts, strict=True)}


def _rates(found: Agreement) -> str:
    """Two categories are told by the second one's share alone."""
    told = [name_of(category) for category in found.categories][len(found.categories) == 2 :]
    rates = (
        f"{name} {found.label_shares[name]:.2f} by label, {found.rater_shares[name]:.2f} by rating" for name in told
    )
    return f"base rate of {'; of '.join(rates)}"


def _table_lines(found: Agreement) -> list[str]:
    if len(found.categories) > 6:
        return []
    names = [name_of(category) for category in found.categories]
    width = max(8, *(len(name) + 2 for name in names))
    head = "label \\ rating".ljust(16) + "".join(name.rjust(width) for name in names)
    return [head] + [
        name.ljust(16) + "".join(str(n).rjust(width) for n in line)
        for name, line in zip(names, found.table, strict=True)
    ]
