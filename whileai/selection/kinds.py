"""The same kind out as in: a list gives a list, a sequence of rows that can remake itself gives its own kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from whileai.core.errors import InputError

Given = TypeVar("Given", bound=Iterable[Mapping[str, Any]])


def rows_of(given: Iterable[Mapping[str, Any]], what: str = "rows") -> list[Mapping[str, Any]]:
    """The rows of a list, an iterable, or an object with `.rows`. Raises InputError for anything else in them."""
    if isinstance(given, (str, bytes, Mapping)):
        raise InputError(f"{what} are a {type(given).__name__}, not a list of rows; load the file first")
    rows = list(getattr(given, "rows", given))
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(f"{what}: item {number} is a {type(row).__name__}, not a row (a dict)")
    return rows


def like(given: Given, rows: list[Mapping[str, Any]]) -> Given:
    """`rows` as the kind of thing `given` is; plain iterables become a list."""
    if not hasattr(given, "rows"):
        return rows  # type: ignore[return-value]
    remake: Any = getattr(given, "_with", None) or type(given)
    made: Given = remake(rows)
    return made
