"""SciPy and statsmodels, on their own paths, agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builders import rows_of, rows_of_values
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from whileai.stats import intervals
from whileai.stats.comparison import compare
from whileai.stats.noise import components, eval_variance
from whileai.stats.paired import holm
from whileai.stats.passat import pass_at
from whileai.stats.power import holdout_size
from whileai.stats.replication import replicate
from whileai.stats.signs import mcnemar_p, signflip_p


@pytest.mark.parametrize(("passed", "n"), [(3, 5), (9, 20), (45, 80), (20, 40)])
def test_with_one_try_a_task_the_score_interval_is_wilsons_with_a_t_quantile(passed, n):
    found = pass_at(rows_of([1] * passed + [0] * (n - passed), [1] * n)).pass_at_1
    as_if = 2 * stats.norm.sf(stats.t.ppf(0.975, n - 1))
    assert (found.lo, found.hi) == pytest.approx(proportion_confint(passed, n, as_if, method="wilson"), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_with_light_tails_the_paired_interval_is_the_paired_t_test(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random(30) * 0.5, rng.random(30) * 0.5 + 0.1
    found = compare(rows_of_values(a.tolist()), rows_of_values(b.tolist(), model_version="v2"))
    want = stats.ttest_rel(b, a)
    assert found.df == 29
    assert found.p == pytest.approx(want.pvalue, rel=1e-9)
    assert (found.lo, found.hi) == pytest.approx(tuple(want.confidence_interval()), abs=1e-12)


@pytest.mark.parametrize(("up", "down"), [(0, 0), (3, 9), (12, 12), (44, 157), (1, 0)])
def test_mcnemar_is_statsmodels_exact_test(up, down):
    d = np.array([1.0] * up + [-1.0] * down + [0.0] * 7)
    assert mcnemar_p(d)[:2] == (up, down)
    assert mcnemar_p(d)[2] == pytest.approx(min(1.0, mcnemar([[5, up], [down, 2]], exact=True).pvalue), rel=1e-12)


@pytest.mark.parametrize("p", [[0.01, 0.04, 0.03, 0.005], [0.5], [0.2, 0.2, 0.9], [1e-9, 0.06, 0.049, 0.7, 0.01]])
def test_holm_is_statsmodels_holm(p):
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_sign_flip_is_scipys_permutation_test(seed):
    d = np.random.default_rng(seed).normal(0.3, 1, 10)
    want = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert signflip_p(d)[0] == pytest.approx(want)


def test_the_lattice_sign_flip_is_the_enumerated_one():
    d = np.random.default_rng(0).integers(-2, 4, 18) / 4
    signs = 1 - 2 * ((np.arange(1 << 18)[:, None] >> np.arange(18)) & 1)
    want = np.mean(np.abs(signs @ np.abs(d)) >= abs(d.sum()) - 1e-9)
    assert signflip_p(d) == (pytest.approx(want, rel=1e-9), "exact")


def test_the_normal_tail_of_the_sign_flip_is_close_to_the_exact_one():
    d = np.random.default_rng(1).normal(0.25, 1, 16)
    signs = 1 - 2 * ((np.arange(1 << 16)[:, None] >> np.arange(16)) & 1)
    want = np.mean(np.abs(signs @ np.abs(d)) >= abs(d.sum()) - 1e-9)
    found, how = signflip_p(d)
    assert how == "normal tail"
    assert found == pytest.approx(want, abs=0.003)


def test_the_sign_flip_is_the_binomial_test_when_all_steps_are_equal():
    d = np.array([0.25] * 30 + [-0.25] * 14 + [0.0] * 20)
    assert signflip_p(d)[0] == pytest.approx(stats.binomtest(30, 44).pvalue)


def test_two_one_sided_tests_are_statsmodels_tost():
    d = np.random.default_rng(3).uniform(-0.3, 0.3, 50)
    want = DescrStatsW(d).ttost_mean(-0.1, 0.1)[0]
    assert intervals.equivalence_p(intervals.spread(d), 0.1) == pytest.approx(want, rel=1e-9)


def test_the_cluster_standard_error_is_statsmodels_sandwich():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 6, 7, 2, 2])
    d = rng.normal(0, 1, groups.size) + rng.normal(0, 1, 9)[groups]
    fit = OLS(d, np.ones((d.size, 1))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert intervals.spread(d, groups).se == pytest.approx(float(fit.bse[0]), rel=1e-12)


def test_eval_variance_is_the_two_way_anova():
    rng = np.random.default_rng(5)
    Y = np.clip(rng.random(12) + rng.normal(0, 0.1, (4, 12)) + rng.normal(0, 0.1, (4, 1)), 0, 1)
    found = eval_variance(*(rows_of_values(y.tolist(), run=i) for i, y in enumerate(Y)))
    run, task = np.repeat(np.arange(4), 12), np.tile(np.arange(12), 4)
    design = np.column_stack([np.ones(48), *(run == r for r in (1, 2, 3)), *(task == t for t in range(1, 12))])
    tested = OLS(Y.ravel(), design.astype(float)).fit().f_test(np.eye(15)[1:4])
    assert pytest.approx(float(tested.fvalue), rel=1e-9) == found.F
    assert found.p == pytest.approx(float(tested.pvalue), rel=1e-9)
    assert components(Y).df_rest == 33


@pytest.mark.parametrize(("effect", "base", "k"), [(0.1, 0.6, 4), (0.05, 0.5, 2), (0.2, 0.3, 8)])
def test_the_t_exact_size_is_statsmodels_power(effect, base, k):
    found = holdout_size(effect, base=base, k=k)
    exact = TTestPower().solve_power(effect / found.task_std, alpha=0.05, power=0.8)
    assert found.n_tasks_t == math.ceil(exact)


def test_strict_replication_is_the_hartung_knapp_meta_analysis_with_its_factor_at_least_one():
    rng = np.random.default_rng(6)
    base = rng.random(20) * 0.4
    arms = [np.clip(base + shift + rng.normal(0, 0.1, 20), 0, 1) for shift in (0.1, 0.35, 0.5)]
    afters = [rows_of_values(a.tolist(), model_version=str(i)) for i, a in enumerate(arms)]
    found = replicate(rows_of_values(base.tolist()), afters, strict=True)
    variances = np.array([np.var(a - base, ddof=1) / 20 for a in arms])
    deltas = np.array([np.mean(a - base) for a in arms])
    # with the mean variance in place of each, the moment estimator of tau^2 is the DerSimonian-Laird one
    want = combine_effects(deltas, np.full(3, variances.mean()), method_re="dl", use_t=True)
    assert found.delta == pytest.approx(want.mean_effect_re, abs=1e-3)
    assert found.se == pytest.approx(want.sd_eff_w_re_hksj, rel=2e-2)
    assert found.df == 2
    assert found.method == "modified Hartung-Knapp"
