"""Which conversations a reader should see, and their text made safe to show.

Model text is data, never markup: jinja2 escapes it, and here control characters, escape codes and direction
overrides become visible marks, and a megabyte becomes its beginning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai.core import rows as core_rows

LIMIT = 4000
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def visible(value: Any, limit: int = LIMIT) -> str:
    """Text with nothing invisible in it, cut at `limit` characters with a note of how many are left out."""
    text = (
        value if isinstance(value, str) else core_rows.text_of(value) if isinstance(value, list) else str(value or "")
    )
    rest = len(text) - limit
    text = _CONTROL.sub(_mark, text[:limit])
    return f"{text} … ({rest:,} more characters)" if rest > 0 else text


def _mark(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


@dataclass(frozen=True, eq=False)
class Task:
    """One held-out task in both arms; rates are mean rewards over its scored rows."""

    label: str
    ask: str
    before: float
    after: float
    rows_before: tuple[Mapping[str, Any], ...]
    rows_after: tuple[Mapping[str, Any], ...]

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


def paired_tasks(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[Task]:
    """The tasks scored in both arms, biggest gain first."""
    arms = [_by_task(before), _by_task(after)]
    found = []
    for task in arms[0]:
        members = [arm.get(task, []) for arm in arms]
        means = [_mean(rows) for rows in members]
        if means[0] is None or means[1] is None:
            continue
        first = core_rows.ask(members[0][0])
        found.append(
            Task(visible(task)[:12], visible(first, 200), means[0], means[1], tuple(members[0]), tuple(members[1]))
        )
    return sorted(found, key=lambda t: (-t.change, -t.after, t.label))


def _by_task(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(core_rows.task_id(row), []).append(row)
    return found


def _mean(rows: Sequence[Mapping[str, Any]]) -> float | None:
    scores = [score for row in rows if (score := core_rows.reward(row)) is not None]
    return sum(scores) / len(scores) if scores else None


def chosen_tasks(tasks: Sequence[Task], many: int = 12) -> list[Task]:
    """Tasks worth reading: what got worse, the biggest gains, and what still fails; in that order, `many` at most."""
    worse = sorted((t for t in tasks if t.change < 0), key=lambda t: t.change)
    gains = [t for t in tasks if t.change > 0]
    failing = sorted((t for t in tasks if t.change == 0 and t.after < 1), key=lambda t: t.after)
    share = max(1, many // 3)
    picked = worse[:share] + gains[: many - 2 * share] + failing[:share]
    return list(dict.fromkeys([*picked, *gains, *worse, *failing, *tasks]))[:many]


def side_by_side(task: Task) -> dict[str, Any]:
    """A task's most telling pair of the same ask and try: the one that moved as the task did."""
    first, second = max(_pairs(task), key=lambda pair: _gap(pair, 1 if task.change >= 0 else -1))
    tries = f"over {len(task.rows_before)} and {len(task.rows_after)} tries"
    return {
        "ask": visible(core_rows.ask(first), 300),
        "outcome": f"{task.before:.0%} before, {task.after:.0%} after, {tries}",
        "arms": [_arm("before", first), _arm("after", second)],
    }


Pair = tuple[Mapping[str, Any], Mapping[str, Any]]


def _pairs(task: Task) -> list[Pair]:
    def key(row: Mapping[str, Any]) -> tuple[str, Any]:
        return core_rows.ask(row), row.get("rollout_index")

    same = [(b, a) for b in task.rows_before for a in task.rows_after if key(b) == key(a)]
    return same or [(task.rows_before[0], task.rows_after[0])]


def _gap(pair: Pair, direction: int) -> float:
    """How far this pair moved in `direction`; a pair that is not scored in both arms comes last."""
    before, after = core_rows.reward(pair[0]), core_rows.reward(pair[1])
    return float("-inf") if before is None or after is None else direction * (after - before)


def _arm(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    score = core_rows.reward(row)
    said = "not scored" if score is None else f"reward {score:g}"
    if row.get("reason"):
        said += f" ({visible(row['reason'], 200)})"
    messages = [_message(m) for m in row.get("messages") or [] if m.get("role") not in ("system", "user")]
    return {"name": name, "score": said, "messages": messages}


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = []
    for call in message.get("tool_calls") or []:
        inner = call.get("function") or call
        arguments = inner.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
        calls.append(visible(f"{inner.get('name')}({text})"))
    return {"role": visible(message.get("role"), 20), "text": visible(message.get("content")), "calls": calls}
