"""What a judge may return, and what it means.

A bool, a number, or a dict with `reward` (or `score`). Anything else leaves the row unscored with a
status that says why: a broken answer is never turned into a zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

OK = "ok"
_REASONS = ("reason", "explanation", "comment")
_NOT_METRICS = frozenset({"reward", "score", "metrics"})


class Verdict(NamedTuple):
    """One reading of a judge's answer; `reward` is None unless `status` is "ok"."""

    reward: float | None
    reason: str
    status: str
    metrics: dict[str, float]


def read(answer: Any) -> Verdict:
    """Read a judge's answer: bool, number, `{"reward": ...}` or `{"score": ...}`.

    A dict may also hold `reason` (text) and `metrics` (name -> number); other numbers in it are kept as metrics.
    Never raises: what cannot be read gives reward None and a status naming what was found.
    """
    if not isinstance(answer, Mapping):
        reward, status = number(answer)
        return Verdict(reward, "", status, {})
    key = next((k for k in ("reward", "score") if k in answer), None)
    reason = next((str(answer[k]) for k in _REASONS if answer.get(k) is not None), "")
    if key is None:
        held = ", ".join(map(str, list(answer)[:5])) or "nothing"
        return Verdict(None, reason, f"no reward: the judge's dict holds {held}", metrics(answer))
    reward, status = number(answer[key])
    return Verdict(reward, reason, status, metrics(answer))


def number(value: Any) -> tuple[float | None, str]:
    """A reward as a finite float and "ok", or None and what is wrong with it."""
    if value is None:
        return None, "no reward: the judge returned None"
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # a NumPy or torch scalar
        value = value.item()
    if not isinstance(value, Real):
        return None, f"wrong type: {type(value).__name__} is not a reward; return a bool, a number or a dict"
    try:
        reward = float(value)
    except OverflowError:
        reward = math.inf
    if not math.isfinite(reward):
        return None, f"not finite: the judge returned {reward}"
    return reward, OK


def metrics(answer: Mapping[Any, Any]) -> dict[str, float]:
    """The further finite numbers of a judge's dict: those under `metrics`, and its other numeric keys."""
    named = answer.get("metrics")
    pairs = [(k, v) for k, v in answer.items() if k not in _NOT_METRICS and isinstance(v, Real)]
    pairs += list(named.items()) if isinstance(named, Mapping) else []
    read_ones = {str(k): number(v)[0] for k, v in pairs}
    return {name: value for name, value in read_ones.items() if value is not None}
