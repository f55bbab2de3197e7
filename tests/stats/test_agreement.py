"""Agreement between raters, against scikit-learn, statsmodels and krippendorff, and by simulation."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, pearsonr
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from whileai.core.errors import InputError, UsageError
from whileai.stats.agreement import agreement
from whileai.stats.biases import length_bias, position_bias
from whileai.stats.corrected import corrected_rate
from whileai.stats.raters import krippendorff_alpha, self_agreement

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=60)
MAYBE = st.one_of(st.none(), st.integers(0, 3))
TABLES = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.tuples(*[MAYBE] * raters), min_size=1, max_size=30).map(
        lambda rows: [list(column) for column in zip(*rows, strict=True)]
    )
)


def column(pairs, which):
    return [pair[which] for pair in pairs]


def measurable(found):
    return found.kappa is not None and not found.why


def paired(columns):
    """The labels on rows with two or more."""
    rows = [[v for v in row if v is not None] for row in zip(*columns, strict=True)]
    return [v for row in rows if len(row) > 1 for v in row]


def draw(rng, n, rate, sensitivity, specificity):
    label = rng.random(n) < rate
    return label.astype(int), np.where(label, rng.random(n) < sensitivity, rng.random(n) > specificity).astype(int)


# -- kappa


@given(PAIRS)
def test_kappa_share_and_table_are_scikit_learn_s(pairs):
    a, b = column(pairs, 0), column(pairs, 1)
    found = agreement(a, b)
    assert found.share == pytest.approx(np.mean(np.equal(a, b)))
    assert found.constant_share == max(a.count(v) for v in set(a)) / len(a)
    if found.kappa is None:
        assert len({*a, *b}) == 1
    else:
        assert np.array_equal(found.table, confusion_matrix(a, b))
        assert found.kappa == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)


@given(PAIRS)
def test_kappa_s_standard_error_is_that_of_fleiss_cohen_and_everitt(pairs):
    found = agreement(column(pairs, 0), column(pairs, 1))
    assume(measurable(found))
    with np.errstate(all="ignore"):
        oracle = cohens_kappa(np.array(found.table))
    corrected = oracle.var_kappa * found.n / (found.n - 1)
    assert found.chance.spread.se**2 == pytest.approx(corrected, rel=1e-9, abs=1e-12)


@given(PAIRS)
def test_the_share_s_interval_is_wilson_s(pairs):
    found = agreement(column(pairs, 0), column(pairs, 1), alpha=0.1)
    agreed = round(found.share * found.n)
    assert (found.lo, found.hi) == pytest.approx(
        proportion_confint(agreed, found.n, alpha=0.1, method="wilson"), abs=1e-12
    )


@given(PAIRS)
def test_swapping_the_raters_transposes_the_table_and_changes_nothing_else(pairs):
    one, other = (agreement(column(pairs, i), column(pairs, 1 - i)) for i in (0, 1))
    assert np.array_equal(np.transpose(one.table), other.table)
    assert one.label_shares == other.rater_shares
    for name in ("share", "lo", "hi", "kappa", "kappa_lo", "kappa_hi"):
        assert one[name] == pytest.approx(other[name], abs=1e-9)


@given(PAIRS, st.randoms(use_true_random=False))
def test_permuting_the_rows_changes_nothing(pairs, random):
    tasks = [i // 2 for i in range(len(pairs))]
    order = random.sample(range(len(pairs)), len(pairs))
    one = agreement(column(pairs, 0), column(pairs, 1), tasks=tasks)
    other = agreement([pairs[i][0] for i in order], [pairs[i][1] for i in order], tasks=[tasks[i] for i in order])
    for name in ("share", "lo", "hi", "kappa", "kappa_lo", "kappa_hi"):
        assert one[name] == pytest.approx(other[name], abs=1e-9)


@given(PAIRS)
def test_renaming_the_categories_changes_no_number(pairs):
    names = {0: "delta", 1: "alpha", 2: "charlie", 3: "bravo"}
    plain = agreement(column(pairs, 0), column(pairs, 1))
    named = agreement([names[a] for a, _ in pairs], [names[b] for _, b in pairs])
    assert plain.kappa == pytest.approx(named.kappa, abs=1e-12)
    assert plain.kappa_lo == pytest.approx(named.kappa_lo, abs=1e-9)


@given(PAIRS)
def test_kappa_and_its_interval_stay_between_minus_one_and_one_and_have_width(pairs):
    found = agreement(column(pairs, 0), column(pairs, 1))
    assume(measurable(found))
    assert -1 <= found.kappa_lo <= found.kappa <= found.kappa_hi <= 1
    assert found.kappa_hi - found.kappa_lo > 0.001
    assert 0 <= found.lo <= found.share <= found.hi <= 1


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60))
def test_perfect_agreement_is_one_and_its_lower_bound_is_not(labels):
    assume(len(set(labels)) > 1)
    found = agreement(labels, labels)
    assert found.kappa == 1
    assert found.kappa_hi == 1
    assert found.kappa_lo < 1


@given(PAIRS, st.lists(st.tuples(MAYBE, st.none()), max_size=10))
def test_a_missing_label_is_never_a_zero(pairs, holes):
    full = agreement(column(pairs, 0), column(pairs, 1))
    holed = agreement(column(pairs + holes, 0), column(pairs + holes, 1))
    assert holed.n_missing == len(holes)
    assert (holed.share, holed.n) == (full.share, full.n)
    assert holed.kappa == pytest.approx(full.kappa, abs=1e-12)


def test_every_way_of_saying_nothing_is_missing():
    found = agreement([1, 0, None, math.nan, np.nan, 1], [True, np.float64(0), 1, 1, 1, None])
    assert (found.n, found.n_missing, found.share) == (2, 4, 1.0)
    assert agreement(["yes", "", " no "], ["yes", "no", "no"]).n_missing == 1


def test_repeats_of_a_task_do_not_pass_for_fresh_evidence():
    a, b = [1, 1, 0, 0, 1, 0, 1, 0, 1, 1], [1, 1, 0, 0, 1, 0, 0, 0, 1, 0]
    once = agreement(a, b)
    repeated = agreement(a * 50, b * 50, tasks=list(range(10)) * 50)
    fresh = agreement(a * 50, b * 50)
    assert repeated.kappa == pytest.approx(once.kappa)
    assert repeated.kappa_lo == pytest.approx(once.kappa_lo, abs=0.03)
    assert (repeated.unit, repeated.n_units, repeated.n) == ("task", 10, 500)
    assert fresh.kappa_lo > once.kappa_lo + 0.2


@pytest.mark.parametrize("n, sensitivity, specificity", [(20, 0.99, 0.99), (20, 0.8, 0.7), (40, 0.95, 0.9)])
def test_kappa_s_interval_covers_and_its_lower_bound_is_rarely_too_high(n, sensitivity, specificity):
    table = np.array([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]]) * 0.5
    expected = table.sum(0) @ table.sum(1)
    true = (np.trace(table) - expected) / (1 - expected)
    rng = np.random.default_rng(7)
    draws = [agreement(*draw(rng, n, 0.5, sensitivity, specificity)) for _ in range(400)]
    draws = [found for found in draws if measurable(found)]
    assert np.mean([found.kappa_lo <= true <= found.kappa_hi for found in draws]) >= 0.93
    assert np.mean([found.kappa_lo > true for found in draws]) <= 0.035


def test_the_rows_asked_for_settle_it_about_as_often_as_promised():
    rng = np.random.default_rng(3)
    pilot = agreement(np.repeat([1, 1, 0, 0], [17, 3, 3, 17]), np.repeat([1, 0, 1, 0], [17, 3, 3, 17]))  # kappa 0.7
    more = pilot.more_rows(0.5)
    assert pilot.kappa_lo < 0.5 < pilot.kappa
    assert more > 20
    settled = [agreement(*draw(rng, 40 + more, 0.5, 0.85, 0.85)).kappa_lo >= 0.5 for _ in range(300)]
    assert 0.7 <= np.mean(settled) <= 0.95


def test_no_more_rows_are_asked_for_when_it_is_settled_and_none_will_do_when_it_sits_on_the_mark():
    good = agreement([1, 0] * 100, [1, 0] * 100)
    assert good.more_rows(0.6) == 0
    assert agreement([1, 0] * 100, [1, 1, 0, 0] * 50).more_rows(0.6) == 0
    level = agreement([1, 1, 0, 0] * 5, [1, 1, 0, 1] * 5)
    assert level.kappa == pytest.approx(0.5)
    assert level.more_rows(level.kappa) is None


def test_one_class_alone_leaves_kappa_undefined_with_a_reason():
    both = agreement([1] * 9, [1] * 9)
    assert (both.kappa, both.kappa_lo, both.share) == (None, None, 1)
    assert "undefined" in both.why
    assert "undefined" in str(both)
    lenient = agreement([1, 1, 0], [1, 1, 1])
    assert (lenient.kappa, lenient.kappa_lo) == (0, None)
    assert "whatever the labels say" in lenient.why


def test_a_judge_that_says_yes_to_everything_is_shown_beside_the_constant_predictor():
    found = agreement([1] * 18 + [0] * 2, [1] * 20)
    assert found.share == found.constant_share == 0.9
    assert found.kappa == 0
    assert "always saying 1 agrees on 0.90; base rate of 1 0.90 by label, 1.00 by rating" in str(found)


def test_a_single_task_has_no_interval_and_says_so():
    found = agreement([1, 0, 1], [1, 0, 0], tasks=["t"] * 3)
    assert (found.lo, found.kappa_lo) == (None, None)
    assert "single task" in found.why


def test_the_report_names_method_level_unit_and_n():
    text = str(agreement([1, 0, 1, 0, None], [1, 0, 0, 0, 1]))
    assert "(4 rows, 1 without both labels left out)" in text
    assert "95% intervals over 4 rows: share by Wilson" in text
    assert agreement([1, 0], [1, 0]).to_dict()["table"] == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "labels, ratings, said",
    [
        ([1, 0], [1], "labels has 2, ratings has 1"),
        ([1, None], [None, 1], "no row of 2 has both"),
        ([None], [None], "hold no label at all"),
        ([], [], "hold no label at all"),
        (["pass"], [1], "mix text"),
        ([math.inf], [1], "infinite"),
        ([[1]], [1], "labels, row 1: list"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused_in_a_sentence(labels, ratings, said):
    with pytest.raises(InputError, match=said):
        agreement(labels, ratings)


def test_a_wrong_level_or_task_list_is_refused():
    with pytest.raises(UsageError, match="alpha"):
        agreement([1, 0], [1, 0], alpha=5)
    with pytest.raises(InputError, match="1 tasks for 2 rows"):
        agreement([1, 0], [1, 0], tasks=["t"])
    with pytest.raises(UsageError, match="ordinal"):
        krippendorff_alpha([[1, 0], [1, 0]], level="ordinal")


# -- several raters


@pytest.mark.parametrize("level", ["nominal", "interval"])
@given(columns=TABLES)
def test_alpha_is_that_of_the_krippendorff_package(level, columns):
    values = paired(columns)
    assume(values)
    found = krippendorff_alpha(columns, level=level)
    if len(set(values)) == 1:
        assert found.value is None
        assert "undefined" in found.why
        return
    data = np.array([[np.nan if v is None else v for v in line] for line in columns], float)
    oracle = krippendorff.alpha(data, level_of_measurement=level, value_domain=[0, 1, 2, 3])
    assert found.value == pytest.approx(oracle, abs=1e-9)
    assert found.n_labels == len(values)
    if found.lo is not None:
        assert -1 <= found.lo <= max(found.value, -1)
        assert found.value <= found.hi + 1e-12 <= 1 + 1e-11


@given(TABLES)
def test_the_order_of_the_raters_does_not_matter(columns):
    assume(paired(columns))
    one, other = krippendorff_alpha(columns), krippendorff_alpha(columns[::-1])
    assert (one.value, one.lo, one.hi) == pytest.approx((other.value, other.lo, other.hi), abs=1e-9)


def test_krippendorff_s_own_example_with_missing_labels():
    nan = None  # Krippendorff (2011), reliability data C
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    assert krippendorff_alpha(observers).value == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(observers, level="interval").value == pytest.approx(0.849, abs=5e-4)
    assert "(4 raters, 40 labels on 11 rows, 1 with fewer than two labels left out; 95%" in str(
        krippendorff_alpha(observers)
    )


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_alpha_s_standard_error_is_that_of_leaving_one_row_out_at_a_time(level):
    rng, n = np.random.default_rng(2), 400
    truth = rng.choice([0.0, 1.0, 5.0], n, p=[0.8, 0.15, 0.05])
    data = np.array([np.where(rng.random(n) < 0.6, truth, rng.choice([0.0, 1.0, 5.0], n)) for _ in range(3)])
    data[0, rng.random(n) < 0.3] = np.nan
    left = [krippendorff.alpha(np.delete(data, i, 1), level_of_measurement=level) for i in range(n)]
    jackknife = math.sqrt((n - 1) / n * np.sum((np.array(left) - np.mean(left)) ** 2))
    assert krippendorff_alpha(data, level=level).chance.spread.se == pytest.approx(jackknife, rel=0.02)


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_alpha_s_interval_covers_the_value_that_a_million_rows_give(level):
    rng = np.random.default_rng(11)

    def labelled(n):
        truth = rng.integers(0, 3, n)
        made = [np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n)).astype(float) for _ in range(3)]
        made[2][rng.random(n) < 0.4] = np.nan
        return made

    true = krippendorff_alpha(labelled(100_000), level=level).value
    found = [krippendorff_alpha(labelled(30), level=level) for _ in range(300)]
    assert np.mean([f.lo <= true <= f.hi for f in found]) >= 0.92


def test_alpha_needs_two_raters_a_row_labelled_twice_and_numbers_for_the_interval_level():
    with pytest.raises(InputError, match="1 rater"):
        krippendorff_alpha([[1, 0]])
    with pytest.raises(InputError, match="no row of 2 has two labels"):
        krippendorff_alpha([[1, None], [None, 1]])
    with pytest.raises(InputError, match="needs numbers"):
        krippendorff_alpha([["a", "b"], ["a", "b"]], level="interval")


def test_self_agreement_counts_pairs_of_answers_and_leaves_single_answers_out():
    found = self_agreement([[1, 1, 0, 1], [1, 0, 0, None], [1, 1, 0, None]])
    assert found.share == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert (found.n_flipped, found.n_rows, found.n_left_out, found.times) == (1, 3, 1, 3)
    steady = self_agreement([[1, 0], [1, 0]])
    assert steady.share == steady.hi == 1
    assert (steady.lo, 1) == pytest.approx(proportion_confint(2, 2, method="wilson"))
    assert "self-agreement 1.00 [0.34..1.00] (2 rows, 2 times" in str(steady)


def test_self_agreement_needs_two_answers_to_some_row():
    with pytest.raises(InputError, match="cannot agree with itself"):
        self_agreement([[1, 0]])
    with pytest.raises(InputError, match="was answered twice"):
        self_agreement([[1, None], [None, 1]])


# -- length


def replies(rng, n_tasks, taste):
    """Labels without any taste for length, and verdicts with `taste`, on four replies of every task."""
    tasks = np.repeat(np.arange(n_tasks), 4)
    length = rng.integers(20, 400, tasks.size)
    label = (rng.random(tasks.size) < 0.5).astype(float)
    swayed = rng.random(tasks.size) < taste
    verdict = np.where(swayed, length > 210, label).astype(float)
    return length, verdict, tasks.tolist(), label


def test_a_judge_with_a_taste_for_long_replies_is_found_out_and_a_fair_one_is_not():
    rng = np.random.default_rng(0)
    length, verdict, tasks, label = replies(rng, 60, 0.4)
    swayed = length_bias(length, verdict, tasks, labels=label)
    assert swayed.biased
    assert swayed.lo > 0.5
    assert swayed.beyond.lo > 0
    fair = [length_bias(*replies(rng, 30, 0.0)[:3]).longer_wins for _ in range(20)]
    assert 0.4 < np.mean(fair) < 0.6


def test_a_fair_but_sloppy_judge_raises_a_false_alarm_about_as_often_as_its_level():
    rng = np.random.default_rng(5)
    alarms = []
    for _ in range(300):
        length, _, tasks, label = replies(rng, 30, 0.0)
        verdict = np.where(rng.random(label.size) < 0.2, 1 - label, label)
        alarms.append(length_bias(length, verdict, tasks, labels=label).biased)
    assert np.mean(alarms) <= 0.09


def test_longer_and_better_replies_are_no_bias_of_the_judge():
    rng = np.random.default_rng(1)
    alarms = []
    for _ in range(100):
        label = (rng.random(120) < 0.5).astype(float)
        length = 200 + 100 * label + rng.normal(0, 60, 120)
        verdict = np.where(rng.random(120) < 0.1, 1 - label, label)
        tasks = np.repeat(np.arange(30), 4).tolist()
        alarms.append(length_bias(length, verdict, tasks, labels=label).biased)
    assert np.mean(alarms) <= 0.11
    alone = length_bias(length, verdict, tasks)
    assert alone.biased is None
    assert alone.lo > 0.5  # the longer wins, and rightly so
    assert "may be a merit" in str(alone)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9), st.integers(0, 1)), min_size=2, max_size=25))
def test_the_longer_of_two_wins_as_a_plain_count_of_pairs_says(rows):
    tasks, length, verdict = (column(rows, i) for i in range(3))
    found = length_bias(length, verdict, tasks)
    wins = [
        (length[i] - length[j]) * (verdict[i] - verdict[j]) > 0
        for i in range(len(rows))
        for j in range(i)
        if tasks[i] == tasks[j] and length[i] != length[j] and verdict[i] != verdict[j]
    ]
    assert found.n_pairs == len(wins)
    assert found.longer_wins == (pytest.approx(np.mean(wins)) if wins else None)
    mirrored = length_bias([-x for x in length], verdict, tasks)
    assert mirrored.longer_wins == (pytest.approx(1 - np.mean(wins)) if wins else None)


def test_the_correlation_inside_tasks_is_pearson_s_of_what_is_left_after_the_task_means():
    rng = np.random.default_rng(2)
    length, verdict, tasks, _ = replies(rng, 25, 0.5)
    centred = [np.reshape(x, (25, 4)) - np.reshape(x, (25, 4)).mean(1, keepdims=True) for x in (length, verdict)]
    assert length_bias(length, verdict, tasks).within.value == pytest.approx(
        pearsonr(centred[0].ravel(), centred[1].ravel()).statistic
    )


def test_independent_rows_give_about_the_textbook_interval():
    rng = np.random.default_rng(4)
    length, label = rng.normal(size=400), np.zeros(400)
    verdict = 1.5 * length + rng.normal(size=400)
    found = length_bias(length, verdict, list(range(400)), labels=label).beyond
    textbook = pearsonr(length, verdict).confidence_interval()
    assert (found.lo, found.hi) == pytest.approx(tuple(textbook), abs=0.005)


def test_length_bias_says_when_there_is_nothing_to_see_and_refuses_what_cannot_be_read():
    same = length_bias([5, 5], [1, 1], ["a", "a"])
    assert (same.longer_wins, same.within.value, same.biased) == (None, None, None)
    assert "no two rows of one task differ" in str(same)
    with pytest.raises(InputError, match="no row has both"):
        length_bias([1, None], [None, 1], ["a", "a"])
    with pytest.raises(InputError, match="different length"):
        length_bias([1, 2], [1], ["a", "a"])
    with pytest.raises(InputError, match="is text"):
        length_bias([1], ["good"], ["a"])


# -- position


def test_a_judge_that_follows_the_reply_has_no_position_bias():
    found = position_bias(["A>B", "B>A", "A=B", None], ["B>A", "A>B", "tie", "A"])
    assert (found.consistent, found.preference, found.first, found.second, found.n) == (1, 0, 0, 0, 3)
    assert found.n_missing == 1
    assert not found.biased
    assert found.preference_lo < 0 < found.preference_hi


def test_a_judge_that_follows_the_place_is_found_out():
    found = position_bias(["A"] * 12 + ["B", "A", "A"], ["A"] * 12 + ["B", "B", "tie"])
    assert (found.first, found.second, found.mixed) == (12, 1, 1)
    assert found.consistent == pytest.approx(1 / 15)
    assert found.p == pytest.approx(binomtest(1, 13).pvalue)
    assert found.biased
    assert found.preference_lo > 0
    assert "both times the first 12" in str(found)


@given(st.lists(st.tuples(st.sampled_from([1, 0, -1]), st.sampled_from([1, 0, -1])), min_size=2, max_size=40))
def test_naming_the_other_place_everywhere_mirrors_the_preference(pairs):
    one = position_bias(column(pairs, 0), column(pairs, 1))
    other = position_bias([-a for a, _ in pairs], [-b for _, b in pairs])
    assert one.preference == -other.preference
    assert (one.first, one.second, one.p, one.consistent) == (other.second, other.first, other.p, other.consistent)
    assert -1 <= one.preference_lo < one.preference_hi <= 1


def test_answers_that_name_no_place_are_refused():
    with pytest.raises(InputError, match=r"original, pair 2: 'both' names no place"):
        position_bias(["A", "both"], ["A", "B"])
    with pytest.raises(InputError, match="2 original, 1 swapped"):
        position_bias(["A", "B"], ["A"])
    with pytest.raises(InputError, match="both orders"):
        position_bias(["A", None], [None, "B"])


# -- corrected rate


def test_the_corrected_rate_is_rogan_and_gladen_s():
    verdicts = [1] * 60 + [0] * 40 + [1] * 9 + [0] * 1 + [1] * 2 + [0] * 8
    labels = [None] * 100 + [1] * 10 + [0] * 10
    found = corrected_rate(verdicts, labels)
    assert found.observed == pytest.approx(71 / 120)
    assert found.rate == pytest.approx((71 / 120 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.sensitivity[1:] == pytest.approx(proportion_confint(9, 10, method="wilson"))
    assert found.lo < found.rate < found.hi
    assert "120 rows" in str(found)


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.8])
def test_the_corrected_rate_s_interval_covers_the_true_rate(rate):
    rng = np.random.default_rng(8)
    covered = []
    for _ in range(300):
        _, verdict = draw(rng, 300, rate, 0.9, 0.8)
        label, checked = draw(rng, 80, 0.5, 0.9, 0.8)
        found = corrected_rate([*verdict, *checked][:300] + list(checked), [None] * 300 + list(label))
        covered.append(found.lo <= (300 * rate + 80 * 0.5) / 380 <= found.hi)
    assert np.mean(covered) >= 0.93


def test_repeats_widen_the_corrected_interval():
    verdicts, labels = [1, 1, 1, 0, 0, 1, 0, 0, 1, 0] * 8, [1, 1, 1, 0, 0, 0, 1, 0, 1, 0] * 8
    tasks = list(range(10)) * 8
    loose, tight = corrected_rate(verdicts, labels, tasks=tasks), corrected_rate(verdicts, labels)
    assert loose.rate == tight.rate
    assert loose.n_effective < 12 < tight.n_effective
    assert loose.hi - loose.lo > tight.hi - tight.lo


def test_a_judge_that_tells_nothing_apart_corrects_nothing():
    assert corrected_rate([1, 1, 0, 0], [1, 0, 1, 0]).rate is None
    assert "no judged row is labelled 0" in corrected_rate([1, 0], [1, 1]).why
    with pytest.raises(InputError, match=r"0\.5, which is neither"):
        corrected_rate([0.5], [1])
    with pytest.raises(InputError, match="no row has a verdict"):
        corrected_rate([None], [1])
