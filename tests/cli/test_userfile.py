"""The user's own agents, judges and tools are found by file and name, and a wrong name says what is there."""

from __future__ import annotations

import sys

import pytest

from whileai.cli import userfile
from whileai.core.errors import InputError, UsageError


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside_mine.py").write_text("ANSWER = 42\n")
    (tmp_path / "mine_.py").write_text(
        "from beside_mine import ANSWER\n\ndef judge(row):\n    return ANSWER\n\nnumber = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    yield "mine_.py"
    for name in ("mine_", "beside_mine"):
        sys.modules.pop(name, None)


def test_a_name_in_a_file_is_found_and_its_folder_is_importable(mine):
    assert userfile.load_callable(f"{mine}:judge", "a judge")({}) == 42


def test_a_dotted_module_works_too():
    assert userfile.load_callable("json:loads", "a judge")("1") == 1


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("mine_.py", "file.py:name"),
        ("mine_.py:", "file.py:name"),
        ("mine_.py:juge", "it has judge"),
        ("mine_.py:number", "cannot be called"),
        ("other.py:judge", "no such file"),
        ("no_such_module:judge", "No module named"),
    ],
)
def test_a_wrong_name_says_what_is_there(mine, spec, says):
    with pytest.raises(UsageError, match=says):
        userfile.load_callable(spec, "a judge")


def test_a_file_that_fails_is_the_file_s_fault(mine, tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(InputError, match="broken.py failed while it was imported: ZeroDivisionError"):
        userfile.load_callable("broken.py:judge", "a judge")


def test_a_file_without_a_tool_says_how_to_make_one(mine):
    with pytest.raises(UsageError, match="@wai.tool"):
        userfile.load_tools(mine)


def test_a_file_that_two_flags_name_is_run_once_and_no_module_of_that_name_is_replaced(mine, tmp_path):
    assert userfile.load_module(mine) is userfile.load_module(mine)
    (tmp_path / "json.py").write_text("def judge(row):\n    return 1\n")
    assert userfile.load_callable("json.py:judge", "a judge")({}) == 1
    assert hasattr(sys.modules["json"], "loads")
