"""Training again must move the score again."""

from __future__ import annotations

import pytest
from builders import GOLDEN, rows_of_values

from whileai.core.errors import InputError, TasksDiffer, UsageError
from whileai.stats.replication import replicate


def arms(D):
    """A base at 0.3 for every task, and one arm per row of D above it."""
    before = rows_of_values([0.3] * len(D[0]), model_version="base")
    return before, [rows_of_values([0.3 + x for x in d], model_version=f"v{i}") for i, d in enumerate(D)]


@pytest.mark.parametrize("case", ["two", "three"])
def test_the_golden_replications(case):
    want = GOLDEN["replicate"][case]
    found = replicate(*arms(want["D"]))
    assert list(found.deltas.values()) == pytest.approx(want["deltas"])
    for name in ("delta", "between_std", "se", "df", "lo", "hi"):
        assert found[name] == pytest.approx(want[name], abs=1e-9), name
    assert (found.verdict == "replicated") == want["replicated"]
    assert found.n_started == len(want["D"])


def test_one_run_has_moved_but_is_unreplicated():
    before, after = arms(GOLDEN["replicate"]["two"]["D"])
    found = replicate(before, after[:1])
    assert (found.verdict, found.between_std) == ("moved, unreplicated", None)


def test_one_run_that_did_not_move_is_not_replicated():
    found = replicate(*arms([[0.25, -0.25] * 6]))
    assert found.verdict == "not replicated"
    assert "run 1 is not up" in str(found)


def test_one_run_down_among_strong_ones_is_not_replicated_and_named():
    before, after = arms([[0.5] * 11 + [0.4], [0.45] * 11 + [0.5], [-0.02] * 11 + [-0.01]])
    found = replicate(before, after, names=["a", "b", "c"])
    assert found.verdict == "not replicated"
    assert "c is not up" in found.evidence


def test_strict_asks_more_of_two_runs_than_random_effects_do():
    before, after = arms(GOLDEN["replicate"]["two"]["D"])
    assert replicate(before, after).verdict == "replicated"
    strict = replicate(before, after, strict=True)
    assert strict.verdict == "not replicated"
    assert strict.hi - strict.lo > 4 * 0.33


def test_runs_on_different_tasks_are_given_as_pairs():
    d = GOLDEN["replicate"]["two"]["D"]
    one, other = arms(d[:1]), arms(d[1:])
    moved = [
        [{**row, "scenario_id": f"other-{row['scenario_id']}"} for row in rows] for rows in (other[0], other[1][0])
    ]
    found = replicate([(one[0], one[1][0]), tuple(moved)])
    assert (found.n_tasks, found.delta) == (24, pytest.approx(0.25))
    assert found.verdict == "replicated"


def test_the_same_tasks_as_pairs_give_the_same_as_a_shared_base():
    before, after = arms(GOLDEN["replicate"]["three"]["D"])
    assert replicate([(before, arm) for arm in after]).lo == replicate(before, after).lo


def test_fewer_arms_than_runs_started_is_refused():
    with pytest.raises(InputError, match="3 runs were started and 2 given"):
        replicate(*arms(GOLDEN["replicate"]["two"]["D"]), started=3)


def test_a_run_given_twice_is_refused():
    before, after = arms(GOLDEN["replicate"]["two"]["D"][:1])
    with pytest.raises(InputError, match="runs 1 and 2 are the same rows"):
        replicate(before, after * 2)


def test_a_run_on_other_tasks_than_its_base_is_refused():
    before, after = arms([[0.1] * 8])
    with pytest.raises(TasksDiffer, match="^run 1: .* 6 tasks before, 8 after"):
        replicate(before[:6], after)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda b, a: replicate(b, a[0]), "list of arms"),
        (lambda b, a: replicate(b, []), "list of arms"),
        (lambda b, a: replicate([b]), "tuples"),
        (lambda b, a: replicate(b, a, names=["x", "x"]), "names="),
        (lambda b, a: replicate(b, a, alpha=2), "alpha"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(call, says):
    with pytest.raises(UsageError, match=says):
        call(*arms(GOLDEN["replicate"]["two"]["D"]))


def test_below_six_tasks_there_is_no_verdict():
    found = replicate(*arms([[0.5, 0.4, 0.6], [0.5, 0.45, 0.6]]))
    assert found.verdict == "not replicated"
    assert "no verdict below 6" in str(found)
