"""Three smaller experiments: looking early, replicating a training run, and the number of tasks `holdout_size` says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.statistics.populations import HARD_NULLS, Floats, Population, one_pass, pooled
from benchmarks.statistics.vectors import RunVariances, Spreads, paired_t, spreads
from whileai.core.seeds import integer
from whileai.stats.power import holdout_size
from whileai.stats.replication import PRIOR_DF, replicate

MIDDLE = Population(0.5, 0.3)
LOOKS = range(20, 401, 10)
SIGMA0 = 0.03
TRAINING_STD = (0.0, 0.03, 0.06, 0.10)


def generator(*parts: Any) -> np.random.Generator:
    return np.random.default_rng(integer("benchmarks.statistics", *map(str, parts)))


@dataclass(frozen=True)
class Peeking:
    """PASS at any of the looks: by the ordinary interval and by the e-process, and the mean task of its decision."""

    name: str
    ordinary: float
    always_valid: float
    mean_tasks: float


def peeking(name: str, gain: float, datasets: int) -> Peeking:
    """Look every 10 tasks from 20 to 400 at k = 4 and stop at the first PASS."""
    rng, n = generator("peeking", name, gain), LOOKS[-1]
    if name in HARD_NULLS:
        p, q = HARD_NULLS[name](rng, datasets, n)
    else:
        p = MIDDLE.draw(rng, datasets, n)
        q = p + (1 - p) * gain / 0.5
    d = one_pass(rng, q, 4).values - one_pass(rng, p, 4).values
    ordinary = np.any([paired_t(spreads(d[:, :look].copy())).lo > 1e-12 for look in LOOKS], axis=0)
    wealth = log_wealth(d)
    decided = np.array([wealth[:, look - 1] >= np.log(2 / 0.05) for look in LOOKS])
    found = decided.any(0)
    at = np.where(found, np.array(LOOKS)[decided.argmax(0)], n)
    return Peeking(name, float(ordinary.mean()), float(found.mean()), float(at.mean()))


def log_wealth(d: Floats) -> Floats:
    """(datasets, n) log of the betting mixture after every task, as `whileai.stats.monitor` has it."""
    total = np.zeros_like(d)
    for bet in np.arange(1, 26) / 26:
        total += np.exp(np.cumsum(np.log1p(bet * d), axis=1))
    return np.log(total / 25)


@dataclass(frozen=True)
class Claims:
    """How often a rule calls a recipe good: nothing gained on average, and +10 points gained on average."""

    rule: str
    training_std: float
    false_claim: float
    power: float


def replication(runs: int, training_std: float, datasets: int, n: int = 40) -> list[Claims]:
    """`runs` training runs whose true gains vary by training_std, against three pooled base passes, k = 4."""
    rng = generator("replication", runs, training_std)
    found = [replication_rules(rng, runs, mean, training_std, datasets, n) for mean in (0.0, 0.1)]
    return [Claims(rule, training_std, float(found[0][rule].mean()), float(found[1][rule].mean())) for rule in found[0]]


def replication_rules(
    rng: np.random.Generator, runs: int, mean: float, training_std: float, datasets: int, n: int
) -> dict[str, np.ndarray]:
    """Whether each rule claims a gain, per dataset."""
    d = replication_differences(rng, runs, mean, training_std, datasets, n)
    each = np.array([paired_t(spreads(one)).lo > 1e-12 for one in d])
    deltas = d.mean(2)
    lo = paired_t(*over_runs(d)).lo if runs > 1 else paired_t(spreads(d[0])).lo
    ours = (lo > 1e-12) & np.all(deltas > 0, axis=0)
    if runs == 1:
        return {"the one run passes": each[0]}
    return {f"best of {runs} passes": each.any(0), f"all {runs} pass": each.all(0), f"replicate, {runs} runs": ours}


def replication_differences(
    rng: np.random.Generator, runs: int, mean: float, training_std: float, datasets: int, n: int
) -> Floats:
    """(runs, datasets, n): task differences of every run from the pooled base."""
    p = MIDDLE.draw(rng, datasets, n)
    base = pooled([one_pass(rng, p, 4) for _ in range(3)]).values
    d = []
    for _ in range(runs):
        gain = mean + rng.normal(0, training_std, size=(datasets, 1)) if training_std else np.full((datasets, 1), mean)
        toward = np.where(gain > 0, 1 - p, p)  # every task keeps its place in [0, 1] and the mean moves by `gain`
        d.append(one_pass(rng, np.clip(p + toward * gain / 0.5, 0, 1), 4).values - base)
    return np.array(d)


def over_runs(d: Floats) -> tuple[Spreads, RunVariances]:
    """The random effects of `whileai.stats.replication` for (runs, datasets, n) differences."""
    R, _, n = d.shape
    deltas = d.mean(2)
    rest = d - deltas[:, :, None] - d.mean(0) + d.mean((0, 2))[:, None]
    v0 = np.sum(rest**2, axis=(0, 2)) / ((R - 1) * (n - 1)) / n
    df = R - 1 + PRIOR_DF
    whole = ((R - 1) * deltas.var(0, ddof=1) + PRIOR_DF * (v0 + SIGMA0**2)) / df
    return spreads(d.mean(0)), RunVariances(np.maximum(0, whole - v0) / R, whole / R, df)


def check_replication(datasets: int = 10) -> float:
    """Largest difference between `over_runs` and `replicate`, which is given single rows with these task values."""
    rng, worst = generator("replication agreement"), 0.0
    d = replication_differences(rng, 3, 0.1, 0.05, datasets, 40)
    ends = paired_t(*over_runs(d))
    for i in range(datasets):
        base = _float_rows(np.full(40, 0.5), 0)
        found = replicate([(base, _float_rows(0.5 + d[r, i], r + 1)) for r in range(3)])
        worst = max(worst, abs(ends.lo[i] - (found.lo or 0)), abs(ends.hi[i] - (found.hi or 0)))
    return float(worst)


def _float_rows(values: Floats, run: int) -> list[dict[str, Any]]:
    return [{"scenario_id": f"t{i}", "run": run, "reward": float(v)} for i, v in enumerate(values)]


@dataclass(frozen=True)
class Sized:
    """The power a plan really has, in per-cent terms of the 80% asked for."""

    name: str
    n: int
    power: float


def sizes(datasets: int) -> list[Sized]:
    """Power of the paired t at the sizes `holdout_size` gives, in the populations they are meant for."""
    rng = generator("sizes")
    plain, spread_out = holdout_size(0.1), holdout_size(0.1, icc=0.3)
    assert plain.n_tasks
    assert plain.n_tasks_t
    assert plain.n_concentrated
    assert spread_out.n_tasks_t
    even, few = np.full((datasets, 1), 0.6), 0.1 / 0.4
    found = []
    for name, n in (("n_tasks", plain.n_tasks), ("n_tasks_t", plain.n_tasks_t)):
        p = np.repeat(even, n, axis=1)
        found.append(Sized(f"{name}: every task from .6 to .7", n, _power_of(rng, p, p + 0.1)))
    n = plain.n_concentrated
    p = np.repeat(even, n, axis=1)
    moved = np.where(rng.random((datasets, n)) < few, 1.0, p)
    found.append(Sized("n_concentrated: one task in four goes to 1", n, _power_of(rng, p, moved)))
    n = spread_out.n_tasks_t
    p = Population(0.6, 0.3).draw(rng, datasets, n)
    found.append(Sized("n_tasks_t with icc=.3: tasks differ", n, _power_of(rng, p, p + (1 - p) * few)))
    return found


def _power_of(rng: np.random.Generator, p: Floats, q: Floats) -> float:
    d = one_pass(rng, q, 4).values - one_pass(rng, p, 4).values
    return float((paired_t(spreads(d)).lo > 1e-12).mean())
