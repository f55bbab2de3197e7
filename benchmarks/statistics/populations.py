"""Where the simulated evals come from: tasks with their own pass rates, tries of each, passes that shift as a whole.

A dataset is n tasks. Task i passes at rate p_i ~ Beta with mean `rate` and intraclass correlation `icc` (the share of
the rewards' variance that lies between tasks). All arrays are (datasets, tasks).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TASKS = (10, 20, 40, 100, 500)
TRIES: tuple[int | str, ...] = (1, 4, "uneven")
RATES = (0.02, 0.25, 0.5, 0.9)
ICCS = (0.05, 0.5)
UNEVEN = (1, 2, 4, 8, 16)  # equally likely tries of a task
FINEST = {1: 1, 4: 4, "uneven": 16}  # every task mean is a whole multiple of 1 / this
RUN_SHIFT = 0.02  # standard deviation by which a whole pass moves the score
LARGEST_SWING = 0.1


@dataclass(frozen=True)
class Population:
    """Tasks whose pass rates follow a beta distribution."""

    rate: float
    icc: float

    @property
    def shape(self) -> tuple[float, float]:
        total = 1 / self.icc - 1
        return self.rate * total, (1 - self.rate) * total

    def draw(self, rng: np.random.Generator, datasets: int, n: int) -> Floats:
        """(datasets, n) pass rates."""
        return rng.beta(*self.shape, size=(datasets, n))

    def every_time(self, k: int) -> float:
        """E[p^k], what pass^k estimates."""
        return _rising(*self.shape, k)

    def at_least_once(self, k: int) -> float:
        """E[1 - (1 - p)^k], what pass@k estimates."""
        a, b = self.shape
        return 1 - _rising(b, a, k)

    def gain(self, size: float = 0.1) -> float:
        """The true gain `improved` gives: `size`, but never more than half of what is left above the rate."""
        return min(size, (1 - self.rate) / 2)

    def improved(self, p: Floats) -> Floats:
        """Every task loses the same share of its failures, so that the mean rises by exactly `gain()`."""
        return p + (1 - p) * self.gain() / (1 - self.rate)

    def swing(self) -> float:
        """Standard deviation of a pass's swing: moves its mean by RUN_SHIFT, or as far as tasks near 0 and 1 go."""
        return min(LARGEST_SWING, RUN_SHIFT / (4 * self.rate * (1 - self.rate) * (1 - self.icc)))

    def run_std(self) -> float:
        """By how much a run effect really moves the mean (standard deviation)."""
        return self.swing() * 4 * self.rate * (1 - self.rate) * (1 - self.icc)


def _rising(a: float, b: float, k: int) -> float:
    found = 1.0
    for j in range(k):
        found *= (a + j) / (a + b + j)
    return found


def shifted(rng: np.random.Generator, p: Floats, swing: float) -> Floats:
    """The rates during one pass: p + s 4p(1 - p), s ~ N(0, swing) once a pass, cut at +-1/4.

    A shift of the log-odds to first order that stays in [0, 1] and leaves every expectation as it is.
    """
    if swing == 0:
        return p
    s = np.clip(rng.normal(0, swing, size=(len(p), 1)), -0.25, 0.25)
    return np.clip(p + s * 4 * p * (1 - p), 0, 1)


@dataclass(frozen=True)
class Counts:
    """One pass: `c` of `k` tries of every task pass."""

    c: Ints
    k: Ints

    @property
    def values(self) -> Floats:
        return self.c / self.k


def one_pass(rng: np.random.Generator, p: Floats, tries: int | str, swing: float = 0.0) -> Counts:
    """Run every task `tries` times at its rate."""
    k = rng.choice(UNEVEN, size=p.shape) if tries == "uneven" else np.full(p.shape, tries)
    return Counts(rng.binomial(k, shifted(rng, p, swing)), k)


def pooled(passes: list[Counts]) -> Counts:
    """All passes of an arm as one."""
    return Counts(sum((one.c for one in passes), np.int64(0)), sum((one.k for one in passes), np.int64(0)))


def collapsing(rng: np.random.Generator, datasets: int, n: int) -> tuple[Floats, Floats]:
    """A null that is hard to see through: one task in ten falls from .8 to .02, the others gain a little."""
    falls = rng.random((datasets, n)) < 0.1
    return np.where(falls, 0.8, 0.4), np.where(falls, 0.02, 0.4 + 0.078 / 0.9)


def both_ways(rng: np.random.Generator, datasets: int, n: int) -> tuple[Floats, Floats]:
    """A null where every task moves: half of them up by .2, half down by .2."""
    up = rng.random((datasets, n)) < 0.5
    return np.full((datasets, n), 0.5), np.where(up, 0.7, 0.3)


HARD_NULLS = {"one in ten collapses": collapsing, "half up, half down": both_ways}
