"""How many tasks a comparison needs, and the smallest gain a given number can see.

Variance of one task's difference (Miller 2024): V = omega^2 + sigma_b^2/k + sigma_a^2/k, where sigma^2 is the variance
of one try within a task and omega^2 the variance of the true gain between tasks. n = (z_{1-alpha/2} + z_power)^2 V /
effect^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whileai.core.errors import InputError, TasksDiffer, UsageError
from whileai.core.results import Result
from whileai.stats import text
from whileai.stats.columns import Columns, Rows, scored
from whileai.stats.intervals import check_alpha, t_quantile, z_quantile
from whileai.stats.tables import Table, aligned, check_k

_PILOT_CHANCE = 0.2  # n_low and n_high are the 20% and 80% ends of what the pilot allows


@dataclass(frozen=True)
class HoldoutSize(Result):
    """How many held-out tasks show `effect` with the given power.

    n_tasks: by the normal formula (89 for +0.10 from 0.6 with 4 tries). n_tasks_t: by the noncentral t, a few more.
    n_low, n_high: with a pilot, the 20% and 80% ends of its variance; without, the gain spread evenly over tasks and
    the gain concentrated in a few (also n_concentrated, None with a pilot or task_std). All None when no number
    suffices: re-run more. task_std: standard deviation of one task's difference; omega: of the true gain between tasks.
    source: where these come from. mde: the smallest effect n_tasks tasks see.
    """

    n_tasks: int | None
    n_tasks_t: int | None
    n_concentrated: int | None
    n_low: int | None
    n_high: int | None
    effect: float
    task_std: float
    omega: float
    source: str
    mde: float | None
    k: int
    power: float
    alpha: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return text.size_report(self)


@dataclass(frozen=True)
class _Plan:
    """Variance of a task's difference with its ends, and where it comes from."""

    variance: float
    low: float
    high: float
    omega2: float
    concentrated: float | None
    source: str
    notes: tuple[str, ...] = ()


def holdout_size(
    effect: float,
    *,
    base: float = 0.6,
    k: int = 4,
    power: float = 0.8,
    alpha: float = 0.05,
    icc: float = 0.0,
    before: Rows | None = None,
    after: Rows | None = None,
    task_std: float | None = None,
    extra_std: float = 0.0,
    n_before: int = 1,
    n_after: int = 1,
) -> HoldoutSize:
    """The number of held-out tasks, k tries each, that shows a gain of `effect` in pass@1.

    base: the pass rate before. icc: share of the rewards' variance that lies between tasks. before, after: rows of a
    pilot; both give the variance of the difference itself, `before` alone gives base and icc. task_std: the standard
    deviation of a task's difference, when known. extra_std: what whole runs shift beyond re-sampling
    (`eval_variance(...).extra_std`), with n_before and n_after passes in each arm.

    Raises UsageError for arguments that make no sense, InputError and TasksDiffer for a pilot that cannot be used.
    """
    _check(effect, base, k, power, alpha, icc)
    if task_std is not None:
        plan = _Plan(task_std**2, task_std**2, task_std**2, 0.0, None, "the task_std given")
    elif before is not None and after is not None:
        plan = _paired_pilot(scored(before, source="before"), scored(after, source="after"), k)
    elif before is not None:
        plan = _base_pilot(scored(before, source="before"), effect, k)
    else:
        even, few = _even(base, effect, k, icc), _concentrated(base, effect, k, icc)
        ends = min(even, few[0]), max(even, few[0])
        plan = _Plan(even, *ends, 0.0, few[0], f"base {base:g}, icc {icc:g}, the same gain on every task")
    run = extra_std**2 * (1 / n_before + 1 / n_after)
    return _sized(plan, effect, k, power, alpha, run)


def tasks_needed(
    effect: float, variance: float, power: float = 0.8, alpha: float = 0.05, run_variance: float = 0.0
) -> int | None:
    """Tasks that see `effect` by the normal formula, at least 2; None when the run variance alone hides it at any
    number.
    """
    z2 = (z_quantile(1 - alpha / 2) + z_quantile(power)) ** 2
    left = effect**2 - z2 * run_variance
    return max(2, math.ceil(z2 * variance / left - 1e-9)) if left > 0 else None


def mde(n: int, variance: float, power: float = 0.8, alpha: float = 0.05, run_variance: float = 0.0) -> float:
    """The smallest effect that n >= 2 tasks see with the given power; variance is that of one task's difference."""
    t = t_quantile(1 - alpha / 2, n - 1) + t_quantile(power, n - 1)
    return t * math.sqrt(variance / n + run_variance)


def tasks_needed_t(effect: float, variance: float, power: float, alpha: float, start: int) -> int:
    """Tasks that see `effect` by the noncentral t, searched upwards from `start`."""
    from scipy.special import nctdtr

    n = max(2, start)
    while variance > 0:
        shift = effect / math.sqrt(variance / n)
        if 1 - float(nctdtr(n - 1, shift, t_quantile(1 - alpha / 2, n - 1))) >= power:
            break
        n += 1
    return n


