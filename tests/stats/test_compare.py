"""What compare says about two arms, and when it holds its tongue."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from builders import GOLDEN, arms_of, rows_of, rows_of_means, rows_of_values

from whileai.core.errors import InputError, TasksDiffer, UsageError
from whileai.stats.comparison import compare

MOVED = [0.5, 0.25, 0.5, 0.75] * 10
STILL = [0.25, -0.25, 0.0, 0.0] * 10


def unscored(rows, places):
    return [{**row, "reward": None} if i in places else row for i, row in enumerate(rows)]


def test_other_tasks_are_refused_with_the_count_on_each_side():
    before, after = arms_of(MOVED)
    after = [row for row in after if row["scenario_id"] not in ("t0", "t1")] + rows_of([4], [4])[:0]
    with pytest.raises(
        TasksDiffer, match=r"40 tasks before, 38 after, 38 in every pass \(2 only before, 0 only after\)"
    ):
        compare(before, after)


def test_allow_partial_compares_the_shared_tasks_and_names_their_share():
    before, after = arms_of(MOVED)
    found = compare(before, after[8:], allow_partial=True)
    assert (found.n_paired, found.share) == (38, 0.95)
    assert "38 shared tasks, 95.0% of all" in str(found)


def test_arms_without_a_shared_task_are_refused_even_then():
    before, after = arms_of(MOVED)
    renamed = [{**row, "scenario_id": "x" + row["scenario_id"]} for row in after]
    with pytest.raises(TasksDiffer, match="share no task"):
        compare(before, renamed, allow_partial=True)


@pytest.mark.parametrize(
    "twin", [lambda r: r, copy.deepcopy, lambda r: list(reversed(r))], ids=["same", "copy", "shuffled"]
)
def test_the_same_rows_twice_are_refused(twin):
    rows = arms_of(MOVED)[0]
    with pytest.raises(InputError, match="both arms hold the same 160 rows"):
        compare(rows, twin(rows))


def test_an_untrained_copy_with_the_same_answers_is_no_difference():
    rows = arms_of(MOVED)[0]
    found = compare(rows, [{**row, "model_version": "copy"} for row in rows])
    assert (found.verdict, found.delta) == ("NO DIFFERENCE", 0)
    assert "every task moved by exactly +0.000" in str(found)


def test_a_pass_given_twice_in_one_arm_is_refused():
    before, after = arms_of(MOVED)
    with pytest.raises(InputError, match="passes 1 and 2 are the same 160 rows"):
        compare([before, list(before)], after)


def test_swapping_the_arms_turns_pass_into_worse():
    before, after = arms_of(MOVED)
    assert (compare(before, after).verdict, compare(after, before).verdict) == ("PASS", "WORSE")


def test_a_large_quiet_set_is_equivalent_rather_than_inconclusive():
    found = compare(*arms_of(STILL * 15))
    assert (found.verdict, found.label) == ("NO DIFFERENCE", "equivalent")
    assert found.equivalence_p < 0.05
    assert "equivalent within +-0.05" in str(found)


def test_a_small_quiet_set_is_inconclusive_and_says_what_it_could_see():
    found = compare(*arms_of(STILL[:20]))
    assert (found.verdict, found.label) == ("NO DIFFERENCE", "inconclusive")
    assert found.not_excluded == found.hi
    assert found.mde == pytest.approx((2.093024 + 0.860951) * found.se, rel=1e-6)
    assert f"{found.tasks_needed} tasks would see +0.10" in str(found)


def test_a_gain_below_the_smallest_effect_of_interest_is_a_pass_that_says_so():
    d = [0.04, 0.02] * 30
    found = compare(rows_of_values([0.5] * 60), rows_of_values([0.5 + x for x in d]))
    assert (found.verdict, found.label) == ("PASS", "moved, but by less than 0.05")


def test_five_tasks_that_all_moved_get_no_verdict_and_six_do():
    assert compare(*arms_of([1.0] * 5)).verdict == "NO VERDICT"
    assert "5 shared tasks" in str(compare(*arms_of([1.0] * 5)))
    assert compare(*arms_of([1.0] * 6)).verdict == "PASS"


def test_one_task_has_no_interval_and_no_verdict():
    found = compare(*arms_of([0.5]))
    assert (found.verdict, found.lo, found.p) == ("NO VERDICT", None, None)
    assert "(1 paired)" in str(found)
    assert "+0.500  too few tasks" in str(found)


def test_missing_answers_are_shown_three_ways():
    before, after = arms_of(MOVED)
    found = compare(before, unscored(after, {0, 5, 9}))
    assert (found.answered.before, found.answered.after) == (1.0, 157 / 160)
    assert "answered: 100.0% before, 98.1% after" in str(found)
    assert "missing answers as zero:" in str(found)
    assert found.answered.worst_case.delta <= found.answered.as_zero.delta <= found.delta + 1e-12
    assert found.verdict == "PASS"


def test_a_pass_that_missing_answers_could_undo_is_withheld():
    before, after = rows_of([2, 3] * 10, [4] * 20), rows_of([3, 2] * 10, [4] * 20, model_version="v2")
    failures = {i for i, row in enumerate(after) if row["reward"] == 0}
    assert compare(before, after).verdict == "NO DIFFERENCE"
    found = compare(before, unscored(after, failures))
    assert found.lo > 0
    assert (found.verdict, found.label) == ("NO VERDICT", "PASS withheld")
    assert "PASS withheld: missing answers could undo it" in str(found)


def test_a_worse_that_missing_answers_could_undo_is_withheld_too():
    before, after = rows_of([2, 3] * 10, [4] * 20), rows_of([3, 2] * 10, [4] * 20, model_version="v2")
    found = compare(before, unscored(after, {i for i, row in enumerate(after) if row["reward"] == 1}))
    assert found.hi < 0
    assert (found.verdict, found.label) == ("NO VERDICT", "WORSE withheld")


def test_a_task_without_an_answer_in_one_arm_leaves_the_pairs_but_not_the_worst_case():
    before, after = arms_of(MOVED)
    found = compare(before, unscored(after, {0, 1, 2, 3}))
    assert (found.n_paired, found.n_tasks) == (39, 40)
    assert found.answered.worst_case.n_tasks == 40


def test_scalars_give_the_literal_floor_and_what_sampling_implies():
    found = compare(*arms_of(MOVED), run_std=0.002, run_std_runs=3)
    assert (found.floor.kind, found.floor.df) == ("literal", 2)
    assert found.floor.value == pytest.approx(4.302652729749462 * 0.002 * 2**0.5)
    assert found.floor.sampling_floor is None  # the before arm fails every try, so sampling moves nothing
    noisy = compare(*arms_of([*MOVED[:20], *(-x for x in MOVED[:20])]), run_std=0.002, run_std_runs=3)
    assert noisy.floor.sampling_floor == pytest.approx(1.959964 * noisy.floor.resampling_std * 2**0.5, rel=1e-6)
    assert "sampling implies a floor of" in str(noisy)


def test_a_delta_under_the_floor_is_no_difference_though_its_interval_excludes_zero():
    found = compare(*arms_of(MOVED), run_std=0.1, run_std_runs=3)
    assert found.lo > 0
    assert found.delta < found.floor.value
    assert found.verdict == "NO DIFFERENCE"


def test_a_run_std_of_zero_is_said_to_add_nothing():
    found = compare(*arms_of(MOVED), run_std=0.0, run_std_runs=3)
    assert found.verdict == "PASS"
    assert "run_std is 0" in str(found)


def test_the_floor_can_be_chosen_or_left_out():
    full = GOLDEN["compare_full"]
    before = [rows_of_means(run, run=i) for i, run in enumerate(full["before_runs"], 1)]
    after = rows_of_means(full["after_runs"][0], model_version="v2")
    kinds = {kind: compare(before, after, floor=kind).floor for kind in ("auto", "moderated", "literal", None)}
    assert kinds["auto"] == kinds["moderated"]
    assert kinds[None] is None
    run_std = np.std([np.mean(run) for run in full["before_runs"]], ddof=1)
    assert kinds["literal"].value == pytest.approx(4.302652729749462 * run_std * (4 / 3) ** 0.5)
    assert "floor" not in str(compare(before, after, floor=None)).split("\n")[1]


def test_scalars_with_a_moderated_floor_widen_the_interval_when_runs_really_shift():
    before, after = arms_of([*MOVED[:20], *(-x for x in MOVED[:20])])
    plain, widened = compare(before, after), compare(before, after, run_std=0.08, run_std_runs=4, floor="moderated")
    assert widened.floor.kind == "moderated"
    assert widened.hi - widened.lo > plain.hi - plain.lo


def test_a_moderated_floor_without_repeats_is_literal_and_says_so():
    before, after = arms_of([1.0, 0.0, 0.0, 1.0] * 5, n=1)
    found = compare(before, after, run_std=0.01, run_std_runs=3, floor="moderated")
    assert found.floor.kind == "literal"
    assert "not moderated" in str(found)


def test_passes_on_both_arms_are_pooled():
    rng = np.random.default_rng(0)
    p = rng.random(30)
    passes = [rows_of(rng.binomial(4, p), [4] * 30, run=i) for i in range(6)]
    found = compare(passes[:3], [[{**row, "model_version": "v2"} for row in rows] for rows in passes[3:]])
    assert found.passes == (3, 3)
    assert (found.floor.n_before, found.floor.n_after, found.floor.run_std_runs) == (3, 3, 6)
    assert found.floor.df == 4 + 4
    every = np.mean([row["reward"] for rows in passes[:3] for row in rows])
    assert found.before == pytest.approx(every)


def test_secondary_metrics_are_adjusted_together():
    found = compare(*arms_of(MOVED))
    assert list(found.metrics) == ["pass_at_1", "pass_pow_k", "pass_at_k"]
    assert found.metrics["pass_at_1"].p_holm is None
    others = [found.metrics[name] for name in ("pass_pow_k", "pass_at_k")]
    assert all(one.p_holm >= one.p for one in others)


def test_another_target_moves_the_verdict_to_it():
    before, after = rows_of([2] * 20, [4] * 20), rows_of([1, 3] * 10, [4] * 20)
    found = compare(before, after, target="pass_at_k")
    assert found.target == "pass_at_k"
    assert found.delta == pytest.approx(0)
    assert "  pass_at_k  " in str(found).split("\n")[2]


def test_guards_are_clear_regressed_or_unproven():
    before, after = arms_of(MOVED)
    polite = [{**row, "polite": 1.0, "brief": 1.0, "kind": 0.5} for row in before]
    rude = [
        {**row, "polite": 0.2 + 0.1 * (i % 2), "brief": 1.0 - 0.001 * (i % 3), "kind": 0.5 + (i % 7 - 3) / 10}
        for i, row in enumerate(after)
    ]
    found = compare(polite, rude, must_not_regress={"polite": 0.05, "brief": 0.05, "kind": 0.001})
    assert {guard.metric: guard.status for guard in found.guards} == {
        "polite": "REGRESSED",
        "brief": "CLEAR",
        "kind": "UNPROVEN",
    }
    assert (found.verdict, found.label) == ("NO VERDICT", "PASS withheld")
    assert "guard REGRESSED: polite" in str(found)


def test_a_clear_guard_leaves_the_pass():
    found = compare(*arms_of(MOVED), must_not_regress={"pass_pow_k": 0.1})
    assert [guard.status for guard in found.guards] == ["CLEAR"]
    assert found.verdict == "PASS"


def test_a_guard_no_row_carries_is_refused():
    with pytest.raises(InputError, match="none of the 160 rows has a polite"):
        compare(*arms_of(MOVED), must_not_regress={"polite": 0.1})


def test_slices_are_compared_each_and_adjusted_together():
    before, after = arms_of([0.75, 0.5] * 5 + [0.0] * 9 + [0.25] + [0.5] * 3)
    tool = lambda row: ["get", "set", "rare"][min(2, int(row["scenario_id"][1:]) // 10)]
    before, after = ([{**row, "tool": tool(row)} for row in rows] for rows in (before, after))
    found = compare(before, after, by="tool")
    assert {name: d.n for name, d in found.slices.items()} == {"get": 10, "set": 10, "rare": 3}
    assert [found.slices[name].direction for name in ("get", "set", "rare")] == ["up", "no difference", "too few tasks"]
    assert "tool=get  0.000 -> 0.625" in str(found)
    assert compare(before, after, by=tool).slices == found.slices


def test_clusters_widen_the_interval_and_count_as_the_units():
    rng = np.random.default_rng(1)
    d = np.repeat(rng.choice([-0.25, 0.0, 0.25, 0.5, 0.75], 10), 4)
    before, after = arms_of(d)
    before, after = ([{**row, "site": int(row["scenario_id"][1:]) // 4} for row in rows] for rows in (before, after))
    plain, clustered = compare(before, after), compare(before, after, cluster="site")
    assert clustered.hi - clustered.lo > 1.5 * (plain.hi - plain.lo)
    assert (clustered.n_paired, clustered.metrics["pass_at_1"].n) == (40, 10)
    assert "(40 paired in 10 clusters)" in str(clustered)


def test_a_task_in_two_clusters_is_refused():
    before, after = arms_of(MOVED)
    with pytest.raises(InputError, match="lie in several clusters"):
        compare([{**row, "site": i} for i, row in enumerate(before)], after, cluster="site")


def test_sampling_settings_that_differ_are_named():
    before, after = arms_of(MOVED)
    cold = [{**row, "sampling": {"temperature": 0.0, "max_new_tokens": 64, "seed": 1}} for row in before]
    warm = [{**row, "sampling": {"temperature": 1.0, "max_new_tokens": 64, "seed": 2}} for row in after]
    found = compare(cold, warm)
    assert sum("sampling differs" in warning for warning in found.warnings) == 1
    assert "temperature is 0.0 before and 1.0 after" in str(found)
    assert not any(
        "sampling" in warning
        for warning in compare(cold, [{**r, "sampling": cold[0]["sampling"]} for r in after]).warnings
    )


def test_a_threshold_turns_scores_into_passes():
    before = rows_of_values([0.3, 0.8, 0.9, 0.2, 0.6, 0.7])
    after = rows_of_values([0.9, 0.8, 0.9, 0.9, 0.4, 0.7])
    found = compare(before, after, threshold=0.75)
    assert (found.before, found.after) == pytest.approx((2 / 6, 4 / 6))
    assert found.mcnemar == {"up": 2, "down": 0, "p": 0.5}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"run_std": 0.1}, "run_std= needs run_std_runs="),
        ({"run_std_runs": 3}, "run_std_runs= needs run_std="),
        ({"run_std": 0.1, "run_std_runs": 1}, "at least 2"),
        ({"run_std": -0.1, "run_std_runs": 3}, "not a standard deviation"),
        ({"run_std": float("nan"), "run_std_runs": 3}, "not a standard deviation"),
        ({"floor": "none"}, "floor="),
        ({"target": "accuracy"}, "target="),
        ({"alpha": 0}, "alpha"),
        ({"sesoi": 0}, "sesoi"),
        ({"by": "nothing"}, "no row has a key 'nothing'"),
        ({"must_not_regress": {"pass_at_1": -0.1}}, "margin"),
        ({"must_not_regress": ["pass_at_1"]}, "maps a metric"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(options, says):
    with pytest.raises(UsageError, match=says):
        compare(*arms_of(MOVED), **options)


def test_rows_are_left_as_they_were():
    before, after = arms_of(MOVED)
    kept = copy.deepcopy((before, after))
    compare(before, after, by="model_version", must_not_regress={"pass_at_k": 0.1})
    assert (before, after) == kept
