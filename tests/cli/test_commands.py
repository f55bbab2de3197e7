"""The commands, as a person types them: the whole loop over files and pipes, in JSON, and with bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, fields

import pytest

from whileai.cli.main import COMMANDS, run
from whileai.cli.train import described
from whileai.training.config import SFT

TOOLS = '''
import whileai as wai


@wai.tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""
    ...
'''
JUDGE = """
def judge(row):
    print("a judge that talks")
    calls = [c for m in row["messages"] if m["role"] == "assistant" for c in m.get("tool_calls") or []]
    return {"reward": int(row["seeded"] is None), "reason": f"{len(calls)} calls"}
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the user's own tool and judge, as the current directory."""
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "judge.py").write_text(JUDGE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("tools", "judge", "agent"):
        sys.modules.pop(name, None)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def said(capsys, *arguments, code=0):
    """Run one command; returns what --json printed."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_the_loop_runs_over_files_and_every_step_says_in_json_what_it_did(desk, capsys):
    agent = ["--agent", "seeded:0.3", "--tools", "tools.py"]
    made = said(capsys, "simulate", *agent, "--budget", "160", "--phrasings", "2", "-o", "rows.jsonl")
    assert (made["schema_version"], made["command"], made["n"], made["failed"]) == (1, "simulate", 160, 0)
    scored = said(capsys, "grade", "rows.jsonl", "--judge", "judge.py:judge", "-o", "scored.jsonl")
    assert scored["health"]["scored"] == 160
    assert 0.5 < said(capsys, "pass-at", "scored.jsonl")["pass_at_1"]["value"] < 0.9
    sides = said(capsys, "split", "scored.jsonl", "--holdout-tasks", "10")
    assert sides["train"] + sides["holdout"] == 160
    assert said(capsys, "decontaminate", "rest.jsonl", "--against", "holdout.jsonl", "-o", "clean.jsonl")["n"] > 0
    chosen = said(capsys, "select", "clean.jsonl", "-o", "chosen.jsonl")
    written = said(capsys, "export", "chosen.jsonl", "-o", "train.jsonl")
    assert chosen["n"] == written["n"] == len(lines(desk / "train.jsonl")) > 0
    held = {row["scenario_id"] for row in lines(desk / "holdout.jsonl")}
    assert len(held) == 10
    assert not held & {row["scenario_id"] for row in lines(desk / "chosen.jsonl")}


def test_rows_can_be_piped_from_command_to_command(desk):
    wai = f'"{sys.executable}" -m whileai.cli.main'
    piped = (
        f"{wai} simulate --agent seeded:0.3 --tools tools.py --budget 32"
        f" | {wai} grade - --judge judge.py:judge | {wai} select - | {wai} export - -o train.jsonl --json"
    )
    done = subprocess.run(piped, shell=True, cwd=desk, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == len(lines(desk / "train.jsonl")) > 0
    assert "a judge that talks" in done.stderr


@pytest.fixture
def two_arms(desk, capsys):
    agent = ["--tools", "tools.py", "--budget", "160"]
    for name, rate in (("before", "0.7"), ("after", "0.1")):
        run(["simulate", "--agent", f"seeded:{rate}", *agent, "-o", f"{name}_rows.jsonl"])
        run(["grade", f"{name}_rows.jsonl", "--judge", "judge.py:judge", "-o", f"{name}.jsonl"])
    capsys.readouterr()
    return desk


def test_compare_prints_the_report_and_its_exit_code_is_the_gate(two_arms, capsys):
    assert run(["compare", "before.jsonl", "after.jsonl", "--fail-on", "no-pass"]) == 0
    assert capsys.readouterr().out.startswith("PASS\n")
    assert run(["compare", "after.jsonl", "before.jsonl"]) == 1
    assert capsys.readouterr().out.startswith("WORSE\n")
    assert run(["compare", "after.jsonl", "before.jsonl", "--fail-on", "never"]) == 0
    floor = ["--run-std", "0.5", "--run-std-runs", "3"]
    assert said(capsys, "compare", "before.jsonl", "after.jsonl", *floor)["verdict"] == "NO DIFFERENCE"
    assert said(capsys, "compare", "before.jsonl", "after.jsonl", *floor, "--fail-on", "no-pass", code=1)


def test_no_verdict_is_exit_3_only_when_strict(two_arms, capsys):
    few = sorted({row["scenario_id"] for row in lines(two_arms / "before.jsonl")})[:3]
    for name in ("before", "after"):
        kept = [row for row in lines(two_arms / f"{name}.jsonl") if row["scenario_id"] in few]
        (two_arms / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    assert run(["compare", "before.jsonl", "after.jsonl"]) == 0
    assert run(["compare", "before.jsonl", "after.jsonl", "--strict"]) == 3
    assert "NO VERDICT" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["pass-at", "gone.jsonl"], 4, "no such file"),
        (["pass-at", "empty.jsonl"], 4, ""),
        (["pass-at", "broken.jsonl"], 4, "broken.jsonl:2"),
        (["pass-at", "unscored.jsonl"], 4, ""),
        (["compare", "one.jsonl", "other.jsonl"], 4, "task"),
        (["compare", "one.jsonl", "one.jsonl", "--fail-on", "sometimes"], 2, "--fail-on"),
        (["grade", "one.jsonl", "--judge", "judge.py"], 2, "file.py:name"),
        (["grade", "one.jsonl", "--judge", "gone.py:judge"], 2, "no such file"),
        (["simulate", "--agent", "seeded:lots", "--tools", "tools.py"], 2, "seeded:lots"),
        (["simulate", "--agent", "seeded:0.3", "--tools", "tools.py", "--budget", "1"], 2, "budget=1"),
        (["simulate", "--agent", "seeded:0.3", "--tools", "judge.py"], 2, "@wai.tool"),
        (["simulate", "--agent", "seeded", "--tools", "tools.py", "--system-prompt", "@gone.txt"], 2, "gone.txt"),
        (["export", "one.jsonl", "-o", "nowhere/train.jsonl"], 4, "nowhere"),
        (["report", "gone"], 4, "gone"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(desk, capsys, arguments, code, says):
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    row = {"scenario_id": "a", "reward": 1.0, "messages": talk}
    (desk / "one.jsonl").write_text(json.dumps(row) + "\n")
    (desk / "other.jsonl").write_text(json.dumps({**row, "scenario_id": "b"}) + "\n")
    (desk / "unscored.jsonl").write_text(json.dumps({**row, "reward": None}) + "\n")
    (desk / "broken.jsonl").write_text(json.dumps(row) + "\n{]\n")
    (desk / "empty.jsonl").write_text("")
    assert run(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert says in err
    assert len(err.splitlines()) == 1


def test_every_command_has_a_help_with_an_example_of_itself(capsys):
    for name in COMMANDS:
        assert run([name, "--help"]) == 0
        out = capsys.readouterr().out
        assert f"Example:\n    wai {name}" in out
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_the_flags_of_train_are_the_fields_of_its_config(capsys):
    run(["train", "--help"])
    out = capsys.readouterr().out
    assert not [f.name for f in fields(SFT) if f"--{f.name.replace('_', '-')}" not in out]
    assert "rows a step." in out


def test_a_field_s_help_is_what_its_class_says_about_it():
    @dataclass
    class Config:
        """Something. width, height: in metres; depth: how deep.
        colour: a name. Not a field: nothing."""

        width: int = 1
        height: int = 1
        depth: int = 1
        colour: str = ""
        silent: int = 1

    found = described(Config)
    assert found["width"] == found["height"] == "in metres."
    assert found["depth"] == "how deep."
    assert found["colour"].startswith("a name.")
    assert "silent" not in found


def test_no_arguments_show_the_help_and_a_typo_is_answered_with_a_guess(capsys):
    assert run([]) == 0
    assert "Commands:" in capsys.readouterr().out
    assert run(["simlate"]) == 2
    assert capsys.readouterr().err == "error: No such command 'simlate'. Did you mean 'simulate'? (see: wai --help)\n"


def test_the_help_comes_without_loading_anything_heavy():
    code = "import sys; from whileai.cli.main import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & {"torch", "transformers", "numpy", "scipy", "matplotlib", "jinja2", "rich"}
    assert "simulate" in done.stdout


def test_doctor_says_which_keys_are_set_and_never_their_values(monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    found = said(capsys, "doctor")
    assert found["self_test"] == "passed"
    assert found["keys_set"]["OPENAI_API_KEY"] is True
    assert found["keys_set"]["HF_TOKEN"] is False
    run(["doctor"])
    assert "sk-very-secret" not in capsys.readouterr().out + json.dumps(found)


def test_an_interrupted_simulation_goes_on_where_it_stopped(desk, capsys):
    (desk / "agent.py").write_text(
        "import os\nn = 0\n\ndef agent(text):\n    global n\n    n += 1\n"
        "    if n == 5 and os.path.exists('stop'):\n        raise KeyboardInterrupt\n    return 'Which order?'\n"
    )
    (desk / "stop").touch()
    again = ["simulate", "--agent", "agent.py:agent", "--tools", "tools.py", "--budget", "16", "-o", "rows.jsonl"]
    assert run(again) == 130
    capsys.readouterr()
    (desk / "stop").unlink()
    sys.modules.pop("agent")
    assert run(again) == 0
    assert len(lines(desk / "rows.jsonl")) == 16