def _sized(plan: _Plan, effect: float, k: int, power: float, alpha: float, run: float) -> HoldoutSize:
    def need(variance: float | None) -> int | None:
        return None if variance is None else tasks_needed(effect, variance, power, alpha, run)

    n = need(plan.variance)
    exact = None if n is None else n if run else tasks_needed_t(effect, plan.variance, power, alpha, n)
    return HoldoutSize(
        n_tasks=n,
        n_tasks_t=exact,
        n_concentrated=need(plan.concentrated),
        n_low=need(plan.low),
        n_high=need(plan.high),
        effect=effect,
        task_std=math.sqrt(plan.variance),
        omega=math.sqrt(plan.omega2),
        source=plan.source,
        mde=None if n is None else mde(n, plan.variance, power, alpha, run),
        k=k,
        power=power,
        alpha=alpha,
        notes=plan.notes,
    )


def _even(p: float, effect: float, k: int, icc: float) -> float:
    """V when every task gains the same: only the tries' own variance counts."""
    after = p + effect
    return (p * (1 - p) + after * (1 - after)) * (1 - icc) / k


def _concentrated(p: float, effect: float, k: int, icc: float) -> tuple[float, float]:
    """V and omega^2 when a share effect/(1-p) of the tasks goes to 1 and the rest stays."""
    moved = effect / (1 - p)
    omega2 = moved * (1 - moved) * (1 - p) ** 2
    within = p * (1 - p) * (1 - icc)
    return omega2 + (within + (1 - moved) * within) / k, omega2


def _within(counts: Table) -> tuple[float | None, float]:
    """Mean variance of one try within a task (None without repeats), and the mean of 1/n over scored tasks."""
    repeated = counts.n > 1
    seen = counts.n > 0
    inverse = float(np.mean(1 / counts.n[seen]))
    if not repeated.any():
        return None, inverse
    n = counts.n[repeated]
    return float(np.mean((counts.square[repeated] - counts.total[repeated] ** 2 / n) / (n - 1))), inverse


def _paired_pilot(one: Columns, other: Columns, k: int) -> _Plan:
    """V from the pilot's differences; its within-task part is rescaled to k tries when the pilot has repeats."""
    if set(one.tasks) != set(other.tasks):
        raise TasksDiffer(f"the pilot's arms have {len(one.tasks)} and {len(other.tasks)} tasks that are not the same")
    a, b = (aligned([found], one.tasks).pooled() for found in (one, other))
    d = b.values("pass_at_1", 1) - a.values("pass_at_1", 1)
    d = d[~np.isnan(d)]
    if d.size < 3:
        raise InputError(f"the pilot has {d.size} tasks scored in both arms, and a variance needs at least 3")
    whole = float(np.var(d, ddof=1))
    parts = [_within(counts) for counts in (a, b)]
    notes = [f"from a pilot of {d.size} tasks; planning on n_high keeps the power when the pilot was lucky"]
    variance, omega2 = whole, math.nan
    if all(within is not None for within, _ in parts):
        sampling = sum(float(within or 0.0) * inverse for within, inverse in parts)
        omega2 = max(0.0, whole - sampling)
        variance = omega2 + sum(float(within or 0.0) for within, _ in parts) / k
    else:
        notes.append("the pilot has one try a task, so its variance is used as it is, for one try a task")
    low, high = (variance * (d.size - 1) / _chi2(chance, d.size - 1) for chance in (1 - _PILOT_CHANCE, _PILOT_CHANCE))
    omega2 = 0.0 if math.isnan(omega2) else omega2
    return _Plan(variance, low, high, omega2, None, f"a paired pilot of {d.size} tasks", tuple(notes))


def _chi2(p: float, df: int) -> float:
    from scipy.special import gammaincinv

    return 2 * float(gammaincinv(df / 2, p))


def _base_pilot(one: Columns, effect: float, k: int) -> _Plan:
    """base and icc from a pilot of the base model alone; the gain's spread stays between even and concentrated."""
    counts = aligned([one], one.tasks).pooled()
    values = counts.values("pass_at_1", 1)
    values = values[~np.isnan(values)]
    if values.size < 3 or not one.binary():
        raise InputError("a pilot of the base alone needs 0/1 rewards on at least 3 tasks; pass after= as well")
    p = float(values.mean())
    if not 0 < p < 1 - effect:
        raise InputError(f"the pilot's pass rate {p:.3f} leaves no room for a gain of {effect:g}")
    within, inverse = _within(counts)
    between = 0.0 if within is None else max(0.0, float(np.var(values, ddof=1)) - within * inverse)
    icc = min(1.0, between / (p * (1 - p)))
    even, (few, _) = _even(p, effect, k, icc), _concentrated(p, effect, k, icc)
    source = f"a base pilot of {values.size} tasks: base {p:.3f}, icc {icc:.2f}"
    return _Plan(even, min(even, few), max(even, few), 0.0, few, source)


def _check(effect: float, base: float, k: int, power: float, alpha: float, icc: float) -> None:
    check_alpha(alpha)
    check_k(k)
    if not effect > 0 or not math.isfinite(effect):
        raise UsageError(f"effect={effect!r} is not a gain above 0; 0.1 is ten points")
    if not 0 <= base < 1:
        raise UsageError(f"base={base!r} is not a pass rate below 1")
    if base + effect > 1:
        raise UsageError(f"base {base:g} plus effect {effect:g} is above 1, which no pass rate reaches")
    if not 0.5 <= power < 1:
        raise UsageError(f"power={power!r} is not between 0.5 and 1")
    if not 0 <= icc <= 1:
        raise UsageError(f"icc={icc!r} is not between 0 and 1")
