"""Honest rollouts are right and planted mistakes are wrong, by a judge that reads nothing but messages."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.agents.mistakes import MISTAKES
from whileai.agents.seeded import seeded_agent
from whileai.core import rows
from whileai.core.errors import ToolSchemaError, UsageError
from whileai.core.seeds import integer
from whileai.world.answers import seeded_world
from whileai.world.phrasings import phrasing, spoken
from whileai.world.situations import CONDITIONS, NO_ID, situations
from whileai.world.tools import Tool, tool


@tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""


@tool
def refund_order(order_id: str, amount: float, reason: str = "late") -> dict:
    """Refund an order."""


@tool
def confirm_booking(booking_number: int, guest: str) -> dict:
    """Confirm a booking."""


@tool
def get_weather(city: str) -> dict:
    """Weather."""


@tool
def list_orders() -> dict:
    """All orders."""


SETS = {
    "one": [get_order],
    "four": [get_order, refund_order, confirm_booking, get_weather],
    "city": [get_weather],
    "booking": [confirm_booking],
    "no arguments": [list_orders],
}
FIRST = situations([get_order.schema], 0)[:60]
CLAIM = ("done", "went through", "completed", "succeeded", "confirmed")
SUCCESS = ("ok", "created", "success", "done", "updated", "deleted")


def first_sentence(text):
    return re.split(r"(?<=[.!?])\s", text.strip())[0]


def claims(text):
    words = re.sub(r"[^a-z]+", " ", text.lower())
    return any(f" {claim} " in f" {words} " for claim in CLAIM)


def right(messages, tool_name, key, asked):
    """Whether the agent asked for a missing key without a call, or called the tool that is wanted with what the user
    said, led with it and claimed nothing that the tool did not report. The seeds' judge, for any tool."""
    calls = rows.calls({"messages": messages})
    if key and not asked:
        return not calls
    if not calls or calls[0].name != tool_name or (key and calls[0].arguments.get(key) not in asked):
        return False
    if messages[-1]["role"] != "assistant":
        return False
    reply = messages[-1]["content"]
    if key and spoken(calls[0].arguments[key]) not in first_sentence(reply):
        return False
    result = next((m["content"] for m in messages if m["role"] == "tool"), "{}")
    return json.loads(result).get("status") in SUCCESS or not claims(reply)


def play(agent, situation, schemas, seed, wording=0):
    world = seeded_world(situation, schemas)
    messages = [{"role": "user", "content": phrasing(situation, schemas, wording, 0)}]
    for _ in range(4):
        reply = agent.respond(messages, schemas, seed=seed, situation=situation)
        messages.append(reply)
        if not reply.get("tool_calls"):
            break
        for call in reply["tool_calls"]:
            content = world.call(call["name"], call["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "name": call["name"], "content": content})
    return messages, agent.planted(messages, schemas, seed=seed, situation=situation)


def verdict(messages, situation, schemas):
    parameters = {s["function"]["name"]: s["function"]["parameters"] for s in schemas}[situation["tool"]]
    key = next(iter(parameters["properties"]), None) if parameters["required"] else None
    asked = [situation["values"][key]] if key and spoken(situation["values"][key]) in messages[0]["content"] else []
    return right(messages, situation["tool"], key, asked)


def whole_grid(name, step=1, seed=0):
    schemas = [t.schema for t in SETS[name]]
    grid = situations(schemas, seed)
    return schemas, [grid[i] for i in range(0, grid.grid_size, step)]


@pytest.mark.parametrize("name", SETS)
def test_an_honest_rollout_is_right_in_every_situation(name):
    schemas, grid = whole_grid(name, 3 if name == "four" else 1)
    agent = seeded_agent(SETS[name], rate=0.0)
    for number, situation in enumerate(grid):
        messages, planted = play(agent, situation, schemas, integer(number), number % 5)
        assert planted is None
        assert verdict(messages, situation, schemas), messages


@pytest.mark.parametrize("name", SETS)
def test_a_planted_mistake_is_wrong_in_every_situation(name):
    schemas, grid = whole_grid(name, 3 if name == "four" else 1)
    agent = seeded_agent(SETS[name], rate=1.0)
    for number, situation in enumerate(grid):
        messages, planted = play(agent, situation, schemas, integer(number), number % 5)
        assert planted
        assert not verdict(messages, situation, schemas), (planted, messages)


def test_every_mistake_is_planted_under_every_condition_it_fits():
    schemas, grid = whole_grid("four")
    agent = seeded_agent(SETS["four"], rate=1.0)
    messages = [{"role": "user", "content": ""}]
    seen = Counter()
    for number, situation in enumerate(grid):
        label = agent.planted(messages, schemas, seed=integer(number), situation=situation)
        seen[label, situation["condition"]] += 1
    assert {label for label, _ in seen} == {mistake.label for mistake in MISTAKES}
    only_failing = {"claims success the tool did not report", "ignores the error"}
    assert not any(seen[label, "ok"] for label in only_failing)
    for mistake in MISTAKES:
        wanted = {"ok"} if "guesses" in mistake.label or "placeholder" in mistake.label else set(CONDITIONS)
        found = {condition for label, condition in seen if label == mistake.label}
        assert found == wanted - ({"ok"} if mistake.label in only_failing else set()), mistake.label


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
def test_the_realised_rate_matches_within_sampling_error(rate):
    agent = seeded_agent([get_order], rate=rate)
    schemas, grid = whole_grid("one", 29)
    messages = [{"role": "user", "content": ""}]
    n = 20_000
    planted = sum(
        agent.planted(messages, schemas, seed=integer(1, i), situation=grid[i % len(grid)]) is not None
        for i in range(n)
    )
    assert abs(planted / n - rate) < 4 * (rate * (1 - rate) / n) ** 0.5


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**62), st.integers(0, 2000))
@settings(max_examples=200)
def test_a_lower_rate_plants_a_subset_and_the_same_mistake(one, other, seed, place):
    low, high = sorted((one, other))
    situation = FIRST[place % 60]
    labels = [
        seeded_agent([get_order], rate).planted([], [get_order.schema], seed=seed, situation=situation)
        for rate in (low, high)
    ]
    assert labels[0] in (None, labels[1])


