"""Files are streamed in, replaced whole or not at all, and appended by whole lines."""

from __future__ import annotations

import errno
import gc
import gzip
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.core import files
from whileai.core.errors import InputError

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(rows=st.lists(st.dictionaries(st.text(max_size=8), json_values, max_size=5), max_size=6), packed=st.booleans())
@settings(max_examples=60, deadline=None)
def test_rows_come_back_as_they_were_written(rows: list[dict[str, Any]], packed: bool, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("files") / ("rows.jsonl.gz" if packed else "rows.jsonl")
    assert files.write_jsonl(path, rows) == len(rows)
    assert files.load_jsonl(path) == rows


def test_bare_nan_and_lone_surrogates_are_read_and_stay_one_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"score": NaN, "text": "a\\ud800b"}\n', "utf-8")
    row = files.load_jsonl(path)[0]
    assert math.isnan(row["score"])
    files.write_jsonl(path, [{"text": row["text"]}])
    assert path.read_bytes().count(b"\n") == 1
    assert files.load_jsonl(path) == [{"text": "a\ud800b"}]


def test_the_same_gz_rows_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        files.write_jsonl(tmp_path / name, [{"x": 1}])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == b'{"x":1}\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1', ":2: the line is not JSON"),
        ("[1, 2]", ":2: the line is a JSON list"),
        ("[" * 100_000, ":2: the line is not JSON"),
    ],
)
def test_a_broken_line_is_named_by_file_and_number(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n' + line + "\n", "utf-8")
    with pytest.raises(InputError, match=f"rows.jsonl{message}"):
        files.load_jsonl(path)


def test_a_missing_file_and_a_folder_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        files.load_jsonl(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="is a folder"):
        files.load_jsonl(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        files.write_jsonl(tmp_path / "nowhere" / "rows.jsonl", [{}])


class FullDisk:
    """A stream whose disk fills up after the first line."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.lines = stream, 0

    def write(self, data: bytes) -> int:
        self.lines += 1
        if self.lines > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self.stream.write(data))


def test_a_full_disk_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    files.write_jsonl(path, [{"old": True}])
    whole = files._write_lines
    monkeypatch.setattr(files, "_write_lines", lambda stream, rows: whole(FullDisk(stream), rows))
    with pytest.raises(InputError, match="No space left on device.*what was there before is untouched"):
        files.write_jsonl(path, [{"new": 1}, {"new": 2}])
    assert files.load_jsonl(path) == [{"old": True}]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform != "linux", reason="the file-size limit is Linux's")
def test_a_real_file_size_limit_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"old":true}\n', "utf-8")
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from whileai.core import errors, files\n"
        "try:\n"
        f"    files.write_jsonl({str(path)!r}, ({{'n': n, 'x': 'y' * 50}} for n in range(5000)))\n"
        "except errors.InputError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "could not be written (File too large)" in done.stdout
    assert path.read_text("utf-8") == '{"old":true}\n'
    assert list(tmp_path.iterdir()) == [path]


def test_a_row_that_cannot_be_made_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    files.write_jsonl(path, [{"old": True}])

    def rows() -> Any:
        yield {"new": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_jsonl(path, rows())
    assert files.load_jsonl(path) == [{"old": True}]


def test_a_torn_last_line_is_owed_again_and_nothing_else_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    assert files.read_journal(path) == []
    for n in range(3):
        files.append_jsonl(path, {"n": n})
    with path.open("ab") as stream:
        stream.write(b'{"n": 3, "te')
    assert files.read_journal(path) == [{"n": 0}, {"n": 1}, {"n": 2}]
    files.append_jsonl(path, {"n": 3})
    assert [row["n"] for row in files.read_journal(path)] == [0, 1, 2, 3]


def test_loading_pauses_the_collector_and_turns_it_on_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("{}\nnot json\n", "utf-8")
    states: list[bool] = []
    stream = files.read_jsonl
    try:
        files.read_jsonl = lambda p: (states.append(gc.isenabled()), stream(p))[1]  # type: ignore[assignment,func-returns-value]
        with pytest.raises(InputError):
            files.load_jsonl(path)
    finally:
        files.read_jsonl = stream
    assert states == [False]
    assert gc.isenabled()


def test_standard_input_and_output_are_a_dash(tmp_path: Path) -> None:
    code = "from whileai.core import files; files.write_jsonl('-', files.read_jsonl('-'))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"a":1}\n\n{"b":2}\n', capture_output=True, timeout=60, check=True
    )
    assert done.stdout == b'{"a":1}\n{"b":2}\n'
