"""Looking early is allowed when the evidence is a bet."""

from __future__ import annotations

import numpy as np
import pytest
from builders import GOLDEN, arms_of, rows_of_values

from whileai.core.errors import InputError, UsageError
from whileai.stats.monitor import _evidence, monitor


def test_the_golden_evidence_after_twenty_tasks():
    want = GOLDEN["betting"]
    found = monitor(*arms_of(want["d"]))
    assert found.e_value == pytest.approx(want["e_value"])
    assert (found.verdict, found.decided_at, found.n_seen) == ("undecided", None, 20)
    assert found.trace[-1] == found.e_value


def test_a_steady_gain_decides_and_says_where():
    found = monitor(*arms_of([0.5, 0.25, 0.5, 0.75] * 10))
    assert found.verdict == "PASS"
    assert found.trace[found.decided_at - 1] >= 40 > found.trace[found.decided_at - 2]
    assert f"decided at task {found.decided_at}" in str(found)


def test_swapping_the_arms_swaps_the_evidence():
    before, after = arms_of([0.5, 0.25, -0.25, 0.75] * 10)
    one, other = monitor(before, after), monitor(after, before)
    assert (one.verdict, other.verdict) == ("PASS", "WORSE")
    assert one.trace == other.trace_loss


def test_a_decision_stands_whatever_comes_after():
    d = [0.75] * 12 + [-0.75] * 12
    found = monitor(*arms_of(d))
    assert (found.verdict, found.decided_at) == ("PASS", monitor(*arms_of(d[:12])).decided_at)


def test_only_the_leading_tasks_count_while_others_are_missing():
    before, after = arms_of([0.25] * 10)
    arrived = [row for row in after if row["scenario_id"] not in ("t3", "t8")]
    assert monitor(before, arrived).n_seen == 3


def test_the_order_is_the_one_given():
    before, after = arms_of([1.0, 0.0, 0.0, 0.0])
    found = monitor(before, after, order=["t3", "t2", "t1", "t0"])
    assert found.trace[:3] == (1.0, 1.0, 1.0)
    assert found.trace[3] == pytest.approx(1.5)


def test_nothing_to_see_yet_is_said():
    before, after = arms_of([0.25] * 4)
    with pytest.raises(InputError, match="'t0', is not scored in both arms yet"):
        monitor(before, after[4:])


def test_rewards_outside_the_unit_interval_are_refused():
    with pytest.raises(InputError, match=r"from 0\.5 to 3"):
        monitor(rows_of_values([0.5, 3.0]), rows_of_values([0.5, 0.6]))


def test_an_order_with_a_task_twice_is_refused():
    with pytest.raises(UsageError, match="twice"):
        monitor(*arms_of([0.5, 0.5]), order=["t0", "t0"])


def test_when_nothing_moved_looking_at_every_task_rarely_passes():
    rng = np.random.default_rng(0)
    d = (rng.binomial(4, 0.5, (2000, 400)) - rng.binomial(4, 0.5, (2000, 400))) / 4
    passed = sum(_evidence(row).max() >= np.log(40) for row in d[:400])
    assert passed / 400 <= 0.025
