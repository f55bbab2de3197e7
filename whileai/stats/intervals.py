"""Two intervals cover everything: a score interval for a mean in [0, 1] and a t interval for a paired difference.

Both take their degrees of freedom from the kurtosis of the values, so three tasks that carry every pass
do not pass for forty. Both widen to the rule of three when every value is equal, and never have zero width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai.core.errors import UsageError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def t_quantile(p: float, df: float) -> float:
    """The p-quantile of Student's t with `df` degrees of freedom (the normal's when df is infinite)."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(p) if math.isinf(df) else stdtrit(df, p))


def t_tail(t: float, df: float) -> float:
    """P(|T| > |t|) for Student's t."""
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(t)))


def z_quantile(p: float) -> float:
    """The p-quantile of the standard normal."""
    from scipy.special import ndtri

    return float(ndtri(p))


def check_alpha(alpha: float) -> None:
    """Raise UsageError unless 0 < alpha < 1."""
    if not isinstance(alpha, (int, float)) or not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha!r} is not between 0 and 1; 0.05 gives 95% intervals")


def kurt_df(deviations: Floats) -> float:
    """Degrees of freedom whose chi-square matches the variance of the sample variance, between 1 and n - 1.

    deviations: (n,) centred values. nu = 2n / (kurtosis - 1): Satterthwaite's moment match; a normal sample
    gives about n, one task that carries everything gives about 2.
    """
    n = deviations.size
    square = float(np.sum(deviations**2))
    if square <= 0:
        return float(n - 1)
    kurtosis = n * float(np.sum(deviations**4)) / square**2
    matched = math.inf if kurtosis <= 1 else 2 * n / (kurtosis - 1)
    return min(n - 1.0, max(1.0, matched))


@dataclass(frozen=True)
class Spread:
    """A mean with its standard error: `n` independent units (tasks, or clusters of tasks) and matched `df`."""

    mean: float
    se: float
    df: float
    n: int


def spread(values: Floats, clusters: Codes | None = None) -> Spread:
    """Mean, standard error and df of task values; with cluster codes 0..G-1 the unit is the cluster.

    Clustered: u_g = sum of (value - mean) / n in cluster g, se^2 = G/(G-1) sum u_g^2 (Miller 2024, appendix A).
    One unit has no spread: se and df are NaN.
    """
    n = values.size
    mean = float(values.mean())
    deviations = values - mean
    if np.all(np.abs(deviations) <= 1e-12 * max(1.0, abs(mean))):  # equal up to rounding of the mean
        deviations = np.zeros(n)
    if clusters is not None:
        deviations = np.bincount(clusters, weights=deviations).astype(np.float64)
        units = deviations.size
        scale = math.sqrt(units / (units - 1)) if units > 1 else math.nan
        # bincount leaves rounding of about 1e-17 where a cluster's deviations cancel
        deviations = np.where(np.abs(deviations) <= 1e-12 * n, 0.0, deviations)
        return Spread(mean, scale * math.sqrt(float(np.sum((deviations / n) ** 2))), kurt_df(deviations), units)
    if n < 2:
        return Spread(mean, math.nan, math.nan, n)
    return Spread(mean, math.sqrt(float(np.sum(deviations**2)) / (n - 1) / n), kurt_df(deviations), n)


def score_interval(found: Spread, alpha: float = 0.05, *, rows: int | None = None) -> tuple[float, float]:
    """Wilson's score interval with an effective sample size, for a mean of values in [0, 1].

    rows: number of 0/1 rows behind the values; pass it for pass@1 only, where n tasks of N rows can never be worth
    more than N. n_eff = mean(1 - mean) / se^2 lies between n and N. All values equal: only n units were seen.
    Needs n >= 2.
    """
    mean = min(1.0, max(0.0, found.mean))
    widest = t_quantile(1 - alpha / 2, found.n - 1) ** 2 / found.n
    bernoulli = mean * (1 - mean)
    if found.se == 0 or bernoulli <= 0:
        ratio = widest
    else:
        ratio = min(t_quantile(1 - alpha / 2, found.df) ** 2 * found.se**2 / bernoulli, widest)
        if rows:
            ratio = max(ratio, z_quantile(1 - alpha / 2) ** 2 / rows)
    half = math.sqrt(ratio * bernoulli + ratio**2 / 4)
    lo, hi = (mean + ratio / 2 - half) / (1 + ratio), (mean + ratio / 2 + half) / (1 + ratio)
    return (0.0 if mean == 0 else max(0.0, lo)), (1.0 if mean == 1 else min(1.0, hi))


