"""Progress is quiet in pipes, honest about what is left, and never raises on its own."""

from __future__ import annotations

import io
import re
import sys

import pytest

from whileai.core import progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress._Lines, "clock", staticmethod(clock))
    monkeypatch.delenv("WHILEAI_QUIET", raising=False)
    return clock


def run(clock, total, seconds_each, quiet=None, note=""):
    with progress.track(total, "rows", quiet) as bar:
        for _ in range(total):
            clock.now += seconds_each
            bar.advance(note=note)


def test_work_over_within_two_seconds_says_nothing(clock, capsys):
    run(clock, 10, 0.19)
    assert capsys.readouterr() == ("", "")


def test_longer_work_prints_one_line_a_tenth_each_with_an_eta_and_ends_at_the_total(clock, capsys):
    run(clock, 1000, 0.01)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert 8 <= len(lines) <= 10
    assert all(re.search(r"ETA \d", text) for text in lines[:-1])
    assert lines[-1] == "rows: 1000/1000 (100%), 100/s, in 10s"


def test_slow_items_print_at_most_every_ten_seconds(clock, capsys):
    with progress.track(1000, "rows") as bar:
        for _ in range(60):
            clock.now += 1.0
            bar.advance()
    lines = capsys.readouterr().err.splitlines()
    assert 6 <= len(lines) <= 8
    assert "ETA 15m40s" in lines[-1]


def test_a_note_stands_at_the_end_of_its_line(clock, capsys):
    run(clock, 3, 5.0, note="loss 0.12")
    assert capsys.readouterr().err.splitlines()[0].endswith("| loss 0.12")


@pytest.mark.parametrize("how", ["argument", "variable", "call"])
def test_quiet_is_silent_however_it_is_asked_for(clock, capsys, monkeypatch, how):
    if how == "variable":
        monkeypatch.setenv("WHILEAI_QUIET", "1")
    progress.set_quiet(how == "call")
    try:
        run(clock, 100, 1.0, quiet=True if how == "argument" else None)
    finally:
        progress.set_quiet(False)
    assert capsys.readouterr().err == ""


def test_quiet_false_speaks_even_in_a_quiet_process(clock, capsys, monkeypatch):
    monkeypatch.setenv("WHILEAI_QUIET", "1")
    run(clock, 100, 1.0, quiet=False)
    assert capsys.readouterr().err != ""


@pytest.mark.parametrize(
    ("variable", "value"), [("CI", "true"), ("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "xterm")]
)
def test_a_terminal_gets_a_bar_unless_it_is_dumb_or_a_ci_log(clock, monkeypatch, variable, value):
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "stderr", Terminal())
    run(clock, 10, 1.0)
    said = sys.stderr.getvalue()
    assert "10/10" in said
    assert ("\x1b[" in said) is (value == "xterm")


def test_the_error_of_the_work_passes_through(clock):
    with pytest.raises(ZeroDivisionError), progress.track(2, "rows") as bar:
        bar.advance(1 // 0)


def test_no_items_and_more_items_than_announced_are_no_error(clock, capsys):
    with progress.track(0, "rows") as bar:
        clock.now += 5
        bar.advance()
    assert "1/0 (100%)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0s"), (59.4, "59s"), (59.6, "1m00s"), (3599.7, "1h00m"), (3725, "1h02m"), (-1, "0s")]
)
def test_durations_read_as_people_say_them(seconds, text):
    assert progress.seconds_text(seconds) == text


def test_a_loop_sees_that_nothing_is_done_yet():
    assert progress.line("rows", 0, 5, 3.0) == "rows: 0/5 (0%), ETA unknown"
