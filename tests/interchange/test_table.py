"""Scores in CSV files: published figures, empty rewards, errors, and lines that are wrong."""

from __future__ import annotations

import csv
import gzip

import pytest
from made_logs import DATA

import whileai as wai
from whileai.core.errors import InputError

TAU = DATA / "real" / "taubench_gpt4o_airline_4trials.csv"
CODE = DATA / "real" / "livecodebench_o1mini_vs_o1preview.csv"
HEAD = "task_id,repeat,arm,reward,error\n"


def table(tmp_path, *lines, head=HEAD):
    (tmp_path / "scores.csv").write_text(head + "".join(line + "\n" for line in lines))
    return tmp_path / "scores.csv"


def test_tau_bench_gives_its_published_pass_hat_4_and_pass_at_4():
    found = wai.pass_at(wai.read(TAU))
    assert (found.pass_at_1.value, found.pass_pow_k.value, found.pass_at_k.value) == pytest.approx((0.42, 0.2, 0.72))
    assert (found.n_tasks, found.k) == (50, 4)


def test_livecodebench_gives_its_published_counts():
    rows = wai.read(CODE)
    mini, preview = ([row for row in rows if name in row["model_version"]] for name in ("Mini", "Preview"))
    assert [sum(row["reward"] for row in arm) for arm in (mini, preview)] == [602, 489]
    assert wai.compare(mini, preview).delta == pytest.approx(-0.1284, abs=5e-5)
    assert "the file holds 2 arms" in rows.notes[1]


def test_every_line_is_one_row_and_every_reward_is_the_column_s():
    with TAU.open(newline="") as file:
        wanted = [(line["task_id"], int(line["repeat"]), float(line["reward"])) for line in csv.DictReader(file)]
    assert [(row["scenario_id"], row["rollout_index"], row["reward"]) for row in wai.read(TAU)] == wanted


def test_an_empty_reward_is_unscored_and_an_error_sets_its_score_aside(tmp_path):
    rows = wai.read(table(tmp_path, "a,1,x,,", "a,2,x,0,timeout", "b,1,x,1,", "b,2,x,,lost"))
    assert [row["reward"] for row in rows] == [None, None, 1.0, None]
    assert [bool(row["error"]) for row in rows] == [False, True, False, True]
    assert rows[1]["error"]["message"] == "timeout"
    assert rows.notes[1:] == (
        "2 of 4 tries ended in an error and have no reward; the score that 1 of them carry is set aside",
        "1 of 4 tries have no score, which is not a zero",
    )


def test_repeats_count_from_zero_wherever_the_file_began(tmp_path):
    assert [row["rollout_index"] for row in wai.read(table(tmp_path, "a,1,x,1,", "a,2,x,0,"))] == [0, 1]


def test_two_columns_are_enough_and_further_ones_are_kept(tmp_path):
    rows = wai.read(table(tmp_path, "true,easy,a", "0.25,hard,b", head="reward,level,task_id\n"))
    assert [(r["scenario_id"], r["reward"], r["level"]) for r in rows] == [("a", 1.0, "easy"), ("b", 0.25, "hard")]
    assert "rollout_index" not in rows[0]
    assert "model_version" not in rows[0]


def test_a_byte_order_mark_and_gzip_are_no_obstacle(tmp_path):
    path = tmp_path / "scores.csv.gz"
    path.write_bytes(gzip.compress(("\ufeff" + HEAD + '"a, b",1,x,1,\n').encode()))
    assert wai.read(path)[0]["scenario_id"] == "a, b"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a,1,x,good,", "csv:3: the reward is 'good'"),
        ("a,one,x,1,", "csv:3: the repeat is 'one', not a whole number"),
        (",1,x,1,", "csv:3: the line has not one value for each column, or no task_id"),
        ("a,1,x,1,,more", "csv:3: the line has not one value for each column"),
        ("a,1", "csv:3: the line has not one value for each column"),
        ("a,1,x,inf,", "csv:3: the reward is 'inf'"),
    ],
)
def test_a_wrong_line_is_named_with_its_fault(tmp_path, line, fault):
    with pytest.raises(InputError, match=fault):
        wai.read(table(tmp_path, "a,0,x,1,", line))


def test_a_head_line_alone_and_bytes_that_are_no_text_are_refused(tmp_path):
    with pytest.raises(InputError, match="a head line and no scores"):
        wai.read(table(tmp_path))
    (tmp_path / "odd.csv").write_bytes(HEAD.encode() + b"\xff\xfe,1,x,1,\n")
    with pytest.raises(InputError, match="not a CSV file in UTF-8"):
        wai.read(tmp_path / "odd.csv")
