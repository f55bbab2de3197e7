"""kill -9 at any moment: the same call goes on, and the finished file is byte for byte the uninterrupted one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = str(Path(__file__).with_name("resumed.py"))


def start(path, seconds, concurrency):
    command = [sys.executable, SCRIPT, str(path), str(seconds), str(concurrency)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(path, concurrency):
    out, errors = start(path, 0, concurrency).communicate(timeout=60)
    assert out.strip() == "120", errors


def wait_for_lines(path, count, process):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.005)
    pytest.fail("the run did not get that far")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "rows.jsonl"
    finish(path, 1)
    return path.read_bytes()


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_run_killed_twice_ends_with_the_uninterrupted_file(tmp_path, uninterrupted, concurrency):
    path = tmp_path / "rows.jsonl"
    for lines in (20, 55):
        process = start(path, 0.01, concurrency)
        wait_for_lines(path, lines, process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert path.read_bytes() != uninterrupted
    finish(path, 8 // concurrency)
    assert path.read_bytes() == uninterrupted


@pytest.mark.parametrize("concurrency", [1, 8])
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(tmp_path, uninterrupted, concurrency):
    path = tmp_path / "rows.jsonl"
    process = start(path, 0.01, concurrency)
    wait_for_lines(path, 10, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert "the same call goes on from there" in errors
    kept = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert 10 <= len(kept) < 120
    finish(path, concurrency)
    assert path.read_bytes() == uninterrupted
