"""The noise floor: the smallest difference that re-running the eval does not make by itself.

literal:   t(R-1) x run_std x sqrt(1/n1 + 1/n2), from the spread of R re-runs as it stands.
moderated: the spread is first drawn towards what re-sampling explains (an empirical-Bayes variance in the manner of
           Smyth 2004), which both tames a lucky run_std of .002 and keeps the power a literal floor throws away;
           what remains beyond re-sampling also widens the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from whileai.core.errors import UsageError
from whileai.core.results import Result
from whileai.stats.intervals import RunVariance, t_quantile, z_quantile
from whileai.stats.noise import Components

KINDS = ("literal", "moderated")
PRIOR_STD = 0.01  # tau0: whole runs of a sound eval shift by about a point
PRIOR_DF = 4.0  # nu0: and that is worth four degrees of freedom


@dataclass(frozen=True)
class Floor(Result):
    """A delta whose size is under `value` is noise: t x spread x sqrt(1/n_before + 1/n_after).

    spread: run_std itself (literal) or the moderated standard deviation. run_std and run_std_runs: as measured or
    given. resampling_std: what sampling alone does to one run's score, None when tries are not repeated.
    sampling_floor: the floor sampling alone implies, set when run_std came out smaller than that. given: the caller
    passed run_std.
    """

    kind: str
    value: float
    run_std: float
    run_std_runs: int
    spread: float
    t: float
    df: float
    n_before: int
    n_after: int
    resampling_std: float | None
    sampling_floor: float | None
    given: bool
    note: str = ""


@dataclass(frozen=True)
class Reruns:
    """What is known of re-runs: their spread with df, v0 (None: unknown), and how many passes each arm pools."""

    run_std: float
    df: float
    runs: int
    v0: float | None
    n_before: int
    n_after: int
    given: bool

    @property
    def factor(self) -> float:
        return 1 / self.n_before + 1 / self.n_after


def literal(seen: Reruns, alpha: float, note: str = "") -> Floor:
    """The floor of the formula above with the measured spread; the interval stays as it is."""
    t = t_quantile(1 - alpha / 2, seen.df)
    value = t * seen.run_std * math.sqrt(seen.factor)
    return _floor("literal", value, seen.run_std, t, seen.df, seen, alpha, note)


def moderated(
    seen: Reruns, alpha: float, *, prior_std: float = PRIOR_STD, prior_df: float = PRIOR_DF
) -> tuple[Floor, RunVariance]:
    """The moderated floor, and the run variance that belongs into the interval.

    Without repeats v0 is unknown and the prior cannot be centred: the literal floor stands, and says so.
    """
    if seen.v0 is None:
        return literal(
            seen, alpha, "one try a task: re-sampling cannot be told from re-running, so not moderated"
        ), RunVariance()
    df = seen.df + prior_df
    variance = (seen.df * seen.run_std**2 + prior_df * (seen.v0 + prior_std**2)) / df
    tau2 = max(0.0, variance - seen.v0)
    t = t_quantile(1 - alpha / 2, df)
    value = t * math.sqrt(variance * seen.factor)
    floor = _floor("moderated", value, math.sqrt(variance), t, df, seen, alpha, "")
    return floor, RunVariance(tau2 * seen.factor, variance * seen.factor, df) if tau2 > 0 else RunVariance()


def _floor(kind: str, value: float, spread: float, t: float, df: float, seen: Reruns, alpha: float, note: str) -> Floor:
    resampling = None if seen.v0 is None else math.sqrt(seen.v0)
    implied = None
    if resampling is not None and seen.run_std < resampling:
        implied = z_quantile(1 - alpha / 2) * resampling * math.sqrt(seen.factor)
    return Floor(
        kind,
        value,
        seen.run_std,
        seen.runs,
        spread,
        t,
        df,
        seen.n_before,
        seen.n_after,
        resampling,
        implied,
        seen.given,
        note,
    )


def from_passes(found: Components, n_before: int, n_after: int, runs: int) -> Reruns:
    """Re-runs measured from the passes themselves."""
    v0 = None if math.isnan(found.sampling_var) else found.sampling_var
    return Reruns(math.sqrt(found.run_var), found.df, runs, v0, n_before, n_after, given=False)


def from_scalars(run_std: float | None, runs: int | None, v0: float | None, n_before: int, n_after: int) -> Reruns:
    """Re-runs the caller measured. Raises UsageError for a spread that is no spread or a count that gives it no df."""
    if run_std is None or runs is None:
        have, lack = ("run_std_runs", "run_std") if run_std is None else ("run_std", "run_std_runs")
        raise UsageError(f"{have}= needs {lack}= beside it: a spread counts only with the number of runs it came from")
    if isinstance(runs, bool) or runs != int(runs) or runs < 2:
        raise UsageError(f"run_std_runs={runs!r} is not a number of runs; a spread needs at least 2")
    if isinstance(run_std, bool) or not (math.isfinite(run_std) and run_std >= 0):
        raise UsageError(f"run_std={run_std!r} is not a standard deviation; it is a finite number of at least 0")
    return Reruns(float(run_std), int(runs) - 1, int(runs), v0, n_before, n_after, given=True)
