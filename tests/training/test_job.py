"""A tiny model really trains, the proof says so, an untrained copy is told apart, and a kill loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tiny_task
from conftest import SAMPLING, tiny_config

import whileai as wai
from whileai.core.errors import InputError, RowError
from whileai.core.files import load_jsonl, write_jsonl
from whileai.training.evaluation import evaluate
from whileai.training.job import TrainReport, train

pytestmark = pytest.mark.filterwarnings("ignore::whileai.grading.health.GradingWarning")


def arm(report: TrainReport, version: str, run: int = 1) -> list[dict[str, Any]]:
    rows = load_jsonl(str(report.holdout_rows))
    return [r for r in rows if r["model_version"] == version and r["run"] == run]


def test_training_moves_the_held_out_score(trained_run: TrainReport) -> None:
    result = wai.compare(arm(trained_run, "base"), arm(trained_run, "trained"))
    assert result.verdict == "PASS"
    assert result.delta > 0.5


def test_an_untrained_copy_gets_no_difference(
    untrained: Path, files: tuple[Path, Path], trained_run: TrainReport
) -> None:
    copy = evaluate(str(untrained), files[1], judge=tiny_task.judge, sampling=SAMPLING, seed=7, model_version="copy")
    result = wai.compare(arm(trained_run, "base"), copy)
    assert result.verdict == "NO DIFFERENCE"


def test_the_same_model_and_seed_give_the_same_rows(
    untrained: Path, files: tuple[Path, Path], trained_run: TrainReport
) -> None:
    again = evaluate(str(untrained), files[1], judge=tiny_task.judge, sampling=SAMPLING, seed=1, model_version="base")
    assert json.loads(json.dumps(again)) == arm(trained_run, "base")


def test_a_trained_models_tool_call_is_answered_by_its_tasks_world(trained_run: TrainReport) -> None:
    right = next(r for r in arm(trained_run, "trained") if r["reward"] == 1.0)
    result = next(m for m in right["messages"] if m["role"] == "tool")
    called = right["messages"][2]["tool_calls"][0]["arguments"]["order_id"]
    assert json.loads(result["content"]) == {"status": "ok", "order_id": called, "state": "shipped"}


def test_the_ledger_has_the_lines_of_a_run(trained_run: TrainReport) -> None:
    text = str(trained_run)
    assert (
        "150 rows from train.jsonl, 30 held-out asks from holdout.jsonl; 160 steps is 17.1 passes over the rows" in text
    )
    assert "150 training rows rendered; the longest is" in text
    assert "30 held-out asks over 30 tasks" in text
    assert "base pass 2 (seed 2): 120 rows in" in text
    assert "trained 160 steps in" in text
    assert "wrote 360 rows to" in text


def test_the_run_folder_says_what_made_it(trained_run: TrainReport) -> None:
    folder = Path(trained_run.run)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    assert config["config"]["steps"] == 160
    assert set(config["inputs"]) == {"train", "holdout"}
    assert config["versions"]["torch"]
    losses = [line["loss"] for line in load_jsonl(folder / "metrics.jsonl")]
    assert len(losses) == 160
    assert losses[-1] < losses[0] / 10


def test_a_finished_run_is_read_not_repeated(
    trained_run: TrainReport, untrained: Path, files: tuple[Path, Path]
) -> None:
    before = {p: p.stat().st_mtime_ns for p in Path(trained_run.run).rglob("*.safetensors")}
    config = tiny_config(untrained)
    again = train(
        *files, config=config, out=trained_run.run, judge=tiny_task.judge, sampling=SAMPLING, base_passes=2, say=str
    )
    assert again == trained_run
    assert before == {p: p.stat().st_mtime_ns for p in Path(trained_run.run).rglob("*.safetensors")}


def test_a_run_under_other_settings_is_refused_by_name(
    trained_run: TrainReport, untrained: Path, files: tuple[Path, Path]
) -> None:
    other = tiny_config(untrained, seed=5)
    with pytest.raises(InputError, match=r"another config \(seed: 0 there, 5 now\)"):
        train(*files, config=other, out=trained_run.run, sampling=SAMPLING, base_passes=2, say=str)


_CHILD = """
import sys; sys.path.insert(0, {here!r})
import torch; torch.set_num_threads(1)
import tiny_task
from conftest import SAMPLING, tiny_config
from whileai.training.job import train
train({train!r}, {holdout!r}, config=tiny_config({model!r}, steps=24, save_every=4), out={out!r},
      judge=tiny_task.judge, sampling=SAMPLING, base_passes=1, tries=2)
"""


def child(model: Path, files: tuple[Path, Path], out: Path) -> subprocess.Popen[str]:
    code = _CHILD.format(
        here=str(Path(__file__).parent), train=str(files[0]), holdout=str(files[1]), model=str(model), out=str(out)
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_run_killed_in_training_ends_as_an_uninterrupted_one(
    untrained: Path, files: tuple[Path, Path], tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    first = child(untrained, files, killed)
    metrics = killed / "metrics.jsonl"
    deadline = time.monotonic() + 90
    while not (metrics.exists() and metrics.read_bytes().count(b"\n") >= 10):
        assert first.poll() is None, first.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    for out in (killed, whole):
        finished = child(untrained, files, out)
        _, errors = finished.communicate(timeout=120)
        assert finished.returncode == 0, errors
    steps = [[(line["step"], line["loss"]) for line in load_jsonl(out / "metrics.jsonl")] for out in (killed, whole)]
    assert steps[0] == steps[1]
    assert load_jsonl(killed / "holdout_rows.jsonl") == load_jsonl(whole / "holdout_rows.jsonl")


def test_a_held_out_ask_in_the_training_file_is_refused(
    untrained: Path, files: tuple[Path, Path], tmp_path: Path
) -> None:
    leaking = [*load_jsonl(files[0])[:5], load_jsonl(files[1])[0]]
    write_jsonl(tmp_path / "train.jsonl", leaking)
    with pytest.raises(InputError, match=r"1 of the rows of .*train.jsonl are held out \(row 6\): .*worthless"):
        train(tmp_path / "train.jsonl", files[1], config=tiny_config(untrained), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_row_longer_than_max_length_is_refused_not_cut(
    untrained: Path, files: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.raises(RowError, match=r"row 1: it is \d+ tokens long and max_length is 40"):
        train(files[0], config=tiny_config(untrained, max_length=40), out=tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no rows"),
        ('{"messages": [{"role": "user"', r"train.jsonl:1: the line is not JSON"),
        ('{"messages": []}\n', "row 1: "),
        ("[1]\n", "not an object"),
    ],
)
def test_a_broken_training_file_is_refused_with_a_sentence(
    untrained: Path, tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "train.jsonl").write_text(content, "utf-8")
    with pytest.raises(InputError, match=message):
        train(tmp_path / "train.jsonl", config=tiny_config(untrained), out=tmp_path / "run")


def test_a_model_folder_that_does_not_exist_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no model folder"):
        train(files[0], config=tiny_config(tmp_path / "nowhere"), out=tmp_path / "run")


def test_no_held_out_rows_is_refused() -> None:
    with pytest.raises(InputError, match="no held-out rows"):
        evaluate("nowhere", [])
