"""Whether a judge can be believed, from rows."""

from __future__ import annotations

import copy
import json
import random
import warnings

import pytest

from whileai.core.errors import InputError, UsageError
from whileai.trust import judge_trust


def rows(n=60, labelled=None, repeats=1, rate=0.5):
    """Rows whose reply starts with "good" or "poor", labelled accordingly; the reply's length says nothing."""
    dice = random.Random(4)
    made = []
    for i in range(n):
        good = dice.random() < rate
        reply = ("good" if good else "poor") + "." * dice.randint(1, 90) + f"{i:03}"
        made.append(
            {
                "scenario_id": f"s{i // repeats}",
                "label": good if labelled is None or i < labelled else None,
                "messages": [{"role": "user", "content": "ask"}, {"role": "assistant", "content": reply}],
            }
        )
    return made


def reads(row):
    return row["messages"][-1]["content"].startswith("good")


def sloppy(share, seed=0):
    """A judge that is wrong on `share` of the rows, always on the same ones."""

    def judge(row):
        text = row["messages"][-1]["content"]
        return reads(row) ^ (random.Random(f"{seed}{text}").random() < share)

    return judge


def test_a_judge_that_agrees_is_trusted_and_the_first_line_says_why():
    found = judge_trust(rows(), reads)
    assert found.trusted
    assert found.verdict == "TRUSTED"
    assert found.more_rows == 0
    assert found.agreement.kappa == 1
    assert str(found).startswith("TRUSTED: kappa is at least 0.")
    assert found.self_agreement.share == 1
    assert found.corrected.rate == pytest.approx(found.corrected.observed)
    assert found.disagreements == ()


def test_the_rows_stay_as_they_are_and_the_judge_does_not_see_the_labels():
    given, seen = rows(20), []
    before = copy.deepcopy(given)

    def judge(row):
        seen.append(set(row))
        row["messages"].clear()
        return True

    judge_trust(given, judge)
    assert given == before
    assert len(seen) == 40
    assert not any("label" in keys for keys in seen)


def test_a_judge_that_guesses_is_not_trusted():
    found = judge_trust(rows(200), sloppy(0.5))
    assert not found.trusted
    assert found.verdict == "NOT TRUSTED"
    assert "kappa is at most" in str(found)


def test_too_few_labels_leave_it_undecided_and_say_how_many_would_settle_it():
    found = judge_trust(rows(200, labelled=20), sloppy(0.1))
    assert found.verdict == "UNDECIDED"
    assert not found.trusted
    assert found.more_rows > 5
    assert f"about {found.more_rows} more labelled rows settle it" in str(found)
    settled = judge_trust(rows(200), sloppy(0.1))
    assert 20 + found.more_rows < 200
    assert settled.trusted


def test_a_judge_that_passes_everything_is_not_trusted_however_high_the_agreement():
    found = judge_trust(rows(100, rate=0.95), lambda row: True)
    assert found.agreement.share > 0.9
    assert found.verdict == "NOT TRUSTED"
    assert "tells nothing apart" in found.settle
    assert any("scored all 100 rows" in warning for warning in found.warnings)


def test_labels_of_one_kind_cannot_decide():
    found = judge_trust(rows(20, rate=1.0), reads)
    assert found.verdict == "UNDECIDED"
    assert found.more_rows is None
    assert "every label is a pass" in str(found)


def test_labels_of_a_single_task_cannot_decide():
    found = judge_trust(rows(20, repeats=20), reads)
    assert found.verdict == "UNDECIDED"
    assert "all of one task" in found.settle


def test_a_judge_that_often_fails_is_not_trusted_and_its_silence_is_no_zero():
    def judge(row):
        if len(row["messages"][-1]["content"]) % 5 == 0:
            raise RuntimeError("no answer")
        return reads(row)

    found = judge_trust(rows(60), judge)
    assert found.verdict == "NOT TRUSTED"
    assert found.agreement.kappa == 1
    assert found.agreement.n == found.n_answered < 60
    assert "answered only" in found.settle


def test_a_judge_that_never_answers_is_reported_and_does_not_crash():
    found = judge_trust(rows(6), lambda row: None)
    assert (found.agreement, found.length, found.corrected, found.self_agreement) == (None, None, None, None)
    assert found.verdict == "NOT TRUSTED"
    assert "answered only 0 of 6" in str(found)


def test_a_judge_that_changes_its_mind_is_told_on():
    dice = random.Random(2)
    found = judge_trust(rows(80), lambda row: reads(row) ^ (dice.random() < 0.2), rejudge=3)
    assert found.self_agreement.times == 4
    assert 0.55 < found.self_agreement.share < 0.8
    assert any("changed" in w or "another verdict" in w for w in found.warnings)


def test_rejudge_zero_asks_once_and_only_labelled_rows_are_asked_again():
    asked = []

    def judge(row):
        asked.append(1)
        return reads(row)

    assert judge_trust(rows(10), judge, rejudge=0).self_agreement is None
    assert len(asked) == 10
    judge_trust(rows(10, labelled=4), judge, rejudge=2)
    assert len(asked) == 10 + 10 + 2 * 4


