"""One ask, one try: the agent and the world talk until the agent answers, and a row comes out.

Nothing that happens in here loses the row. When the agent or the world raises, the row says which of them it was
and what it said, and its reward stays None: an outage is not a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai.agents.base import Agent, as_message
from whileai.core import rows as core_rows
from whileai.core.redact import redact
from whileai.core.rows import SCHEMA_VERSION, Row
from whileai.core.seeds import integer
from whileai.rollout.coroutines import settled
from whileai.rollout.plan import Cell, Owed
from whileai.world.answers import World


@dataclass(frozen=True)
class Setting:
    """What every rollout of a run has in common.

    world: makes what answers the calls in a cell; max_turns: the most assistant turns of a conversation.
    """

    agent: Agent
    tools: list[dict[str, Any]]
    system_prompt: str | None
    world: Callable[[Cell], World]
    seed: int = 0
    model_version: str = ""
    max_turns: int = 8


@dataclass
class _Talk:
    """A conversation in progress."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, float] = field(default_factory=dict)
    finish_reason: str = "stop"

    def note(self, reply: Mapping[str, Any]) -> None:
        """Add up what the agent says about its cost, and keep why it ended."""
        for name, amount in (reply.get("usage") or {}).items():
            if isinstance(amount, (int, float)):
                self.usage[name] = self.usage.get(name, 0) + amount
        self.finish_reason = str(reply.get("finish_reason") or "stop")


class _Failed(Exception):
    """Something raised; `where` is the side it happened on."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(str(error))
        self.where = where
        self.error = error


def rollout(owed: Owed, setting: Setting) -> Row:
    """Run one try of one ask and return its row; a failure of the agent or the world is data on the row."""
    seed = integer(setting.seed, owed.cell.scenario_id, owed.cell.wording, owed.rollout_index, owed.run)
    talk, error = _Talk(), None
    try:
        _talk(talk, owed.cell, setting, seed)
    except _Failed as failed:
        error = _as_data(failed)
    return _row(owed, setting, talk, seed, error)


def _talk(talk: _Talk, cell: Cell, setting: Setting, seed: int) -> None:
    if setting.system_prompt:
        talk.messages.append({"role": "system", "content": setting.system_prompt})
    talk.messages.append({"role": "user", "content": cell.text})
    world = _on("world", setting.world, cell)
    for _ in range(setting.max_turns):
        shown = [dict(message) for message in talk.messages]
        reply = _on("agent", setting.agent.respond, shown, setting.tools, seed=seed, situation=cell.situation)
        calls = _on("agent", _take, talk, reply)
        if not calls:
            return
        for call in calls:
            content = _on("world", world.call, call["name"], call["arguments"])
            talk.messages.append({"role": "tool", "tool_call_id": call["id"], "name": call["name"], "content": content})
    talk.finish_reason = "turns"


def _on(where: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call `function`, wait for it when it is async, and say where it was when it raises."""
    try:
        return settled(function(*args, **named))
    except Exception as error:
        raise _Failed(where, error) from error


def _take(talk: _Talk, reply: Any) -> list[dict[str, Any]]:
    """Add the agent's message in the live shape; returns its calls, each with an id of its own."""
    said = as_message(reply)
    if isinstance(reply, Mapping):
        talk.note(reply)
    message: dict[str, Any] = {"role": "assistant", "content": said.get("content") or ""}
    calls = []
    for call in core_rows.message_calls(said):
        number = len(talk.steps) + 1
        fresh = call.id and all(step["id"] != call.id for step in talk.steps)
        calls.append({"id": call.id if fresh else f"call_{number}", "name": call.name, "arguments": call.arguments})
        talk.steps.append({"id": calls[-1]["id"], "tool": call.name, "arguments": call.arguments})
    if calls:
        message["tool_calls"] = calls
    talk.messages.append(message)
    return calls


def _as_data(failed: _Failed) -> dict[str, str]:
    """The failure as it stands on the row; anything that looks like a key is taken out of its text."""
    return {"where": failed.where, "type": type(failed.error).__name__, "message": redact(str(failed))[:500]}


def _row(owed: Owed, setting: Setting, talk: _Talk, seed: int, error: dict[str, str] | None) -> Row:
    cell = owed.cell
    planted = getattr(setting.agent, "planted", None)
    seeded = planted(talk.messages, setting.tools, seed=seed, situation=cell.situation) if planted else None
    row: dict[str, Any] = {
        "scenario_id": cell.scenario_id,
        "wording": cell.wording,
        "rollout_index": owed.rollout_index,
        "run": owed.run,
        "messages": talk.messages,
        "prompt": cell.text,
        "final_text": core_rows.final_text({"messages": talk.messages}),
        "steps": talk.steps,
        "system_prompt": setting.system_prompt,
        "tools": setting.tools,
        "situation": cell.situation,
        "seed": setting.seed,
        "model_version": setting.model_version,
        "seeded": seeded,
        "reward": None,
        "error": error,
        "usage": talk.usage,
        "finish_reason": "error" if error else talk.finish_reason,
        "schema_version": SCHEMA_VERSION,
    }
    return row  # type: ignore[return-value]
