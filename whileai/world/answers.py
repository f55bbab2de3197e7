"""What the tools answer, without a model: always the JSON text of one object.

A seeded world is made from a situation and the tool schemas alone. The situation's own ids are known to every tool
and agree across them; any other id is not found. The tool that the situation is about fails as its condition says.
A recorded world repeats the answers that were recorded in rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from whileai.core import rows as core_rows
from whileai.core.errors import InputError
from whileai.core.files import dumps
from whileai.core.seeds import content_id
from whileai.world.records import Record
from whileai.world.shapes import Shape, shapes


class World(Protocol):
    """What answers an agent's tool calls."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The answer to one call: the JSON text of an object, whatever happens."""
        ...


class SeededWorld:
    """A world made from one situation; a write changes its record, and a later read shows it."""

    def __init__(self, situation: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> None:
        self._situation = situation
        self._shapes = shapes(tools)
        self._record: Record | None = None

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Answer one call; unknown tools, invalid arguments and unknown ids get an error object."""
        shape = self._shapes.get(name)
        if shape is None:
            known = ", ".join(sorted(self._shapes)) or "none"
            return _error("unknown tool", f"there is no tool {name!r}; the tools are {known}")
        fault = shape.fault(arguments)
        if fault:
            return _error("invalid arguments", fault)
        record = self._record = self._record or Record(self._situation, self._shapes)
        stranger = record.stranger(shape, arguments)
        if stranger is not None:
            return _error("not found", f"no {shape.thing} {stranger[1]} was found", {stranger[0]: stranger[1]})
        fails = _FAULTS.get(self._situation.get("condition", "ok")) if name == self._situation.get("tool") else None
        return fails(record, shape, arguments) if fails else dumps(record.answer(shape, arguments))


class RecordedWorld:
    """The recorded answer of a recorded call; anything else is not found."""

    def __init__(self, answers: Mapping[tuple[str, str], str]) -> None:
        self._answers = answers

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The answer recorded for this tool with these arguments, else an error object."""
        known = self._answers.get((name, content_id(arguments)))
        if known is not None:
            return known
        return _error("not found", f"nothing is known for {name} with these arguments", _plain(arguments))


def seeded_world(situation: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> SeededWorld:
    """The world of a situation. `tools` are OpenAI tool schemas."""
    return SeededWorld(situation, tools)


def recorded_world(rows: Iterable[Mapping[str, Any]]) -> RecordedWorld:
    """The world that the calls of `rows` were answered in; the first answer to a call is kept.

    Calls and answers are matched by id within a row, or by order where ids are missing.
    """
    answers: dict[tuple[str, str], str] = {}
    for row in rows:
        for call, content in _answered(row.get("messages") or []):
            answers.setdefault((call.name, content_id(call.arguments)), _object_text(content))
    return RecordedWorld(answers)


def world_of(rows: Iterable[Mapping[str, Any]]) -> World:
    """The world of one task's rows: seeded when they carry their situation and tools, else recorded.

    Raises InputError when there are no rows.
    """
    held = list(rows)
    if not held:
        raise InputError("a task without rows has no world; give at least one of its rows")
    for row in held:
        tools = core_rows.tools(row)
        if tools and (row.get("situation") or {}).get("tool"):
            return SeededWorld(row["situation"], tools)
    return recorded_world(held)


def _error(error: str, message: str, also: Mapping[str, Any] | None = None) -> str:
    return dumps({"status": "error", "error": error, **(also or {}), "message": message})


def _failing(error: str, message: str) -> Callable[[Record, Shape, Mapping[str, Any]], str]:
    def answer(record: Record, shape: Shape, arguments: Mapping[str, Any]) -> str:
        return _error(error, message.format(thing=shape.thing, seconds=record.seconds), record.named(shape, arguments))

    return answer


def _garbled(record: Record, shape: Shape, arguments: Mapping[str, Any]) -> str:
    whole = dumps(record.answer(shape, arguments))
    cut = whole[: len(whole) // 3]
    return dumps({"status": "error", "error": "malformed response", "raw": cut})


def _partial(record: Record, shape: Shape, arguments: Mapping[str, Any]) -> str:
    return dumps(record.partial(shape, arguments))


def _stale(record: Record, shape: Shape, arguments: Mapping[str, Any]) -> str:
    return dumps(record.stale(shape, arguments))


_FAULTS: dict[str, Callable[[Record, Shape, Mapping[str, Any]], str]] = {
    "not found": _failing("not found", "no such {thing} was found"),
    "permission denied": _failing("permission denied", "this session may not use that {thing}"),
    "timeout": _failing("timeout", "no answer within {seconds} seconds"),
    "rate limit": _failing("rate limited", "too many requests; try again in {seconds} seconds"),
    "garbled": _garbled,
    "partial": _partial,
    "stale": _stale,
}


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that can stand in an error object without taking its place."""
    return {k: v for k, v in arguments.items() if k not in ("status", "error", "message")}


def _answered(messages: Sequence[Mapping[str, Any]]) -> list[tuple[core_rows.Call, Any]]:
    """Each call with the content that answered it; calls without an answer are left out."""
    found: list[tuple[core_rows.Call, Any]] = []
    waiting: list[core_rows.Call] = []
    for message in messages:
        if message.get("role") == "assistant":
            waiting = core_rows.message_calls(message)
        elif message.get("role") == "tool" and waiting:
            wanted = message.get("tool_call_id")
            call = next((c for c in waiting if wanted and c.id == wanted), waiting[0])
            waiting.remove(call)
            found.append((call, message.get("content")))
    return found


def _object_text(content: Any) -> str:
    """Content as the JSON text of an object: as it is when it is one, else under `result`."""
    if not isinstance(content, str):
        value = content if isinstance(content, Mapping) else core_rows.text_of(content)
    else:
        try:
            value = json.loads(content)
        except ValueError:
            value = content
        if isinstance(value, dict):
            return content
    return dumps(dict(value) if isinstance(value, Mapping) else {"result": value})
