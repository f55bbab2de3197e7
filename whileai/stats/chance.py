"""Agreement beyond chance, with bounds that hold for a good judge on few rows.

The usual kappa +- 1.96 SE covers the truth 17 to 80% of the time for a good judge on 20 rows, and has no width at all
when everything agrees. Here Wilson's bounds are taken of the disagreement, which stays between 0 and 1, with the
coefficient's own standard error behind them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whileai.stats.intervals import Codes, Floats, Spread, score_interval, spread, t_quantile, z_quantile
from whileai.stats.labels import Label

MOST_UNITS = 1_000_000


@dataclass(frozen=True)
class Chance:
    """A chance-corrected agreement 1 - observed / expected: the disagreement seen, and what chance alone would give.

    spread: the coefficient with its standard error, df and units; rows: pairs of labels behind it. Disagreements are
    in units of the largest possible one, so that they lie in [0, 1].
    """

    observed: float
    expected: float
    spread: Spread
    rows: int

    def bounds(self, level: float, reach: float = 0.0, units: float | None = None) -> tuple[float, float]:
        """Wilson's bounds of the disagreement, divided by the expected one.

        level: P(below) of each bound, 0.975 for 95%. reach: added to the quantile, and `units`: another sample size,
        both for planning. The standard error is the coefficient's, so what the base rates add is in it; its matched
        df may widen the bounds as far as n units of all-or-nothing would. No disagreement, or nothing else: only the
        units were seen, as in the rule of three.
        """
        n = units or self.spread.n
        plain = t_quantile(level, n - 1) + reach
        d = min(1.0, max(0.0, self.observed))
        ratio = plain**2 / n
        if self.spread.se > 1e-12 and d * (1 - d) > 1e-12:
            unit = (self.spread.se * self.expected) ** 2 / (d * (1 - d)) * self.spread.n / n
            unit = max(unit, self.spread.n / self.rows / n)
            matched = t_quantile(level, self.spread.df * n / self.spread.n) + reach
            ratio = max(plain**2 * unit, min(matched**2 * unit, ratio))
        half = math.sqrt(ratio * d * (1 - d) + ratio**2 / 4)
        lo, hi = (d + ratio / 2 - half) / (1 + ratio), (d + ratio / 2 + half) / (1 + ratio)
        hi = 1.0 if d == 1 else hi
        return max(-1.0, 1 - hi / self.expected), 1.0 if d == 0 else 1 - max(0.0, lo) / self.expected

    def interval(self, alpha: float) -> tuple[float, float] | None:
        """The bounds at level 1 - alpha; None when a single unit shows no spread."""
        return self.bounds(1 - alpha / 2) if self.spread.n > 1 else None

    def units_for(self, target: float, alpha: float, power: float) -> int | None:
        """Units at which the interval would leave `target` on one side, with `power`, if all stays as seen.

        None when no number up to a million would.
        """

        def clear(units: int) -> bool:
            lo, hi = self.bounds(1 - alpha / 2, z_quantile(power), units)
            return lo >= target or hi < target

        low, high = 1, 2
        while not clear(high):
            low, high = high, 2 * high
            if high > MOST_UNITS:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if clear(middle) else (middle, high)
        return high


def share_interval(values: Floats, clusters: Codes | None, alpha: float) -> tuple[float | None, float | None, str]:
    """Wilson's interval of a mean of values in [0, 1], and its name; no bounds for a single cluster.

    Plain Wilson when the values are independent 0/1, else the score interval with an effective sample size.
    """
    mean, n = float(values.mean()), values.size
    if clusters is None and np.all((values == 0) | (values == 1)):
        lo, hi = wilson(mean, n, alpha)
        return lo, hi, "share by Wilson"
    found = spread(values, clusters)
    if found.n < 2:
        return None, None, "no interval: a single task shows no spread"
    lo, hi = score_interval(found, alpha, rows=n if clusters is not None else None)
    return lo, hi, "share by Wilson with effective sample size"


def wilson(share: float, n: float, alpha: float) -> tuple[float, float]:
    """Wilson's score interval (1927) for `share` of n independent 0/1 values; n need not be whole."""
    ratio = z_quantile(1 - alpha / 2) ** 2 / n
    half = math.sqrt(ratio * share * (1 - share) + ratio**2 / 4)
    lo, hi = (share + ratio / 2 - half) / (1 + ratio), (share + ratio / 2 + half) / (1 + ratio)
    return (0.0 if share == 0 else max(0.0, lo)), (1.0 if share == 1 else min(1.0, hi))


def units_of(rows: int, clusters: Codes | None) -> int:
    return rows if clusters is None else int(clusters.max()) + 1


def name_of(category: Label) -> str:
    """A category in a report: 1 and not 1.0."""
    return category if isinstance(category, str) else f"{category:g}"


def bracket(value: float, lo: float | None, hi: float | None) -> str:
    """0.71 [0.48..0.87], or the bare value when there is no interval."""
    return f"{value:.2f}" if lo is None or hi is None else f"{value:.2f} [{lo:.2f}..{hi:.2f}]"
