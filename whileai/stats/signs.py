"""Second opinions on a paired difference that assume almost nothing: the sign-flip test and McNemar's exact test."""

from __future__ import annotations

import math

import numpy as np

from whileai.stats.intervals import Floats

_ENUMERATED = 14
_DEAREST = 20_000_000  # cells of the lattice sum; about a tenth of a second


def signflip_p(d: Floats) -> tuple[float, str]:
    """Two-sided p that the signs of the task differences are coin flips, and how it was computed.

    Exact by enumeration up to 14 non-zero differences, exact on a lattice (differences of passes out of a few tries lie
    on one) while that is cheap, else a normal tail with its fourth-cumulant correction. No random flips: the same p
    every time.
    """
    sizes = np.abs(d[np.abs(d) > 1e-12])
    observed = abs(float(d.sum()))
    if sizes.size == 0:
        return 1.0, "exact"
    if sizes.size <= _ENUMERATED:
        signs = 1 - 2 * ((np.arange(1 << sizes.size)[:, None] >> np.arange(sizes.size)) & 1)
        return float(np.mean(np.abs(signs @ sizes) >= observed - 1e-9)), "exact"
    steps = _lattice(sizes)
    if steps is not None:
        return _lattice_tail(steps, observed * float(steps.sum()) / float(sizes.sum())), "exact"
    return _normal_tail(sizes, observed), "normal tail"


def mcnemar_p(d: Floats) -> tuple[int, int, float]:
    """(tasks up, tasks down, two-sided exact p) for one 0/1 try a task in each arm (McNemar 1947)."""
    from scipy.special import bdtr

    up, down = int(np.sum(d > 0)), int(np.sum(d < 0))
    p = 1.0 if up + down == 0 else min(1.0, 2 * float(bdtr(min(up, down), up + down, 0.5)))
    return up, down, p


def _lattice(sizes: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
    """The sizes as whole multiples of a common step, None when there is none or the sum over it would be dear."""
    for parts in (1, 2, 4, 8, 12, 16, 24, 48, 60, 96, 120, 240, 720, 5040):
        steps = np.rint(sizes * parts)
        if np.all(np.abs(steps / parts - sizes) < 1e-9):
            found = steps.astype(np.int64)
            found //= np.gcd.reduce(found)
            return found if found.sum() * found.size <= _DEAREST else None
    return None


def _lattice_tail(steps: np.ndarray[tuple[int], np.dtype[np.int64]], observed: float) -> float:
    """P(|sum of +-steps| >= observed), by adding one term at a time to the distribution of the chosen steps' sum."""
    whole = int(steps.sum())
    chance = np.zeros(whole + 1)
    chance[0] = 1.0
    reached = 0
    for step in steps.tolist():
        reached += step
        moved = chance[: reached + 1 - step].copy()
        chance[: reached + 1] *= 0.5
        chance[step : reached + 1] += 0.5 * moved
    sums = np.abs(2 * np.arange(whole + 1) - whole)
    return min(1.0, float(chance[sums >= observed - 1e-6].sum()))


def _normal_tail(sizes: Floats, observed: float) -> float:
    """Edgeworth: the sum of +-d_i has variance sum d^2 and fourth cumulant -2 sum d^4."""
    square = float(np.sum(sizes**2))
    z = observed / math.sqrt(square)
    kurtosis = -2 * float(np.sum(sizes**4)) / square**2
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    tail = 0.5 * math.erfc(z / math.sqrt(2)) + density * kurtosis / 24 * (z**3 - 3 * z)
    return min(1.0, max(0.0, 2 * tail))
