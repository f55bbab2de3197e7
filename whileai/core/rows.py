"""The row, and the only code that reads inside one.

A row is a plain dict: one conversation of an agent with one situation, complete enough to be
exported, replayed or graded on its own. Both shapes of a tool call are read through `calls`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypedDict

from whileai.core.errors import InputError, RowError

SCHEMA_VERSION = 1


class ToolCall(TypedDict, total=False):
    """A live tool call. The wire shape nests name and arguments (JSON text) under `function`."""

    id: str
    name: str
    arguments: dict[str, Any]


class Message(TypedDict, total=False):
    """One message: role is system, user, assistant or tool."""

    role: str
    content: str | None
    tool_calls: list[ToolCall]
    tool_call_id: str
    name: str


class Row(TypedDict, total=False):
    """One rollout. `scenario_id` (the task) and `messages` are required, the rest may be absent.

    `reward` None means *not scored*, never zero. An ask is a (scenario_id, wording) pair;
    `rollout_index` numbers the tries of one ask from 0; `run` numbers whole passes from 1.
    """

    scenario_id: str
    messages: list[Message]
    rollout_index: int
    wording: int
    prompt: str
    final_text: str
    steps: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    system_prompt: str | None
    situation: dict[str, Any] | None
    reward: float | None
    reason: str
    judge_status: str
    seeded: str | None
    model_version: str
    run: int
    seed: int
    error: dict[str, Any] | None
    usage: dict[str, Any]
    finish_reason: str
    sampling: dict[str, Any]
    schema_version: int


class Call(NamedTuple):
    """One tool call, whichever shape it was stored in."""

    id: str
    name: str
    arguments: dict[str, Any]


def parse_arguments(value: Any) -> dict[str, Any]:
    """Tool-call arguments as a dict: an object, its JSON text, or nothing (None, "", "null" are {}).

    Raises RowError when the text is not JSON or is not an object.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except ValueError as error:
            raise RowError(f"tool-call arguments are not JSON: {value[:80]!r}", mend="store an object") from error
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RowError(f"tool-call arguments are a {type(value).__name__}, not an object", mend="store an object")
    return dict(value)


def message_calls(message: Mapping[str, Any]) -> list[Call]:
    """The tool calls of one message, from `{"name", "arguments"}` or `{"function": {...}}`."""
    found = []
    for call in message.get("tool_calls") or []:
        inner = call.get("function") or call
        found.append(
            Call(str(call.get("id") or ""), str(inner.get("name") or ""), parse_arguments(inner.get("arguments")))
        )
    return found


def calls(row: Mapping[str, Any]) -> list[Call]:
    """Every tool call the assistant made in the row, in order."""
    return [c for m in row.get("messages") or [] if m.get("role") == "assistant" for c in message_calls(m)]


def task_id(row: Mapping[str, Any]) -> str:
    """The task a row belongs to: `scenario_id`, else `task_id`. Raises InputError when it has neither."""
    for key in ("scenario_id", "task_id"):
        value = row.get(key)
        if value is not None:
            return str(value)
    raise InputError("a row has neither scenario_id nor task_id, so it cannot be paired; give every row its task's id")


def text_of(content: Any) -> str:
    """Message content as plain text: a string, None, or a list of text parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Iterable) and not isinstance(content, Mapping):
        return "".join(str(p.get("text") or "") if isinstance(p, Mapping) else str(p) for p in content)
    return ""


def ask(row: Mapping[str, Any]) -> str:
    """The first user message's text ("" when there is none)."""
    for message in row.get("messages") or []:
        if message.get("role") == "user":
            return text_of(message.get("content"))
    return str(row.get("prompt") or "")


def final_text(row: Mapping[str, Any]) -> str:
    """The last message's text when the assistant wrote it, else ""."""
    messages = row.get("messages") or []
    if messages and messages[-1].get("role") == "assistant":
        return text_of(messages[-1].get("content"))
    return ""


def system_prompt(row: Mapping[str, Any]) -> str | None:
    """The system prompt: the first message's when it is a system message, else the `system_prompt` key."""
    messages = row.get("messages") or []
    if messages and messages[0].get("role") == "system":
        return text_of(messages[0].get("content"))
    return row.get("system_prompt")


def tools(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tool schemas shown to the agent; a JSON text is decoded, missing is []."""
    value = row.get("tools") or []
    if isinstance(value, str):
        value = json.loads(value)
    return list(value)


def reward(row: Mapping[str, Any]) -> float | None:
    """The row's reward as a float, or None when it was not scored (absent, None or NaN).

    Raises InputError for text, infinities and other things that only look like a score.
    """
    value = row.get("reward")
    if value is None:
        return None
    if isinstance(value, (bool, int, float)) or (hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0):
        number = float(value)
        if math.isnan(number):
            return None
        if math.isinf(number):
            raise InputError("a reward is infinite, which no average survives; score it None or a finite number")
        return number
    raise InputError(
        f"a reward is {type(value).__name__} {str(value)[:40]!r}, not a number; use a number, a bool or None"
    )


def passed(row: Mapping[str, Any], threshold: float = 1.0) -> bool | None:
    """Whether the reward reaches `threshold`; None when the row was not scored."""
    value = reward(row)
    return None if value is None else value >= threshold
