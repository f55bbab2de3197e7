"""The experiments: coverage of the intervals, and false PASS, power and coverage of the verdict rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from benchmarks.statistics.populations import (
    FINEST,
    HARD_NULLS,
    ICCS,
    RATES,
    TASKS,
    TRIES,
    Counts,
    Floats,
    Population,
    one_pass,
    pooled,
)
from benchmarks.statistics.vectors import Ends, literal_floor, moderated, paired_t, percentile, plain_t, score, spreads
from whileai.core.seeds import integer

BASE_PASSES = 3


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment. `shift`: whether whole passes move."""

    n: int
    tries: int | str
    rate: float
    icc: float
    shift: bool

    @property
    def population(self) -> Population:
        return Population(self.rate, self.icc)

    @property
    def swing(self) -> float:
        return self.population.swing() if self.shift else 0.0

    def rng(self, experiment: str) -> np.random.Generator:
        return np.random.default_rng(integer("benchmarks.statistics", experiment, repr(self)))


@dataclass(frozen=True)
class Outcome:
    """What one cell gave: `share[method]` of `datasets`, and any other means by name."""

    cell: Cell
    datasets: int
    share: dict[str, float]
    width: dict[str, float] = field(default_factory=dict)
    flat: dict[str, float] = field(default_factory=dict)  # share of intervals with zero width


def cells(shifts: tuple[bool, ...] = (False, True)) -> Iterator[Cell]:
    """The whole grid."""
    for n, tries, rate, icc, shift in product(TASKS, TRIES, RATES, ICCS, shifts):
        yield Cell(n, tries, rate, icc, shift)


def steps_of(counts: Counts, tries: int | str) -> np.ndarray:
    """Task means as whole multiples of the finest step these tries allow."""
    return counts.c * (FINEST[tries] // counts.k)


def _outcome(cell: Cell, found: dict[str, Ends], truth: float) -> Outcome:
    return Outcome(
        cell,
        len(next(iter(found.values())).lo),
        {name: float(ends.cover(truth).mean()) for name, ends in found.items()},
        {name: float(ends.width.mean()) for name, ends in found.items()},
        {name: float((ends.width < 1e-12).mean()) for name, ends in found.items()},
    )


def mean_coverage(cell: Cell, datasets: int) -> Outcome:
    """How often the nominal 95% interval of pass@1 holds the true rate."""
    rng = cell.rng("mean")
    counts = one_pass(rng, cell.population.draw(rng, datasets, cell.n), cell.tries, cell.swing)
    seen = spreads(counts.values)
    found = {
        "percentile": percentile(steps_of(counts, cell.tries), FINEST[cell.tries], 0.0),
        "plain t": plain_t(seen),
        "score": score(seen, counts.k.sum(1)),
    }
    return _outcome(cell, found, cell.rate)


def metric_coverage(cell: Cell, datasets: int, metric: str) -> Outcome:
    """The same for pass^k, pass@k and headroom at k = 4, without a run effect."""
    rng, k = cell.rng(metric), int(cell.tries)
    counts = one_pass(rng, cell.population.draw(rng, datasets, cell.n), k)
    all_pass, any_pass = (counts.c == k).astype(np.int64), (counts.c > 0).astype(np.int64)
    population = cell.population
    steps, finest, truth = {
        "pass^4": (all_pass, 1, population.every_time(k)),
        "pass@4": (any_pass, 1, population.at_least_once(k)),
        "headroom": (any_pass * k - counts.c, k, population.at_least_once(k) - cell.rate),
    }[metric]
    seen = spreads(steps / finest)
    return _outcome(cell, {"percentile": percentile(steps, finest, 0.0), "score": score(seen)}, truth)


@dataclass(frozen=True)
class Rules:
    """What every verdict rule says of every dataset: the delta with its interval, and the floor it must clear."""

    delta: dict[str, Floats]
    ends: dict[str, Ends]
    floor: dict[str, Floats]

    def passes(self) -> dict[str, np.ndarray]:
        return {
            name: (self.ends[name].lo > 1e-12) & (np.abs(delta) > self.floor.get(name, 0.0))
            for name, delta in self.delta.items()
        }


def rules(base: list[Counts], after: Counts, tries: int | str) -> Rules:
    """The rules compared. All but the last pair the first base pass with the trained pass.

    percentile: interval above zero. literal: that, and a delta above t(2) run_std sqrt 2. t: our interval alone.
    t + literal floor: `compare(base[0], after, run_std=, run_std_runs=3)`. moderated: `compare(base, after)`.
    """
    finest = FINEST[tries]
    d = after.values - base[0].values
    whole = pooled(base)
    d_pooled = after.values - whole.values
    Y = np.stack([one.values for one in base])
    bar, run = moderated(Y, 1 / len(base) + 1)
    literal = literal_floor(Y)
    steps = steps_of(after, tries) - steps_of(base[0], tries) + finest
    bootstrap, ours = percentile(steps, finest, -1.0), paired_t(spreads(d))
    one, all_passes = d.mean(1), d_pooled.mean(1)
    return Rules(
        {"percentile": one, "literal": one, "t": one, "t + literal floor": one, "moderated": all_passes},
        {
            "percentile": bootstrap,
            "literal": bootstrap,
            "t": ours,
            "t + literal floor": ours,
            "moderated": paired_t(spreads(d_pooled), run),
        },
        {"literal": literal, "t + literal floor": literal, "moderated": bar},
    )


@dataclass(frozen=True)
class Verdicts:
    """One cell of the paired experiment: PASS rates when nothing moved and at the true gain, coverage of the gain."""

    cell: Cell
    datasets: int
    gain: float
    false_pass: dict[str, float]
    power: dict[str, float]
    coverage: dict[str, float]
    flat: dict[str, float]


def draw_arms(
    rng: np.random.Generator, before: Floats, after: Floats, tries: int | str, swing: float
) -> tuple[list[Counts], Counts]:
    """Three base passes and one pass of the trained model."""
    base = [one_pass(rng, before, tries, swing) for _ in range(BASE_PASSES)]
    return base, one_pass(rng, after, tries, swing)


def verdict_rates(cell: Cell, datasets: int) -> Verdicts:
    """PASS rates of every rule with the same rates in both arms, and with the gain."""
    rng, population = cell.rng("verdicts"), cell.population
    p = population.draw(rng, datasets, cell.n)
    null = rules(*draw_arms(rng, p, p, cell.tries, cell.swing), cell.tries)
    moved = rules(*draw_arms(rng, p, population.improved(p), cell.tries, cell.swing), cell.tries)
    return Verdicts(
        cell,
        datasets,
        population.gain(),
        {name: float(found.mean()) for name, found in null.passes().items()},
        {name: float(found.mean()) for name, found in moved.passes().items()},
        {name: float(ends.cover(population.gain()).mean()) for name, ends in moved.ends.items()},
        {name: float((ends.width < 1e-12).mean()) for name, ends in null.ends.items()},
    )


def hard_null(name: str, n: int, tries: int | str, datasets: int) -> dict[str, float]:
    """False PASS of every rule under one of the HARD_NULLS."""
    rng = np.random.default_rng(integer("benchmarks.statistics", name, n, str(tries)))
    arms = draw_arms(rng, *HARD_NULLS[name](rng, datasets, n), tries, 0.0)
    return {rule: float(found.mean()) for rule, found in rules(*arms, tries).passes().items()}
