"""How far a score moves when nothing changed: between runs of one eval, and from re-sampling alone.

A run's mean varies because its tries are sampled (v0, known from the rows) and perhaps because whole runs shift
(tau^2). Three runs pin their spread badly: with df 2 it is off by a factor of three either way one time in ten.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whileai.core.errors import InputError, TasksDiffer, UsageError
from whileai.core.results import Result
from whileai.stats import text
from whileai.stats.columns import Columns, Rows, scored
from whileai.stats.doubts import same_rewards
from whileai.stats.intervals import Codes, Floats
from whileai.stats.tables import METRICS, aligned, smallest_group


@dataclass(frozen=True)
class Components:
    """The run x task table taken apart: `run_var` of the run means (df), and `sampling_var`, v0 (df_rest)."""

    run_var: float
    sampling_var: float
    df: float
    df_rest: float
    n_tasks: int

    @property
    def tau2(self) -> float:
        """Variance of whole runs beyond re-sampling, never negative."""
        return max(0.0, self.run_var - self.sampling_var)


def components(Y: Floats) -> Components:
    """Two-way analysis of variance of Y (runs, tasks), R >= 2: v0 = MS_resid / n is what sampling adds to a run mean.

    Tasks that a run did not score are left out.
    """
    Y = Y[:, ~np.isnan(Y).any(0)]
    runs, n = Y.shape
    means = Y.mean(1)
    rest = Y - means[:, None] - Y.mean(0) + Y.mean()
    df_rest = (runs - 1) * (n - 1)
    v0 = float(np.sum(rest**2)) / df_rest / n if df_rest else math.nan
    return Components(float(means.var(ddof=1)), v0, runs - 1, df_rest, n)


def combined(parts: Sequence[Components]) -> Components:
    """Both arms' components as one: variances averaged by their degrees of freedom."""
    df = sum(p.df for p in parts)
    run_var = sum(p.df * p.run_var for p in parts) / df
    sampling = sum(p.df * p.sampling_var for p in parts) / df
    return Components(run_var, sampling, df, sum(p.df_rest for p in parts), min(p.n_tasks for p in parts))


def sampling_variance(found: Columns, ask_codes: Codes | None = None) -> float | None:
    """v0 from one run's repeats: the variance of its mean over tasks that comes from sampling the tries.

    (1/T^2) sum over asks of n_w s_w^2 / n_i^2, where ask w of task i has n_w scored tries. An ask with a single try
    takes the mean variance of the others; None when every ask has one try, because then nothing shows the sampling.
    """
    answered = found.answered
    task, reward = found.task[answered], found.reward[answered]
    ask_codes = found.task if ask_codes is None else ask_codes
    _, ask, size = np.unique(ask_codes[answered], return_inverse=True, return_counts=True)
    if size.max(initial=0) < 2:
        return None
    mean = np.bincount(ask, weights=reward) / size
    square = np.bincount(ask, weights=(reward - mean[ask]) ** 2)
    variance = square / np.maximum(size - 1, 1)
    variance[size < 2] = square[size > 1].sum() / (size[size > 1] - 1).sum()
    per_task = np.bincount(task, minlength=len(found.tasks))
    owner = np.empty(size.size, np.int64)
    owner[ask] = task
    return float(np.sum(size * variance / per_task[owner] ** 2)) / int(np.sum(per_task > 0)) ** 2


@dataclass(frozen=True)
class EvalVariance(Result):
    """How much re-running an eval moves its score, and whether that is more than re-sampling explains.

    means: the score of every run, by "run 1", "run 2", ... run_std: their standard deviation (df = runs - 1).
    resampling_std: what sampling the tries alone would give. F = run_std^2 / resampling_std^2 and its `p`: small p,
    whole runs shift by about `extra_std`. n_tasks: shared tasks that every run scored. None where it cannot be
    computed.
    """

    means: dict[str, float]
    run_std: float
    df: int
    resampling_std: float | None
    F: float | None
    p: float | None
    extra_std: float | None
    n_runs: int
    n_tasks: int
    metric: str
    sentence: str
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return text.noise_report(self)


def eval_variance(*runs: Rows, metric: str = "pass_at_1") -> EvalVariance:
    """The spread of two or more runs of the same model over the same tasks: the noise floor of later comparisons.

    runs: one list of rows a run, as separate arguments. metric: pass_at_1, pass_pow_k, pass_at_k or headroom.
    Raises UsageError for fewer than two runs or an unknown metric, TasksDiffer when the runs' tasks differ.
    """
    if len(runs) < 2:
        raise UsageError(f"eval_variance got {len(runs)} run; it needs at least two, as separate arguments: *runs")
    if metric not in METRICS:
        raise UsageError(f"metric={metric!r} is not known; it is one of {', '.join(METRICS)}")
    passes = [scored(run, source=f"run {number}") for number, run in enumerate(runs, 1)]
    tasks = same_tasks(passes)
    counts = aligned(passes, tasks)
    Y = counts.values(metric, smallest_group(counts))
    shared = ~np.isnan(Y).any(0)
    if not shared.any():
        raise InputError("no task is scored in every run, so their scores cannot be set side by side")
    found = components(Y[:, shared])
    means = {f"run {number}": float(mean) for number, mean in enumerate(Y[:, shared].mean(1), 1)}
    notes = ["every run scored every task the same: a deterministic eval has no re-run noise to measure"]
    return _variance(found, means, metric, tuple(notes) if same_rewards(passes) else ())


def same_tasks(passes: Sequence[Columns]) -> list[str]:
    """The tasks of the first pass. Raises TasksDiffer when another pass has others."""
    first = set(passes[0].tasks)
    for number, found in enumerate(passes[1:], 2):
        if set(found.tasks) != first:
            raise TasksDiffer(
                f"run 1 has {len(first)} tasks, run {number} has {len(found.tasks)}, and"
                f" {len(first & set(found.tasks))} are the same; a spread between runs needs the same tasks in each"
            )
    return passes[0].tasks


def _variance(found: Components, means: dict[str, float], metric: str, notes: tuple[str, ...]) -> EvalVariance:
    v0 = None if math.isnan(found.sampling_var) else found.sampling_var
    ratio = found.run_var / v0 if v0 else None
    p = None
    if ratio is not None:
        from scipy.special import fdtrc

        p = float(fdtrc(found.df, found.df_rest, ratio))
    return EvalVariance(
        means=means,
        run_std=math.sqrt(found.run_var),
        df=int(found.df),
        resampling_std=None if v0 is None else math.sqrt(v0),
        F=ratio,
        p=p,
        extra_std=None if v0 is None else math.sqrt(found.tau2),
        n_runs=len(means),
        n_tasks=found.n_tasks,
        metric=metric,
        sentence=_sentence(found, v0, p),
        notes=notes,
    )


def _sentence(found: Components, v0: float | None, p: float | None) -> str:
    if v0 is None:
        return "one task cannot show what re-sampling alone explains"
    if p is None:
        return "the runs are identical, so re-running shows no noise at all"
    if p < 0.05:
        return f"whole runs shift by about {math.sqrt(found.tau2):.3f} beyond re-sampling (p={p:.3f})"
    return f"re-sampling the tries alone explains this spread (p={p:.2f})"
