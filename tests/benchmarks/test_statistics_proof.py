"""The simulations of benchmarks/statistics in a few seconds: what they measure is what is shipped, and it holds."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2]))  # `benchmarks` is not installed

from benchmarks.statistics import agreement, others
from benchmarks.statistics.experiments import (
    Cell,
    cells,
    draw_arms,
    hard_null,
    mean_coverage,
    metric_coverage,
    rules,
    verdict_rates,
)
from benchmarks.statistics.populations import HARD_NULLS, Population, one_pass, shifted
from benchmarks.statistics.vectors import percentile

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("icc", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("rule", ["t", "moderated"])
def test_false_pass_is_at_most_three_and_a_half_percent_with_forty_tasks(icc, rule):
    found = verdict_rates(Cell(40, 4, 0.5, icc, shift=False), 4_000)
    assert found.false_pass[rule] <= 0.035


@pytest.mark.parametrize("icc", [0.05, 0.5])
def test_the_score_interval_covers_a_rate_of_two_percent_with_twenty_tasks(icc):
    found = mean_coverage(Cell(20, 4, 0.02, icc, shift=False), 4_000)
    assert found.share["score"] >= 0.92
    assert found.flat["score"] == 0
    assert found.share["percentile"] < 0.8  # so the bound above is one that an interval can fail


@pytest.mark.parametrize("tries", [1, "uneven"])
def test_the_score_interval_covers_with_other_numbers_of_tries(tries):
    found = [mean_coverage(Cell(20, tries, rate, 0.5, shift=False), 2_000) for rate in (0.02, 0.5, 0.9)]
    assert min(outcome.share["score"] for outcome in found) >= 0.92


@pytest.mark.parametrize("metric", ["pass^4", "pass@4", "headroom"])
def test_the_intervals_of_the_k_metrics_cover_in_the_middle(metric):
    assert metric_coverage(Cell(40, 4, 0.5, 0.5, shift=False), 2_000, metric).share["score"] >= 0.92


@pytest.mark.parametrize("name", HARD_NULLS)
def test_hard_nulls_stay_near_the_level_with_forty_tasks(name):
    assert hard_null(name, 40, 4, 4_000)["t"] <= 0.05


def test_the_literal_rule_trades_power_for_its_floor():
    found = verdict_rates(Cell(40, 4, 0.5, 0.3, shift=False), 2_000)
    assert found.false_pass["literal"] < 0.01
    assert found.power["literal"] < found.power["moderated"] / 2


@pytest.mark.parametrize("cell", [c for c in cells() if c.n <= 40 and c.rate in (0.02, 0.5)], ids=repr)
def test_the_vectorised_rules_are_the_shipped_functions(cell):
    assert agreement.check_mean(cell, 2) < agreement.TOLERANCE
    assert agreement.check_verdicts(cell, 1) < agreement.TOLERANCE


def test_a_wrong_vectorised_rule_is_noticed(monkeypatch):
    plain = agreement.rules

    def off(*given):
        found = plain(*given)
        found.ends["moderated"].lo[:] += 1e-6
        return found

    monkeypatch.setattr(agreement, "rules", off)
    assert agreement.check_verdicts(Cell(20, 4, 0.5, 0.5, shift=True), 1) > agreement.TOLERANCE


def test_the_vectorised_random_effects_are_those_of_replicate():
    assert others.check_replication(5) < agreement.TOLERANCE


def test_the_vectorised_wealth_is_that_of_monitor():
    from whileai.stats.monitor import monitor

    rng = np.random.default_rng(3)
    before, after = (one_pass(rng, Population(rate, 0.3).draw(rng, 1, 60), 4) for rate in (0.4, 0.5))
    trace = monitor(agreement.rows_of(before, 0, 1), agreement.rows_of(after, 0, 2)).trace
    np.testing.assert_allclose(np.exp(others.log_wealth(after.values - before.values)[0]), trace, rtol=1e-9)


@pytest.mark.parametrize("tries", [4, "uneven"])
def test_the_exact_percentile_bootstrap_is_what_resampling_tends_to(tries):
    rng = np.random.default_rng(5)
    finest = 4 if tries == 4 else 16
    steps = rng.integers(-finest, finest + 1, size=(3, 30))
    ends = percentile(steps + finest, finest, -1.0)
    for i, values in enumerate(steps / finest):
        means = values[rng.integers(0, 30, size=(100_000, 30))].mean(1)
        for end, q in ((ends.lo[i], 0.025), (ends.hi[i], 0.975)):
            assert np.mean(means <= end - 1e-9) < q + 0.002
            assert np.mean(means <= end + 1e-9) > q - 0.002


def test_a_run_effect_moves_passes_and_not_their_expectation():
    population, rng = Population(0.5, 0.05), np.random.default_rng(7)
    p = np.repeat(population.draw(rng, 1, 500), 4_000, axis=0)
    means = shifted(rng, p, population.swing()).mean(1)
    swing = population.swing() * float((4 * p[0] * (1 - p[0])).mean())
    assert abs(means.std() - swing) < 0.001
    assert abs(means.mean() - p[0].mean()) < 0.001
    assert abs(population.run_std() - 0.02) < 1e-12


def test_the_true_gain_and_the_true_metrics_of_a_population_are_its_averages():
    population, rng = Population(0.25, 0.5), np.random.default_rng(11)
    p = population.draw(rng, 1, 400_000)
    assert abs(population.improved(p).mean() - p.mean() - population.gain()) < 0.002
    assert abs((p**4).mean() - population.every_time(4)) < 0.003
    assert abs((1 - (1 - p) ** 4).mean() - population.at_least_once(4)) < 0.003


def test_a_cell_gives_the_same_numbers_every_time_and_another_cell_others():
    cell = Cell(20, 4, 0.5, 0.5, shift=True)
    assert verdict_rates(cell, 200) == verdict_rates(cell, 200)
    one, other = (
        rules(*draw_arms(c.rng("x"), *[c.population.draw(c.rng("x"), 5, 20)] * 2, 4, 0.0), 4).delta["t"]
        for c in (cell, Cell(20, 4, 0.5, 0.05, shift=True))
    )
    assert not np.array_equal(one, other)


def test_every_measured_row_of_the_page_stands_in_the_record():
    page = (ROOT / "docs" / "statistics.md").read_text().splitlines()
    record = set((ROOT / "benchmarks" / "statistics" / "RESULTS.md").read_text().splitlines())
    measured = [line for line in page if line.startswith("| ") and "`stats/" not in line and "question" not in line]
    assert len(measured) > 100
    assert [line for line in measured if line not in record] == []
