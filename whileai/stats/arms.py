"""The two arms of a comparison: passes read into columns, refused when they cannot be paired, lined up task by task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from whileai.core.errors import InputError, TasksDiffer
from whileai.stats.columns import Columns, Label, columns, labels, scored, task_labels
from whileai.stats.doubts import same_rewards, same_rows
from whileai.stats.intervals import Codes
from whileai.stats.tables import Table, aligned

Passes = Iterable[Mapping[str, Any]] | Sequence[Iterable[Mapping[str, Any]]]


@dataclass(frozen=True)
class Arm:
    """One arm: the rows of every pass and their columns."""

    name: str
    rows: list[Sequence[Mapping[str, Any]]]
    found: list[Columns]

    @property
    def passes(self) -> int:
        return len(self.rows)

    def binary(self) -> bool:
        return all(found.binary() for found in self.found)

    def single_try(self) -> bool:
        """Whether every task has exactly one row."""
        return self.passes == 1 and len(self.found[0]) == len(self.found[0].tasks)

    def measured(self, value: str) -> Arm:
        """The same arm scored by another numeric key of its rows."""
        found = [
            scored(rows, value=value, source=where) for where, rows in zip(self._sources(), self.rows, strict=True)
        ]
        return Arm(self.name, self.rows, found)

    def only(self, kept: Sequence[np.ndarray[tuple[int], np.dtype[np.bool_]]]) -> Arm:
        """The same arm with only the rows marked in each pass; every task stays known, some with no row."""
        pairs = zip(self.found, kept, strict=True)
        return replace(self, found=[Columns(c.tasks, c.task[m], c.reward[m]) for c, m in pairs])

    def _sources(self) -> list[str]:
        return [self.name] if self.passes == 1 else [f"{self.name}, pass {i + 1}" for i in range(self.passes)]


def read_arm(name: str, given: Passes, threshold: float | None) -> Arm:
    """An arm from one pass's rows or a sequence of passes. Raises InputError for rows that cannot be measured."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"{name}: a {type(given).__name__} is not a list of rows; load a file with whileai.load(path)")
    whole: Any = given if isinstance(given, Sequence) else list(given)
    if not len(whole):
        raise InputError(f"{name}: there are no rows, so there is nothing to compare")
    nested = not isinstance(whole[0], (Mapping, str, bytes)) and isinstance(whole[0], Iterable)
    rows = [one if isinstance(one, Sequence) else list(one) for one in whole] if nested else [whole]
    arm = Arm(name, rows, [])
    found = [columns(one, source=where).reaching(threshold) for where, one in zip(arm._sources(), rows, strict=True)]
    if not any(one.answered.any() for one in found):
        raise InputError(f"{name}: none of the {sum(map(len, rows))} rows has a reward; grade the rows first")
    return Arm(name, rows, found)


@dataclass(frozen=True)
class Shared:
    """The tasks both arms are compared on, and what share of all tasks these are (1.0 unless partial)."""

    tasks: list[str]
    share: float


def shared_tasks(before: Arm, after: Arm, allow_partial: bool) -> Shared:
    """The tasks every pass has. Raises TasksDiffer when passes have others, unless `allow_partial`."""
    tasks = before.found[0].tasks
    if all(found.tasks == tasks for found in (*before.found, *after.found)):
        return Shared(tasks, 1.0)
    sets = [set(found.tasks) for found in (*before.found, *after.found)]
    common, every = set.intersection(*sets), set.union(*sets)
    if common == every:
        return Shared(before.found[0].tasks, 1.0)
    one, other = (set().union(*(set(f.tasks) for f in arm.found)) for arm in (before, after))
    counts = f"{len(one)} tasks before, {len(other)} after, {len(common)} in every pass"
    if not allow_partial:
        raise TasksDiffer(
            f"the arms were not run on the same tasks: {counts} ({len(one - other)} only before,"
            f" {len(other - one)} only after); run both on the same tasks"
            " (compare(..., allow_partial=True) takes the shared ones)"
        )
    if not common:
        raise TasksDiffer(f"the arms share no task: {counts}; a paired difference does not exist")
    return Shared([task for task in before.found[0].tasks if task in common], len(common) / len(every))


def refuse_copies(before: Arm, after: Arm) -> None:
    """Raise InputError when two passes are the same rows: a comparison with itself, or a re-run counted twice."""
    passes = [(arm, i) for arm in (before, after) for i in range(arm.passes)]
    for (arm, i), (other, j) in combinations(passes, 2):
        alike = same_rewards([arm.found[i], other.found[j]])
        if alike and same_rows(arm.rows[i], other.rows[j]):
            n = len(arm.rows[i])
            if arm is other:
                raise InputError(
                    f"{arm.name}: passes {i + 1} and {j + 1} are the same {n} rows, and a pass counted twice hides the"
                    " noise; give each pass once"
                )
            raise InputError(
                f"both arms hold the same {n} rows, so there is nothing to compare; was one file given twice?"
            )


def lined_up(arm: Arm, shared: Shared) -> Table:
    """(passes, tasks) counts of an arm on the shared tasks."""
    return aligned(arm.found, shared.tasks)


def clusters_of(arm: Arm, shared: Shared, cluster: Label) -> Codes:
    """(tasks,) cluster codes of the shared tasks, from the arm's first pass."""
    codes = task_labels(arm.rows[0], arm.found[0], cluster)
    index = {task: i for i, task in enumerate(arm.found[0].tasks)}
    return codes[[index[task] for task in shared.tasks]]


def slices_of(arm: Arm, by: Label) -> list[list[Any]]:
    """The slice label of every row, pass by pass."""
    return [labels(rows, by) for rows in arm.rows]
