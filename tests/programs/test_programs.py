"""The programs people are shown run as they stand, fast, and print lines of the promised form."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RATE = r"(0\.\d\d|1\.00) \[\d\.\d\d\.\.\d\.\d\d\]"
PASS_AT = (
    rf"pass@1 {RATE} \| pass\^(\d+) \(pass_pow_k\) {RATE} \| pass@(\d+) {RATE}"
    r" \| headroom -?\d\.\d\d \((\d+) groups, k=(\d+)"
)
EVEN = PASS_AT + r"\)"
UNEVEN = PASS_AT + r"; groups are uneven \((\d+) to (\d+) repeats\); k is the smallest\)"
DELTA = (
    r"  pass_at_1 {20}(\d\.\d{3}) -> (\d\.\d{3})  ([+-]\d\.\d{3}) \[([+-]\d\.\d{3})\.\.([+-]\d\.\d{3})\]  (up|down|\S+)"
    r"  \((\d+) paired\)"
)
NOISE = (
    r"eval noise: run_std \d\.\d{3}, a delta under (\d\.\d{3}) is noise "
    r"\(t\(df=2\)=4\.30 x run_std x sqrt\(1/1 \+ 1/1\); run_std given from 3 re-runs\)"
)


def run(name, folder):
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import runpy; runpy.run_path({str(HERE / name)!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def matching(form, lines):
    """The first line of this form."""
    found = next((m for m in (re.fullmatch(form, line) for line in lines) if m), None)
    assert found, "no line like " + form + " in\n" + "\n".join(lines)
    return found


def test_the_paired_proof_of_two_stand_ins(tmp_path):
    lines, errors = run("proof_with_stand_ins.py", tmp_path)
    assert re.fullmatch(r"1[0-6] rows written", lines[0])
    assert len((tmp_path / "passes.jsonl").read_text().splitlines()) == int(lines[0].split()[0])
    before, after, delta = (matching(form, lines) for form in (f"before: {EVEN}", f"after:  {EVEN}", DELTA))
    assert before.groups()[-2:] == after.groups()[-2:] == ("16", "4")
    assert lines[lines.index("PASS") + 1] == "answered: 100.0% before, 100.0% after"
    assert delta[6] == "up"
    assert delta[7] == "16"
    assert float(delta[4]) > 0
    assert float(delta[1]) == pytest.approx(0.5, abs=0.2)
    assert float(delta[2]) == pytest.approx(0.9, abs=0.12)
    assert "row['seeded']" in errors


def test_rows_are_split_cleaned_selected_and_written(tmp_path):
    lines, _ = run("rows_for_a_trainer.py", tmp_path)
    kind, rows, tasks, locked = lines[0].split()
    assert (kind, rows, locked) == ("list", "640", "40")
    assert 90 <= int(tasks) <= 120
    contaminated, written, with_system, with_tools = map(int, lines[1].split())
    assert contaminated >= 0
    assert written == with_system == with_tools >= 30
    train = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()]
    held = [json.loads(line) for line in (tmp_path / "holdout.jsonl").read_text().splitlines()]
    assert len(train) == written
    assert len({row["scenario_id"] for row in held}) == 40
    assert all(row["messages"][0]["role"] == "system" for row in train)
    called = [c for row in train for m in row["messages"] for c in m.get("tool_calls") or []]
    assert called
    assert all(isinstance(c["function"]["arguments"], str) for c in called)
    asked = {next(m["content"] for m in row["messages"] if m["role"] == "user") for row in held}
    assert not asked & {next(m["content"] for m in row["messages"] if m["role"] == "user") for row in train}


def measured(rates, uneven):
    """Rows as a training run writes them: forty tasks, 4 (or 4 to 16) tries, calls as a real model stores them."""
    rng = random.Random(7)
    rows = []
    skill = {f"task{t:02d}": rng.betavariate(1, 1) for t in range(40)}
    for version, run_number, rate in rates:
        for t, (task, ease) in enumerate(skill.items()):
            tries = 4 * (1 + t % 4) if uneven else 4
            for index in range(tries):
                good = rng.random() < min(1.0, rate * (0.5 + ease))
                rows.append(_row(task, f"ORD-{1000 + t}", good, version, run_number, index))
    return rows


def _row(task, order, good, version, run_number, index):
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_order", "arguments": json.dumps({"order_id": order})},
    }
    looked_up = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": json.dumps({"status": "ok", "state": "shipped"})},
        {"role": "assistant", "content": f"{order} is shipped."},
    ]
    guessed = [{"role": "assistant", "content": "It will be fine."}]
    messages = [{"role": "user", "content": f"Where is {order}?"}, *(looked_up if good else guessed)]
    kept = {"scenario_id": task, "rollout_index": index, "model_version": version, "run": run_number}
    return {**kept, "messages": messages, "reward": None}


PASSES = [("base", 1, 0.25), ("base", 2, 0.25), ("base", 3, 0.25)]


@pytest.mark.parametrize("uneven", [False, True])
def test_a_training_runs_rows_give_a_verdict_above_their_own_noise(tmp_path, uneven):
    rows = measured([*PASSES, ("trained", 1, 0.75)], uneven)
    (tmp_path / "holdout_rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines, _ = run("proof_from_a_file.py", tmp_path)
    form = UNEVEN if uneven else EVEN
    passes = r"base passes: 0\.\d{3} / 0\.\d{3} / 0\.\d{3}  run_std 0\.\d{3}"
    verdict, answered = "PASS", r"answered: 100\.0% before, 100\.0% after"
    forms = ("before: " + form, "after:  " + form, passes, verdict, NOISE, answered, rf"{DELTA}  noise<(\d\.\d{{3}})")
    found = [matching(f, lines) for f in forms]
    places = [lines.index(m[0]) for m in found]
    assert places == sorted(places)
    noise, delta = found[4], found[6]
    assert (delta[6], delta[7], delta[8]) == ("up", "40", noise[1])
    assert float(delta[4]) > float(noise[1])


def test_an_arm_that_did_not_move_is_not_called_a_pass(tmp_path):
    rows = measured([*PASSES, ("trained", 1, 0.25)], False)
    (tmp_path / "holdout_rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines, _ = run("proof_from_a_file.py", tmp_path)
    assert any(line.startswith("NO DIFFERENCE") for line in lines)
    assert "PASS" not in lines
