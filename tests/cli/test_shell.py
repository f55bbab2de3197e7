"""What every command keeps: one JSON object, one sentence per error, telling exit codes, a clean stdout."""

from __future__ import annotations

import json
import warnings

import pytest
import typer

from whileai.cli import shell
from whileai.cli.shell import Outcome, command, execute
from whileai.core import errors


@pytest.fixture
def wai():
    """A command line of one command, `go`, whose body the test gives."""

    def build(body):
        app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)

        @command("wai go 3")
        def go(number: int) -> Outcome:
            """Go somewhere."""
            return body(number)

        app.command("go")(go)
        app.callback()(lambda: None)
        return lambda *arguments: execute(app, arguments)

    return build


def test_the_text_of_a_result_is_stdout_and_what_user_code_prints_is_not(wai, capsys):
    def body(number):
        print("chatter of a judge")
        warnings.warn("the judge said 1 each time", UserWarning, stacklevel=1)
        return Outcome("pass@1 0.50", {"n": number})

    assert wai(body)("go", "3") == 0
    out, err = capsys.readouterr()
    assert out == "pass@1 0.50\n"
    assert err.splitlines() == ["chatter of a judge", "note: the judge said 1 each time"]
    assert wai(body)("go", "3", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"schema_version": 1, "command": "go", "exit_code": 0, "n": 3}
    assert wai(body)("go", "3", "--quiet") == 0
    assert "note" not in capsys.readouterr().err


def test_json_holds_no_nan_and_no_numpy(wai, capsys):
    import numpy as np

    payload = {"mean": float("nan"), "counts": np.array([1, 2]), "inner": {"high": float("inf")}}
    wai(lambda _: Outcome("", payload))("go", "1", "--json")
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["mean"] is None
    assert found["counts"] == [1, 2]
    assert found["inner"] == {"high": None}


def test_rows_go_to_stdout_as_lines_and_never_together_with_json(wai, capfdbinary):
    rows = [{"scenario_id": "a", "messages": []}, {"scenario_id": "b", "messages": []}]
    run = wai(lambda _: Outcome("2 rows", rows=rows))
    assert run("go", "1") == 0
    out, err = capfdbinary.readouterr()
    assert [json.loads(line) for line in out.splitlines()] == rows
    assert err == b"2 rows\n"
    assert run("go", "1", "--json") == 2
    assert b"both want standard output" in capfdbinary.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("k is 5"), 2),
        (errors.MissingExtra("needs torch"), 2),
        (errors.InputError("no rewards"), 4),
        (errors.RowError("no messages", row_number=3), 4),
        (errors.TasksDiffer("8 tasks only before"), 4),
        (errors.ProviderError("no answer"), 5),
        (errors.TrainingError("disk is full"), 5),
        (ValueError("a bug of ours"), shell.CRASHED),
    ],
)
def test_an_error_is_one_sentence_its_own_exit_code_and_in_json_an_object(wai, capsys, error, code):
    def body(_):
        raise error

    assert wai(body)("go", "1", "--json") == code
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    found = json.loads(out)
    assert found["exit_code"] == code
    assert found["error"]["kind"] == type(error).__name__
    assert wai(body)("go", "1", "--debug") == code
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_says_that_the_run_can_go_on_and_exits_130(wai, capsys):
    def body(_):
        raise KeyboardInterrupt

    assert wai(body)("go", "1") == 130
    assert "goes on from there" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("go",), ("go", "three"), ("gone",), ("go", "1", "--nosuch")])
def test_wrong_usage_is_exit_2_with_a_hint_and_json_when_asked(wai, capsys, arguments):
    assert wai(lambda _: Outcome())(*arguments, "--json") == 2
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert "--help" in err
    assert json.loads(out)["error"]["kind"] == "UsageError"


def test_the_help_shows_an_example_and_the_shared_flags(wai, capsys):
    assert wai(lambda _: Outcome())("go", "--help") == 0
    out = capsys.readouterr().out
    assert "Example:\n    wai go 3" in out
    assert all(flag in out for flag in ("--json", "--quiet", "--debug"))


def test_an_exit_code_of_the_command_is_the_process_s(wai):
    assert wai(lambda _: Outcome("WORSE", code=1))("go", "1") == 1


def test_a_key_in_an_error_is_not_printed(wai, capsys):
    def body(_):
        raise RuntimeError("401 for key sk-abcdefghijklmnop1234")

    wai(body)("go", "1", "--json")
    assert "abcdefghijklmnop" not in "".join(capsys.readouterr())
