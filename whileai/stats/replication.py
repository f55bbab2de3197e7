"""replicate(): does training again move the score again? Random effects over training runs on the same tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whileai.core.errors import InputError, TasksDiffer, UsageError
from whileai.core.results import Result
from whileai.stats import text
from whileai.stats.arms import Passes, lined_up, read_arm, refuse_copies, shared_tasks
from whileai.stats.intervals import Floats, RunVariance, Spread, check_alpha, spread, t_interval, t_quantile
from whileai.stats.noise import Components, components
from whileai.stats.paired import FEWEST

REPLICATED, UNREPLICATED, NOT_REPLICATED = "replicated", "moved, unreplicated", "not replicated"
PRIOR_DF = 4.0


@dataclass(frozen=True)
class Replication(Result):
    """What several training runs say together. verdict: "replicated", "moved, unreplicated" (one run) or "not
    replicated".

    deltas: each run's delta by name; delta, lo, hi, se, df: their mean with its interval (None where there is none).
    between_std: standard deviation of the deltas between runs, None for one. n_started: runs, all of them. method says
    how.
    """

    verdict: str
    deltas: dict[str, float]
    delta: float
    lo: float | None
    hi: float | None
    se: float | None
    df: float | None
    between_std: float | None
    n_started: int
    n_tasks: int
    metric: str
    method: str
    evidence: tuple[str, ...]
    alpha: float

    def __str__(self) -> str:
        return text.replication_report(self)


def replicate(
    before: Any,
    after: Sequence[Passes] | None = None,
    *,
    names: Sequence[str] | None = None,
    started: int | None = None,
    sigma0: float = 0.03,
    strict: bool = False,
    alpha: float = 0.05,
) -> Replication:
    """Whether a training gain replicates: two runs or more, every one up, and the lower bound of their mean above zero.

    before, after: the base model's rows (or passes) and one arm of rows per training run; or, as `before` alone, a list
    of (before, after) pairs, whose tasks may differ from run to run. Give every run that was started: `started` is
    their number, and fewer arms than that are refused, because the best of several is no replication. sigma0: what
    training seeds usually move a score by. strict: modified Hartung-Knapp, which asks the runs alone for their spread;
    for papers.

    Raises UsageError or InputError, TasksDiffer when one run's two arms have other tasks. Method: random effects with a
    moderated between-run variance; strict: Rover, Knapp and Friede 2015.
    """
    check_alpha(alpha)
    pairs = _pairs(before, after)
    labels = _names(names, len(pairs))
    if started is not None and started != len(pairs):
        raise InputError(
            f"{started} runs were started and {len(pairs)} given; choosing among runs is not a replication"
        )
    differences = [_differences(one, other, label) for (one, other), label in zip(pairs, labels, strict=True)]
    deltas = {label: float(d.mean()) for label, (_, d) in zip(labels, differences, strict=True)}
    _refuse_twice([other for _, other in pairs])
    found = _combined(differences, sigma0, strict)
    return _ruled(deltas, found, alpha, strict)


@dataclass(frozen=True)
class _Combined:
    """The mean of the deltas: its spread over tasks, what runs add, and the between-run variance (None for one run)."""

    spread: Spread
    run: RunVariance
    between: float | None
    n_tasks: int
    strict: tuple[float, float] | None


def _pairs(before: Any, after: Sequence[Passes] | None) -> list[tuple[Passes, Passes]]:
    if after is None:
        found = list(before)
        if not found or any(not isinstance(pair, tuple) or len(pair) != 2 for pair in found):
            raise UsageError("replicate needs before and a list of after arms, or one list of (before, after) tuples")
        return found
    arms = list(after)
    before = before if isinstance(before, Sequence) else list(before)
    if not arms or isinstance(arms[0], dict):
        raise UsageError("replicate needs a list of arms as its second argument, one per training run")
    return [(before, arm) for arm in arms]


def _names(names: Sequence[str] | None, n: int) -> list[str]:
    found = list(names) if names is not None else [f"run {i + 1}" for i in range(n)]
    if len(found) != n or len(set(found)) != n:
        raise UsageError(f"names= has {len(found)} names ({len(set(found))} different) for {n} runs")
    return found


def _differences(before: Passes, after: Passes, label: str) -> tuple[list[str], Floats]:
    """The tasks scored in both arms of one run, sorted, and their differences."""
    one, other = read_arm(f"{label}, before", before, None), read_arm(f"{label}, after", after, None)
    try:
        shared = shared_tasks(one, other, allow_partial=False)
    except TasksDiffer as error:
        raise TasksDiffer(f"{label}: {error}") from None
    refuse_copies(one, other)
    d = lined_up(other, shared).pooled().values("pass_at_1", 1) - lined_up(one, shared).pooled().values("pass_at_1", 1)
    order = sorted((task, i) for i, task in enumerate(shared.tasks) if not np.isnan(d[i]))
    if not order:
        raise InputError(f"{label}: no task is scored in both arms; grade both arms first")
    return [task for task, _ in order], d[[i for _, i in order]]


def _refuse_twice(arms: Sequence[Passes]) -> None:
    for i, one in enumerate(arms):
        for j, other in enumerate(arms[:i]):
            if one is other or (isinstance(one, list) and isinstance(other, list) and one == other):
                raise InputError(f"runs {j + 1} and {i + 1} are the same rows; a run counted twice replicates nothing")


def _combined(runs: Sequence[tuple[list[str], Floats]], sigma0: float, strict: bool) -> _Combined:
    """Spread over tasks plus moderated spread between runs; on other tasks per run, their own variances stand in."""
    deltas = np.array([d.mean() for _, d in runs])
    R = len(runs)
    common = set(runs[0][0]).intersection(*(tasks for tasks, _ in runs[1:]))
    same = len(common) >= 2 and all(len(set(tasks) - common) == 0 for tasks, _ in runs)
    own = [spread(d) for _, d in runs]
    if same:
        matrix = np.stack([d for _, d in runs])
        over_tasks, n = spread(matrix.mean(0)), matrix.shape[1]
        v0 = components(matrix).sampling_var if R > 1 else math.nan
    else:
        variance = sum(s.se**2 for s in own) / R
        over_tasks = Spread(
            float(deltas.mean()), math.sqrt(variance / R), sum(s.df for s in own), sum(s.n for s in own)
        )
        n, v0 = over_tasks.n, variance
    if R == 1:
        return _Combined(over_tasks, RunVariance(), None, n, None)
    between = float(deltas.var(ddof=1))
    seen = Components(between, v0, R - 1, 0, n)
    prior = PRIOR_DF * (v0 + sigma0**2)
    whole = (seen.df * between + prior) / (seen.df + PRIOR_DF)
    run = RunVariance(max(0.0, whole - v0) / R, whole / R, seen.df + PRIOR_DF)
    return _Combined(over_tasks, run, between, n, _hartung_knapp(deltas, own) if strict else None)


def _hartung_knapp(deltas: Floats, own: Sequence[Spread]) -> tuple[float, float]:
    """(mean, standard error) by random effects with the modified Hartung-Knapp factor max(1, q); df is R - 1."""
    variances = np.array([max(s.se**2, 1e-12) for s in own])
    tau2 = max(0.0, float(deltas.var(ddof=1)) - float(variances.mean()))
    weights = 1 / (variances + tau2)
    mean = float(np.sum(weights * deltas) / weights.sum())
    q = float(np.sum(weights * (deltas - mean) ** 2)) / (deltas.size - 1)
    return mean, math.sqrt(max(1.0, q) / float(weights.sum()))


def _ruled(deltas: dict[str, float], found: _Combined, alpha: float, strict: bool) -> Replication:
    R = len(deltas)
    mean, lo, hi, se, df = _interval(found, R, alpha)
    down = [name for name, delta in deltas.items() if delta <= 1e-12]
    verdict, evidence = NOT_REPLICATED, []
    if found.n_tasks < FEWEST:
        evidence.append(f"{found.n_tasks} tasks: no verdict below {FEWEST}")
    elif lo is not None and lo > 0 and not down:
        verdict = REPLICATED if R > 1 else UNREPLICATED
        evidence.append("every run is up and the interval on their mean lies above zero" if R > 1 else _ONE_RUN)
    else:
        evidence += [f"{name} is not up" for name in down]
        if lo is not None and lo <= 0:
            evidence.append("the interval on the mean reaches zero")
    return Replication(
        verdict=verdict,
        deltas=deltas,
        delta=mean,
        lo=lo,
        hi=hi,
        se=se,
        df=df,
        between_std=None if found.between is None else math.sqrt(found.between),
        n_started=R,
        n_tasks=found.n_tasks,
        metric="pass_at_1",
        method="modified Hartung-Knapp" if strict else "random effects, moderated",
        evidence=(
            *evidence,
            f"{R} {'run' if R == 1 else 'runs'} given; every run started must be among them, or this says nothing",
        ),
        alpha=alpha,
    )


_ONE_RUN = "one training run moved the score; train again with another seed before telling anyone"


def _interval(
    found: _Combined, R: int, alpha: float
) -> tuple[float, float | None, float | None, float | None, float | None]:
    if found.spread.n < 2:
        return found.spread.mean, None, None, None, None
    if found.strict is not None:
        mean, se = found.strict
        half = t_quantile(1 - alpha / 2, R - 1) * se
        return mean, mean - half, mean + half, se, float(R - 1)
    interval = t_interval(found.spread, alpha, run=found.run)
    return found.spread.mean, interval.lo, interval.hi, interval.se, interval.df
