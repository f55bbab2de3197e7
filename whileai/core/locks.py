"""A lock: the held-out tasks by id and by the digest of what they ask, so that nothing trained on can be one of them.

The digest is taken from the ask's text alone, so it can be recomputed from any training file, which has no ids.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whileai.core import rows as core_rows
from whileai.core.errors import InputError
from whileai.core.files import write_json
from whileai.core.results import Result
from whileai.core.seeds import content_id

_VERSION = 1


@dataclass(frozen=True)
class Lock(Result):
    """Held-out tasks: their ids, the digests of their asks, and a digest of both that an edit would break."""

    tasks: tuple[str, ...]
    asks: tuple[str, ...] = field(repr=False)
    digest: str

    def __str__(self) -> str:
        return f"{len(self.tasks)} tasks locked, {len(self.asks)} asks; digest {self.digest}"


def folded(text: str) -> str:
    """Text without what makes no difference: letter case, runs of white space, Unicode compatibility forms."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def user_texts(row: Mapping[str, Any]) -> list[str]:
    """What the user says, turn by turn, from `messages` or from a `prompt` (messages or text)."""
    messages = row.get("messages") or row.get("prompt") or []
    if isinstance(messages, str):
        return [messages]
    texts = [m.get("content") for m in messages if isinstance(m, Mapping) and m.get("role") == "user"]
    return [core_rows.text_of(text) for text in texts]


def known_task(row: Mapping[str, Any]) -> str | None:
    """The row's task id, or None when it has none (rows of a training file)."""
    has_id = row.get("scenario_id") is not None or row.get("task_id") is not None
    return core_rows.task_id(row) if has_id else None


def ask_digest(text: str) -> str:
    """Digest of one ask; the same for texts that differ in case or white space only."""
    return content_id(folded(text), 32)


def lock_of(rows: Iterable[Mapping[str, Any]]) -> Lock:
    """The lock of held-out rows. Raises InputError when there are none."""
    tasks: set[str] = set()
    asks: set[str] = set()
    for row in rows:
        task = known_task(row)
        if task is not None:
            tasks.add(task)
        asks.update(ask_digest(text) for text in user_texts(row)[:1])
    if not asks and not tasks:
        raise InputError("there are no held-out rows, so the lock would protect nothing; give it the held-out side")
    return _lock(sorted(tasks), sorted(asks))


def _lock(tasks: list[str], asks: list[str]) -> Lock:
    return Lock(tuple(tasks), tuple(asks), content_id([_VERSION, tasks, asks], 32))


def lock(rows: Iterable[Mapping[str, Any]], path: str | os.PathLike[str]) -> Lock:
    """Write the lock of held-out rows to a JSON file, whole or not at all, and return it.

    The asks are stored as digests only: the file can be shown around without showing the test.
    Raises InputError when there are no rows or the file cannot be written.
    """
    made = lock_of(rows)
    content = {"version": _VERSION, "tasks": list(made.tasks), "asks": list(made.asks), "digest": made.digest}
    try:
        write_json(path, content)
    except OSError as error:
        raise InputError(f"{os.fspath(path)} could not be written ({error.strerror or error})") from error
    return made


def read_lock(path: str | os.PathLike[str]) -> Lock:
    """Read a lock file. Raises InputError when it is missing, is no lock, or was changed after it was written."""
    name = os.fspath(path)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        made = _lock([str(t) for t in content["tasks"]], [str(a) for a in content["asks"]])
        same = content["digest"] == made.digest
    except OSError as error:
        raise InputError(f"{name}: the lock cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{name} is not a lock file; write one with lock(rows, path)") from error
    if not same:
        raise InputError(f"{name} was changed after it was locked, so it proves nothing; lock the held-out rows again")
    return made


def held_out_rows(rows: Iterable[Mapping[str, Any]], held: Lock) -> list[int]:
    """The 1-based numbers of the rows that belong to a locked task or say what a locked ask says."""
    tasks, asks = set(held.tasks), set(held.asks)
    return [
        number
        for number, row in enumerate(rows, 1)
        if known_task(row) in tasks or any(ask_digest(text) in asks for text in user_texts(row))
    ]


def check_lock(
    rows: Iterable[Mapping[str, Any]], held: Lock | str | os.PathLike[str], *, source: str = "the training rows"
) -> None:
    """Raise InputError when a row is of a locked task or asks what one asks; its score would then prove nothing."""
    found = held_out_rows(rows, held if isinstance(held, Lock) else read_lock(held))
    if found:
        shown = ", ".join(map(str, found[:5])) + (", ..." if len(found) > 5 else "")
        raise InputError(
            f"{len(found)} of {source} are held out (row{'s' * (len(found) > 1)} {shown}): training on them would make "
            "the proof worthless; decontaminate against the held-out rows and export again"
        )
