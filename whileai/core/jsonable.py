"""What JSON, and so every file here, cannot hold or would change without a word."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

MAX_DEPTH = 100  # JSON readers stop between 200 and 1000 levels; no tool call of sense comes near
MAX_SIZE = 10_000_000

_Seen = dict[int, tuple[int, int]]
_NAMES = {"NoneType": "null", "dict": "an object", "str": "a text", "bool": "true or false", "int": "a number"}
_NAMES |= {"float": "a number", "list": "a list"}


class _Unfit(Exception):
    """Its arguments are what was found and how to mend it."""


def kind(value: Any) -> str:
    """The type of `value` in JSON's words and with its article, for an error's sentence."""
    name = type(value).__name__
    return _NAMES.get(name, f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}")


def is_list(value: Any) -> bool:
    """Whether `value` is a sequence that JSON writes as a list (text and bytes are not)."""
    return isinstance(value, (list, tuple)) or (
        isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview))
    )


def not_json(value: Any) -> tuple[str, str] | None:
    """Why `value` would not survive being written as JSON and read again: (found, mend), or None when it would.

    Found are NaN and infinities, integers wider than 64 bits, lone surrogates, other types, keys that are not text,
    nesting beyond MAX_DEPTH, values that hold themselves, and shared parts that would unfold beyond MAX_SIZE.
    """
    try:
        _walk(value, 0, {})
    except _Unfit as unfit:
        return unfit.args[0], unfit.args[1]
    return None


def _walk(value: Any, depth: int, seen: _Seen) -> tuple[int, int]:
    """Refuse what does not fit; returns how many levels and values there are."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise _Unfit(
                "a text holds half of a surrogate pair, which no tokenizer takes", "repair or drop the character"
            )
    elif isinstance(value, (dict, list)):
        return _container(value, depth, seen)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _Unfit("it holds NaN or an infinity, which JSON has not", "store null or a finite number")
    elif isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise _Unfit("it holds an integer wider than 64 bits, which JSON readers round", "store it as text")
    elif isinstance(value, Mapping) or is_list(value):
        return _container(value, depth, seen)
    elif value is not None:
        raise _Unfit(f"it holds {kind(value)}, which JSON has not", "store text, numbers, lists and objects")
    return 0, 1


def _container(value: Any, depth: int, seen: _Seen) -> tuple[int, int]:
    """A part that is shared is walked once, or a small hostile value could take for ever."""
    levels, size = seen.get(id(value), (0, 0))
    if not levels:
        seen[id(value)] = (MAX_DEPTH, 1)  # met again before it is finished, it holds itself
        levels, size = _inside(value, depth, seen) if depth < MAX_DEPTH else (1, 1)
        seen[id(value)] = (levels, size)
    if depth + levels > MAX_DEPTH:
        raise _Unfit(f"it is nested more than {MAX_DEPTH} levels deep, or holds itself", "store flatter values")
    if size > MAX_SIZE:
        raise _Unfit(f"it holds more than {MAX_SIZE:,} values", "drop the row or cut what it repeats")
    return levels, size


def _inside(value: Any, depth: int, seen: _Seen) -> tuple[int, int]:
    items = value
    if isinstance(value, Mapping):
        if any(not isinstance(key, str) for key in value):
            raise _Unfit("an object has a key that is not text, which JSON has not", "make every key text")
        for key in value:
            _walk(key, depth, seen)
        items = value.values()
    levels, size = 0, 1
    for item in items:
        if item.__class__ is str and item.isascii():  # most of any row
            size += 1
            continue
        below, count = _walk(item, depth + 1, seen)
        levels, size = max(levels, below), size + count
    return levels + 1, size
