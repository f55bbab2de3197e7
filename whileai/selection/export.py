"""Write rows as a training file: checked before, written whole or not at all, read back after."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from whileai.core import rows as core_rows
from whileai.core.checks import Fault, faults
from whileai.core.errors import InputError, RowError, UsageError
from whileai.core.files import dumps, loads, replacing, write_jsonl
from whileai.core.results import Result
from whileai.selection import shapes
from whileai.selection.kinds import rows_of
from whileai.selection.pairs import pair_fault, pair_parts, pairs
from whileai.selection.shapes import Conversation, Line

FORMATS = ("openai", "trl", "prompt_completion", "preference")


@dataclass(frozen=True)
class Left:
    """A broken row that drop_broken left out: its 1-based number, what is wrong and how to mend it."""

    row_number: int
    fault: str
    mend: str


@dataclass(frozen=True)
class ExportReport(Result):
    """What was written: lines, lines with a system prompt and with tools, where, in which shape, and its SHA-256."""

    n: int
    with_system: int
    with_tools: int
    path: str
    format: str
    sha256: str
    dropped: tuple[Left, ...] = ()

    def __str__(self) -> str:
        head = (
            f"{self.n} rows written to {self.path} ({self.format}): {self.with_system} with a system prompt, "
            f"{self.with_tools} with tools; sha256 {self.sha256[:12]}"
        )
        lines = [f"  left out row {d.row_number}: {d.fault}; {d.mend}" for d in self.dropped[:10]]
        more = [f"  ... and {len(self.dropped) - 10} more in .dropped"] if len(self.dropped) > 10 else []
        return "\n".join([head, *lines, *more])


def export(
    rows: Iterable[Mapping[str, Any]],
    path: str | os.PathLike[str],
    format: str = "openai",  # noqa: A002  # the word of the field and of the command line
    *,
    system_prompt: str | None = None,
    tools: Sequence[Any] | None = None,
    drop_broken: bool = False,
) -> ExportReport:
    """Write one line a row in a shape that trainers read (see whileai.selection.shapes), whole or not at all.

    system_prompt, tools: replace the rows' own or fill them in; None keeps what each row has. `tools` are schemas or
    functions made with @tool. The file is read back before it takes its place: as many lines as rows, with every call,
    argument, result and answer. "-" writes to standard output; ".gz" is compressed.

    Raises RowError for the first broken row, with its number, fault and mend (drop_broken=True leaves broken rows out
    and lists them), InputError when there is nothing to write or the file cannot be written. An older file survives.
    """
    if format not in FORMATS:
        raise UsageError(f"format={format!r} is not known; use one of {', '.join(FORMATS)}")
    found = rows if isinstance(rows, list) else rows_of(rows)
    if not found:
        raise InputError(
            f"there are no rows, so {os.fspath(path)} was not written; a selection that keeps nothing usually means "
            "that no row passed: look at its gates"
        )
    schemas = None if tools is None else shapes.tool_schemas(tools)
    if format == "preference":
        found = _as_pairs(found)
    sources, lines, dropped = _shaped(found, format, system_prompt, schemas, drop_broken)
    if not lines:
        raise InputError(f"all {len(found)} rows are broken, so nothing was written; the first: {dropped[0].fault}")
    if format != "openai":
        lines = shapes.tools_as_text_when_they_differ(lines)
    digest = _write(path, lines, sources)
    with_system = sum(_messages(line)[0].get("role") == "system" for line in lines)
    with_tools = sum("tools" in line for line in lines)
    return ExportReport(len(lines), with_system, with_tools, os.fspath(path), format, digest, tuple(dropped))


def _as_pairs(rows: list[Mapping[str, Any]]) -> list[Any]:
    """Rows that are pairs already, or the pairs of graded rows. Raises InputError when there are none."""
    if any(isinstance(row, Mapping) and "chosen" in row for row in rows):
        return rows
    made, report = pairs(rows)
    if not made:
        raise InputError(f"no ask has both a pass and a fail, so there are no pairs to write\n{report}")
    return made


def _shaped(
    rows: Sequence[Any], form: str, system_prompt: str | None, schemas: list[dict[str, Any]] | None, drop_broken: bool
) -> tuple[list[Any], list[Line], list[Left]]:
    """The rows that can be written, their lines, and the broken ones. Raises RowError for the first unless dropped."""
    kept, lines, left = [], [], []
    for number, row in enumerate(rows, 1):
        given = {**row, "tools": schemas} if schemas is not None and isinstance(row, Mapping) else row
        fault = pair_fault(given) if form == "preference" else next(iter(faults(given)), None)
        if fault is None:
            kept.append(given)
            lines.append(_line(given, form, system_prompt))
        elif drop_broken:
            left.append(Left(number, *fault))
        else:
            raise _refusal(fault, number)
    return kept, lines, left


def _refusal(fault: Fault, number: int) -> RowError:
    return RowError(fault.fault, mend=f"{fault.mend}, or pass drop_broken=True to write the rest", row_number=number)


def _line(row: Mapping[str, Any], form: str, system_prompt: str | None) -> Line:
    schemas = shapes.tool_schemas(core_rows.tools(row))
    if form == "preference":
        return shapes.preference(*pair_parts(row, system_prompt), schemas)
    make = {"openai": shapes.openai, "trl": shapes.trl, "prompt_completion": shapes.prompt_completion}[form]
    return make(shapes.conversation(row, system_prompt), schemas)


def _messages(line: Line) -> Conversation:
    """All messages of a line, whatever its shape."""
    if "messages" in line:
        return list(line["messages"])
    return [m for part in ("prompt", "completion", "chosen", "rejected") for m in line.get(part, [])]


def _write(path: str | os.PathLike[str], lines: Sequence[Line], sources: Sequence[Any]) -> str:
    """Write, read back, then put in place; returns the SHA-256 of the file's bytes."""
    name = os.fspath(path)
    data = "".join(dumps(line) + "\n" for line in lines).encode()
    if name == "-":
        write_jsonl(name, lines)
        return hashlib.sha256(data).hexdigest()
    packed = gzip.compress(data, mtime=0) if name.endswith(".gz") else data
    try:
        with replacing(name) as stream:
            stream.write(packed)
            stream.flush()
            written = _read_back(stream)
            _check(gzip.decompress(written) if name.endswith(".gz") else written, sources)
    except OSError as error:
        raise InputError(
            f"{name} could not be written ({error.strerror or error}); what was there before is untouched"
        ) from error
    return hashlib.sha256(written).hexdigest()


