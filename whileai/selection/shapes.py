"""The shapes trainers read. One row in, one line out; the row itself is not changed.

openai             {"messages", "tools"}: arguments as JSON text, content always text ("" and never null: Qwen2.5's
                   template fails on null), no key that OpenAI's fine-tuning would refuse.
trl                the same with arguments as objects (most Hugging Face templates encode text twice) and the tool's
                   name on its result; `tools` becomes JSON text when schemas differ, because Arrow would merge them.
prompt_completion  {"prompt", "completion", "tools"} as TRL reads them: everything from the first assistant turn on is
                   the completion (set assistant_only_loss=True, or tool results in it are trained too).
preference         {"prompt", "chosen", "rejected", "tools"} as TRL reads them, from the rows of `pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from whileai.core import rows as core_rows
from whileai.core.files import dumps

Line = dict[str, Any]
Conversation = list[dict[str, Any]]


def conversation(row: Mapping[str, Any], system_prompt: str | None = None) -> Conversation:
    """The row's messages in the live shape: text content, calls as {"id", "name", "arguments": dict}, results with ids.

    system_prompt replaces the row's own or fills it in, never both; "" leaves none; None keeps what the row has.
    """
    messages = [_plain(message) for message in row["messages"]]
    prompt = core_rows.system_prompt(row) if system_prompt is None else system_prompt
    if messages and messages[0]["role"] == "system":
        messages = messages[1:]
    system = [{"role": "system", "content": prompt}] if prompt else []
    return _with_ids(system + messages)


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    plain = {"role": message["role"], "content": core_rows.text_of(message.get("content"))}
    plain |= {key: message[key] for key in ("name", "tool_call_id") if message.get(key)}
    if message["role"] == "assistant" and message.get("weight") in (0, 1):
        plain["weight"] = int(message["weight"])
    calls = core_rows.message_calls(message)
    if calls:
        plain["tool_calls"] = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls]
    return plain


def _with_ids(messages: Conversation) -> Conversation:
    """Ids for calls and results that have none, paired by order; and every result's tool by name."""
    names: dict[str, str] = {}
    waiting: list[str] = []
    for message in messages:
        for call in message.get("tool_calls", []):
            call["id"] = call["id"] or f"call_{len(names) + 1}"
            names[call["id"]] = call["name"]
            waiting.append(call["id"])
        if message["role"] == "tool":
            own = message.setdefault("tool_call_id", waiting[0] if waiting else "")
            if own in waiting:
                waiting.remove(own)
            message.setdefault("name", names.get(own, ""))
    return messages


def tool_schemas(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """OpenAI's nested schemas, from schemas in either shape or from functions made with @tool (their `.schema`)."""
    found = [getattr(tool, "schema", tool) for tool in tools]
    return [dict(s) if "function" in s else {"type": "function", "function": dict(s)} for s in found]


def openai(messages: Conversation, tools: list[dict[str, Any]]) -> Line:
    """One line of an OpenAI fine-tuning file."""
    return _line({"messages": [_wire(message) for message in messages]}, tools)


def _wire(message: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: message[key] for key in ("role", "content", "tool_call_id", "weight") if key in message}
    return _with_calls(kept, message, dumps)


def trl(messages: Conversation, tools: list[dict[str, Any]]) -> Line:
    """One line as Hugging Face templates and TRL read it."""
    return _line({"messages": _objects(messages)}, tools)


def prompt_completion(messages: Conversation, tools: list[dict[str, Any]]) -> Line:
    """One line with the assistant's work apart from what it was given."""
    first = next(n for n, message in enumerate(messages) if message["role"] == "assistant")
    return _line({"prompt": _objects(messages[:first]), "completion": _objects(messages[first:])}, tools)


def preference(prompt: Conversation, chosen: Conversation, rejected: Conversation, tools: list[dict[str, Any]]) -> Line:
    """One line with two ways to go on from the same prompt."""
    return _line({"prompt": _objects(prompt), "chosen": _objects(chosen), "rejected": _objects(rejected)}, tools)


def _objects(messages: Conversation) -> Conversation:
    kept = [
        {key: m[key] for key in ("role", "content", "tool_call_id", "name") if m.get(key) is not None} for m in messages
    ]
    return [_with_calls(k, m, dict) for k, m in zip(kept, messages, strict=True)]


def _with_calls(kept: dict[str, Any], message: Mapping[str, Any], arguments: Callable[[Any], Any]) -> dict[str, Any]:
    if message.get("tool_calls"):
        kept["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": arguments(c["arguments"])}}
            for c in message["tool_calls"]
        ]
    return kept


def _line(line: Line, tools: list[dict[str, Any]]) -> Line:
    return {**line, "tools": tools} if tools else line


def tools_as_text_when_they_differ(lines: Sequence[Line]) -> list[Line]:
    """Arrow gives all rows of a column one type: different schemas would gain each other's keys as nulls."""
    texts = [dumps(line["tools"]) if "tools" in line else None for line in lines]
    if len(set(texts)) <= 1:
        return list(lines)
    return [{**line, "tools": text} if text is not None else line for line, text in zip(lines, texts, strict=True)]
