"""Every golden value, computed on an independent path (SciPy, statsmodels, exact fractions)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from builders import GOLDEN, arms_of, rows_of, rows_of_means

from whileai.stats import intervals
from whileai.stats.columns import columns
from whileai.stats.comparison import compare
from whileai.stats.floors import Reruns, literal, moderated
from whileai.stats.noise import components, eval_variance, sampling_variance
from whileai.stats.paired import holm
from whileai.stats.passat import pass_at
from whileai.stats.power import holdout_size, mde
from whileai.stats.signs import signflip_p
from whileai.stats.tables import all_of_k

NAMES = {"pass_at_1": "pass_at_1", "pass_hat_k": "pass_pow_k", "pass_at_k": "pass_at_k", "headroom": "headroom"}


@pytest.mark.parametrize("case", GOLDEN["pass_at"])
@pytest.mark.parametrize("golden_name", NAMES)
def test_pass_at_gives_the_golden_mean_and_interval(case, golden_name):
    want = GOLDEN["pass_at"][case]
    found = pass_at(rows_of(want["c"], want["n"]))[NAMES[golden_name]]
    want = want[golden_name]
    assert found.value == pytest.approx(want["mean"], abs=1e-9)
    assert (found.lo, found.hi) == pytest.approx((want["lo"], want["hi"]), abs=1e-7)
    assert found.df == pytest.approx(want["df"], abs=1e-7)


@pytest.mark.parametrize("case", GOLDEN["pass_k_single"], ids=lambda c: f"{c['c']}of{c['n']}k{c['k']}")
def test_pass_k_agrees_with_exact_fractions(case):
    c, n, k = (np.array([case[name]]) for name in ("c", "n", "k"))
    exact = float(Fraction(case["pass_hat_k"]))
    assert all_of_k(c, n, int(k[0]))[0] == pytest.approx(exact, rel=3e-10)
    assert 1 - all_of_k(n - c, n, int(k[0]))[0] == pytest.approx(case["pass_at_k_float"], rel=3e-10)


@pytest.mark.parametrize("case", ["twenty", "lesson7", "one_of_40", "ten"])
def test_compare_gives_the_golden_delta(case):
    want = GOLDEN["compare"][case]
    found = compare(*arms_of(want["d"]))
    for name in ("delta", "se", "df", "lo", "hi", "p"):
        assert found[name] == pytest.approx(want[name], abs=2e-9), name
    if want["signflip_p"] is not None:
        assert found.signflip_p == pytest.approx(want["signflip_p"], abs=1e-12)


def test_a_run_variance_widens_the_interval_by_the_golden_amount():
    want = GOLDEN["compare"]["twenty_with_run_var"]
    extra = intervals.RunVariance(want["extra"], want["extra"], want["edf"])
    found = intervals.t_interval(intervals.spread(np.array(want["d"])), run=extra)
    assert (found.lo, found.hi, found.se, found.df, found.p) == pytest.approx(
        tuple(want[name] for name in ("lo", "hi", "se", "df", "p")), abs=1e-9
    )


@pytest.mark.parametrize("case", GOLDEN["compare_degenerate"], ids=lambda c: f"{c['d_all']}x{c['n']}")
def test_equal_differences_fall_back_to_the_rule_of_three(case):
    found = compare(*arms_of([case["d_all"]] * case["n"]))
    assert (found.lo, found.hi) == pytest.approx((case["lo"], case["hi"]), abs=1e-12)
    assert (found.verdict == "PASS") == (case["verdict"] == "PASS")


def test_the_whole_comparison_of_three_base_passes_and_one_trained_pass():
    want = GOLDEN["compare_full"]
    before = [rows_of_means(run, run=i) for i, run in enumerate(want["before_runs"], 1)]
    found = compare(before, rows_of_means(want["after_runs"][0], model_version="v2"))
    assert found.verdict == want["verdict"]
    for name in ("delta", "se", "df", "lo", "hi"):
        assert found[name] == pytest.approx(want[name], abs=1e-12), name
    assert found.floor.value == pytest.approx(want["floor"], abs=1e-12)
    assert found.floor.run_std == pytest.approx(want["run_std"])
    assert found.floor.resampling_std == pytest.approx(want["resampling_std"])
    assert found.floor.spread**2 == pytest.approx(want["run_var"])


def test_clustered_tasks_give_the_golden_interval():
    want = GOLDEN["cluster"]
    seen = intervals.spread(np.array(want["d"]), np.array(want["cluster"]))
    found = intervals.t_interval(seen)
    assert (seen.mean, seen.se, seen.df) == pytest.approx((want["delta"], want["se"], want["df"]), abs=1e-12)
    assert (found.lo, found.hi) == pytest.approx((want["lo"], want["hi"]), abs=1e-12)


@pytest.mark.parametrize("seed", ["seed0", "seed1"])
def test_the_literal_floor_is_the_seeds_floor(seed):
    want = GOLDEN["noise_floor"][seed]
    run_std = float(np.std(want["means"], ddof=1))
    assert run_std == pytest.approx(want["run_std"], abs=1e-15)
    assert literal(Reruns(run_std, 2, 3, None, 1, 1, True), 0.05).value == pytest.approx(want["floor_1v1"])
    assert literal(Reruns(run_std, 2, 3, None, 3, 1, True), 0.05).value == pytest.approx(want["floor_pooled_3v1"])
    assert intervals.t_quantile(0.975, 2) == pytest.approx(GOLDEN["noise_floor"]["t975_df2"], abs=1e-12)


@pytest.mark.parametrize("case", ["tiny", "seed0"])
def test_the_moderated_floor(case):
    want = GOLDEN["moderated"][case]
    for n_before, name in ((3, "floor_3v1"), (1, "floor_1v1")):
        seen = Reruns(want["run_std"], want["runs"] - 1, want["runs"], want["sampling_var"], n_before, 1, True)
        floor, run = moderated(seen, 0.05)
        assert floor.value == pytest.approx(want[name])
        assert floor.spread**2 == pytest.approx(want["run_var"])
        assert floor.df == want["df"]
        assert run.variance == pytest.approx(want["tau2"] * seen.factor, abs=1e-15)


def test_eval_variance_takes_runs_apart():
    want = GOLDEN["eval_variance"]
    found = eval_variance(*(rows_of_means(run, run=i) for i, run in enumerate(want["Y"])))
    assert list(found["means"].values()) == pytest.approx(want["means"])
    for name in ("run_std", "resampling_std", "F", "p"):
        assert found[name] == pytest.approx(want[name], abs=1e-12), name
    assert found.extra_std == pytest.approx(math.sqrt(want["tau2"]))
    assert components(np.array(want["Y"])).tau2 == pytest.approx(want["tau2"])


def test_sampling_variance_of_one_run():
    rewards = GOLDEN["sampling_var"]["rewards"]
    rows = [
        {"scenario_id": str(i), "rollout_index": j, "reward": r}
        for i, task in enumerate(rewards)
        for j, r in enumerate(task)
    ]
    assert sampling_variance(columns(rows)) == pytest.approx(GOLDEN["sampling_var"]["value"], abs=1e-15)


@pytest.mark.parametrize("case", GOLDEN["holdout_size"], ids=str)
def test_holdout_size(case):
    options = {name: case[name] for name in ("base", "k", "power", "alpha") if name in case}
    found = holdout_size(case["effect"], **options)
    assert found["n_tasks"] == case["n_z"]
    assert (found.n_concentrated, found.n_tasks_t) == (case["n_concentrated_z"], case["n_t"])
    assert found.task_std == pytest.approx(case["task_std"])


def test_holdout_size_from_a_known_task_std():
    case = GOLDEN["holdout_task_std"]
    assert holdout_size(case["effect"], task_std=case["task_std"]).n_tasks == case["n_z"]


@pytest.mark.parametrize("case", GOLDEN["mde"], ids=lambda c: str(c["n"]))
def test_the_smallest_effect_a_set_can_see(case):
    assert mde(case["n"], case["var"]) == pytest.approx(case["mde"], abs=1e-12)


def test_holm():
    assert holm(GOLDEN["holm"]["p"]) == pytest.approx(GOLDEN["holm"]["adj"])


def test_two_one_sided_tests():
    case = GOLDEN["tost"]
    seen = intervals.spread(np.array(case["d"]))
    assert intervals.equivalence_p(seen, case["sesoi"]) == pytest.approx(case["p"], abs=1e-12)


def test_sign_flip_is_exact_on_ten():
    assert signflip_p(np.array(GOLDEN["compare"]["ten"]["d"])) == (0.046875, "exact")
