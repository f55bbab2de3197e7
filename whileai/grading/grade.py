"""Run a judge over rows. The rows given stay as they are; scored copies come back."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from whileai.core.errors import InputError, UsageError
from whileai.core.redact import redact
from whileai.core.rows import Row
from whileai.grading import verdicts
from whileai.grading.health import GradingWarning, Health, WatchedRow, examine

Judge = Callable[[Row], Any]


class Graded(list[Row]):
    """Scored rows, in the order given, with the `health` of the pass that scored them."""

    health: Health


def grade(rows: Iterable[Mapping[str, Any]], judge: Judge, *, stacklevel: int = 2) -> Graded:
    """Score every row with `judge(row)`; returns copies with `reward`, `reason`, `judge_status` and `metrics`.

    The judge gets a deep copy. A raise, a wrong type or a missing reward leaves `reward` None with a `judge_status`
    that says why. A row whose rollout failed is not judged. Doubts about the judge itself (it failed everywhere, it
    scored every row the same, it reads a field only stand-in agents write) are issued as GradingWarning and kept in
    `.health`. Raises UsageError for a judge that cannot be called, InputError when there are no rows.
    """
    if not callable(judge):
        raise UsageError(f"judge is a {type(judge).__name__}, which cannot be called; give judge=a function of one row")
    graded, judged, reads = Graded(), [], set[str]()
    for row in rows:
        alive = row.get("error") is None
        verdict = _ask(judge, row, reads) if alive else _unjudged(row["error"])
        graded.append(_scored(row, verdict))
        judged.append(alive)
    if not graded:
        raise InputError("there are no rows to grade; simulate or load some first")
    graded.health = examine(graded, judged, reads)
    for text in graded.health.warnings:
        warnings.warn(text, GradingWarning, stacklevel=stacklevel)
    return graded


def _ask(judge: Judge, row: Mapping[str, Any], reads: set[str]) -> verdicts.Verdict:
    try:
        answer = judge(WatchedRow(_copy(row), reads))  # type: ignore[arg-type]  # a dict with a Row's keys
    except Exception as error:
        text = redact(str(error)).splitlines()
        why = f"raised {type(error).__name__}: {text[0][:200] if text else ''}"
        return verdicts.Verdict(None, "", why, {})
    if inspect.iscoroutine(answer):
        answer.close()
        return verdicts.Verdict(None, "", "wrong type: the judge is async; give a plain function", {})
    return verdicts.read(answer)


def _unjudged(error: Any) -> verdicts.Verdict:
    where = error.get("where", "rollout") if isinstance(error, Mapping) else "rollout"
    return verdicts.Verdict(None, "", f"not judged: the rollout failed ({where})", {})


def _scored(row: Mapping[str, Any], verdict: verdicts.Verdict) -> Row:
    scored: dict[str, Any] = dict(row)
    scored.update(reward=verdict.reward, reason=verdict.reason, judge_status=verdict.status)
    scored.pop("metrics", None)  # an earlier judge's numbers do not belong to this one's reward
    if verdict.metrics:
        scored["metrics"] = verdict.metrics
    return scored  # type: ignore[return-value]


def _copy(value: Any) -> Any:
    """A deep copy of JSON-like data, several times faster than copy.deepcopy."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