@dataclass(frozen=True)
class RunVariance:
    """What re-running adds to a difference's variance: `variance` itself, and `numerator` / `df` for its Satterthwaite
    term (the numerator is the whole moderated variance, which is the cautious choice; 0 leaves the term out)."""

    variance: float = 0.0
    numerator: float = 0.0
    df: float = math.inf


@dataclass(frozen=True)
class Interval:
    """A two-sided interval for a mean difference, with the total standard error, its df and the p-value of zero."""

    lo: float
    hi: float
    se: float
    df: float
    p: float

    def within(self, reach: float) -> Interval:
        """The same interval with no end farther from zero than a difference can be; coverage stays as it is."""
        return replace(self, lo=max(self.lo, -reach), hi=min(self.hi, reach))


def t_interval(found: Spread, alpha: float = 0.05, *, run: RunVariance | None = None, reach: float = 1.0) -> Interval:
    """mean +- t(df) x SE, where SE^2 adds the run variance and df follows Satterthwaite. Needs n >= 2.

    reach: largest possible |value| (1 for differences of rewards in [0, 1]; math.inf when there is none); used only
    when every value is equal, where the rule of three takes over (see `rule_of_three`).
    """
    run = run or RunVariance()
    total = found.se**2 + run.variance
    se, df = math.sqrt(total), found.df
    if run.numerator > 0 and total > 0:
        df = total**2 / (found.se**4 / found.df + run.numerator**2 / run.df)
    if found.se == 0:
        lo, hi = rule_of_three(found, alpha, run, reach)
        return Interval(lo, hi, se, df, _touching_zero(found, run, reach))
    half = t_quantile(1 - alpha / 2, df) * se
    return Interval(found.mean - half, found.mean + half, se, df, t_tail(found.mean / se, df))


def rule_of_three(found: Spread, alpha: float, run: RunVariance, reach: float) -> tuple[float, float]:
    """The interval when all n values equal c: the share pi = 1 - (alpha/2)^(1/n) of unseen tasks may lie at the far
    end.

    [c - pi(c + 1), c + pi(1 - c)] in units of `reach`; at c = 1 this is the exact sign test (5 tasks cannot pass, 6
    can). A run variance joins each half-width in quadrature.
    """
    unseen = 1 - (alpha / 2) ** (1 / found.n)
    extra = t_quantile(1 - alpha / 2, run.df) * math.sqrt(run.variance) if run.variance > 0 else 0.0
    down, up = unseen * (found.mean + reach), unseen * (reach - found.mean)
    return found.mean - math.hypot(down, extra), found.mean + math.hypot(up, extra)


def _touching_zero(found: Spread, run: RunVariance, reach: float) -> float:
    """The p-value as the alpha whose rule-of-three interval just touches zero, by bisection on log(alpha)."""
    if found.mean == 0:
        return 1.0
    low, high = -700.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        lo, hi = rule_of_three(found, math.exp(middle), run, reach)
        low, high = (low, middle) if lo > 0 or hi < 0 else (middle, high)
    return math.exp(high)


def equivalence_p(found: Spread, margin: float, *, run: RunVariance | None = None, reach: float = 1.0) -> float:
    """p of two one-sided tests (TOST) that the mean lies within (-margin, margin). Needs n >= 2."""
    whole: Any = t_interval(found, run=run, reach=reach)
    if found.se > 0:
        from scipy.special import stdtr

        below, above = (margin - found.mean) / whole.se, (margin + found.mean) / whole.se
        return float(max(stdtr(whole.df, -below), stdtr(whole.df, -above)))
    low, high = -700.0, math.log(0.5)
    for _ in range(60):
        middle = (low + high) / 2
        lo, hi = rule_of_three(found, 2 * math.exp(middle), run or RunVariance(), reach)
        low, high = (low, middle) if -margin < lo and hi < margin else (middle, high)
    return math.exp(high)
