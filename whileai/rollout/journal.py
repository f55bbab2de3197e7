"""The file a long run writes as it goes: whole lines, so that a kill at any moment loses at most the row in hand.

Beside `rows.jsonl` stands `rows.jsonl.plan.json`, which says what run the file belongs to. A call that would write
other rows into it is refused with the field that differs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whileai.core.errors import InputError
from whileai.core.files import append_jsonl, read_journal, write_json, write_jsonl
from whileai.core.rows import Row
from whileai.rollout.plan import Owed

Key = tuple[str, int, int, int]


class Journal:
    """Finished rows of one run, on disk."""

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
        """Open (or begin) the journal at `path`; `header` names what the rows depend on.

        Raises InputError when the folder is missing, or the file belongs to another run.
        """
        self.path = Path(path)
        beside = self.path.with_name(self.path.name + ".plan.json")
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise InputError(f"{self.path} cannot be written: its folder must exist, and it must not be one itself")
        if not self.path.exists() or not self.path.stat().st_size:
            write_json(beside, dict(header))
        else:
            _agree(self.path, _read(self.path, beside), header)
        rows = read_journal(self.path)
        self.finished: dict[Key, Row] = {_key(row): row for row in rows}  # type: ignore[misc]
        self._lines = [_key(row) for row in rows]

    def done(self) -> dict[Key, Row]:
        """The rows that need not be run again: those that finished without an error."""
        return {key: row for key, row in self.finished.items() if row.get("error") is None}

    def append(self, row: Row) -> None:
        """Keep one finished row."""
        append_jsonl(self.path, row)
        self._lines.append(_key(row))

    def settle(self, owed: Sequence[Owed], rows: Sequence[Row]) -> None:
        """Put the finished file into the plan's order, unless it stands in it already."""
        if self._lines != [item.key for item in owed]:
            write_jsonl(self.path, rows)


def _key(row: Mapping[str, Any]) -> Key:
    return row["scenario_id"], row.get("wording", 0), row.get("rollout_index", 0), row.get("run", 1)


def _read(path: Path, beside: Path) -> dict[str, Any]:
    try:
        found = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is already there and no run of simulate began it; give another out=") from error
    return dict(found)


def _agree(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name, value in wanted.items():
        if found.get(name) != value:
            raise InputError(
                f"{path} belongs to another run: its {name} is {_short(found.get(name))}, this call's is"
                f" {_short(value)}; make the call that began it, or give another out="
            )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
