"""What an agent is: something that answers a conversation with its next message.

`respond` is asked again after its tool calls were answered, until it answers in text. `planted` is for agents
that make mistakes on purpose; an agent without it is taken to be honest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from whileai.core.errors import InputError, UsageError
from whileai.core.rows import Message, message_calls, text_of


@runtime_checkable
class Agent(Protocol):
    """Anything with `respond`; it must not change the messages or tools it is given."""

    def respond(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        situation: Mapping[str, Any] | None = None,
    ) -> Message:
        """The next assistant message: text, or tool calls. `seed` belongs to this one rollout."""
        ...


class CallableAgent:
    """A plain function as an agent: the ask's text in, or the messages when its first parameter is called so."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        """`fn(text)` or `fn(messages)`; further parameters named tools or seed are filled in.

        Raises UsageError when it has no parameter to take the message, or needs one that nothing fills in.
        """
        self.fn = fn
        self.takes_messages, self.extra = _parameters(fn)

    def respond(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        situation: Mapping[str, Any] | None = None,
    ) -> Any:
        """The function's answer as a message; an awaitable of one when the function is async."""
        given: Any = [dict(m) for m in messages] if self.takes_messages else _last_user_text(messages)
        offered = {"tools": list(tools), "seed": seed}
        answer = self.fn(given, **{name: offered[name] for name in self.extra})
        return _awaited(answer) if inspect.isawaitable(answer) else as_message(answer)


def as_agent(agent: Any) -> Agent:
    """An agent as it is, or a plain callable made one. Raises UsageError for anything else."""
    if isinstance(agent, Agent) and not inspect.isclass(agent):
        return agent
    if callable(agent) and not inspect.isclass(agent):
        return CallableAgent(agent)
    raise UsageError(
        f"{agent!r} is not an agent; give seeded_agent(tools), a function of the message, or an object with respond()"
    )


def as_message(answer: Any) -> Message:
    """An assistant message from text or from a message dict in either tool-call shape.

    Raises InputError when the answer is neither.
    """
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}
    dumped = answer.model_dump() if hasattr(answer, "model_dump") else answer
    if not isinstance(dumped, Mapping) or not {"content", "tool_calls"} & set(dumped):
        raise InputError(
            f"the agent answered {type(answer).__name__} {str(answer)[:60]!r}; return text, or a message with"
            " content or tool_calls"
        )
    message: Message = {"role": "assistant", "content": text_of(dumped.get("content"))}
    found = message_calls(dumped)
    if found:
        message["tool_calls"] = [
            {"id": call.id or f"call_{n}", "name": call.name, "arguments": call.arguments}
            for n, call in enumerate(found, 1)
        ]
    return message


async def _awaited(answer: Any) -> Message:
    return as_message(await answer)


def _last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    return next((text_of(m.get("content")) for m in reversed(messages) if m.get("role") == "user"), "")


def _parameters(fn: Callable[..., Any]) -> tuple[bool, tuple[str, ...]]:
    """Whether the first parameter wants the messages, and which extras the function names."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return False, ()
    name = getattr(fn, "__name__", type(fn).__name__)
    if not parameters or parameters[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise UsageError(f"the agent {name} takes no message; give it one parameter, the message's text or `messages`")
    extra = tuple(p.name for p in parameters[1:] if p.name in ("tools", "seed"))
    for p in parameters[1:]:
        optional = p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        if p.name not in extra and not optional:
            raise UsageError(f"the agent {name} needs {p.name}, which nothing fills in; only tools and seed can be")
    first = parameters[0]
    return first.name in ("messages", "conversation", "history") or _is_list(first.annotation), extra


def _is_list(annotation: Any) -> bool:
    text = annotation if isinstance(annotation, str) else str(getattr(annotation, "__name__", "")) + str(annotation)
    return "list[" in text.lower() or "sequence[" in text.lower() or annotation is list
