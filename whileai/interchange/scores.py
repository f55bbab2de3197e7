"""Which score of a log is the reward, and what a score's value is worth as a number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from whileai.core.errors import InputError

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # correct, incorrect, partial, no answer: inspect's own letters
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
OK = "ok"


def number(value: Any) -> tuple[float | None, str]:
    """(reward, "ok") for a grade letter, a number, a bool or their text; else (None, what was found instead)."""
    if isinstance(value, str):
        return _from_text(value)
    if not isinstance(value, (bool, int, float)):
        return None, f"unscored: the scorer gave {_kind(value)}, not one number"
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        return None, f"unscored: the scorer gave {found}"
    return found, OK


def _from_text(value: str) -> tuple[float | None, str]:
    known = GRADES.get(value, _WORDS.get(value.strip().lower()))
    if known is not None:
        return known, OK
    try:
        return number(float(value))
    except ValueError:
        return None, f"unscored: the scorer gave the text {value[:40]!r}, not a number"


def chosen(names: Iterable[str], wanted: str | None, *, what: str, option: str, path: str) -> str | None:
    """The one name among `names` that is meant: `wanted`, or the only one; None when there is none and none is wanted.

    Raises InputError listing the names when several could be meant, or `wanted` is not among them.
    """
    known = list(dict.fromkeys(names))
    listed = ", ".join(known) or "none"
    if wanted is not None:
        if wanted not in known:
            raise InputError(f"{path}: there is no {what} {wanted!r}; the file has {listed}")
        return wanted
    if len(known) > 1:
        raise InputError(f"{path}: {len(known)} {what}s could be the reward ({listed}); name one with {option}=")
    return known[0] if known else None


def count(number_of: int, noun: str) -> str:
    """ "1 try", "2 tries", "3 samples"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number_of} {noun if number_of == 1 else plural}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """A few names in words: "a, b, c and 4 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
