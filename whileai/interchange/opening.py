"""Files of strangers: opened by what they hold, never unpacked to disk, never allowed to grow without bound."""

from __future__ import annotations

import gzip
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from whileai.core.errors import InputError
from whileai.core.extras import need
from whileai.core.files import loads

MEMBER_LIMIT = 1 << 30  # bytes of one unpacked member, or of one JSON document
FREE_SIZE, EXPANSION = (
    1 << 28,
    500,
)  # a zip may unpack to this many bytes anyhow, beyond that only so many times its size
MEMBERS = 1_000_000
_ZSTANDARD = 93
_GZIP, _ZIPS = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")


def head(path: str, size: int = 1 << 16) -> bytes:
    """The first bytes of a file, of its content when it is gzipped. Raises InputError when there is no such file."""
    with opened(path) as stream:
        return stream.read(size)


def is_zip(path: str) -> bool:
    """Whether the file begins as a zip does."""
    return head(path, 4) in _ZIPS


def is_gzip(path: str) -> bool:
    """Whether the file itself begins as gzip does."""
    with open(path, "rb") as raw:
        return raw.read(2) == _GZIP


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked when it is gzipped, whatever its name. Raises InputError for a file that is broken."""
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            if not packed:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw) as stream:
                yield stream  # type: ignore[misc]
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({brief(error)}); copy it again from where it was written") from error


def document(path: str) -> Any:
    """The one JSON value a file holds; bare NaN is accepted. Raises InputError when it is not JSON, or too big."""
    with opened(path) as stream:
        data = stream.read(MEMBER_LIMIT + 1)
    if len(data) > MEMBER_LIMIT:
        raise InputError(
            f"{path} holds more than {_size(MEMBER_LIMIT)} of JSON in one piece; write it as .eval instead"
        )
    return parsed(data, path)


def parsed(data: bytes, where: str) -> Any:
    """`data` as JSON. Raises InputError naming `where`."""
    try:
        return loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON ({brief(error)}), so it is broken or cut off") from error


def brief(error: Exception) -> str:
    """The first line of another library's complaint, which may quote half of the file."""
    return (str(error).splitlines() or [""])[0][:120] or type(error).__name__


class Archive:
    """The members of a zip, read one at a time into memory; names are labels here and never paths."""

    def __init__(self, path: str, zipped: Any) -> None:
        self.path = path
        self._zip = zipped
        self.members: dict[str, Any] = {info.filename: info for info in zipped.infolist()}  # the last of a name counts
        self._check()

    def json(self, name: str) -> Any:
        """One member's JSON. Raises InputError when it is missing, broken or too big."""
        where = f"{self.path}: {name}"
        if name not in self.members:
            raise InputError(f"{where} is missing, so the log is incomplete")
        if self.members[name].flag_bits & 1:
            raise InputError(f"{where} is encrypted, and there is no password to give; unpack and zip it again")
        try:
            with self._zip.open(self.members[name]) as stream:
                data = stream.read(MEMBER_LIMIT + 1)
        except Exception as error:  # each compression has its own kinds
            raise InputError(f"{where} cannot be unpacked ({brief(error)}), so the log is broken or cut off") from error
        if len(data) > MEMBER_LIMIT:
            raise InputError(f"{where} unpacks to more than {_size(MEMBER_LIMIT)}; it is not read")
        return parsed(data, where)

    def _check(self) -> None:
        declared = sum(info.file_size for info in self.members.values())
        allowed = max(FREE_SIZE, EXPANSION * os.path.getsize(self.path))
        if declared > allowed:
            raise InputError(
                f"{self.path} would unpack to {_size(declared)} from {_size(os.path.getsize(self.path))}, as a zip bomb"
                " does; it is not read"
            )
        if len(self.members) > MEMBERS:
            raise InputError(f"{self.path} holds {len(self.members)} members, more than {MEMBERS}; it is not read")


@contextmanager
def archive(path: str) -> Iterator[Archive]:
    """Open a zip. Raises InputError when it is broken or a bomb, MissingExtra when zstd is needed and not installed."""
    try:
        with zipfile.ZipFile(path) as plain:
            packed = any(info.compress_type == _ZSTANDARD for info in plain.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(
            f"{path} is not a whole zip file ({brief(error)}); copy it again, or wait for the run to end"
        ) from error
    kind: Any = zipfile
    if packed and sys.version_info < (3, 14):
        kind = need("backports.zstd.zipfile", "inspect")
    with kind.ZipFile(path) as zipped:
        yield Archive(path, zipped)


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 1 << 30 else f"{count / 2**20:.1f} MiB"
