"""Rows to NumPy columns: the only place of the statistics that reads inside a row.

400,000 dicts become four arrays in about a tenth of a second; a stream is read in pieces and never held whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai.core import rows as core_rows
from whileai.core.errors import InputError, UsageError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Rows = Iterable[Mapping[str, Any]]
Label = str | Callable[[Mapping[str, Any]], Any]

_PIECE = 65_536
_TRY_KEYS = ("wording", "rollout_index", "run", "seed")


@dataclass(frozen=True)
class Columns:
    """One pass over some tasks, as columns of equal length.

    task: code of the row's task, an index into `tasks`. reward: the score, NaN when the row was not scored.
    ask: code of the (task, wording) pair, so that repeats of one wording can be told from another wording.
    """

    tasks: list[str]
    task: Codes
    reward: Floats
    ask: Codes

    def __len__(self) -> int:
        return int(self.task.size)

    @property
    def answered(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.reward)

    def binary(self) -> bool:
        """Whether every scored reward is exactly 0 or 1."""
        return bool(np.all((self.reward == 0) | (self.reward == 1) | np.isnan(self.reward)))

    def bounds(self) -> tuple[float, float]:
        """Smallest and largest scored reward."""
        return float(np.nanmin(self.reward)), float(np.nanmax(self.reward))

    def reaching(self, threshold: float | None) -> Columns:
        """The same rows with rewards 1 where they reach `threshold` and 0 elsewhere; None changes nothing."""
        if threshold is None:
            return self
        passed = np.where(self.answered, (self.reward >= threshold).astype(float), np.nan)
        return Columns(self.tasks, self.task, passed, self.ask)


class Coder:
    """Gives every distinct label a number, in order of appearance, across pieces."""

    def __init__(self) -> None:
        self.index: dict[Any, int] = {}

    def codes(self, labels: Sequence[Any]) -> Codes:
        index = self.index
        try:
            for label in dict.fromkeys(labels):
                index.setdefault(label, len(index))
            return np.fromiter(map(index.__getitem__, labels), np.int64, len(labels))
        except TypeError:  # a dict or a list as a label
            return self.codes([repr(label) for label in labels])


def columns(rows: Rows, *, value: str | None = None, source: str = "") -> Columns:
    """Read rows (a sequence, or any iterable, once) into Columns.

    value: read this numeric key of the rows instead of `reward`. source: names the rows in errors.
    Raises InputError for no rows, a row that is not a mapping or has no task, a score that is text or infinite, and a
    try that stands twice.
    """
    tasks, tries, asks = Coder(), _Tries(), Coder()
    codes: list[Codes] = []
    rewards: list[Floats] = []
    ask_codes: list[Codes] = []
    for first, piece in _pieces(rows):
        _check_mappings(piece, first, source)
        codes.append(tasks.codes(_task_ids(piece)))
        rewards.append(_scores(piece, value, first, source))
        ask_codes.append(tries.add(piece, codes[-1], asks))
    if not codes:
        raise InputError(f"{_named(source)}there are no rows, so there is nothing to measure")
    found = Columns(list(tasks.index), np.concatenate(codes), np.concatenate(rewards), np.concatenate(ask_codes))
    tries.refuse_repeats(found, rows if isinstance(rows, Sequence) else None, source)
    return found


def scored(rows: Rows, *, threshold: float | None = None, value: str | None = None, source: str = "") -> Columns:
    """`columns`, refused when not one row has a score, with rewards cut at `threshold` when one is given."""
    found = columns(rows, value=value, source=source)
    if not found.answered.any():
        what = value or "reward"
        raise InputError(f"{_named(source)}none of the {len(found)} rows has a {what}; grade the rows first")
    return found.reaching(threshold)


def labels(rows: Sequence[Mapping[str, Any]], by: Label) -> list[Any]:
    """The label of every row: `by` is a row key or a function of a row. Raises UsageError for an unknown key."""
    if callable(by):
        return [by(row) for row in rows]
    found = [row.get(by) for row in rows]
    if all(label is None for label in found):
        raise UsageError(f"no row has a key {by!r} to group by")
    return found


def task_labels(rows: Sequence[Mapping[str, Any]], found: Columns, by: Label) -> Codes:
    """(tasks,) code of each task's cluster. Raises InputError when the rows of one task name several clusters."""
    coder = Coder()
    codes = coder.codes(labels(rows, by))
    per_task = np.full(len(found.tasks), -1, np.int64)
    per_task[found.task] = codes
    if np.any(per_task[found.task] != codes):
        task = found.tasks[int(found.task[np.argmax(per_task[found.task] != codes)])]
        raise InputError(f"the rows of task {task!r} lie in several clusters, so tasks are not nested in {by!r}")
    return per_task


