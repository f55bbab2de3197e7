"""Bad rows get a sentence, never a wrong number."""

from __future__ import annotations

import math

import pytest
from builders import rows_of, rows_of_values

from whileai.core.errors import InputError, TasksDiffer, UsageError
from whileai.stats.columns import columns
from whileai.stats.comparison import compare
from whileai.stats.noise import eval_variance
from whileai.stats.passat import pass_at
from whileai.stats.power import holdout_size

ROWS = rows_of([1, 2, 3, 4], [4] * 4)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "there are no rows"),
        ("scored.jsonl", "rows are a str"),
        ({"scenario_id": "a"}, "rows are a dict"),
        (7, "rows are a int"),
        ([*ROWS, "oops"], "row 17 is a str, not a row"),
        ([{"reward": 1}], "neither scenario_id nor task_id"),
        (rows_of_values([1, "0.5", 0]), r"row 2: its reward is str '0.5', not a number"),
        (rows_of_values([1, [1], 0]), r"row 2: its reward is list"),
        (rows_of_values([1, math.inf]), "row 2: its reward is infinite"),
        (rows_of_values([1, -math.inf]), "row 2: its reward is infinite"),
        (rows_of_values([None, None, math.nan]), "none of the 3 rows has a reward"),
        ([{"scenario_id": "a"}], "none of the 1 rows has a reward"),
        ([*ROWS, *ROWS], r"16 rows repeat a try .* \(first: row 17, of task 't0'\)"),
        ([*ROWS, dict(ROWS[5])], "1 rows repeat a try"),
    ],
)
def test_rows_that_cannot_be_measured_are_refused(rows, says):
    with pytest.raises(InputError, match=says):
        pass_at(rows)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    "bad",
    [[], "file.jsonl", rows_of_values([None] * 4), rows_of_values(["1"] * 4)],
    ids=["none", "text", "unscored", "strings"],
)
def test_compare_names_the_arm_that_is_wrong(side, bad):
    arms = [rows_of_values([1, 0, 1, 0]), rows_of_values([1, 1, 1, 0])]
    arms[side] = bad
    with pytest.raises(InputError, match=["before", "after"][side]):
        compare(*arms)


def test_a_nan_is_a_missing_score_not_a_zero():
    found = pass_at(rows_of_values([1.0, math.nan, 1.0, None]))
    assert (found.pass_at_1.value, found.n_tasks, found.n_answered, found.n_unscored) == (1.0, 2, 2, 2)
    assert "answered: 50.0% (2 of 4 rows); 2 tasks without a scored row left out" in str(found)


def test_booleans_and_integers_are_scores():
    assert pass_at(rows_of_values([True, False, 1, 0])).pass_at_1.value == 0.5


def test_numpy_scalars_are_scores():
    import numpy as np

    assert pass_at(rows_of_values([np.float32(1), np.int64(0), np.bool_(True), np.float64(0)])).pass_at_1.value == 0.5


def test_one_row_has_a_value_and_no_interval():
    found = pass_at(rows_of_values([1.0]))
    assert (found.pass_at_1.value, found.pass_at_1.lo, found.k) == (1.0, None, 1)
    assert "no interval: one task, so the spread between them is unknown" in str(found)


def test_one_task_has_a_value_and_no_interval():
    found = pass_at(rows_of([3], [4]))
    assert (found.pass_at_1.value, found.pass_at_1.hi, found.pass_at_k.value) == (0.75, None, 1.0)
    assert "(1 group, k=4)" in str(found)


def test_a_reward_outside_the_unit_interval_is_measured_plainly_and_said():
    found = pass_at(rows_of_values([0.0, 3.0, 1.5, -1.0]))
    assert (found.pass_at_1.value, found.pass_at_1.method) == (0.875, "t")
    assert found.pass_at_1.lo < 0
    assert found.pass_pow_k is None
    assert "rewards run from -1 to 3, outside [0, 1]" in str(found)
    assert "outside [0, 1]" in str(compare(rows_of_values([0.0, 3.0, 1.5]), rows_of_values([1.0, 2.0, 1.0])))


def test_equal_rewards_outside_the_unit_interval_have_no_interval_rather_than_a_zero_width():
    assert pass_at(rows_of_values([3.0, 3.0, 3.0])).pass_at_1.lo is None


