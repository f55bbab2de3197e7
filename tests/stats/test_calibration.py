"""The rates that the intervals promise, on seeded populations whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from whileai.stats import intervals
from whileai.stats.floors import from_passes, moderated
from whileai.stats.noise import components


def beta(rng, p, icc, shape):
    """Task pass rates with mean p, a share icc of whose reward variance lies between tasks."""
    weight = 1 / icc - 1
    return rng.beta(p * weight, (1 - p) * weight, shape)


@pytest.mark.parametrize("icc", [0.05, 0.5])
def test_when_nothing_moved_pass_comes_at_most_35_times_in_1000(icc):
    rng = np.random.default_rng(1)
    rates = beta(rng, 0.5, icc, (4000, 40))
    d = (rng.binomial(4, rates) - rng.binomial(4, rates)) / 4
    passed = sum(intervals.t_interval(intervals.spread(row)).lo > 0 for row in d)
    assert passed / 4000 <= 0.035


@pytest.mark.parametrize("icc", [0.05, 0.5])
def test_a_rare_pass_is_covered_at_least_92_times_in_100(icc):
    rng = np.random.default_rng(2)
    values = rng.binomial(4, beta(rng, 0.02, icc, (3000, 20))) / 4
    covered = 0
    for row in values:
        lo, hi = intervals.score_interval(intervals.spread(row), rows=80)
        covered += lo <= 0.02 <= hi
    assert covered / 3000 >= 0.92


def test_a_gain_of_twenty_points_is_seen_most_of_the_time():
    rng = np.random.default_rng(3)
    rates = np.clip(beta(rng, 0.4, 0.3, (1000, 40)), 0, 0.8)
    d = (rng.binomial(4, rates + 0.2) - rng.binomial(4, rates)) / 4
    assert np.mean([intervals.t_interval(intervals.spread(row)).lo > 0 for row in d]) > 0.95


@pytest.mark.parametrize(("shift", "most"), [(0.0, 0.025), (0.02, 0.035)])
def test_with_passes_the_moderated_floor_holds_the_false_pass_rate(shift, most):
    rng = np.random.default_rng(4)
    passed = 0
    for _ in range(1500):
        rates = beta(rng, 0.4, 0.3, 40)
        Y = np.stack([rng.binomial(4, np.clip(rates + rng.normal(0, shift), 0, 1)) / 4 for _ in range(4)])
        floor, run = moderated(from_passes(components(Y[:3]), 3, 1, 3), 0.05)
        d = Y[3] - Y[:3].mean(0)
        passed += intervals.t_interval(intervals.spread(d), run=run).lo > 0 and d.mean() > floor.value
    assert passed / 1500 <= most


def test_a_cluster_effect_is_paid_for():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(12), 6)
    errors = {"tasks": 0, "clusters": 0}
    for _ in range(1500):
        d = rng.normal(0, 1, 72) + rng.normal(0, 0.7, 12)[groups]
        for name, codes in (("tasks", None), ("clusters", groups)):
            found = intervals.t_interval(intervals.spread(d, codes))
            errors[name] += not found.lo <= 0 <= found.hi
    assert errors["clusters"] / 1500 <= 0.07
    assert errors["tasks"] / 1500 > 0.12