def _pieces(rows: Rows) -> Iterator[tuple[int, Sequence[Any]]]:
    """(number of the piece's first row, piece)."""
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise InputError(f"rows are a {type(rows).__name__}, not a list of rows; load a file with whileai.load(path)")
    iterator, first = iter(rows), 1
    while piece := list(islice(iterator, _PIECE)):
        yield first, piece
        first += len(piece)


def _check_mappings(piece: Sequence[Any], first: int, source: str) -> None:
    if set(map(type, piece)) == {dict}:
        return
    for number, row in enumerate(piece, first):
        if not isinstance(row, Mapping):
            raise InputError(f"{_named(source)}row {number} is a {type(row).__name__}, not a row (a dict)")


def _task_ids(piece: Sequence[Mapping[str, Any]]) -> list[Any]:
    ids = [row.get("scenario_id") for row in piece]
    return ids if set(map(type, ids)) == {str} else [core_rows.task_id(row) for row in piece]


def _scores(piece: Sequence[Mapping[str, Any]], value: str | None, first: int, source: str) -> Floats:
    key = value or "reward"
    raw = [row.get(key) for row in piece]
    if set(map(type, raw)) <= {float, int, bool, type(None)}:
        found = np.array(raw, dtype=np.float64)
        if not np.isinf(found).any():
            return found
    return np.array([_score(one, number, key, source) for number, one in enumerate(raw, first)], dtype=np.float64)


def _score(raw: Any, number: int, key: str, source: str) -> float | None:
    try:
        return core_rows.reward({"reward": raw})
    except InputError as error:
        text = str(error).replace("a reward", f"its {key}", 1)
        raise InputError(f"{_named(source)}row {number}: {text}") from None


class _Tries:
    """Which try of which ask every row is, to refuse one that stands twice: copies make every interval too narrow."""

    def __init__(self) -> None:
        self.coders = {name: Coder() for name in _TRY_KEYS}
        self.codes: dict[str, list[Codes]] = {name: [] for name in _TRY_KEYS}
        self.numbered = True

    def add(self, piece: Sequence[Mapping[str, Any]], task: Codes, asks: Coder) -> Codes:
        """Note the tries of a piece; returns the ask codes of its rows."""
        for name in _TRY_KEYS:
            found = [row.get(name) for row in piece]
            if name == "rollout_index" and None in found:
                self.numbered = False
            self.codes[name].append(self.coders[name].codes(found).astype(np.int32))
        wording = self.codes["wording"][-1].astype(np.int64)
        return wording * (1 << 32) + task if wording.any() else task

    def refuse_repeats(self, found: Columns, rows: Sequence[Mapping[str, Any]] | None, source: str) -> None:
        """Raise InputError when two rows are the same try of the same ask in the same pass.

        rows: when at hand, rows that share their numbers but not their messages are told apart by these.
        """
        if not self.numbered:
            return
        key = found.task.copy()
        for name in _TRY_KEYS:
            key = key * len(self.coders[name].index) + np.concatenate(self.codes[name])
        ordered = np.sort(key)
        shared = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        if not shared.size:
            return
        suspects = np.flatnonzero(np.isin(key, shared))
        names = [(int(key[i]), None if rows is None else repr(rows[i].get("messages"))) for i in suspects.tolist()]
        copies = [i for i, name in zip(suspects.tolist(), _repeats(names), strict=True) if name]
        if copies:
            raise InputError(
                f"{_named(source)}{len(copies)} rows repeat a try that is already there (first: row {copies[0] + 1}, of"
                f" task {found.tasks[int(found.task[copies[0]])]!r}), and a try counted twice makes the interval too"
                " narrow; drop the copies, or number the tries in rollout_index and the passes in run"
            )


def _repeats(names: Iterable[Any]) -> Iterator[bool]:
    """Whether each name was there before."""
    seen: set[Any] = set()
    for name in names:
        yield name in seen
        seen.add(name)


def _named(source: str) -> str:
    return f"{source}: " if source else ""
