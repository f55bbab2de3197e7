"""monitor(): look as often as you like. A betting e-process whose false-PASS rate holds at every look, not only the
last.

E_t is the mean over 25 bets of prod(1 + bet x d_i); when nothing moved it exceeds 2/alpha at any time with probability
at most alpha/2 (Ville). It asks for a task order fixed before looking, and rewards in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whileai.core.errors import InputError, UsageError
from whileai.core.results import Result
from whileai.stats import text
from whileai.stats.arms import Arm, Passes, Shared, lined_up, read_arm, refuse_copies
from whileai.stats.intervals import Floats, check_alpha

_BETS = np.arange(1, 26) / 26


@dataclass(frozen=True)
class Monitor(Result):
    """Where an always-valid comparison stands. verdict: PASS, WORSE or "undecided".

    e_value, e_loss: evidence for a gain and for a loss so far; either decides at `threshold` = 2/alpha. decided_at: the
    task (1 is the first in order) at which it did, None before. trace, trace_loss: both after every task. n_seen: tasks
    used, in order.
    """

    verdict: str
    e_value: float
    e_loss: float
    threshold: float
    decided_at: int | None
    delta: float
    n_seen: int
    n_planned: int
    trace: tuple[float, ...]
    trace_loss: tuple[float, ...]
    notes: tuple[str, ...]
    alpha: float

    def __str__(self) -> str:
        return text.monitor_report(self)


def monitor(before: Passes, after: Passes, *, order: Sequence[str] | None = None, alpha: float = 0.05) -> Monitor:
    """Compare two arms while their tasks are still coming in, and stop when it is decided.

    order: task ids in an order fixed before looking, the order of the before arm's rows when left out. Only the leading
    run of tasks that both arms have scored counts, so a task that finished early waits for those ahead of it.
    Run-to-run noise is not part of it: run `compare` once stopped.

    Raises InputError for rewards outside [0, 1], an order with a task twice, or no first task yet.
    """
    check_alpha(alpha)
    one, other = read_arm("before", before, None), read_arm("after", after, None)
    refuse_copies(one, other)
    _refuse_unbounded(one, other)
    planned = list(one.found[0].tasks if order is None else map(str, order))
    if len(set(planned)) != len(planned):
        raise UsageError("order= names a task twice")
    d = _leading(one, other, planned)
    up, down = _evidence(d), _evidence(-d)
    decided = [int(i) + 1 for e in (up, down) for i in np.flatnonzero(e >= math.log(2 / alpha))[:1]]
    at = min(decided, default=None)
    verdict = "undecided" if at is None else "PASS" if up[at - 1] >= math.log(2 / alpha) else "WORSE"
    return Monitor(
        verdict=verdict,
        e_value=_exp(up[-1]),
        e_loss=_exp(down[-1]),
        threshold=2 / alpha,
        decided_at=at,
        delta=float(d.mean()),
        n_seen=d.size,
        n_planned=len(planned),
        trace=tuple(map(_exp, up)),
        trace_loss=tuple(map(_exp, down)),
        notes=("run-to-run noise is not included; once stopped, run compare() on what there is",),
        alpha=alpha,
    )


def _refuse_unbounded(one: Arm, other: Arm) -> None:
    for found in (*one.found, *other.found):
        if found.answered.any() and not (found.bounds()[0] >= 0 and found.bounds()[1] <= 1):
            lo, hi = found.bounds()
            raise InputError(
                f"rewards run from {lo:g} to {hi:g}, and the bets need them in [0, 1]; rescale the rewards"
            )


def _leading(one: Arm, other: Arm, planned: list[str]) -> Floats:
    """Differences of the leading tasks that both arms have scored."""
    shared = Shared(planned, 1.0)
    d = lined_up(other, shared).pooled().values("pass_at_1", 1) - lined_up(one, shared).pooled().values("pass_at_1", 1)
    missing = np.flatnonzero(np.isnan(d))
    seen = d[: missing[0]] if missing.size else d
    if not seen.size:
        raise InputError(
            f"the first task in order, {planned[0]!r}, is not scored in both arms yet; there is nothing to see"
        )
    return seen


def _evidence(d: Floats) -> Floats:
    """(n,) log of the mixture's wealth after every task."""
    wealth = np.cumsum(np.log1p(np.outer(_BETS, d)), axis=1)
    highest = wealth.max(0)
    found: Floats = highest + np.log(np.mean(np.exp(wealth - highest), axis=0))
    return found


def _exp(log: float) -> float:
    return math.exp(min(float(log), 700.0))
