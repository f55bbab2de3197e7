"""Rows to NumPy columns: the only place of the statistics that reads inside a row.

400,000 dicts become four arrays in about a tenth of a second; a stream is read in pieces and never held whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai.core import rows as core_rows
from whileai.core.errors import InputError, UsageError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Rows = Iterable[Mapping[str, Any]]
Label = str | Callable[[Mapping[str, Any]], Any]

_PIECE = 16_384
_FINER = ("wording", "run", "seed")  # what can tell two rows of one task and one rollout_index apart


@dataclass(frozen=True)
class Columns:
    """One pass over some tasks, as columns of equal length.

    task: code of the row's task, an index into `tasks`. reward: the score, NaN when the row was not scored.
    """

    tasks: list[str]
    task: Codes
    reward: Floats

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
        return Columns(self.tasks, self.task, passed)


class Coder(dict[Any, int]):
    """Gives every distinct label a number, in order of appearance, across pieces."""

    def __missing__(self, label: Any) -> int:
        self[label] = number = len(self)
        return number

    def codes(self, labels: Sequence[Any]) -> Codes:
        """(labels,) their numbers; a label that cannot be a key, such as a list, counts by its text."""
        try:
            return np.fromiter(map(self.__getitem__, labels), np.int64, len(labels))
        except TypeError:
            return self.codes([repr(label) for label in labels])


def columns(rows: Rows, *, value: str | None = None, source: str = "") -> Columns:
    """Read rows (a sequence, or any iterable, once) into Columns.

    value: read this numeric key of the rows instead of `reward`. source: names the rows in errors.
    Raises InputError for no rows, a row that is not a mapping or has no task, a score that is text or infinite, and a
    try that stands twice.
    """
    tasks, tries = Coder(), Tries(rows if isinstance(rows, Sequence) else None)
    codes: list[Codes] = []
    rewards: list[Floats] = []
    for first, piece in _pieces(rows):
        _check_mappings(piece, first, source)
        codes.append(tasks.codes(_task_ids(piece)))
        rewards.append(_scores(piece, value, first, source))
        tries.note(piece)
    if not codes:
        raise InputError(f"{named(source)}there are no rows, so there is nothing to measure")
    found = Columns(list(tasks), np.concatenate(codes), np.concatenate(rewards))
    copies = tries.copies(found.task)
    if copies.size:
        raise InputError(
            f"{named(source)}{copies.size} rows repeat a try that is already there (first: row {copies[0] + 1}, of"
            f" task {found.tasks[int(found.task[copies[0]])]!r}), and a try counted twice makes the interval too"
            " narrow; drop the copies, or number the tries in rollout_index and the passes in run"
        )
    return found


def scored(rows: Rows, *, threshold: float | None = None, value: str | None = None, source: str = "") -> Columns:
    """`columns`, refused when not one row has a score, with rewards cut at `threshold` when one is given."""
    found = columns(rows, value=value, source=source)
    if not found.answered.any():
        what = value or "reward"
        raise InputError(f"{named(source)}none of the {len(found)} rows has a {what}; grade the rows first")
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


def asks(rows: Sequence[Mapping[str, Any]], found: Columns) -> Codes:
    """(rows,) code of the (task, wording) pair of every row, so that repeats of one wording stand together."""
    return Coder().codes(list(zip(found.task.tolist(), [row.get("wording") for row in rows], strict=True)))


def _pieces(rows: Rows) -> Iterator[tuple[int, Sequence[Any]]]:
    """(number of the piece's first row, piece)."""
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise InputError(f"rows are a {type(rows).__name__}, not a list of rows; load a file with whileai.load(path)")
    iterator, first = iter(rows), 1
    while piece := list(islice(iterator, _PIECE)):
        yield first, piece
        first += len(piece)


def values(piece: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    """The value of every row under `key`, None where it has none."""
    try:
        return list(map(itemgetter(key), piece))
    except KeyError:
        return [row.get(key) for row in piece]


def _check_mappings(piece: Sequence[Any], first: int, source: str) -> None:
    if set(map(type, piece)) == {dict}:
        return
    for number, row in enumerate(piece, first):
        if not isinstance(row, Mapping):
            raise InputError(f"{named(source)}row {number} is a {type(row).__name__}, not a row (a dict)")


def _task_ids(piece: Sequence[Mapping[str, Any]]) -> list[Any]:
    ids = values(piece, "scenario_id")
    return ids if set(map(type, ids)) == {str} else [core_rows.task_id(row) for row in piece]


def _scores(piece: Sequence[Mapping[str, Any]], value: str | None, first: int, source: str) -> Floats:
    key = value or "reward"
    raw = values(piece, key)
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
        raise InputError(f"{named(source)}row {number}: {text}") from None


class Tries:
    """Which try of which ask every row is, to find one that stands twice.

    The finer numbers are read only for the rows that need them, which for a sequence is when all rows have been seen.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]] | None) -> None:
        self.rows = rows
        self.index: list[Codes] = []
        self.numbered = True
        self.coders = {} if rows is not None else {name: Coder() for name in _FINER}
        self.finer: dict[str, list[Codes]] = {name: [] for name in self.coders}

    def note(self, piece: Sequence[Mapping[str, Any]]) -> None:
        """Take down the tries of the next rows."""
        index = values(piece, "rollout_index")
        if not self.numbered or set(map(type, index)) != {int}:
            self.numbered = self.numbered and None not in index
            index = [hash(number) for number in index] if self.numbered else []
        self.index.append(np.array(index, dtype=np.int64))
        for name, found in self.finer.items():
            found.append(self.coders[name].codes(values(piece, name)).astype(np.int32))

    def copies(self, task: Codes) -> Codes:
        """Positions of rows that are the same try of the same ask in the same pass as a row before them.

        Rows at hand that share all their numbers but not their messages were only numbered badly, and are no copies.
        """
        if not self.numbered:
            return np.empty(0, np.int64)
        suspects = np.flatnonzero(_shared(task, np.concatenate(self.index)))
        if not suspects.size:
            return suspects
        index = np.concatenate(self.index)[suspects].tolist()
        names = list(zip(task[suspects].tolist(), index, *self._finer(suspects.tolist()), strict=True))
        first: dict[Any, int] = {}
        for place, name in zip(suspects.tolist(), names, strict=True):
            first.setdefault(name, place)
        return np.array([p for p, name in zip(suspects.tolist(), names, strict=True) if first[name] != p], np.int64)

    def _finer(self, places: list[int]) -> Iterator[list[Any]]:
        if self.rows is None:
            yield from (np.concatenate(self.finer[name])[places].tolist() for name in _FINER)
            return
        rows = self.rows
        yield from ([repr(rows[place].get(name)) for place in places] for name in (*_FINER, "messages"))


def _shared(task: Codes, index: Codes) -> NDArray[np.bool_]:
    """Whether each (task, index) pair occurs more than once."""
    width = int(index.max()) - int(index.min()) + 1
    size = int(task.max()) + 1
    if width * size <= 4 * task.size + 1024:
        key = task * width + (index - index.min())
    else:  # far-apart numbers: make them dense first
        dense = np.unique(index, return_inverse=True)[1]
        key = np.unique(dense * size + task, return_inverse=True)[1]
    often: NDArray[np.int64] = np.bincount(key)
    return np.asarray(often[key] > 1)


def named(source: str) -> str:
    """The prefix of an error about `source`."""
    return f"{source}: " if source else ""
