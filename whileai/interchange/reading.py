"""read(): rows from whatever file they stand in, told apart by what it holds and not by its name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whileai.core.errors import InputError
from whileai.core.files import load_jsonl, loads
from whileai.interchange import inspect_log, lm_eval
from whileai.interchange.opening import archive, head, is_gzip, is_zip, opened
from whileai.interchange.scores import listed
from whileai.interchange.table import is_table, read_table

KNOWN = (
    "whileai rows (JSONL), inspect logs (.eval, .json), lm-eval output (samples_*.jsonl or its folder), a CSV with"
    " task_id and reward"
)
_ROW_KEYS = ("scenario_id", "task_id", "messages", "reward")
_FIRST_LINE = 1 << 26
_NO_SCORERS = ("whileai", "csv")

Found = tuple[list[dict[str, Any]], list[str]]


class Rows(list[dict[str, Any]]):
    """Rows as a plain list that knows where it is from.

    `format`: "whileai", "inspect", "lm_eval" or "csv". `notes`: what the numbers do not show, one sentence each.
    """

    def __init__(self, rows: Iterable[dict[str, Any]] = (), notes: Iterable[str] = (), format: str = "whileai") -> None:  # noqa: A002
        super().__init__(rows)
        self.notes = tuple(notes)
        self.format = format


def read(path: str | os.PathLike[str], *, scorer: str | None = None, filter: str | None = None) -> Rows:  # noqa: A002
    """Read rows, a log of inspect or lm-eval, or a CSV of scores; ".gz" is fine, "-" is rows on standard input.

    scorer: which score is the reward, where a log holds several: inspect's scorer (or "scorer/key" for one that gives
    several values), lm-eval's metric. filter: lm-eval's filter; the first one unless named, and a note says so.

    A try that ended in an error, or was not scored, has reward None, never 0. inspect's epochs and a CSV's repeats
    become `rollout_index`, counted from 0; lm-eval scores one answer a document, so there every row is a single try.
    Raises InputError for a file that is broken or of no known kind, and when several scorers could be meant;
    MissingExtra for a zstd `.eval` without the extra `inspect` (before Python 3.14).
    """
    name = os.fspath(path)
    kind, (rows, notes) = _read(name, scorer, filter)
    if scorer is not None and kind in _NO_SCORERS:
        notes = [*notes, f"scorer={scorer!r} was not needed: the file has one reward a row"]
    if filter is not None and kind != "lm_eval":
        notes = [*notes, f"filter={filter!r} was not needed: only lm-eval's files have filters"]
    return Rows(rows, notes, kind)


def _read(name: str, scorer: str | None, filter_: str | None) -> tuple[str, Found]:
    if name == "-":
        return "whileai", (load_jsonl(name), [])
    if Path(name).is_dir():
        return _read_folder(name, scorer, filter_)
    if is_zip(name):
        _check_eval(name)
        return "inspect", inspect_log.read_eval(name, scorer)
    line = _first_line(name)
    if line.lstrip()[:1] in (b"{", b"["):
        return _read_json(name, line, scorer, filter_)
    if is_table(line.decode("utf-8-sig", "replace")):
        return "csv", read_table(name)
    raise InputError(f"{name} begins with {line[:40].decode('utf-8', 'replace')!r}; {_wanted()}")


def _read_folder(name: str, scorer: str | None, filter_: str | None) -> tuple[str, Found]:
    if next(Path(name).rglob("samples_*.jsonl"), None):
        return "lm_eval", lm_eval.read_folder(name, scorer, filter_)
    logs = sorted(str(file) for file in Path(name).rglob("*") if file.suffix in (".eval", ".jsonl", ".json", ".csv"))
    if not logs:
        raise InputError(f"{name} is a folder without a log; {_wanted()}")
    raise InputError(f"{name} is a folder, and no lm-eval output; name one file of it ({listed(logs)})")


def _check_eval(name: str) -> None:
    with archive(name) as zipped:
        if not inspect_log.has_header(zipped):
            inside = listed(list(zipped.members)) or "nothing"
            raise InputError(f"{name} is a zip without inspect's header (it holds {inside}); {_wanted()}")


def _read_json(name: str, line: bytes, scorer: str | None, filter_: str | None) -> tuple[str, Found]:
    try:
        first = loads(line)
    except (ValueError, RecursionError):
        first = None  # an object over several lines, or a broken first one
    if inspect_log.is_header(first) or (first is None and _looks_like_inspect(name)):
        return "inspect", inspect_log.read_json(name, scorer)
    if lm_eval.is_sample(first):
        _check_suffix(name)
        return "lm_eval", lm_eval.read_samples(name, scorer, filter_)
    if first is None or (isinstance(first, dict) and any(key in first for key in _ROW_KEYS)):
        _check_suffix(name)
        return "whileai", (load_jsonl(name), [])
    held = f"an object with {listed(list(first))}" if isinstance(first, dict) else "a list"
    raise InputError(f"{name} holds {held}; {_wanted()}")


def _check_suffix(name: str) -> None:
    if is_gzip(name) and not name.endswith(".gz"):
        raise InputError(f"{name} is gzipped and not named so; rename it to end in .gz")


def _looks_like_inspect(name: str) -> bool:
    start = head(name)
    return b'"eval"' in start and b'"status"' in start


def _first_line(name: str) -> bytes:
    """The first line that is not empty. Raises InputError for an empty file."""
    with opened(name) as stream:
        while line := stream.readline(_FIRST_LINE):
            if line.strip():
                return line
    raise InputError(f"{name} is empty, so there are no rows to read")


def _wanted() -> str:
    return f"whileai reads {KNOWN}"
