"""What holds for every set of rows."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from builders import rows_of, rows_of_values
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from whileai.stats import intervals
from whileai.stats.comparison import compare
from whileai.stats.passat import pass_at
from whileai.stats.signs import signflip_p

MANY = settings(max_examples=60, deadline=None)
TASK = st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
TASKS = st.lists(TASK, min_size=2, max_size=25)
UNIT = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=30)
PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=25)


def measured(tasks, **options):
    return pass_at(rows_of([c for c, _ in tasks], [n for _, n in tasks]), **options)


def arms(pairs):
    tries = [4] * len(pairs)
    return rows_of([b for b, _ in pairs], tries), rows_of([a for _, a in pairs], tries, model_version="v2")


@MANY
@given(TASKS, st.randoms(use_true_random=False))
def test_permuting_rows_and_tasks_changes_nothing(tasks, chance: random.Random):
    rows = rows_of([c for c, _ in tasks], [n for _, n in tasks])
    one = pass_at(rows)
    chance.shuffle(rows)
    other = pass_at(rows)
    for name in ("pass_at_1", "pass_pow_k", "pass_at_k", "headroom"):
        assert (one[name].value, one[name].lo, one[name].hi) == pytest.approx(
            (other[name].value, other[name].lo, other[name].hi), abs=1e-9
        )


@MANY
@given(PAIRS, st.randoms(use_true_random=False))
def test_permuting_rows_does_not_change_a_comparison(pairs, chance: random.Random):
    before, after = arms(pairs)
    assume([b for b, _ in pairs] != [a for _, a in pairs])
    one = compare(before, after)
    chance.shuffle(before)
    chance.shuffle(after)
    other = compare(before, after)
    assert one.verdict == other.verdict
    assert (one.delta, one.lo, one.hi, one.p) == pytest.approx((other.delta, other.lo, other.hi, other.p), abs=1e-9)


@MANY
@given(PAIRS)
def test_swapping_the_arms_mirrors_everything(pairs):
    one, other = compare(*arms(pairs)), compare(*reversed(arms(pairs)))
    assert (one.delta, one.lo, one.hi, one.p) == pytest.approx((-other.delta, -other.hi, -other.lo, other.p), abs=1e-9)
    assert one.signflip_p == pytest.approx(other.signflip_p)
    mirrored = {"PASS": "WORSE", "WORSE": "PASS"}
    assert other.verdict == mirrored.get(one.verdict, one.verdict)


@MANY
@given(PAIRS)
def test_pass_is_exactly_an_interval_above_zero_on_enough_tasks(pairs):
    found = compare(*arms(pairs))
    assert (found.verdict == "PASS") == (found.lo > 0 and len(pairs) >= 6)
    assert found.lo < found.delta < found.hi or found.lo <= found.delta <= found.hi < found.lo + 3
    assert found.hi > found.lo


@MANY
@given(TASKS)
def test_failing_instead_of_passing_mirrors_the_score_interval(tasks):
    one, other = measured(tasks).pass_at_1, measured([(n - c, n) for c, n in tasks]).pass_at_1
    assert (one.value, one.lo, one.hi) == pytest.approx((1 - other.value, 1 - other.hi, 1 - other.lo), abs=1e-9)


@MANY
@given(TASKS)
def test_intervals_stay_in_range_around_their_value_and_have_width(tasks):
    found = measured(tasks)
    for name in ("pass_at_1", "pass_pow_k", "pass_at_k", "headroom"):
        one = found[name]
        assert 0 <= one.lo <= one.value + 1e-12
        assert one.value - 1e-12 <= one.hi <= 1
        assert one.hi - one.lo > 1e-3


@MANY
@given(TASKS)
def test_pass_pow_k_is_at_most_pass_at_1_is_at_most_pass_at_k(tasks):
    found = measured(tasks)
    assert found.pass_pow_k.value <= found.pass_at_1.value + 1e-9
    assert found.pass_at_1.value <= found.pass_at_k.value + 1e-9
    assert found.headroom.value == pytest.approx(found.pass_at_k.value - found.pass_at_1.value, abs=1e-9)


@MANY
@given(TASKS)
def test_with_k_one_all_three_are_the_mean(tasks):
    found = measured(tasks, k=1)
    assert found.pass_pow_k.value == pytest.approx(found.pass_at_1.value)
    assert found.pass_at_k.value == pytest.approx(found.pass_at_1.value)
    assert found.headroom.value == pytest.approx(0, abs=1e-12)


@MANY
@given(st.lists(st.integers(0, 8), min_size=2, max_size=20))
def test_more_tries_make_all_of_them_rarer_and_one_of_them_likelier(passes):
    tries = [8] * len(passes)
    found = [pass_at(rows_of(passes, tries), k=k) for k in range(1, 9)]
    hats, ats = [f.pass_pow_k.value for f in found], [f.pass_at_k.value for f in found]
    assert all(a >= b - 1e-12 for a, b in pairwise(hats))
    assert all(a <= b + 1e-12 for a, b in pairwise(ats))


@MANY
@given(UNIT, st.integers(2, 5))
def test_the_same_values_seen_more_often_narrow_the_interval(values, times):
    one, many = (intervals.spread(np.array(v)) for v in (values, values * times))
    narrow, wide = intervals.score_interval(many), intervals.score_interval(one)
    assert narrow[1] - narrow[0] < wide[1] - wide[0] + 1e-12


@MANY
@given(UNIT)
def test_degrees_of_freedom_lie_between_one_and_n_minus_one(values):
    seen = intervals.spread(np.array(values))
    assert 1 <= seen.df <= len(values) - 1


@MANY
@given(UNIT, st.floats(0.01, 0.4))
def test_a_higher_level_gives_a_wider_interval(values, alpha):
    seen = intervals.spread(np.array(values))
    assert intervals.score_interval(seen, alpha / 2)[1] >= intervals.score_interval(seen, alpha)[1] - 1e-12
    wide, narrow = intervals.t_interval(seen, alpha / 2), intervals.t_interval(seen, alpha)
    assert wide.lo <= narrow.lo + 1e-12


@MANY
@given(PAIRS)
def test_the_p_value_is_the_level_at_which_the_interval_touches_zero(pairs):
    found = compare(*arms(pairs))
    assume(1e-9 < found.p < 0.99)
    touching = compare(*arms(pairs), alpha=found.p)
    assert min(abs(touching.lo), abs(touching.hi)) < 1e-6


@MANY
@given(PAIRS)
def test_clusters_of_one_task_are_the_tasks_themselves(pairs):
    before, after = arms(pairs)
    plain, clustered = compare(before, after), compare(before, after, cluster="scenario_id")
    assert (plain.lo, plain.hi) == pytest.approx((clustered.lo, clustered.hi), abs=1e-9)


@MANY
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=60))
def test_the_sign_flip_p_is_a_probability_and_one_for_a_sum_of_zero(steps):
    d = np.array(steps) / 4
    p, how = signflip_p(d)
    assert 0 < p <= 1 + 1e-12
    assert how == "exact"
    if d.sum() == 0:
        assert p == pytest.approx(1)


@MANY
@given(UNIT, st.floats(0.1, 0.9))
def test_a_threshold_counts_what_reaches_it(values, threshold):
    found = pass_at(rows_of_values(values), threshold=threshold)
    assert found.pass_at_1.value == pytest.approx(np.mean(np.array(values) >= threshold))


def test_the_interval_of_a_difference_of_pass_rates_never_reaches_beyond_one():
    before = rows_of([0] * 37 + [4] * 3, [4] * 40, model_version="v1")
    after = rows_of([4] * 37 + [0] * 3, [4] * 40, model_version="v2")
    found = compare(before, after)
    assert found.hi == 1.0
    assert compare(after, before).lo == -1.0
    assert found.verdict == "PASS"
