"""What is wrong with a conversation, in words a person can act on. Used before anything is written or trained.

Only the form is judged: whether a trainer or a chat template can take the row. Whether the agent did well is the
judge's business, so a call whose arguments do not fit the tool's schema is no fault here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from whileai.core.jsonable import is_list, kind, not_json

_ROLES = ("system", "user", "assistant", "tool")


class Fault(NamedTuple):
    """One defect of a row: what was found, and how to mend it."""

    fault: str
    mend: str


class _Broken(Exception):
    """A fault that leaves nothing further to look at in the part it was found in."""

    def __init__(self, fault: str, mend: str) -> None:
        super().__init__(fault)
        self.found = Fault(fault, mend)


def faults(row: Any, *, need_tools: bool = True, final_assistant: bool = True) -> list[Fault]:
    """Every defect of the row's conversation, in reading order; [] when a trainer can take it.

    need_tools: a row that calls tools must carry their schemas. final_assistant: the last word must be the assistant's
    (False for the prompt half of a conversation). Both tool-call shapes and tools as JSON text are fine; calls and
    results without ids are paired by their order. Never raises, whatever the row holds.
    """
    try:
        return list(_faults(row, need_tools, final_assistant))
    except _Broken as broken:
        return [broken.found]
    except Exception as error:  # a class that lies about being a dict; the promise is to answer, not to raise
        return [Fault(f"the row cannot be read ({type(error).__name__})", "store it as plain JSON values")]


def _faults(row: Any, need_tools: bool, final_assistant: bool) -> Iterator[Fault]:
    if not isinstance(row, Mapping):
        raise _Broken(f"it is {kind(row)}, not an object", 'store one object a row, with "messages" in it')
    messages = row.get("messages")
    if not is_list(messages):
        found = "no messages" if messages is None else f"messages are {kind(messages)}, not a list"
        raise _Broken(found, "store the conversation as a list of {role, content} objects")
    if not messages:
        raise _Broken("no messages: the conversation is empty", "drop the row or store its conversation")
    strange = not_json(messages) or not_json(row.get("tools")) or not_json(row.get("system_prompt"))
    if strange:
        raise _Broken(*strange)
    yield from _order(messages, final_assistant)
    for number, message in enumerate(messages, 1):
        yield from _message(message, f"message {number}")
    yield from _pairing(messages)
    yield from _tools(row.get("tools"), messages, need_tools)


# One message at a time.


def _order(messages: Any, final_assistant: bool) -> Iterator[Fault]:
    """Who speaks, and who has the last word."""
    if not all(isinstance(m, Mapping) for m in messages):
        number, found = next((n, m) for n, m in enumerate(messages, 1) if not isinstance(m, Mapping))
        raise _Broken(f"message {number} is {kind(found)}, not an object", "store it as {role, content}")
    roles = [m.get("role") for m in messages]
    late = [n for n, role in enumerate(roles, 1) if role == "system" and n > 1]
    if late:
        yield Fault(f"message {late[0]} is a second or late system message", "keep one system message, as the first")
    if "user" not in roles:
        yield Fault("nobody asks anything: there is no user message", "store the ask as a user message")
    if not final_assistant:
        return
    if "assistant" not in roles:
        yield Fault("there is no assistant message, so there is nothing to learn", "drop the row")
    elif roles[-1] != "assistant":
        yield Fault(
            f"the last message is of role {_short(roles[-1])}, not the assistant's", "cut the row after the last answer"
        )


def _message(message: Mapping[str, Any], where: str) -> Iterator[Fault]:
    role = message.get("role")
    if role not in _ROLES:
        yield Fault(f"{where} has the unknown role {_short(role)}", f"use one of {', '.join(_ROLES)}")
        return
    if "function_call" in message and message["function_call"] is not None:
        yield Fault(f"{where} uses the old function_call", "store it in tool_calls")
    called = message.get("tool_calls")
    if called and role != "assistant":
        yield Fault(f"{where} calls tools but is the {role}'s", "only the assistant calls tools")
    yield from _content(message.get("content"), str(role), where, bool(called))
    if called is None:
        return
    if not is_list(called):
        yield Fault(f"{where} has tool_calls that are {kind(called)}, not a list", "store a list of calls")
        return
    for call in called:
        yield from _call(call, where)


def _content(content: Any, role: str, where: str, called: bool) -> Iterator[Fault]:
    if role == "tool":
        if not isinstance(content, str):
            found = "a list of parts" if is_list(content) else kind(content)
            yield Fault(f"{where}: the tool's content is {found}, not text", "store the result as one text")
        return
    text = _text(content)
    if text is None:
        yield Fault(
            f"{where} has content that is not text", "keep text only; images and other parts cannot be trained here"
        )
    elif not text.strip() and not called:
        if role == "assistant":
            yield Fault(f"{where}: the assistant's answer is empty", "drop the row; an empty answer teaches silence")
        elif role == "user":
            yield Fault(f"{where}: the user's text is empty", "store what was asked")


def _text(content: Any) -> str | None:
    """Content as text (None and text parts included); None when it is something else."""
    if content is None or isinstance(content, str):
        return content or ""
    if not is_list(content):
        return None
    texts = [part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None for part in content]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else None  # type: ignore[arg-type]


def _call(call: Any, where: str) -> Iterator[Fault]:
    if not isinstance(call, Mapping):
        yield Fault(f"{where}: a tool call is {kind(call)}, not an object", "store {id, name, arguments}")
        return
    inner = call.get("function") if call.get("function") is not None else call
    if not isinstance(inner, Mapping):
        yield Fault(f"{where}: a tool call's function is {kind(inner)}, not an object", "store {name, arguments} in it")
        return
    name = inner.get("name")
    if not isinstance(name, str) or not name.strip():
        yield Fault(f"{where}: a tool call has no name", "store the tool's name")
    yield from _arguments(inner.get("arguments"), f"{where}: the arguments of {_short(name)}")


def _arguments(value: Any, where: str) -> Iterator[Fault]:
    if value is None or (isinstance(value, str) and not value.strip()):
        yield Fault(f"{where} are missing", "store {} when there are none")
        return
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=_refuse)
        except (ValueError, RecursionError):
            yield Fault(f"{where} are not valid JSON", "repair the text or drop the row")
            return
        if value is None:
            yield Fault(f"{where} are the text null", "store {} when there are none")
            return
        strange = not_json(value)
        if strange:
            yield Fault(f"{where}: {strange[0]}", strange[1])
    if not isinstance(value, Mapping):
        yield Fault(f"{where} are {kind(value)}, not an object", "store an object with named arguments")


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# Calls and their results.


def _calls_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    called = message.get("tool_calls")
    return [c for c in called if isinstance(c, Mapping)] if called and is_list(called) else []


def unnumbered(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no call and no result of the conversation has an id, so that they are paired by their order."""
    ids = [call.get("id") for m in messages for call in _calls_of(m)]
    ids += [m.get("tool_call_id") for m in messages if m.get("role") == "tool"]
    return not any(ids)


