"""inspect's conversations in our shape: flat text, live tool calls, attachments put back where they were cut out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whileai.core import rows as core_rows
from whileai.core.errors import InputError

_PREFIX = "attachment://"


def with_attachments(value: Any, attachments: Mapping[str, Any]) -> Any:
    """`value` with every text "attachment://key" replaced by the attachment of that key, where there is one."""
    if not attachments:
        return value
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_PREFIX), value) if value.startswith(_PREFIX) else value
    if isinstance(value, list):
        return [with_attachments(part, attachments) for part in value]
    if isinstance(value, dict):
        return {key: with_attachments(part, attachments) for key, part in value.items()}
    return value


def live_messages(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """inspect's messages as ours. Raises InputError for a message that is not an object with a role."""
    return [_live(message) for message in messages]


def _live(message: Any) -> dict[str, Any]:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InputError(f"a message of the log has no role: {str(message)[:80]!r}")
    content, thoughts = _text(message.get("content"))
    live: dict[str, Any] = {"role": message["role"], "content": content}
    if thoughts:
        live["reasoning_content"] = thoughts
    if message.get("tool_calls"):
        live["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    if message["role"] == "tool":
        live |= _answer(message, content)
    return live


def _text(content: Any) -> tuple[str, str]:
    """(what was said, what was thought); a picture or a sound stands as [image] or [audio]."""
    if not isinstance(content, list):
        return core_rows.text_of(content), ""
    said, thought = [], []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "reasoning":
            thought.append(str(part.get("reasoning") or part.get("summary") or ""))
        elif isinstance(part, str) or kind == "text":
            said.append(core_rows.text_of([part]))
        else:
            said.append(f"[{kind or 'unknown part'}]")
    return "".join(said), "\n".join(thought)


def _call(call: Any) -> dict[str, Any]:
    if not isinstance(call, Mapping):
        raise InputError(f"a tool call of the log is not an object: {str(call)[:80]!r}")
    live = {
        "id": str(call.get("id") or ""),
        "name": str(call.get("function") or ""),
        "arguments": _arguments(call.get("arguments")),
    }
    if call.get("parse_error"):
        live["parse_error"] = call["parse_error"]
    return live


def _arguments(value: Any) -> dict[str, Any]:
    try:
        return core_rows.parse_arguments(value)
    except InputError:  # a call the model wrote badly: kept, and visibly so
        return {"raw": value}


def _answer(message: Mapping[str, Any], content: str) -> dict[str, Any]:
    """A tool's answer: whose it is, and the error the model was shown in place of a result."""
    named = {"tool_call_id": str(message.get("tool_call_id") or ""), "name": str(message.get("function") or "")}
    error = message.get("error")
    if not isinstance(error, Mapping):
        return named
    return {**named, "content": content or str(error.get("message") or ""), "error": dict(error)}


def tool_schemas(events: Iterable[Any]) -> list[dict[str, Any]]:
    """The tools the model was first shown, in OpenAI's shape, from the log's model events; [] when there were none."""
    for event in events:
        shown = event.get("tools") if isinstance(event, Mapping) and event.get("event") == "model" else None
        if shown:
            return [_schema(tool) for tool in shown if isinstance(tool, Mapping)]
    return []


def _schema(tool: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: tool[key] for key in ("name", "description", "parameters") if tool.get(key) is not None}
    return {"type": "function", "function": kept}
