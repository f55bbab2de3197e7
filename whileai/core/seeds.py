"""Randomness that belongs to the item, never to the batch.

`rng(seed, scenario_id, try)` is the same on any machine, at any concurrency, in any order and
after any resume, because it depends on nothing but its arguments.
"""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

_MASK = (1 << 63) - 1


# made once: json.dumps would build an encoder at every call, and every rollout draws several numbers
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str).encode


def _canonical(value: Any) -> bytes:
    return _encode(value).encode()


def integer(*parts: Any) -> int:
    """A stable 63-bit integer from JSON-like `parts` (str, int, float, bool, None, list, dict)."""
    digest = hashlib.blake2b(_canonical(parts), digest_size=8).digest()
    return int.from_bytes(digest, "big") & _MASK


def unit(*parts: Any) -> float:
    """A stable uniform number in [0, 1) from `parts`; cheaper than a generator when one draw is wanted."""
    return (integer(*parts) >> 10) / float(1 << 53)


def rng(*parts: Any) -> random.Random:
    """A generator of its own for the item named by `parts`."""
    return random.Random(integer(*parts))


def content_id(value: Any, length: int = 16) -> str:
    """A hexadecimal content hash of a JSON-like value; equal values have equal ids."""
    return hashlib.blake2b(_canonical(value), digest_size=16).hexdigest()[:length]