def test_float_rewards_give_a_mean_and_ask_for_a_threshold():
    found = pass_at(rows_of_values([0.2, 0.9, 0.5]))
    assert found.pass_at_k is None
    assert "give threshold= for pass^k and pass@k" in str(found)
    cut = pass_at(rows_of_values([0.2, 0.9, 0.5]), threshold=0.5)
    assert (cut.pass_at_1.value, cut.pass_pow_k.value) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("passes", "says"),
    [
        ([4] * 4, "every row scored 1; check that the judge can fail a row"),
        ([0] * 4, "every row scored 0; check that the judge can pass a row"),
    ],
)
def test_a_judge_that_gives_one_score_is_called_out(passes, says):
    found = pass_at(rows_of(passes, [4] * 4))
    assert says in str(found)
    assert found.pass_at_1.hi - found.pass_at_1.lo > 0.3


def test_groups_below_k_are_left_out_and_counted():
    found = pass_at(rows_of([2, 4, 1], [4, 4, 2]), k=3)
    assert (found.n_excluded, found.pass_pow_k.n, found.pass_at_1.n) == (1, 2, 3)
    assert "1 task with fewer than 3 scored tries left out of pass^k and pass@k" in str(found)


def test_a_k_no_group_reaches_is_refused():
    with pytest.raises(InputError, match=r"k=8, but no task has 8 scored tries \(the most is 4\)"):
        pass_at(ROWS, k=8)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "4"])
def test_a_k_that_is_no_count_is_refused(k):
    with pytest.raises(UsageError, match="k="):
        pass_at(ROWS, k=k)


def test_the_same_try_of_another_wording_run_or_seed_is_another_row():
    for key in ("wording", "run", "seed"):
        both = [{**row, key: value} for value in (0, 1) for row in ROWS]
        assert len(columns(both)) == 32


def test_rows_numbered_alike_with_other_messages_are_not_copies():
    rows = [{**row, "messages": [{"role": "user", "content": text}]} for text in ("a", "b") for row in ROWS]
    assert pass_at(rows).n_rows == 32


def test_rows_without_numbers_are_taken_as_they_come():
    rows = [{"task_id": "a", "reward": 1.0}] * 3 + [{"task_id": "b", "reward": 0.0}] * 3
    assert pass_at(rows).n_rows == 6


def test_far_apart_and_odd_try_numbers_are_compared_too():
    wild = [{**row, "rollout_index": row["rollout_index"] * 10**12} for row in ROWS]
    assert len(columns(wild)) == 16
    with pytest.raises(InputError, match="repeat a try"):
        columns([*wild, wild[3]])
    named = [{**row, "rollout_index": f"try-{row['rollout_index']}"} for row in ROWS]
    with pytest.raises(InputError, match="repeat a try"):
        columns([*named, named[3]])


def test_a_stream_gives_the_same_as_a_list_and_its_copies_are_found():
    assert pass_at(iter(ROWS)) == pass_at(ROWS)
    with pytest.raises(InputError, match="repeat a try"):
        pass_at(row for row in [*ROWS, ROWS[0]])


def test_unhashable_labels_are_taken_by_their_text():
    rows = [{**row, "site": [row["scenario_id"] in ("t0", "t1")]} for row in ROWS]
    assert pass_at(rows, cluster="site").n_clusters == 2


def test_eval_variance_wants_two_runs_on_the_same_tasks():
    with pytest.raises(UsageError, match=r"needs at least two, as separate arguments: \*runs"):
        eval_variance([ROWS, ROWS])
    with pytest.raises(TasksDiffer, match="run 1 has 4 tasks, run 2 has 3, and 3 are the same"):
        eval_variance(ROWS, ROWS[:12])
    with pytest.raises(UsageError, match="metric="):
        eval_variance(ROWS, ROWS, metric="accuracy")


def test_a_deterministic_eval_is_said_to_have_no_noise_to_measure():
    found = eval_variance(ROWS, ROWS, ROWS)
    assert found.run_std == 0
    assert "deterministic" in str(found)


def test_eval_variance_with_one_task_does_not_invent_a_test():
    found = eval_variance(ROWS[:4], rows_of([2], [4]))
    assert (found.F, found.p, found.resampling_std) == (None, None, None)
    assert "one task" in str(found)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"effect": 0}, "effect"),
        ({"effect": math.nan}, "effect"),
        ({"effect": 0.5}, "above 1"),
        ({"effect": 0.1, "base": 1.0}, "base"),
        ({"effect": 0.1, "k": 0}, "k="),
        ({"effect": 0.1, "power": 1.0}, "power"),
        ({"effect": 0.1, "alpha": 1.0}, "alpha"),
        ({"effect": 0.1, "icc": 2}, "icc"),
    ],
)
def test_holdout_size_refuses_what_makes_no_sense(options, says):
    with pytest.raises(UsageError, match=says):
        holdout_size(**options)
