"""Split by task: whole tasks on one side, and tasks that ask the same thing on the same side.

Rows of one task are alike whatever their wording or try, so a split by row would put copies of a test row into the
training side. Tasks whose asks are identical (case and spaces aside) are one group for the same reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from whileai.core import rows as core_rows
from whileai.core import seeds
from whileai.core.errors import InputError, UsageError
from whileai.core.locks import Lock, check_lock, folded, lock, read_lock
from whileai.selection.kinds import Given, like, rows_of

__all__ = ["Lock", "check_lock", "lock", "read_lock", "split"]

Stratum = str | Callable[[Mapping[str, Any]], Any]


def split(
    rows: Given,
    holdout_tasks: int = 40,
    *,
    share: float | None = None,
    seed: int = 0,
    stratify: Stratum | None = None,
) -> tuple[Given, Given]:
    """Training rows and held-out rows, in the order given; a list gives lists, Data gives Data.

    holdout_tasks: how many tasks are held out; share: the share of the tasks instead, 0 to 1. stratify: a key of the
    row ("situation.stance" looks inside) or a function of it; every value keeps its share of the held-out tasks.
    seed: the same seed holds out the same tasks, whatever the order of the rows. Fewer tasks than asked for are held
    out only when groups of tasks with identical asks do not add up.

    Raises UsageError for a number that makes no sense, InputError when there are not enough tasks for two sides.
    """
    found = rows_of(rows)
    groups = task_groups(found)
    n_tasks = sum(map(len, groups))
    wanted = _wanted(holdout_tasks, share, n_tasks)
    held: set[str] = set()
    for group_list, quota in _quotas(groups, _strata(found, stratify), wanted):
        held.update(_draw(group_list, quota, seed))
    if not held:
        raise InputError(
            f"no group of tasks is small enough to hold out {wanted} of {n_tasks} tasks: too many tasks ask the same "
            "thing; hold out more tasks or simulate more wordings"
        )
    sides = [core_rows.task_id(row) in held for row in found]
    return (
        like(rows, [row for row, out in zip(found, sides, strict=True) if not out]),
        like(rows, [row for row, out in zip(found, sides, strict=True) if out]),
    )


def _wanted(holdout_tasks: int, share: float | None, n_tasks: int) -> int:
    if share is not None:
        if not 0 < share < 1:
            raise UsageError(f"share={share} is not between 0 and 1; 0.3 holds out three tasks in ten")
        wanted = min(max(1, round(share * n_tasks)), max(1, n_tasks - 1))
    else:
        wanted = holdout_tasks
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise UsageError(f"holdout_tasks={holdout_tasks!r} makes no sense; hold out at least one task")
    if wanted >= n_tasks:
        raise InputError(
            f"{wanted} tasks cannot be held out of {n_tasks}: nothing would be left to train on; "
            "simulate more tasks (a larger budget) or hold out fewer"
        )
    return wanted


def task_groups(rows: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Tasks joined when any of their first user messages are the same text; sorted, so the rows' order is no matter."""
    parent: dict[str, str] = {}

    def root(task: str) -> str:
        while parent[task] != task:
            parent[task] = task = parent[parent[task]]
        return task

    first_with: dict[str, str] = {}
    for row in rows:
        task = core_rows.task_id(row)
        parent.setdefault(task, task)
        text = folded(core_rows.ask(row))
        if text:
            parent[root(task)] = root(first_with.setdefault(text, task))
    groups = defaultdict(list)
    for task in sorted(parent):
        groups[root(task)].append(task)
    return sorted(groups.values())


def _strata(rows: Iterable[Mapping[str, Any]], stratify: Stratum | None) -> dict[str, str]:
    """The stratum of every task: that of its rows; the smallest in text order when they differ."""
    found: dict[str, str] = {}
    if stratify is not None:
        for row in rows:
            task = core_rows.task_id(row)
            value = repr(stratify(row) if callable(stratify) else _inside(row, stratify))
            found[task] = min(value, found.get(task, value))
    if isinstance(stratify, str) and set(found.values()) == {"None"}:
        raise UsageError(f"stratify={stratify!r}: no row has this key; name a key the rows have, or pass a function")
    return found


def _inside(row: Mapping[str, Any], key: str) -> Any:
    value: Any = row
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _quotas(groups: list[list[str]], strata: dict[str, str], wanted: int) -> list[tuple[list[list[str]], int]]:
    """Each stratum's groups and how many of its tasks to hold out: largest remainders add up to `wanted`."""
    parts = defaultdict(list)
    for group in groups:
        common = Counter(strata.get(task, "") for task in group).most_common()
        parts[min(common, key=lambda pair: (-pair[1], pair[0]))[0]].append(group)
    total = sum(map(len, groups))
    exact = {name: wanted * sum(map(len, part)) / total for name, part in parts.items()}
    quota = {name: int(value) for name, value in exact.items()}
    for name in sorted(exact, key=lambda n: (int(exact[n]) - exact[n], n))[: wanted - sum(quota.values())]:
        quota[name] += 1
    return [(parts[name], quota[name]) for name in sorted(parts)]


def _draw(groups: list[list[str]], quota: int, seed: int) -> list[str]:
    """Whole groups in a seeded order, each taken when it still fits."""
    drawn: list[str] = []
    for group in sorted(groups, key=lambda group: seeds.integer("split", seed, group[0])):
        if len(drawn) + len(group) <= quota:
            drawn.extend(group)
    return drawn