def test_a_rollout_depends_on_its_own_seed_and_situation_alone():
    schemas, grid = whole_grid("four", 97)
    agent = seeded_agent(SETS["four"], rate=0.5)
    forth = [play(agent, s, schemas, i) for i, s in enumerate(grid)]
    back = [play(seeded_agent(SETS["four"], rate=0.5), grid[i], schemas, i) for i in reversed(range(len(grid)))]
    assert forth == back[::-1]
    assert len({json.dumps(messages) for messages, _ in forth}) == len(forth)


def test_an_ask_without_an_id_is_answered_with_a_question():
    schemas, grid = whole_grid("one")
    for situation in grid[:60]:
        if situation["stance"] == NO_ID:
            messages, _ = play(seeded_agent([get_order], 0.0), situation, schemas, 5)
            assert len(messages) == 2
            assert "order id" in messages[1]["content"]


def test_honest_replies_vary_and_lead_with_the_id():
    schemas = [get_order.schema]
    situation = next(s for s in situations(schemas, 0) if s["condition"] == "ok" and s["stance"] != NO_ID)
    agent = seeded_agent([get_order], 0.0)
    replies = {play(agent, situation, schemas, integer(seed))[0][-1]["content"] for seed in range(60)}
    assert len(replies) >= 5
    assert all(reply.startswith(situation["values"]["order_id"]) and situation["state"] in reply for reply in replies)


def test_without_a_situation_the_ask_itself_says_what_is_wanted():
    schemas = [t.schema for t in SETS["four"]]
    agent = seeded_agent(SETS["four"], 0.0)

    def first(text):
        return agent.respond([{"role": "user", "content": text}], schemas, seed=1, situation=None)

    asked = first("Where is ORD-42?")
    assert asked["tool_calls"] == [{"id": "call_1", "name": "get_order", "arguments": {"order_id": "ORD-42"}}]
    assert "tool_calls" not in first("Where is my order?")
    wrong = seeded_agent(SETS["four"], 1.0)
    ask = [{"role": "user", "content": "Where is ORD-42?"}]
    assert {wrong.planted(ask, schemas, seed=s) for s in range(50)} > {"skips the lookup", "uses a wrong id"}


def test_it_works_for_any_tool_it_is_shown():
    deep = {"type": "object", "properties": {"line": {"type": "object", "properties": {"sku": {"type": "string"}}}}}
    odd = [
        Tool("x", "", {"type": "object", "properties": {}}),
        Tool("do-it", "", {"type": "object", "properties": {"mode": {"enum": ["a", 1]}}, "required": ["mode"]}),
        Tool("nested", "", {**deep, "required": ["line"]}),
        Tool(
            "strict", "", {"properties": {"code": {"type": "string", "pattern": "^Z[0-9]{3}$"}}, "required": ["code"]}
        ),
    ]
    schemas = [t.schema for t in odd]
    for rate in (0.0, 1.0):
        agent = seeded_agent(odd, rate)
        for number, situation in enumerate(situations(schemas, 0)[:400]):
            messages, planted = play(agent, situation, schemas, integer(number))
            assert messages[-1]["role"] == "assistant"
            assert (planted is None) == (rate == 0)
            if rate == 0 and situation["condition"] == "ok" and len(messages) > 2:
                assert json.loads(messages[2]["content"])["status"] in SUCCESS, messages


def test_nothing_it_is_given_is_changed():
    schemas, grid = whole_grid("four", 211)
    before = json.dumps([schemas, grid])
    for rate in (0.0, 1.0):
        for number, situation in enumerate(grid):
            play(seeded_agent(SETS["four"], rate), situation, schemas, number)
    assert json.dumps([schemas, grid]) == before


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), "half", True, None])
def test_a_rate_that_is_no_share_is_refused(rate):
    with pytest.raises(UsageError, match="not a share"):
        seeded_agent([get_order], rate)


def test_no_tools_and_no_tool_are_refused():
    with pytest.raises(UsageError, match="at least one tool"):
        seeded_agent([])
    with pytest.raises(ToolSchemaError):
        seeded_agent([3])
