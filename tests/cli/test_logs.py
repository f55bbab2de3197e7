"""`wai compare` and `wai pass-at` on other programs' logs: any two files, with notes on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from whileai.cli.main import run

DATA = Path(__file__).parents[1] / "data"
BASE = str(next((DATA / "inspect" / "base").glob("*.eval")))
BASE_JSON = str(next((DATA / "inspect" / "base").glob("*.json")))
TRAINED = str(next((DATA / "inspect" / "trained").glob("*.eval")))
ERRORED = str(next((DATA / "inspect" / "all_errored").glob("*.eval")))
LM_BASE, LM_TRAINED = str(DATA / "lmeval" / "base"), str(DATA / "lmeval" / "trained")
CODE = str(DATA / "real" / "livecodebench_o1mini_vs_o1preview.csv")


def said(capsys, *arguments, code=0):
    """What a command printed with --json, and what stood on stderr."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    printed = capsys.readouterr()
    return json.loads(printed.out), printed.err


@pytest.mark.parametrize("before", [BASE, BASE_JSON])
def test_two_inspect_logs_compare_and_their_notes_stand_on_stderr(capsys, before):
    found, notes = said(capsys, "compare", before, TRAINED)
    assert (found["verdict"], found["delta"]) == ("NO DIFFERENCE", pytest.approx(1 / 3))
    assert "3 of 24 samples ended in an error (RuntimeError); they have no reward" in notes
    assert "1 of 24 samples ran but have no score, which is not a zero" in notes


def test_two_lm_eval_folders_compare_by_the_filter_that_is_asked_for(capsys):
    assert said(capsys, "compare", LM_BASE, LM_TRAINED)[0]["delta"] == pytest.approx(0.25)
    assert said(capsys, "compare", LM_BASE, LM_TRAINED, "--filter", "maj")[0]["delta"] == pytest.approx(0.30)
    assert "no filter 'best'" in said(capsys, "compare", LM_BASE, LM_TRAINED, "--filter", "best", code=4)[1]


def test_quiet_keeps_the_notes_to_itself(capsys):
    assert said(capsys, "compare", LM_BASE, LM_TRAINED, "-q")[1] == ""


def test_files_of_two_kinds_compare_when_their_tasks_are_the_same(capsys, tmp_path):
    table = tmp_path / "after.csv"
    table.write_text("task_id,reward\n" + "".join(f"order-{n},1\n" for n in range(1, 9)))
    found, _ = said(capsys, "compare", BASE, str(table))
    assert found["delta"] == pytest.approx(1 - 0.40476, abs=1e-4)
    assert "not run on the same tasks" in said(capsys, "compare", BASE, LM_BASE, code=4)[1]


def test_one_table_of_two_arms_is_compared_in_its_order_and_the_order_is_said(capsys):
    found, notes = said(capsys, "compare", CODE, code=1)
    assert (found["verdict"], found["delta"]) == ("WORSE", pytest.approx(-0.1284, abs=5e-5))
    assert "before is 'O1-Mini-2024-09-12 (N=1)' and after 'O1-Preview-2024-09-12 (N=1)'" in notes


def test_one_file_of_one_arm_needs_the_other(capsys):
    assert "nothing can be paired; give the other arm's file too" in said(capsys, "compare", BASE, code=4)[1]


def test_tasks_of_one_name_that_ask_different_things_are_called_out(capsys, tmp_path):
    names = []
    for name in ("poems", "sums"):
        rows = [
            {"scenario_id": n, "reward": n % 2, "messages": [{"role": "user", "content": f"{name} {n}"}]}
            for n in range(9)
        ]
        rows[0]["messages"][0]["content"] = "the same"
        names.append(tmp_path / f"{name}.jsonl")
        names[-1].write_text("".join(json.dumps({**row, "run_of": name}) + "\n" for row in rows))
    _, notes = said(capsys, "compare", *map(str, names))
    assert "8 of 9 tasks have the same id in both arms and another first message (first: '1')" in notes
    assert "another first message" not in said(capsys, "compare", BASE, TRAINED)[1]


def test_pass_at_reads_a_log_and_refuses_one_without_a_score(capsys):
    found, _ = said(capsys, "pass-at", TRAINED)
    assert found["pass_at_1"]["value"] == pytest.approx(0.7381, abs=5e-5)
    _, notes = said(capsys, "pass-at", ERRORED, code=4)
    assert "although the log's status is success" in notes
    assert "error: none of the 24 rows has a reward" in notes


def test_pass_at_measures_one_arm_of_a_file_and_says_when_there_are_more(capsys):
    found, _ = said(capsys, "pass-at", CODE, "--arm", "O1-Preview-2024-09-12 (N=1)")
    assert (found["n_tasks"], found["pass_at_1"]["value"]) == (880, pytest.approx(489 / 880))
    assert "holds several arms" in said(capsys, "pass-at", CODE, code=4)[1]
    assert "no row is of the arm 'x'; the file has O1-Mini" in said(capsys, "pass-at", CODE, "--arm", "x", code=4)[1]


def test_the_scorer_is_chosen_on_the_command_line(capsys, tmp_path):
    scores = {"match": {"value": "I"}, "style": {"value": "C"}}
    samples = [{"id": n, "epoch": 1, "input": "a", "messages": [], "scores": scores} for n in (1, 2)]
    log = tmp_path / "x.json"
    log.write_text(json.dumps({"status": "success", "eval": {"task": "t"}, "samples": samples}))
    assert "2 scorers could be the reward (match, style)" in said(capsys, "pass-at", str(log), code=4)[1]
    assert said(capsys, "pass-at", str(log), "--scorer", "style")[0]["pass_at_1"]["value"] == 1.0
