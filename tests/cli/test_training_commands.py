"""train, evaluate, compare and report on a model made on the spot: the last half of the loop, as commands."""

from __future__ import annotations

import json
import sys

import pytest

from whileai.cli.main import run

pytest.importorskip("torch")

TOOLS = '''
import whileai as wai


@wai.tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""
'''
JUDGE = """
def judge(row):
    return len(row["final_text"]) % 2 == 0
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with training rows, held-out rows and a tiny untrained model."""
    from whileai.models.tiny import make_tiny

    folder = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", list(sys.path))
        (folder / "tools.py").write_text(TOOLS)
        (folder / "judge.py").write_text(JUDGE)
        agent = ["--agent", "seeded:0.0", "--tools", "tools.py", "--budget", "48", "--repeats", "1"]
        assert run(["simulate", *agent, "-o", "rows.jsonl"]) == 0
        assert run(["split", "rows.jsonl", "--holdout-tasks", "8"]) == 0
        assert run(["export", "rest.jsonl", "-o", "train.jsonl"]) == 0
        make_tiny(folder / "model", (folder / "train.jsonl").read_text().splitlines(), vocabulary=500)
        yield folder
    for name in ("tools", "judge"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def trained(desk):
    arguments = ["train", "train.jsonl", "--holdout", "holdout.jsonl", "--judge", "judge.py:judge", "-o", "run"]
    settings = ["--base-model", "model", "--steps", "3", "--base-passes", "2", "--repeats", "2", "--max-length", "4000"]
    assert run([*arguments, *settings]) == 0
    return desk / "run"


def said(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_train_leaves_graded_rows_of_every_pass_and_is_the_same_run_when_called_again(desk, trained, capsys):
    rows = [json.loads(line) for line in (trained / "holdout_rows.jsonl").read_text().splitlines()]
    assert {(row["model_version"], row["run"]) for row in rows} == {("base", 1), ("base", 2), ("trained", 1)}
    assert all(row["reward"] is not None for row in rows)
    arguments = ["train", "train.jsonl", "--holdout", "holdout.jsonl", "--judge", "judge.py:judge", "-o", "run"]
    settings = ["--base-model", "model", "--base-passes", "2", "--repeats", "2", "--max-length", "4000"]
    again = said(capsys, *arguments, *settings, "--steps", "3")
    assert again["steps"] == 3
    assert run([*arguments, *settings, "--steps", "4"]) == 4
    assert "another" in capsys.readouterr().err


def test_one_file_of_a_run_is_both_arms_and_its_base_passes_are_the_floor(trained, capsys):
    found = said(capsys, "compare", str(trained / "holdout_rows.jsonl"))
    assert found["verdict"] in ("PASS", "WORSE", "NO DIFFERENCE")
    assert found["floor"]["run_std_runs"] == 2
    assert found["n_paired"] == 8


def test_a_run_folder_becomes_a_page(desk, trained, capsys):
    path = said(capsys, "report", str(trained), "-o", "page.html")["path"]
    assert "Training loss" in (desk / path).read_text()


def test_evaluate_writes_rows_of_the_same_tasks_for_a_model_with_and_without_its_adapter(desk, trained, capsys):
    held = {json.loads(line)["scenario_id"] for line in (desk / "holdout.jsonl").read_text().splitlines()}
    base = ["evaluate", "holdout.jsonl", "--model", "model", "--judge", "judge.py:judge", "--repeats", "2"]
    assert said(capsys, *base, "--max-new-tokens", "8", "-o", "a.jsonl")["n"] == 16
    again = [*base, "--max-new-tokens", "8", "--adapter", str(trained / "adapter"), "-o", "b.jsonl"]
    assert said(capsys, *again)["n"] == 16
    for name, version in (("a", "base"), ("b", "trained")):
        rows = [json.loads(line) for line in (desk / f"{name}.jsonl").read_text().splitlines()]
        assert {row["scenario_id"] for row in rows} == held
        assert {row["model_version"] for row in rows} == {version}


def test_a_model_that_does_not_exist_and_a_broken_training_file_are_refused(desk, capsys):
    (desk / "broken.jsonl").write_text((desk / "train.jsonl").read_text() + "{]\n")
    for arguments in (
        ["evaluate", "holdout.jsonl", "--model", "no/such/folder"],
        ["train", "train.jsonl", "-o", "other", "--base-model", "no/such/folder"],
        ["train", "broken.jsonl", "-o", "third", "--base-model", "model"],
    ):
        assert run(arguments) == 4
        err = capsys.readouterr().err
        assert err.startswith("error: ")
        assert len(err.splitlines()) == 1
