"""JSONL in and out: streamed, replaced atomically, appended by whole lines.

orjson does the work; the standard library takes over where orjson refuses (NaN, lone surrogates).
"""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from whileai.core.errors import InputError


def dumps(value: Any) -> str:
    """Compact JSON text on one line; non-finite numbers become null, lone surrogates are escaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    except TypeError:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def loads(text: str | bytes) -> Any:
    """Parse JSON; accepts the bare NaN and lone surrogates that some logs hold."""
    try:
        return orjson.loads(text)
    except ValueError:
        return json.loads(text)


def read_jsonl(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Stream the objects of a JSONL file ("-" is standard input, ".gz" is decompressed).

    Raises InputError naming the file and line when a line is not a JSON object, or the file is not there.
    """
    name = os.fspath(path)
    with _opened(name) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield _object(line, name, number)


def _object(line: bytes, name: str, number: int) -> dict[str, Any]:
    try:
        value = loads(line)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"{name}:{number}: the line is not JSON ({reason}); nothing was read past it") from error
    if not isinstance(value, dict):
        raise InputError(
            f"{name}:{number}: the line is a JSON {type(value).__name__}, not an object; one row a line is wanted"
        )
    return value


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        stream: Any = gzip.open(name, "rb") if name.endswith(".gz") else open(name, "rb")  # noqa: SIM115
    except FileNotFoundError as error:
        raise InputError(f"{name}: no such file") from error
    except IsADirectoryError as error:
        raise InputError(f"{name} is a folder; a JSONL file is wanted") from error
    with stream:
        yield stream


def load_jsonl(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """All rows of a JSONL file as a list; the cyclic collector, half of the time, is paused: rows hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        return list(read_jsonl(path))
    finally:
        if was_on:
            gc.enable()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a file that appears whole or not at all; on any error the old file stays as it was."""
    target = Path(path)
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.", suffix=".part")
    except FileNotFoundError as error:
        raise InputError(f"{target.parent}: no such folder; make it first") from error
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_jsonl(path: str | os.PathLike[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a JSONL file atomically ("-" is standard output); returns how many.

    Raises InputError when the disk is full or the folder cannot be written; the old file survives.
    """
    name = os.fspath(path)
    if name == "-":
        return _write_lines(sys.stdout.buffer, rows)
    try:
        with replacing(name) as raw:
            if not name.endswith(".gz"):
                return _write_lines(raw, rows)
            with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
                return _write_lines(packed, rows)
    except OSError as error:
        raise InputError(
            f"{name} could not be written ({error.strerror or error}); what was there before is untouched"
        ) from error


def _write_lines(stream: Any, rows: Iterable[Mapping[str, Any]]) -> int:
    count = 0
    for row in rows:
        stream.write(dumps(row).encode() + b"\n")
        count += 1
    return count


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Replace a text file atomically (UTF-8, newline as given)."""
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "surrogatepass"))


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Replace a JSON file atomically, indented for people."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, default=_plain) + "\n")


def append_jsonl(path: str | os.PathLike[str], row: Mapping[str, Any]) -> None:
    """Append one row as one whole line in one write, so that a kill leaves at most a torn last line."""
    with open(path, "ab", buffering=0) as stream:
        stream.write(dumps(row).encode() + b"\n")


def read_journal(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The whole lines of an append-only file; a torn last line is cut off the file and owed again."""
    target = Path(path)
    if not target.exists():
        return []
    data = target.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole != len(data):
        os.truncate(target, whole)
    stream = io.BytesIO(data[:whole])
    return [_object(line, str(path), n) for n, line in enumerate(stream, 1) if line.strip()]
