"""Anything that answers messages is an agent; anything else is refused in one sentence."""

from __future__ import annotations

import asyncio

import pytest

from whileai.agents.base import Agent, as_agent, as_message
from whileai.agents.seeded import seeded_agent
from whileai.core.errors import InputError, UsageError
from whileai.world.tools import tool

MESSAGES = [
    {"role": "system", "content": "Help."},
    {"role": "user", "content": "Where is ORD-1?"},
]


@tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""


def respond(fn, messages=MESSAGES):
    return as_agent(fn).respond(messages, [get_order.schema], seed=7, situation=None)


def test_a_function_of_the_text_gets_the_last_user_message():
    assert respond(lambda text: f"you said {text}") == {"role": "assistant", "content": "you said Where is ORD-1?"}


@pytest.mark.parametrize("name", ["messages", "conversation", "history"])
def test_a_function_of_the_messages_gets_them_all_as_a_copy(name):
    heard = {}
    scope = {"heard": heard}
    exec(f"def agent({name}):\n    heard['it'] = {name}\n    {name}[0]['content'] = 'changed'\n    return 'ok'", scope)
    respond(scope["agent"])
    assert [m["role"] for m in heard["it"]] == ["system", "user"]
    assert MESSAGES[0]["content"] == "Help."


def test_an_annotation_says_messages_too():
    def agent(m: list[dict]) -> str:
        return str(len(m))

    assert respond(agent)["content"] == "2"


def test_tools_and_seed_are_filled_in_when_named():
    def agent(text, seed, tools):
        return f"{seed} {tools[0]['function']['name']}"

    assert respond(agent)["content"] == "7 get_order"


@pytest.mark.parametrize(
    "answer",
    [
        {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": {"x": 1}}]},
        {"content": "", "tool_calls": [{"id": "call_1", "function": {"name": "f", "arguments": '{"x": 1}'}}]},
    ],
)
def test_both_shapes_of_a_tool_call_come_out_live(answer):
    calls = [{"id": "call_1", "name": "f", "arguments": {"x": 1}}]
    assert respond(lambda text: answer) == {"role": "assistant", "content": "", "tool_calls": calls}


def test_an_object_that_dumps_itself_is_read():
    class Reply:
        def model_dump(self):
            return {"role": "assistant", "content": "hello"}

    assert as_message(Reply()) == {"role": "assistant", "content": "hello"}


def test_an_async_function_gives_something_to_await():
    async def agent(text):
        return "later"

    assert asyncio.run(respond(agent)) == {"role": "assistant", "content": "later"}


@pytest.mark.parametrize("answer", [None, 3, ["a"], {"text": "a"}])
def test_an_answer_that_is_no_message_is_refused(answer):
    with pytest.raises(InputError, match="the agent answered"):
        respond(lambda text: answer)


@pytest.mark.parametrize("agent", ["openai/gpt", 3, None, dict])
def test_what_cannot_answer_is_refused(agent):
    with pytest.raises(UsageError, match="is not an agent"):
        as_agent(agent)


def test_a_function_that_takes_no_message_or_too_much_is_refused():
    with pytest.raises(UsageError, match="takes no message"):
        as_agent(lambda: "x")
    with pytest.raises(UsageError, match="needs temperature"):
        as_agent(lambda text, temperature: "x")


def test_an_agent_object_is_taken_as_it_is():
    agent = seeded_agent([get_order])
    assert isinstance(agent, Agent)
    assert as_agent(agent) is agent
