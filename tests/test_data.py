"""Data: a sequence of rows that goes from stage to stage and says what happened to it."""

from __future__ import annotations

import json
import math
import re

import pytest

import whileai as wai
from whileai.core.errors import InputError
from whileai.grading.health import GradingWarning


@wai.tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""
    return {"order_id": order_id}


def judge(row):
    return len(row["steps"]) == 1


@pytest.fixture(scope="module")
def data():
    return wai.simulate(
        wai.seeded_agent([get_order], rate=0.5), tools=[get_order], system_prompt="Help.", budget=64, seed=4
    )


@pytest.fixture(scope="module")
def scored(data):
    return data.grade(judge=judge)


def test_data_is_a_sequence_and_a_slice_is_data_again(data):
    assert len(data) == 64
    assert list(data) == data.rows
    assert data[0] is data.rows[0]
    part = data[4:12]
    assert isinstance(part, wai.Data)
    assert part.rows == data.rows[4:12]
    assert part.report.plan == data.report.plan
    assert data == wai.Data(data.rows)
    assert data != data[:5]


def test_it_describes_itself_briefly(data, scored):
    assert repr(data) == "<Data: 64 rows over 16 tasks, 0 scored>"
    assert re.fullmatch(r"<Data: 64 rows over 16 tasks, 64 scored, mean reward 0\.\d{3}>", repr(scored))
    assert "plan: 64 rollouts = 16 asks x 4 tries" in str(data)
    assert "graded: 64 of 64 rows scored" in str(scored)


def test_each_stage_leaves_the_data_it_was_given_alone(data):
    before = json.dumps(data.rows)
    scored = data.grade(judge=judge)
    held_before = json.dumps(scored.rows)
    rest, held = scored.split(holdout_tasks=5, seed=0)
    clean, _ = rest.decontaminate(against=held)
    clean.select(mode="sft")
    assert json.dumps(data.rows) == before
    assert json.dumps(scored.rows) == held_before


def test_pass_at_is_that_of_the_rows(scored):
    assert str(scored.pass_at) == str(wai.pass_at(scored.rows))


def test_failures_are_the_scored_rows_that_did_not_pass(scored, data):
    failed = scored.failures()
    assert {r["reward"] for r in failed} == {0.0}
    assert len(failed) == sum(r["reward"] == 0 for r in scored)
    with pytest.raises(InputError, match="grade the rows first"):
        data.failures()


def test_the_report_grows_from_stage_to_stage(scored, tmp_path):
    rest, held = scored.split(holdout_tasks=5, seed=0)
    clean, contamination = rest.decontaminate(against=held)
    chosen = clean.select(mode="sft")
    assert chosen.report.plan == scored.report.plan
    assert chosen.report.grading == scored.report.grading
    assert chosen.report.decontamination is contamination
    assert json.loads(json.dumps(chosen.report.to_dict()))["selection"]
    exported = chosen.export(tmp_path / "train.jsonl")
    assert exported["n"] == exported["with_system"] == exported["with_tools"] == len(chosen)


def test_a_split_keeps_whole_tasks_and_every_row(scored):
    rest, held = scored.split(holdout_tasks=5, seed=0)
    tasks = [{r["scenario_id"] for r in side} for side in (rest, held)]
    assert not tasks[0] & tasks[1]
    assert len(tasks[1]) == 5
    assert len(rest) + len(held) == len(scored)


def test_a_plain_list_goes_the_same_way_and_keeps_prompt_and_tools(scored, tmp_path):
    held = {r["scenario_id"] for r in scored.rows[-16:]}
    rest = [r for r in scored.rows if r["scenario_id"] not in held]
    kept, report = wai.decontaminate(rest, against=[r for r in scored.rows if r["scenario_id"] in held])
    assert type(kept) is list
    assert report["n_contaminated"] == len(rest) - len(kept)
    chosen = wai.select(kept, mode="sft")
    assert isinstance(chosen, wai.Data)
    exported = chosen.export(tmp_path / "a.jsonl")
    assert exported["with_system"] == exported["with_tools"] == exported["n"] > 0
    through, _ = wai.Data(rest).decontaminate(against=[r for r in scored.rows if r["scenario_id"] in held])
    through.select(mode="sft").export(tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_decontaminate_gives_back_the_kind_it_was_given(scored):
    kept, _ = wai.decontaminate(
        scored, against=[{"scenario_id": "x", "messages": [{"role": "user", "content": "zzz"}]}]
    )
    assert isinstance(kept, wai.Data)
    assert kept.rows == scored.rows


def test_the_functions_and_the_methods_are_the_same_stages(scored, tmp_path):
    assert wai.grade(scored, judge).rows == scored.grade(judge).rows
    assert wai.select(scored.rows, mode="sft").rows == scored.select(mode="sft").rows
    sides = [side.rows for side in scored.split(holdout_tasks=4, seed=1)]
    assert list(wai.split(scored.rows, holdout_tasks=4, seed=1)) == sides
    chosen = scored.select(mode="sft")
    wai.export(chosen.rows, tmp_path / "a.jsonl")
    chosen.export(tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_save_and_load_keep_every_row_and_unknown_keys(scored, tmp_path, name):
    rows = [{**row, "mine": {"n": [1, None]}} for row in scored.rows]
    assert wai.Data(rows).save(tmp_path / name) == 64
    assert wai.Data.load(tmp_path / name).rows == rows


def test_unscored_rows_are_not_zero_in_the_summary():
    row = {"scenario_id": "a", "messages": []}
    data = wai.Data([{**row, "reward": 1}, {**row, "reward": None}, {**row, "reward": math.nan}, row])
    assert repr(data) == "<Data: 4 rows over 1 tasks, 1 scored, mean reward 1.000>"


def test_empty_data_is_described_and_refused_by_the_stages():
    empty = wai.Data([])
    assert repr(empty) == "<Data: 0 rows over 0 tasks, 0 scored>"
    with pytest.raises(InputError, match="no rows"):
        empty.grade(judge=judge)


def test_a_warning_of_the_judge_points_at_the_callers_line(data):
    with pytest.warns(GradingWarning) as caught:
        data.grade(judge=lambda row: 0)
    assert caught[0].filename == __file__
    with pytest.warns(GradingWarning) as caught:
        wai.grade(data.rows, lambda row: 0)
    assert caught[0].filename == __file__
