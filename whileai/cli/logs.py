"""Rows from any file `wai.read` knows, with what their numbers do not show said on stderr."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from whileai.core import rows as core_rows
from whileai.core.errors import InputError

Scorer = Annotated[str, typer.Option(help="Which scorer or metric is the reward, where a log holds several.")]
Filter = Annotated[str, typer.Option("--filter", help="Which filter of an lm-eval log; the first one unless named.")]


def read_rows(path: str, scorer: str, filter_: str) -> Sequence[Mapping[str, Any]]:
    """The rows of a file, its notes as warnings. Raises InputError when the file cannot be read."""
    from whileai.interchange.reading import read

    rows = read(path, scorer=scorer or None, filter=filter_ or None)
    for note in rows.notes:
        warnings.warn(f"{Path(path).name}: {note}", stacklevel=1)
    return rows


def arms(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The arms a file holds, by `model_version`, in its order."""
    return list(dict.fromkeys(str(row["model_version"]) for row in rows if row.get("model_version")))


def only(rows: Sequence[Mapping[str, Any]], arm: str) -> list[Mapping[str, Any]]:
    """The rows of one arm. Raises InputError when the file does not hold it."""
    kept = [row for row in rows if row.get("model_version") == arm]
    if not kept:
        raise InputError(f"no row is of the arm {arm!r}; the file has {', '.join(arms(rows)) or 'no model_version'}")
    return kept


def warn_of_other_asks(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> None:
    """Warn when tasks of one name ask different things: logs of two evals that both number their tasks from 1."""
    one, other = _asks(before), _asks(after)
    shared = [task for task in one if task in other and one[task] and other[task]]
    strange = [task for task in shared if not one[task] & other[task]]
    if strange:
        warnings.warn(
            f"{len(strange)} of {len(shared)} tasks have the same id in both arms and another first message (first:"
            f" {strange[0]!r}), so they may not be the same task",
            stacklevel=1,
        )


def _asks(rows: Sequence[Mapping[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        asked = found.setdefault(core_rows.task_id(row), set())
        text = core_rows.ask(row)
        if text:
            asked.add(text)
    return found
