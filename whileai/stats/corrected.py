"""A judge's pass rate put right by what the judge gets wrong on labelled rows (Rogan and Gladen)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whileai.core.errors import InputError
from whileai.core.results import Result
from whileai.stats.chance import bracket, wilson
from whileai.stats.intervals import Codes, Floats, check_alpha, spread, z_quantile
from whileai.stats.labels import read_numbers, same_length, task_codes


@dataclass(frozen=True)
class CorrectedRate(Result):
    """A judge's pass rate, put right by what the judge gets wrong on labelled rows.

    observed: the rate of passes by the judge on n rows (n_effective when tasks repeat). rate [lo..hi]: the rate the
    labels would show, None when the judge tells nothing apart (`why`). sensitivity: passes among n_positive rows
    labelled 1; specificity: fails among n_negative rows labelled 0; each with its Wilson bounds.
    """

    observed: float
    rate: float | None
    lo: float | None
    hi: float | None
    why: str
    sensitivity: tuple[float, float, float] | None
    specificity: tuple[float, float, float] | None
    n: int
    n_effective: float
    n_positive: int
    n_negative: int
    alpha: float

    def __str__(self) -> str:
        if self.rate is None or self.sensitivity is None or self.specificity is None:
            return f"corrected pass rate: none, {self.why}"
        return (
            f"corrected pass rate {bracket(self.rate, self.lo, self.hi)}, the judge's own {self.observed:.2f}"
            f" ({self.n} rows, worth {self.n_effective:.0f})\n"
            f"  sensitivity {bracket(*self.sensitivity)} ({self.n_positive} rows labelled 1), specificity"
            f" {bracket(*self.specificity)} ({self.n_negative} labelled 0); Rogan-Gladen, {1 - self.alpha:.0%}"
            " Lang-Reiczigel interval"
        )


def corrected_rate(
    verdicts: Iterable[Any],
    labels: Iterable[Any],
    *,
    tasks: Sequence[Hashable] | None = None,
    alpha: float = 0.05,
) -> CorrectedRate:
    """The pass rate of all rows with a 0/1 verdict, corrected by the rows that also have a 0/1 label.

    Rogan and Gladen (1978): (observed + specificity - 1) / (sensitivity + specificity - 1). The interval is Lang and
    Reiczigel's (2014), for sensitivity and specificity that are themselves estimated; it assumes that the labelled
    rows are a fair draw of each class. Raises InputError for values other than 0, 1 and missing, differing lengths or
    no verdict.
    """
    check_alpha(alpha)
    verdict, label = _binary(verdicts, "verdicts"), _binary(labels, "labels")
    same_length(verdicts=verdict, labels=label, tasks=tasks)
    judged = ~np.isnan(verdict)
    if not judged.any():
        raise InputError("no row has a verdict, so there is no rate to correct; judge some rows first")
    observed = float(verdict[judged].mean())
    effective = _effective(verdict[judged], task_codes(tasks, judged, judged.size))
    hits, misses = verdict[judged & (label == 1)], 1 - verdict[judged & (label == 0)]
    shown = [(float(v.mean()), *wilson(float(v.mean()), v.size, alpha)) if v.size else None for v in (hits, misses)]
    rate, lo, hi, why = _rogan_gladen(observed, effective, hits, misses, alpha)
    return CorrectedRate(
        observed, rate, lo, hi, why, shown[0], shown[1], int(judged.sum()), effective, hits.size, misses.size, alpha
    )


def _rogan_gladen(
    observed: float, n: float, hits: Floats, misses: Floats, alpha: float
) -> tuple[float | None, float | None, float | None, str]:
    if not hits.size or not misses.size:
        return None, None, None, f"no judged row is labelled {0 if hits.size else 1}; label some of both classes"
    power = float(hits.mean() + misses.mean()) - 1
    if power <= 0:
        return None, None, None, "the judge passes bad rows as often as good ones, so its rate carries nothing"
    rate = min(1.0, max(0.0, (observed + float(misses.mean()) - 1) / power))
    z = z_quantile(1 - alpha / 2)
    p = (n * observed + z**2 / 2) / (n + z**2)
    m1, m0 = hits.size + 2, misses.size + 2
    se, sp = (float(hits.sum()) + 1) / m1, (float(misses.sum()) + 1) / m0
    if se + sp <= 1:
        return rate, 0.0, 1.0, "too few labelled rows to bound it"
    middle = (p + sp - 1) / (se + sp - 1)
    from_se, from_sp = se * (1 - se) / m1, sp * (1 - sp) / m0
    variance = p * (1 - p) / (n + z**2) + middle**2 * from_se + (1 - middle) ** 2 * from_sp
    centre = middle + 2 * z**2 * (middle * from_se - (1 - middle) * from_sp)
    half = z * math.sqrt(variance) / (se + sp - 1)
    return rate, min(rate, max(0.0, centre - half)), max(rate, min(1.0, centre + half)), ""


def _effective(values: Floats, clusters: Codes | None) -> float:
    """How many independent rows 0/1 values with repeated tasks are worth: between tasks and rows."""
    mean = float(values.mean())
    if clusters is None:
        return float(values.size)
    found = spread(values, clusters)
    if not found.se > 0:
        return float(found.n)
    return min(float(values.size), max(float(found.n), mean * (1 - mean) / found.se**2))


def _binary(values: Iterable[Any], source: str) -> Floats:
    read = read_numbers(values, source)
    odd = read[~np.isnan(read) & (read != 0) & (read != 1)]
    if odd.size:
        raise InputError(f"{source} hold {odd[0]:g}, which is neither 0 nor 1; say what passes, for example x >= 0.5")
    return read