def _read_back(stream: Any) -> bytes:
    reader: BinaryIO
    with os.fdopen(os.dup(stream.fileno()), "rb") as reader:
        reader.seek(0)
        return reader.read()


def _check(data: bytes, sources: Sequence[Any]) -> None:
    """Raise InputError when the written lines are not as many as the rows, or one lacks a part of its row."""
    lines = data.splitlines()
    if len(lines) != len(sources):
        raise InputError(f"{len(lines)} lines came back of {len(sources)} written; nothing was replaced")
    for number, (line, row) in enumerate(zip(lines, sources, strict=True), 1):
        missing = lost(row, loads(line))
        if missing:
            raise InputError(f"line {number} lost {missing[:80]!r} on the way to the file; nothing was replaced")


def lost(row: Mapping[str, Any], line: Line) -> str | None:
    """A call, result or answer of the row that its line does not hold, or None; both are read by the accessors."""
    parts = [row.get(part) or [] for part in ("messages", "prompt", "chosen", "rejected")]
    whole = [m for part in parts if not isinstance(part, str) for m in part]  # a rollout's prompt is its ask's text
    return next(iter(Counter(_parts(whole)) - Counter(_parts(_messages(line)))), None)


def _parts(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    parts = []
    for message in messages:
        if message["role"] != "system":
            parts.append(f"{message['role']}: {core_rows.text_of(message.get('content'))}")
        parts += [f"call {call.name}: {dumps(call.arguments)}" for call in core_rows.message_calls(message)]
    return parts