def _pairing(messages: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    if unnumbered(messages):
        yield from _pairing_by_order(messages)
        return
    known: set[Any] = set()
    waiting: list[Any] = []
    for number, message in enumerate(messages, 1):
        if message.get("role") == "tool":
            yield from _answered(message.get("tool_call_id"), known, waiting, f"message {number}")
            continue
        if waiting:
            yield Fault(
                f"call {_short(waiting[0])} has no result before message {number}", "store its result or drop the row"
            )
        waiting = []
        for call in _calls_of(message):
            yield from _numbered(call.get("id"), known, f"message {number}")
            waiting.append(call.get("id"))


def _numbered(own: Any, known: set[Any], where: str) -> Iterator[Fault]:
    if not isinstance(own, str) or not own:
        yield Fault(f"{where}: a tool call has no id (text)", "give every call an id of its own")
    elif own in known:
        yield Fault(f"{where}: duplicate tool call id {_short(own)}", "give every call an id of its own")
    else:
        known.add(own)


def _answered(own: Any, known: set[Any], waiting: list[Any], where: str) -> Iterator[Fault]:
    if not isinstance(own, str) or not own:
        yield Fault(f"{where}: the tool result has no tool_call_id", "name the call it answers")
    elif own in waiting:
        waiting.remove(own)
    elif own in known:
        yield Fault(
            f"{where}: call {_short(own)} is answered twice or too late", "keep one result, right after its call"
        )
    else:
        yield Fault(
            f"{where}: the tool result refers to an unknown call {_short(own)}", "name the id of the call it answers"
        )


def _pairing_by_order(messages: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    waiting = 0
    for number, message in enumerate(messages, 1):
        if message.get("role") == "tool":
            if not waiting:
                yield Fault(
                    f"message {number}: the tool result refers to an unknown call", "store the call before its result"
                )
            waiting = max(0, waiting - 1)
            continue
        if waiting:
            yield Fault(f"a tool call has no result before message {number}", "store its result or drop the row")
        waiting = len(_calls_of(message))


# The tools column.


def _tools(value: Any, messages: Sequence[Mapping[str, Any]], need_tools: bool) -> Iterator[Fault]:
    schemas = _schemas(value)
    names = [_schema_name(schema) for schema in schemas]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Fault(f"two tools are called {_short(name)}", "keep one schema a name")
    called = [_call_name(call) for message in messages for call in _calls_of(message)]
    if not called or not (names or need_tools):
        return
    if not names:
        yield Fault(f"it calls {_short(called[0])} but has no tools", "pass tools= with the schemas the agent had")
    for name in dict.fromkeys(name for name in called if isinstance(name, str)):
        if names and name not in names:
            known = ", ".join(names)[:80]
            yield Fault(
                f"it calls {_short(name)}, which is not in its tools ({known})", "add the schema or drop the row"
            )


def _call_name(call: Mapping[str, Any]) -> Any:
    inner = call.get("function")
    return inner.get("name") if isinstance(inner, Mapping) else call.get("name")


def _schemas(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value) if value else []
        except (ValueError, RecursionError):
            raise _Broken("the tools are a text that is not JSON", "store the list of tool schemas") from None
    if value is None:
        return []
    if not is_list(value):
        raise _Broken(f"the tools are {kind(value)}, not a list", "store the list of tool schemas")
    return list(value)


def _schema_name(schema: Any) -> str:
    """The name in `{"type": "function", "function": {...}}` or in the flat shape `{"name", "parameters"}`."""
    inner = schema.get("function", schema) if isinstance(schema, Mapping) else None
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str) or not name:
        raise _Broken("a tool schema has no name", 'store {"type": "function", "function": {"name", "parameters"}}')
    return name
