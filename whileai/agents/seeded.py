"""The stand-in agent: honest, but for one labelled mistake on a known share of rollouts. No model, no network.

Whether a rollout has a mistake depends on the rollout's own seed: a lower rate plants a subset of what a higher one
plants, and the same ones in any order and at any concurrency.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from whileai.agents.mistakes import MISTAKES, Mistake, Turn, honest
from whileai.agents.replies import result_of
from whileai.core.errors import UsageError
from whileai.core.rows import Message, ask, message_calls
from whileai.world.shapes import Shape, shapes
from whileai.world.tools import as_tools
from whileai.world.words import Draw


class SeededAgent:
    """An agent whose mistakes are known. `planted` says which one a rollout has, or None."""

    name = "seeded_agent"

    def __init__(self, tools: Sequence[Any], rate: float) -> None:
        self.rate = rate
        self._schemas = [item.schema for item in as_tools(tools)]
        if not self._schemas:
            raise UsageError("seeded_agent needs at least one tool to call")

    def respond(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        situation: Mapping[str, Any] | None = None,
    ) -> Message:
        """The next message: the planted mistake's, else an honest one."""
        turn = _turn(messages, tools or self._schemas, seed, situation)
        mistake = self._mistake(turn, seed)
        return honest(turn) if mistake is None else mistake.make(turn)

    def planted(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        situation: Mapping[str, Any] | None = None,
    ) -> str | None:
        """The label of the mistake that this rollout was given, None when it is honest."""
        if Draw(seed).unit() >= self.rate:
            return None
        mistake = self._mistake(_turn(messages, tools or self._schemas, seed, situation), seed)
        return mistake.label if mistake else None

    def _mistake(self, turn: Turn, seed: int) -> Mistake | None:
        draw = Draw(seed)
        if draw.unit() >= self.rate:
            return None
        return draw.pick([mistake for mistake in MISTAKES if mistake.when(turn)])


def seeded_agent(tools: Sequence[Any], rate: float = 0.3) -> SeededAgent:
    """An agent for `tools` that is honest but for one labelled mistake on a share `rate` of its rollouts.

    Raises UsageError when the rate is not a share or there are no tools, ToolSchemaError for what is no tool.
    """
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        raise UsageError(f"rate={rate!r} is not a share of rollouts; give a number from 0 to 1")
    return SeededAgent(tools, float(rate))


def _turn(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
    seed: int,
    situation: Mapping[str, Any] | None,
) -> Turn:
    known = shapes(tools)
    if not situation or situation.get("tool") not in known:
        situation = _read(ask({"messages": messages}), known)
    shape = known[situation["tool"]]
    values: Mapping[str, Any] = situation.get("values") or {}
    answered = bool(messages) and messages[-1].get("role") == "tool"
    return Turn(
        shape=shape,
        tools=known,
        values=values,
        said=shape.key is None or (shape.key.name in values and not situation.get("unsaid")),
        fails=situation.get("condition", "ok") != "ok",
        draw=Draw(seed ^ (len(messages) << 32)),
        result=result_of(messages[-1]) if answered else None,
        called=_called(messages, known) if answered else None,
    )


def _called(
    messages: Sequence[Mapping[str, Any]], known: Mapping[str, Shape]
) -> tuple[Shape, Mapping[str, Any]] | None:
    """The last call of the conversation, which its last message answers."""
    for message in reversed(messages):
        for made in reversed(message_calls(message)):
            return (known[made.name], made.arguments) if made.name in known else None
    return None


def _read(text: str, known: Mapping[str, Shape]) -> dict[str, Any]:
    """What an ask without a situation wants, read from its words: the tool whose id stands in it, else the first."""
    shapes_ = list(known.values())
    spoken = re.findall(r"[\w.+@-]*\d[\w.+@-]*\b", text)
    for shape in shapes_:
        if shape.key is not None and shape.key.is_id:
            for word in spoken:
                if not shape.key.prefix or shape.key.type != "string" or word.startswith(shape.key.prefix + "-"):
                    number = shape.key.type in ("integer", "number")
                    if not number or word.isdigit():
                        return {"tool": shape.name, "values": {shape.key.name: int(word) if number else word}}
    first = shapes_[0]
    return {"tool": first.name, "values": {}, "unsaid": [first.key.name] if first.key else []}