def test_a_taste_for_long_replies_is_a_warning():
    found = judge_trust(rows(200), lambda row: reads(row) or len(row["messages"][-1]["content"]) > 60)
    assert found.length.biased
    assert any("favours longer replies" in warning for warning in found.warnings)


def test_without_a_judge_the_rewards_of_the_rows_are_its_verdicts():
    scored = [{**row, "reward": float(reads(row))} for row in rows(60)]
    found = judge_trust(scored, None)
    assert found.trusted
    assert found.self_agreement is None
    with pytest.raises(UsageError, match="against themselves"):
        judge_trust(scored, None, labels="reward")


def test_labels_may_be_a_list_with_one_per_row():
    given = rows(60)
    labels = [row.pop("label") for row in given]
    assert judge_trust(given, reads, labels=labels).agreement.kappa == 1
    with pytest.raises(InputError, match="59 labels for 60 rows"):
        judge_trust(given, reads, labels=labels[1:])


def test_several_labellers_are_held_against_each_other_and_the_majority_counts():
    given = rows(60)
    for i, row in enumerate(given):
        row.update(anna=row["label"], ben=row["label"] ^ (i % 2 == 0), cleo=row["label"] if i % 3 else None)
    seen = []
    found = judge_trust(given, lambda row: seen.append(set(row)) or reads(row), labels=["anna", "ben", "cleo"])
    assert not any(keys & {"anna", "ben", "cleo"} for keys in seen)
    assert found.labellers.n_raters == 3
    assert found.n_labelled == 50  # anna and ben alone, and split, on every sixth row
    assert found.agreement.kappa == 1
    assert any("settle the rule" in warning for warning in found.warnings)
    assert any("split evenly on 10 rows" in warning for warning in found.warnings)


def test_rows_that_failed_in_the_rollout_are_the_agent_s_fault_and_not_the_judge_s():
    given = rows(60)
    for row in given[:10]:
        row["error"] = {"where": "provider"}
    found = judge_trust(given, reads)
    assert (found.n_labelled, found.n_answered) == (50, 50)
    assert found.trusted
    assert any("10 labelled rows failed" in warning for warning in found.warnings)


def test_repeats_of_a_task_are_one_unit():
    found = judge_trust(rows(60, repeats=4), sloppy(0.1))
    assert (found.agreement.unit, found.agreement.n_units) == ("task", 15)


def test_graded_rewards_are_cut_at_the_threshold_and_the_report_says_so():
    given = rows(60)
    for row in given:
        row["label"] = 4 if row["label"] else 2
    found = judge_trust(given, lambda row: 5 if reads(row) else 1, threshold=3)
    assert found.agreement.kappa == 1
    assert any("read as passes from 3 on" in warning for warning in found.warnings)


def test_every_disagreement_is_listed_with_the_judge_s_reason():
    given = rows(60)
    wrong = sloppy(0.2)
    found = judge_trust(given, lambda row: {"reward": wrong(row), "reason": "because"})
    assert len(found.disagreements) == round(60 * (1 - found.agreement.share))
    first = found.disagreements[0]
    assert (given[first.row - 1]["label"], first.reason) == (bool(first.label), "because")
    assert first.verdict == 1 - first.label
    assert f"row {first.row} ({first.task}): label" in str(found)
    assert "more in .disagreements" in str(found)


def test_the_result_is_json_and_a_page():
    found = judge_trust(rows(30), sloppy(0.1))
    held = json.loads(json.dumps(found.to_dict()))
    assert held["agreement"]["kappa"] == found.agreement.kappa
    assert held["verdict"] == found["verdict"]
    assert "<pre>" in found._repr_html_()


def test_doubts_are_in_the_result_and_not_thrown_as_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judge_trust(rows(10), lambda row: True)


@pytest.mark.parametrize(
    "change, said",
    [
        ({"label": "good"}, "is text"),
        ({"label": None}, "no row has a label under 'label'"),
        ({"label": float("inf")}, "infinite"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(change, said):
    with pytest.raises(InputError, match=said):
        judge_trust([{**row, **change} for row in rows(4)], reads)


def test_calls_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="no rows"):
        judge_trust([], reads)
    with pytest.raises(InputError, match="no row has a label under 'good'"):
        judge_trust(rows(2), reads, labels=["good", "poor"])
    with pytest.raises(InputError, match="every label is missing"):
        judge_trust(rows(2), reads, labels=[None, None])
    with pytest.raises(UsageError, match="rejudge=-1"):
        judge_trust(rows(4), reads, rejudge=-1)
    with pytest.raises(UsageError, match="min_kappa=2"):
        judge_trust(rows(4), reads, min_kappa=2)
    with pytest.raises(UsageError, match="cannot be called"):
        judge_trust(rows(4), "judge")
