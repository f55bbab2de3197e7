"""Grading a list of rows, and being told when the judge cannot be believed."""

from __future__ import annotations

import copy
import json
import warnings

import pytest

from whileai.core.errors import InputError, UsageError
from whileai.grading.grade import grade
from whileai.grading.health import GradingWarning


def rows(n=4):
    return [
        {
            "scenario_id": f"s{i}",
            "seeded": "skips_lookup" if i % 2 else None,
            "messages": [
                {"role": "user", "content": f"ask {i}"},
                {"role": "assistant", "content": "ORD-1 is shipped."},
            ],
            "mine": {"kept": [i]},
        }
        for i in range(n)
    ]


def by_ask(row):
    return row["messages"][0]["content"].endswith(("0", "2"))


def test_rewards_land_on_copies_and_unknown_keys_survive():
    given = rows()
    before = copy.deepcopy(given)
    scored = grade(given, by_ask)
    assert given == before
    assert [r["reward"] for r in scored] == [1.0, 0.0, 1.0, 0.0]
    assert [r["mine"] for r in scored] == [r["mine"] for r in given]
    assert {r["judge_status"] for r in scored} == {"ok"}
    assert scored.health.warnings == ()


def test_a_judge_that_scribbles_on_its_row_changes_nothing():
    def vandal(row):
        row["messages"][0]["content"] = "gone"
        row["mine"]["kept"].append("x")
        row.clear()
        return len(calls.append(1) or calls) % 2

    calls: list[int] = []
    given = rows()
    scored = grade(given, vandal)
    assert given == rows()
    assert scored[0]["messages"] == rows()[0]["messages"]
    assert scored[0]["mine"] == {"kept": [0]}


def test_one_raise_leaves_that_row_unscored_and_says_so():
    def judge(row):
        if row["scenario_id"] == "s1":
            raise RuntimeError("no answer\nsecond line")
        return row["scenario_id"] == "s0"

    with pytest.warns(GradingWarning, match="1 of 4 rows") as caught:
        scored = grade(rows(), judge)
    assert scored[1]["reward"] is None
    assert scored[1]["judge_status"] == "raised RuntimeError: no answer"
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_judge_that_fails_everywhere_is_called_out_with_its_error():
    with pytest.warns(GradingWarning, match="every one of 4 rows.*KeyError: 'verdict'"):
        scored = grade(rows(), lambda row: row["verdict"])
    assert all(r["reward"] is None for r in scored)
    assert scored.health.scored == 0
    assert scored.health.failures == {"raised KeyError: 'verdict'": 4}


@pytest.mark.parametrize("constant", [0, 1])
def test_an_all_zero_or_all_one_reward_is_called_out(constant):
    with pytest.warns(GradingWarning, match=f"all 4 rows {constant}"):
        scored = grade(rows(), lambda row: constant)
    assert scored.health.rewards == (float(constant),)


@pytest.mark.parametrize(
    "judge",
    [
        lambda row: not row["seeded"],
        lambda row: not row.get("seeded"),
        lambda row: "seeded" in row and row["scenario_id"] in {"s0", "s2"},
        lambda row: not row.pop("seeded", None),
    ],
)
def test_a_judge_that_reads_a_field_only_stand_ins_write_is_named(judge):
    with pytest.warns(GradingWarning, match="'seeded'"):
        scored = grade(rows(), judge)
    assert scored.health.reads == ("seeded",)
    assert [r["reward"] for r in scored] == [1.0, 0.0, 1.0, 0.0]


def test_a_judge_that_prints_or_serialises_the_whole_row_is_not_accused():
    scored = grade(rows(), lambda row: len(json.dumps(row)) > 0 and by_ask(dict(row)))
    assert scored.health.reads == ()


def test_a_row_whose_rollout_failed_is_not_judged_and_does_not_count_against_the_judge():
    given = rows()
    given[2]["error"] = {"where": "agent", "type": "TimeoutError", "message": "too long"}
    seen = []
    scored = grade(given, lambda row: seen.append(row["scenario_id"]) or by_ask(row))
    assert seen == ["s0", "s1", "s3"]
    assert scored[2]["reward"] is None
    assert scored[2]["judge_status"] == "not judged: the rollout failed (agent)"
    assert (scored.health.n, scored.health.judged, scored.health.scored) == (4, 3, 3)
    assert "1 failed in the rollout" in str(scored.health)


def test_grading_again_replaces_the_old_verdict_and_its_metrics():
    first = grade(rows(), lambda row: {"reward": by_ask(row), "calls": 3, "reason": "r"})
    second = grade(first, lambda row: not by_ask(row))
    assert first[0]["metrics"] == {"calls": 3.0}
    assert "metrics" not in second[0]
    assert (second[0]["reward"], second[0]["reason"]) == (0.0, "")


def test_an_async_judge_is_refused_without_a_stray_warning():
    async def judge(row):
        return 1

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scored = grade(rows(), judge)
    assert "async" in scored[0]["judge_status"]
    assert {w.category for w in caught} == {GradingWarning}


def test_no_key_of_the_environment_reaches_a_status(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "averysecretvalue")

    def judge(row):
        raise RuntimeError("401 for averysecretvalue and sk-proj-abcdefghijklmnop1234")

    with pytest.warns(GradingWarning):
        scored = grade(rows(), judge)
    assert "averysecret" not in scored[0]["judge_status"]
    assert "abcdefghijk" not in scored[0]["judge_status"]


def test_nothing_to_grade_and_no_judge_are_refused():
    with pytest.raises(InputError, match="no rows"):
        grade([], by_ask)
    with pytest.raises(UsageError, match="cannot be called"):
        grade(rows(), "gpt-4o")


def test_an_interrupt_inside_the_judge_passes_through():
    def judge(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(rows(), judge)
