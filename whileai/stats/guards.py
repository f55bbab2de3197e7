"""Guards: metrics that must not fall by more than a margin, as non-inferiority tests.

"Not significantly worse" lets a true loss of five points through 86 times in 100 at 40 tasks, so a guard is CLEAR only
when its interval excludes a loss of the margin; else REGRESSED when a loss is shown, and UNPROVEN when neither is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whileai.core.errors import UsageError
from whileai.core.results import Result
from whileai.stats.paired import FEWEST, Delta, family

REGRESSED, CLEAR, UNPROVEN = "REGRESSED", "CLEAR", "UNPROVEN"


@dataclass(frozen=True)
class Guard(Result):
    """One guarded metric: its delta, the largest loss allowed, and REGRESSED, CLEAR or UNPROVEN."""

    metric: str
    margin: float
    status: str
    delta: Delta


def check_margins(margins: Mapping[str, float] | None) -> dict[str, float]:
    """The margins as a plain dict. Raises UsageError unless every one is a finite number of at least 0."""
    if margins is not None and not isinstance(margins, Mapping):
        raise UsageError("must_not_regress maps a metric to the largest loss allowed, as in {'pass_pow_k': 0.05}")
    for name, margin in (margins or {}).items():
        if (
            isinstance(margin, bool)
            or not isinstance(margin, (int, float))
            or not (math.isfinite(margin) and margin >= 0)
        ):
            raise UsageError(f"must_not_regress: the margin {margin!r} of {name} is not a loss of at least 0")
    return dict(margins or {})


def guarded(deltas: Sequence[Delta], margins: Sequence[float], alpha: float) -> list[Guard]:
    """Holm over the guards decides REGRESSED; each guard's own interval decides CLEAR (intersection-union)."""
    found = []
    for d, margin in zip(family(deltas, alpha), margins, strict=True):
        status = UNPROVEN
        if d.n >= FEWEST and d.lo is not None and d.p_holm is not None:
            if d.lo > -margin:
                status = CLEAR
            elif d.p_holm < alpha and d.delta < 0:
                status = REGRESSED
        found.append(Guard(d.metric, margin, status, d))
    return found
