"""The intervals and floors of `whileai.stats` over many datasets at once, and the methods they are compared with.

`agreement.py` checks, dataset by dataset, that these equal the functions that are shipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri, stdtrit

from benchmarks.statistics.populations import Floats, Ints
from whileai.stats.floors import PRIOR_DF, PRIOR_STD

CELLS = 4_000_000  # of the largest temporary array


@dataclass(frozen=True)
class Spreads:
    """`whileai.stats.intervals.Spread` of every dataset: arrays (datasets,), over n tasks each."""

    mean: Floats
    se: Floats
    df: Floats
    n: int


@dataclass(frozen=True)
class Ends:
    """Interval ends (datasets,)."""

    lo: Floats
    hi: Floats

    @property
    def width(self) -> Floats:
        return self.hi - self.lo

    def cover(self, truth: float) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (self.lo <= truth + 1e-12) & (truth - 1e-12 <= self.hi)
        return found


def spreads(values: Floats) -> Spreads:
    """Mean, standard error and kurtosis-matched df of (datasets, tasks) values."""
    n = values.shape[1]
    mean = values.mean(1)
    deviations = values - mean[:, None]
    deviations[np.all(np.abs(deviations) <= 1e-12, axis=1)] = 0.0
    square = np.sum(deviations**2, axis=1)
    some = square > 0
    kurtosis = n * np.sum(deviations**4, axis=1) / np.where(some, square, 1) ** 2
    matched = 2 * n / np.maximum(kurtosis - 1, 1e-9)
    df = np.where(some, np.clip(matched, 1, n - 1), n - 1)
    return Spreads(mean, np.sqrt(square / (n - 1) / n), df, n)


def score(found: Spreads, rows: Ints | None = None, alpha: float = 0.05) -> Ends:
    """`whileai.stats.intervals.score_interval`."""
    q = 1 - alpha / 2
    bernoulli = found.mean * (1 - found.mean)
    widest = stdtrit(found.n - 1, q) ** 2 / found.n
    flat = (found.se == 0) | (bernoulli <= 0)
    ratio = np.minimum(stdtrit(found.df, q) ** 2 * found.se**2 / np.where(flat, 1, bernoulli), widest)
    if rows is not None:
        ratio = np.maximum(ratio, ndtri(q) ** 2 / rows)
    ratio = np.where(flat, widest, ratio)
    half = np.sqrt(ratio * bernoulli + ratio**2 / 4)
    lo, hi = ((found.mean + ratio / 2 + side * half) / (1 + ratio) for side in (-1, 1))
    return Ends(np.where(found.mean == 0, 0, np.maximum(lo, 0)), np.where(found.mean == 1, 1, np.minimum(hi, 1)))


def plain_t(found: Spreads, alpha: float = 0.05) -> Ends:
    """mean +- t(n - 1) x se, as most evaluation tools print it; zero width when every value is equal."""
    half = stdtrit(found.n - 1, 1 - alpha / 2) * found.se
    return Ends(found.mean - half, found.mean + half)


@dataclass(frozen=True)
class RunVariances:
    """`whileai.stats.intervals.RunVariance` of every dataset."""

    variance: Floats
    numerator: Floats
    df: float


def paired_t(found: Spreads, run: RunVariances | None = None, alpha: float = 0.05) -> Ends:
    """`whileai.stats.intervals.t_interval` with the rule of three where every difference is equal."""
    q = 1 - alpha / 2
    variance = np.zeros_like(found.mean) if run is None else run.variance
    total = found.se**2 + variance
    df = found.df.copy()
    if run is not None:
        more = (variance > 0) & (total > 0)
        own = found.se**4 / found.df + run.numerator**2 / run.df
        df[more] = total[more] ** 2 / own[more]
    half = stdtrit(df, q) * np.sqrt(total)
    lo, hi = found.mean - half, found.mean + half
    flat = found.se == 0
    unseen = 1 - (alpha / 2) ** (1 / found.n)
    extra = np.zeros_like(lo) if run is None else stdtrit(run.df, q) * np.sqrt(variance)
    lo[flat] = (found.mean - np.hypot(unseen * (found.mean + 1), extra))[flat]
    hi[flat] = (found.mean + np.hypot(unseen * (1 - found.mean), extra))[flat]
    return Ends(np.maximum(lo, -1), np.minimum(hi, 1))  # no difference of pass rates goes further


def moderated(Y: Floats, factor: float, alpha: float = 0.05) -> tuple[Floats, RunVariances]:
    """`whileai.stats.floors.moderated` from passes Y (passes, datasets, tasks): the floor and the run variance."""
    runs, _, n = Y.shape
    means = Y.mean(2)
    rest = Y - means[:, :, None] - Y.mean(0) + Y.mean((0, 2))[:, None]
    v0 = np.sum(rest**2, axis=(0, 2)) / ((runs - 1) * (n - 1)) / n
    df = runs - 1 + PRIOR_DF
    variance = ((runs - 1) * means.var(0, ddof=1) + PRIOR_DF * (v0 + PRIOR_STD**2)) / df
    floor = stdtrit(df, 1 - alpha / 2) * np.sqrt(variance * factor)
    return floor, RunVariances(np.maximum(0, variance - v0) * factor, variance * factor, df)


def literal_floor(Y: Floats, alpha: float = 0.05) -> Floats:
    """t(R - 1) x run_std x sqrt 2: the floor as the literal rule has it, for one pass against one."""
    found: Floats = stdtrit(len(Y) - 1, 1 - alpha / 2) * Y.mean(2).std(0, ddof=1) * np.sqrt(2)
    return found


def percentile(steps: Ints, finest: int, low: float, alpha: float = 0.05) -> Ends:
    """The percentile bootstrap over tasks with endlessly many resamples, exactly.

    steps: (datasets, n) task values as whole numbers of 1/finest above `low`. The sum of n draws from the observed
    values has the n-fold convolution of their histogram as its distribution, which one Fourier transform gives: no
    random resamples, so what is compared is the method and not its Monte-Carlo error.
    """
    datasets, n = steps.shape
    top = max(1, int(steps.max()))
    length = next_fast_len(n * top + 1, real=True)
    ends = np.empty((2, datasets))
    for start in range(0, datasets, chunk := max(1, CELLS // length)):
        piece = steps[start : start + chunk]
        share = np.apply_along_axis(np.bincount, 1, piece, minlength=top + 1) / n
        chance = np.cumsum(irfft(_power(rfft(share, length, axis=1), n), length, axis=1)[:, : n * top + 1], axis=1)
        for end, q in zip(ends, (alpha / 2, 1 - alpha / 2), strict=True):
            end[start : start + chunk] = np.argmax(chance >= q - 1e-9, axis=1)
    return Ends(*(low + ends / n / finest))


def _power(base: np.ndarray, n: int) -> np.ndarray:
    """base ** n by squaring; numpy's complex power is ten times slower."""
    found = np.ones_like(base)
    while n:
        if n & 1:
            found = found * base
        base, n = base * base, n >> 1
    return found
