"""Scores in a CSV file: `task_id` and `reward`, and where there are such `repeat`, `arm` and `error`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from whileai.core.errors import InputError
from whileai.core.rows import SCHEMA_VERSION
from whileai.interchange.opening import brief, opened
from whileai.interchange.scores import count, listed, number

_OURS = ("task_id", "repeat", "arm", "reward", "error")


def is_table(first_line: str) -> bool:
    """Whether a file's first line names the columns task_id and reward."""
    try:
        return {"task_id", "reward"} <= set(next(csv.reader([first_line]), []))
    except csv.Error:
        return False


def read_table(path: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and notes of a CSV. Raises InputError, with the line, for a repeat or a reward that is no number."""
    with opened(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as text:
        try:
            lines = list(csv.DictReader(text))
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{path} is not a CSV file in UTF-8 ({brief(error)})") from error
    rows = [_row(f"{path}:{n}", line) for n, line in enumerate(lines, 2)]
    if not rows:
        raise InputError(f"{path} holds a head line and no scores")
    first = min((row.get("rollout_index", 0) for row in rows), default=0)
    for row in rows:
        if "rollout_index" in row:
            row["rollout_index"] -= first
    return rows, list(_notes(lines, rows))


def _row(where: str, line: Mapping[str, Any]) -> dict[str, Any]:
    if None in line or not line["task_id"] or None in line.values():
        raise InputError(f"{where}: the line has not one value for each column, or no task_id")
    error = line.get("error")
    row: dict[str, Any] = {key: value for key, value in line.items() if key not in _OURS}
    row |= {"scenario_id": line["task_id"], "messages": [], "reward": _reward(where, line["reward"])}
    row |= {"error": {"where": "unknown", "message": error} if error else None, "schema_version": SCHEMA_VERSION}
    if error:
        row |= {"reward": None, "judge_status": "unscored: the try ended in an error"}
    elif row["reward"] is None:
        row["judge_status"] = "unscored: the file has no score for this try"
    if line.get("arm"):
        row["model_version"] = line["arm"]
    if line.get("repeat"):
        row["rollout_index"] = _index(where, line["repeat"])
    return row


def _reward(where: str, text: str) -> float | None:
    if not text.strip():
        return None
    value, status = number(text)
    if value is None and text.strip().lower() not in ("nan", "none", "null"):
        raise InputError(f"{where}: the reward is {text[:40]!r} ({status.removeprefix('unscored: ')})")
    return value


def _index(where: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{where}: the repeat is {text[:40]!r}, not a whole number") from error


def _notes(lines: list[dict[str, Any]], rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "the file holds scores and no conversations or sampling settings"
    arms = list(dict.fromkeys(row["model_version"] for row in rows if "model_version" in row))
    if len(arms) > 1:
        yield f"the file holds {len(arms)} arms ({listed(arms)})"
    broken = sum(row["error"] is not None for row in rows)
    if broken:
        scored = sum(bool(line["reward"].strip()) and bool(line.get("error")) for line in lines)
        aside = f"; the score that {scored} of them carry is set aside" if scored else ""
        yield f"{broken} of {count(len(rows), 'try')} ended in an error and have no reward{aside}"
    unscored = sum(row["reward"] is None and row["error"] is None for row in rows)
    if unscored:
        yield f"{unscored} of {count(len(rows), 'try')} have no score, which is not a zero"
