"""The run folder: what was asked, what was done, what came out; and going on after a kill.

config.json          method, settings, digests of the inputs, versions; a run goes on only under the same ones
metrics.jsonl        one line a training step
ledger.jsonl         one line a finished stage, as printed, with its seconds
passes/base-1.jsonl  the rows of each finished pass
adapter/             the LoRA adapter and the tokenizer with the template it was trained under
holdout_rows.jsonl   every row of every pass
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from whileai.core.errors import InputError
from whileai.core.files import append_jsonl, load_jsonl, loads, read_journal, write_json, write_jsonl

_PACKAGES = ("whileai", "torch", "transformers", "peft", "trl", "datasets", "accelerate", "numpy")


@dataclass
class RunFolder:
    """A run folder in use. `say` prints each ledger line as it is written."""

    path: Path
    say: Callable[[str], None] = print
    done: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: str | os.PathLike[str], settings: Mapping[str, Any], say: Callable[[str], None]) -> RunFolder:
        """Open or make the folder. Raises InputError when it holds a run under other settings."""
        folder = Path(path)
        (folder / "passes").mkdir(parents=True, exist_ok=True)
        config = folder / "config.json"
        if config.exists():
            _refuse_other(loads(config.read_text("utf-8")), settings, folder)
        else:
            write_json(config, {**settings, "versions": versions(), "machine": platform.machine()})
        done = {line["stage"]: line for line in read_journal(folder / "ledger.jsonl")}
        return cls(folder, say, done)

    @property
    def lines(self) -> list[str]:
        """The ledger so far, in order."""
        return [str(entry["line"]) for entry in self.done.values()]

    def record(self, stage: str, line: str, **facts: Any) -> None:
        """Write and print a stage's ledger line; a stage recorded before is printed as it was then."""
        if stage not in self.done:
            entry = {"stage": stage, "line": line, **facts}
            append_jsonl(self.path / "ledger.jsonl", entry)
            self.done[stage] = entry
        self.say(str(self.done[stage]["line"]))

    def rows(self, name: str) -> list[dict[str, Any]] | None:
        """The rows of a finished pass, or None when it is still owed."""
        path = self.path / "passes" / f"{name}.jsonl"
        return load_jsonl(path) if path.exists() else None

    def keep_rows(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a pass whole."""
        write_jsonl(self.path / "passes" / f"{name}.jsonl", rows)


def _refuse_other(held: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    for key, value in wanted.items():
        if held.get(key) != value:
            raise InputError(
                f"{folder} holds a run with another {key} ({_short(held.get(key), value)}); "
                "going on would mix two runs; give another folder or the same settings"
            )


def _short(old: Any, new: Any) -> str:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        name = next((k for k in {**old, **new} if old.get(k) != new.get(k)), "")
        return f"{name}: {old.get(name)!r} there, {new.get(name)!r} now"
    return f"{old!r} there, {new!r} now"


def digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, hexadecimal."""
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that decide a run's numbers."""
    return {"python": platform.python_version(), **{name: v for name in _PACKAGES if (v := _version(name))}}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
