"""One try of one ask becomes one row, whatever happens in it."""

from __future__ import annotations

import copy
import json

import pytest

from whileai.core import rows as core_rows
from whileai.rollout.loop import Setting, rollout
from whileai.rollout.plan import Cell, Owed

TOOLS = [{"type": "function", "function": {"name": "get_order", "description": "", "parameters": {"type": "object"}}}]
CELL = Cell("s1", {"stance": "plain"}, 2, (0, 1), "Where is ORD-1?")


class World:
    def __init__(self, raises=None):
        self.raises = raises

    def call(self, name, arguments):
        if self.raises:
            raise self.raises
        return json.dumps({"status": "ok", "order_id": arguments.get("order_id"), "tool": name})


class Scripted:
    """Says the given messages one after the other."""

    def __init__(self, *said, planted=None):
        self.said, self.heard, self.seeds = list(said), [], []
        if planted is not None:
            self.planted = lambda *a, **k: planted

    def respond(self, messages, tools, *, seed, situation=None):
        self.heard.append(copy.deepcopy(list(messages)))
        self.seeds.append(seed)
        answer = self.said[len(self.heard) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


def call(name="get_order", **arguments):
    return {"role": "assistant", "content": None, "tool_calls": [{"name": name, "arguments": arguments}]}


def play(agent, *, world=None, index=0, run=1, **options):
    setting = Setting(agent, TOOLS, "Help.", lambda cell: world or World(), 7, "v1", **options)
    return rollout(Owed(CELL, index, run), setting)


def test_a_lookup_and_an_answer_make_a_complete_row():
    agent = Scripted(call(order_id="ORD-1"), {"role": "assistant", "content": "ORD-1 is shipped."})
    row = play(agent, index=1, run=3)
    assert [m["role"] for m in row["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert core_rows.calls(row) == [core_rows.Call("call_1", "get_order", {"order_id": "ORD-1"})]
    assert row["messages"][3]["tool_call_id"] == "call_1"
    assert json.loads(row["messages"][3]["content"])["status"] == "ok"
    expected = {
        "scenario_id": "s1",
        "wording": 2,
        "rollout_index": 1,
        "run": 3,
        "prompt": "Where is ORD-1?",
        "final_text": "ORD-1 is shipped.",
        "system_prompt": "Help.",
        "tools": TOOLS,
        "situation": {"stance": "plain"},
        "reward": None,
        "seeded": None,
        "model_version": "v1",
        "seed": 7,
        "error": None,
        "finish_reason": "stop",
        "schema_version": core_rows.SCHEMA_VERSION,
        "usage": {},
    }
    assert {key: row[key] for key in expected} == expected
    assert [step["tool"] for step in row["steps"]] == ["get_order"]
    assert set(row) == set(expected) | {"messages", "steps"}


def test_the_seed_of_a_rollout_is_its_own_and_the_same_at_every_turn():
    seeds = []
    for index, run in [(0, 1), (1, 1), (0, 2)]:
        agent = Scripted(call(order_id="A"), {"content": "x"})
        play(agent, index=index, run=run)
        assert agent.seeds[0] == agent.seeds[1]
        seeds.append(agent.seeds[0])
    assert len(set(seeds)) == 3


def test_calls_of_either_shape_get_ids_of_their_own():
    wire = {"id": "call_1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "B"}'}}
    agent = Scripted(
        {"content": "", "tool_calls": [{"name": "get_order", "arguments": {"order_id": "A"}}, wire]},
        {"content": "", "tool_calls": [wire]},
        "done looking",
    )
    row = play(agent)
    ids = [c.id for c in core_rows.calls(row)]
    assert len(set(ids)) == 3
    assert [m["tool_call_id"] for m in row["messages"] if m["role"] == "tool"] == ids
    assert row["final_text"] == "done looking"


def test_an_agent_that_never_stops_calling_is_stopped_at_the_turn_limit():
    row = play(Scripted(*[call(order_id="A")] * 9), max_turns=3)
    assert row["finish_reason"] == "turns"
    assert [m["role"] for m in row["messages"]].count("assistant") == 3
    assert row["messages"][-1]["role"] == "tool"
    assert row["error"] is None


@pytest.mark.parametrize("turn", [0, 1])
def test_an_agent_that_raises_leaves_a_row_with_its_error_and_what_was_said_before(turn):
    said = [call(order_id="A"), TimeoutError("30 s are over")][1 - turn :]
    row = play(Scripted(*said))
    assert row["error"] == {"where": "agent", "type": "TimeoutError", "message": "30 s are over"}
    assert row["reward"] is None
    assert row["finish_reason"] == "error"
    assert len(row["messages"]) == 2 + 2 * turn


def test_a_world_that_raises_is_not_the_agents_fault():
    row = play(Scripted(call(order_id="A")), world=World(raises=RuntimeError("down")))
    assert row["error"] == {"where": "world", "type": "RuntimeError", "message": "down"}


@pytest.mark.parametrize(
    "answer", [None, 3, {"role": "assistant"}, call() | {"tool_calls": [{"arguments": "{not json"}]}]
)
def test_an_answer_that_is_no_message_is_the_agents_error(answer):
    row = play(Scripted(answer))
    assert row["error"]["where"] == "agent"


def test_no_key_gets_into_a_row(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hunter2hunter2")
    row = play(Scripted(RuntimeError("denied: hunter2hunter2, sk-ant-abcdefghijklmnop")))
    assert "hunter2" not in row["error"]["message"]
    assert "abcdefghijklmnop" not in row["error"]["message"]


def test_an_agent_cannot_rewrite_what_was_said():
    class Vandal(Scripted):
        def respond(self, messages, tools, *, seed, situation=None):
            answer = super().respond(messages, tools, seed=seed)
            messages[-1]["content"] = "rewritten"
            messages.clear()
            return answer

    row = play(Vandal(call(order_id="A"), {"content": "x"}))
    assert [m["role"] for m in row["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert "rewritten" not in json.dumps(row["messages"])


def test_usage_is_added_up_and_kept_out_of_the_messages():
    agent = Scripted(
        call(order_id="A") | {"usage": {"completion_tokens": 5}},
        {"content": "x", "usage": {"completion_tokens": 2}, "finish_reason": "length"},
    )
    row = play(agent)
    assert row["usage"] == {"completion_tokens": 7}
    assert row["finish_reason"] == "length"
    assert all("usage" not in m for m in row["messages"])


def test_what_an_agent_planted_is_on_the_row():
    assert play(Scripted({"content": "x"}, planted="skips_lookup"))["seeded"] == "skips_lookup"


def test_an_async_agent_works_like_any_other():
    class Async:
        async def respond(self, messages, tools, *, seed, situation=None):
            import asyncio

            await asyncio.sleep(0)
            return {"role": "assistant", "content": "later"}

    assert play(Async())["final_text"] == "later"


def test_an_async_agent_works_where_a_loop_is_already_running():
    import asyncio

    class Async:
        async def respond(self, messages, tools, *, seed, situation=None):
            return "from a notebook"

    async def cell():
        return play(Async())

    assert asyncio.run(cell())["final_text"] == "from a notebook"


def test_an_interrupt_passes_through():
    class Stopped(Scripted):
        def respond(self, *args, **named):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(Stopped())
