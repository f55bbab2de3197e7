"""A world answers every call with the JSON text of an object, agrees with itself, and fails on purpose."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.core.errors import InputError
from whileai.world.answers import recorded_world, seeded_world, world_of
from whileai.world.situations import CONDITIONS
from whileai.world.tools import tool


@tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""


@tool
def refund_order(order_id: str, amount: float) -> dict:
    """Refund an order."""


@tool
def get_customer(customer_id: str) -> dict:
    """Look up a customer."""


@tool
def delete_order(order_id: str) -> dict:
    """Delete an order."""


SCHEMAS = [t.schema for t in (get_order, refund_order, get_customer, delete_order)]
SUCCESS = {"ok", "created", "updated", "deleted"}


def situation(condition="ok", tool="get_order", **values):
    values = {"order_id": "ORD-9237", **values}
    return {
        "tool": tool,
        "stance": "plain",
        "state": "shipped",
        "condition": condition,
        "history": "x",
        "values": values,
    }


def ask(world, name, **arguments):
    answer = json.loads(world.call(name, arguments))
    assert isinstance(answer, dict)
    return answer


def test_a_healthy_read_gives_the_record():
    found = ask(seeded_world(situation(), [get_order.schema]), "get_order", order_id="ORD-9237")
    assert found["status"] == "ok"
    assert (found["order_id"], found["state"]) == ("ORD-9237", "shipped")
    assert len(found) > 3


def test_the_same_situation_answers_the_same_whatever_was_asked_before():
    world, other = seeded_world(situation(), SCHEMAS), seeded_world(json.loads(json.dumps(situation())), SCHEMAS)
    ask(world, "get_order", order_id="ORD-1")
    assert ask(world, "get_order", order_id="ORD-9237") == ask(other, "get_order", order_id="ORD-9237")


def test_ids_agree_across_the_tools_of_a_situation():
    world = seeded_world(situation(), SCHEMAS)
    order = ask(world, "get_order", order_id="ORD-9237")
    customer = ask(world, "get_customer", customer_id=order["customer_id"])
    assert customer["status"] == "ok"
    assert customer["order_id"] == "ORD-9237"
    assert ask(world, "get_customer", customer_id="CUS-0")["error"] == "not found"


@pytest.mark.parametrize("given_id", ["ORD-1", "unknown", ""])
def test_any_other_id_is_not_found(given_id):
    found = ask(seeded_world(situation(), SCHEMAS), "get_order", order_id=given_id)
    assert (found["status"], found["error"]) == ("error", "not found")


def test_an_id_in_other_letters_is_the_same_id():
    assert ask(seeded_world(situation(), SCHEMAS), "get_order", order_id=" ord-9237")["status"] == "ok"


@pytest.mark.parametrize(
    "name, arguments, error",
    [
        ("get_parcel", {"order_id": "ORD-9237"}, "unknown tool"),
        ("get_order", {}, "invalid arguments"),
        ("get_order", {"order_id": 9237}, "invalid arguments"),
        ("get_order", {"order_id": "ORD-9237", "colour": "red"}, "invalid arguments"),
        ("refund_order", {"order_id": "ORD-9237", "amount": "all"}, "invalid arguments"),
    ],
)
def test_a_call_that_fits_no_tool_is_an_error(name, arguments, error):
    found = ask(seeded_world(situation(), SCHEMAS), name, **arguments)
    assert (found["status"], found["error"]) == ("error", error)
    assert found["message"]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name", ["get_order", "refund_order", "delete_order"])
def test_only_a_healthy_tool_reports_success_and_only_the_wanted_tool_fails(condition, name):
    values = {"amount": 5.5} if name == "refund_order" else {}
    made = situation(condition, name, **values)
    found = ask(seeded_world(made, SCHEMAS), name, **made["values"])
    assert (found["status"] in SUCCESS) == (condition == "ok")
    other = ask(seeded_world(made, SCHEMAS), "get_customer" if name != "get_customer" else "get_order")
    assert other["error"] == "invalid arguments"
    if name != "get_order":
        assert ask(seeded_world(made, SCHEMAS), "get_order", order_id="ORD-9237")["status"] == "ok"


def test_each_failing_condition_has_an_answer_of_its_own():
    seen = {}
    for condition in CONDITIONS:
        found = ask(seeded_world(situation(condition), SCHEMAS), "get_order", order_id="ORD-9237")
        seen[condition] = (found["status"], found.get("error"))
    assert len(set(seen.values())) == len(CONDITIONS)
    assert seen["partial"] == ("partial", None)
    assert seen["stale"] == ("stale", None)


def test_a_garbled_answer_is_broken_text_inside_an_object():
    found = ask(seeded_world(situation("garbled"), SCHEMAS), "get_order", order_id="ORD-9237")
    with pytest.raises(ValueError):
        json.loads(found["raw"])


def test_a_partial_answer_names_what_is_missing_and_a_stale_one_its_date():
    partial = ask(seeded_world(situation("partial"), SCHEMAS), "get_order", order_id="ORD-9237")
    whole = ask(seeded_world(situation(), SCHEMAS), "get_order", order_id="ORD-9237")
    assert set(partial["missing"]) == set(whole) - {"status", "order_id", "state"}
    stale = ask(seeded_world(situation("stale"), SCHEMAS), "get_order", order_id="ORD-9237")
    assert stale["as_of"] < whole["updated"]


def test_a_write_is_seen_by_a_later_read_of_the_same_world_only():
    world = seeded_world(situation(), SCHEMAS)
    assert ask(world, "refund_order", order_id="ORD-9237", amount=5.5)["status"] == "updated"
    found = ask(world, "get_order", order_id="ORD-9237")
    assert (found["state"], found["amount"]) == ("refunded", 5.5)
    assert ask(world, "delete_order", order_id="ORD-9237")["status"] == "deleted"
    assert ask(world, "get_order", order_id="ORD-9237")["state"] == "deleted"
    assert ask(seeded_world(situation(), SCHEMAS), "get_order", order_id="ORD-9237")["state"] == "shipped"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from(["get_order", "refund_order", "nothing"]) | st.text(),
    st.dictionaries(st.sampled_from(["order_id", "amount"]) | st.text(), anything, max_size=3),
    st.sampled_from(CONDITIONS),
)
def test_whatever_is_called_the_answer_is_an_object(name, arguments, condition):
    for world in (seeded_world(situation(condition), SCHEMAS), recorded_world([])):
        assert isinstance(json.loads(world.call(name, arguments)), dict)


LIVE = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "tool_calls": [{"id": "a", "name": "f", "arguments": {"x": 1, "y": 2}}]},
    {"role": "tool", "tool_call_id": "a", "content": '{"status": "ok",  "n": 1}'},
]
WIRE = [
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "a", "function": {"name": "f", "arguments": '{"x": 3}'}},
            {"id": "b", "function": {"name": "g", "arguments": "null"}},
        ],
    },
    {"role": "tool", "tool_call_id": "b", "content": "plain text"},
    {"role": "tool", "tool_call_id": "a", "content": "[1, 2]"},
]


def test_a_recorded_world_repeats_what_was_recorded_in_either_shape():
    world = recorded_world([{"messages": LIVE}, {"messages": WIRE}])
    assert world.call("f", {"y": 2, "x": 1}) == '{"status": "ok",  "n": 1}'
    assert ask(world, "f", x=3) == {"result": [1, 2]}
    assert ask(world, "g") == {"result": "plain text"}
    assert ask(world, "f", x=4)["error"] == "not found"


def test_calls_without_ids_are_matched_by_order():
    messages = [
        {"role": "assistant", "tool_calls": [{"name": "f", "arguments": {"x": n}} for n in (1, 2)]},
        {"role": "tool", "content": '{"n": 1}'},
        {"role": "tool", "content": '{"n": 2}'},
    ]
    world = recorded_world([{"messages": messages}])
    assert [ask(world, "f", x=n)["n"] for n in (1, 2)] == [1, 2]


def test_the_first_recorded_answer_stays():
    later = [LIVE[1], {**LIVE[2], "content": '{"n": 2}'}]
    assert ask(recorded_world([{"messages": LIVE}, {"messages": later}]), "f", x=1, y=2)["n"] == 1


def test_a_task_with_its_situation_gets_its_seeded_world_and_without_it_a_recorded_one():
    row = {"messages": LIVE, "situation": situation(), "tools": SCHEMAS}
    assert ask(world_of([row]), "get_order", order_id="ORD-9237")["status"] == "ok"
    assert ask(world_of([{"messages": LIVE}, row]), "get_order", order_id="ORD-9237")["status"] == "ok"
    assert ask(world_of([{**row, "situation": None}]), "f", x=1, y=2)["n"] == 1
    assert ask(world_of([{**row, "tools": []}]), "f", x=1, y=2)["n"] == 1
    with pytest.raises(InputError, match="without rows"):
        world_of([])
