"""What a judge may return."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.grading import verdicts


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        (True, 1.0),
        (False, 0.0),
        (0, 0.0),
        (0.25, 0.25),
        (Fraction(1, 4), 0.25),
        (np.float32(0.5), 0.5),
        (np.bool_(True), 1.0),
        (np.array(1), 1.0),
        ({"reward": 1}, 1.0),
        ({"score": False}, 0.0),
        ({"reward": 0.5, "score": 1}, 0.5),
        ({"reward": np.int64(1)}, 1.0),
    ],
)
def test_bools_numbers_and_dicts_with_a_reward_are_scores(answer, reward):
    verdict = verdicts.read(answer)
    assert (verdict.reward, verdict.status) == (reward, "ok")
    assert type(verdict.reward) is float


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "returned None"),
        ({"reward": None}, "returned None"),
        ({}, "no reward: the judge's dict holds nothing"),
        ({"rewrd": 1}, "rewrd"),
        ((1, "fine"), "tuple"),
        ([1], "list"),
        ("1", "str"),
        ({"reward": "1"}, "str"),
        ({"reward": (1,)}, "tuple"),
        (object(), "object"),
        (1 + 0j, "complex"),
        (math.nan, "not finite"),
        (math.inf, "not finite"),
        ({"score": -math.inf}, "not finite"),
        (10**400, "not finite"),
        (np.array([1.0, 0.0]), "ndarray"),
    ],
)
def test_anything_else_leaves_the_reward_none_with_a_status_naming_it(answer, said):
    verdict = verdicts.read(answer)
    assert verdict.reward is None
    assert verdict.status != "ok"
    assert said in verdict.status


def test_a_reason_and_further_numbers_are_kept():
    verdict = verdicts.read({"reward": 1, "reason": "led with it", "tokens": 12, "metrics": {"calls": 2, "bad": "x"}})
    assert verdict.reason == "led with it"
    assert verdict.metrics == {"tokens": 12.0, "calls": 2.0}


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["reward", "score", "metrics", "x"]), inner),
    max_leaves=8,
)


@given(json_like)
def test_reading_never_raises_and_a_reward_comes_exactly_with_status_ok(answer):
    verdict = verdicts.read(answer)
    assert (verdict.reward is not None) == (verdict.status == "ok")
    assert verdict.reward is None or math.isfinite(verdict.reward)
    assert all(math.isfinite(v) for v in verdict.metrics.values())
