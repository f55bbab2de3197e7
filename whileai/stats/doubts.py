"""Reasons not to believe a comparison before any number is computed: the same rows twice, other sampling settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whileai.core import rows as core_rows
from whileai.stats.columns import Columns
from whileai.stats.tables import aligned

_LOOKED_AT = 2_000
_EXPECTED_TO_DIFFER = ("seed",)


def same_rewards(passes: Sequence[Columns]) -> bool:
    """Whether all passes give every task the same number of tries and the same total reward."""
    first = passes[0]
    if any(len(found) != len(first) or not _near(found, first) for found in passes[1:]):
        return False
    if any(set(found.tasks) != set(first.tasks) for found in passes[1:]):
        return False
    counts = aligned(passes, passes[0].tasks)
    return bool(np.all(counts.n == counts.n[0]) and np.all(counts.total == counts.total[0]))


def _near(one: Columns, other: Columns) -> bool:
    """Whether the sums of rewards agree, rounding aside: a quick no for most passes."""
    return bool(np.isclose(np.nansum(one.reward), np.nansum(other.reward)))


def same_rows(one: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]) -> bool:
    """Whether two lists hold equal rows, in any order. Dear: ask `same_rewards` first."""
    if one is other:
        return True
    if len(one) != len(other):
        return False
    return all(map(_equal, sorted(one, key=_place), sorted(other, key=_place)))


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one == other or repr(one) == repr(other)  # NaN is not equal to itself


def _place(row: Mapping[str, Any]) -> tuple[str, ...]:
    names = ("wording", "rollout_index", "run", "seed", "reward")
    return (core_rows.task_id(row), *(str(row.get(name)) for name in names), repr(row.get("messages")))


Rows = Sequence[Mapping[str, Any]]


def sampling_differences(before: Sequence[Rows], after: Sequence[Rows]) -> list[str]:
    """One sentence per setting in `row["sampling"]` that differs between the arms; seeds may differ."""
    one, other = _settings(before), _settings(after)
    if not one or not other:
        return []
    names = sorted((set(one) | set(other)) - set(_EXPECTED_TO_DIFFER))
    return [
        f"sampling differs between the arms: {name} is {_listed(one.get(name))} before and"
        f" {_listed(other.get(name))} after, so the delta may be the setting's"
        for name in names
        if one.get(name) != other.get(name)
    ]


def _settings(passes: Sequence[Rows]) -> dict[str, set[str]]:
    """Every sampling setting with the values it took, from at most a few thousand rows of each pass."""
    found: dict[str, set[str]] = {}
    for row in (row for rows in passes for row in rows[:: max(1, len(rows) // _LOOKED_AT)]):
        for name, value in (row.get("sampling") or {}).items():
            found.setdefault(str(name), set()).add(repr(value))
    return found


def _listed(values: set[str] | None) -> str:
    return " or ".join(sorted(values)) if values else "not recorded"
