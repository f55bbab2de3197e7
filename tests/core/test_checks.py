"""Every defect of a conversation is named with its mend; a good one, in any shape, has none; nothing makes it raise."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.core.checks import Fault, faults
from whileai.core.jsonable import MAX_DEPTH, not_json

SHAPES = Path(__file__).parents[1] / "data" / "shapes"


def shape(name):
    return [json.loads(line) for line in (SHAPES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


WIRE = shape("openai_finetune_tools")[0]
BROKEN = shape("broken_rows")
NAMED = {
    "arguments string is not valid JSON": "not valid JSON",
    "tool result refers to an unknown call": "unknown call 'call_9'",
    "calls a tool but no tools column": "has no tools",
    "calls a tool that is not in the schema": "'get_orders', which is not in its tools",
    "tool content is a list of parts (OpenAI fine-tuning wants a string)": "list of parts",
    "arguments is the string null": "the text null",
    "final assistant message is the empty string": "answer is empty",
    "no messages": "no messages",
    "duplicate tool call ids": "duplicate tool call id 'call_1'",
}


def live():
    row = copy.deepcopy(WIRE)
    for message in row["messages"]:
        if "tool_calls" in message:
            message["content"] = ""
            message["tool_calls"] = [
                {"id": c["id"], "name": c["function"]["name"], "arguments": json.loads(c["function"]["arguments"])}
                for c in message["tool_calls"]
            ]
    return row


def changed(change):
    row = live()
    change(row, row["messages"])
    return row


def test_every_named_defect_is_in_the_table():
    assert {row["_defect"] for row in BROKEN} == set(NAMED)


@pytest.mark.parametrize("row", BROKEN, ids=lambda row: row["_defect"])
def test_a_broken_row_is_named_first_by_its_own_defect(row):
    found = faults(row)
    assert NAMED[row["_defect"]] in found[0].fault
    assert all(isinstance(f, Fault) and f.fault and f.mend for f in found)


@pytest.mark.parametrize(
    "name",
    [
        "openai_finetune_tools",
        "openai_finetune_weight",
        "trl_messages_dict_args",
        "trl_messages_tools_as_json_string",
    ],
)
def test_a_good_row_has_no_fault_in_any_shape(name):
    assert [faults(row) for row in shape(name)] == [[]]


def test_the_live_shape_and_flat_tool_schemas_are_good():
    row = live()
    assert faults(row) == []
    assert faults({**row, "tools": [row["tools"][0]["function"]]}) == []


def test_a_row_that_ends_in_a_call_is_good_as_single_turn_tool_files_do():
    assert faults({**WIRE, "messages": WIRE["messages"][:3]}) == []


def test_calls_and_results_without_any_id_are_paired_by_order():
    row = live()
    for message in row["messages"]:
        message.pop("tool_call_id", None)
        for call in message.get("tool_calls", []):
            del call["id"]
    assert faults(row) == []
    assert "unknown call" in faults({**row, "messages": row["messages"][:2] + row["messages"][3:]})[0].fault
    del row["messages"][4]
    assert "no result" in faults(row)[0].fault


def call_of(messages):
    return messages[2]["tool_calls"][0]


KIN = {
    "no system message later": (lambda r, m: m.append(m.pop(0)), "second or late system"),
    "two system messages": (lambda r, m: m.insert(0, m[0]), "second or late system"),
    "unknown role": (lambda r, m: m[1].update(role="human"), "unknown role 'human'"),
    "a role that is a list": (lambda r, m: m[1].update(role=[]), "unknown role"),
    "no user": (lambda r, m: m.pop(1), "no user message"),
    "empty user": (lambda r, m: m[1].update(content=" "), "user's text is empty"),
    "no assistant": (lambda r, m: m.__delitem__(slice(2, None)), "no assistant message"),
    "tool has the last word": (lambda r, m: m.pop(), "last message is of role 'tool'"),
    "user has the last word": (lambda r, m: m.append({"role": "user", "content": "thanks"}), "role 'user'"),
    "final answer null": (lambda r, m: m[-1].update(content=None), "answer is empty"),
    "message is text": (lambda r, m: m.append("hello"), "message 7 is a text"),
    "content is a number": (lambda r, m: m[-1].update(content=7), "not text"),
    "content is an image": (lambda r, m: m[1].update(content=[{"type": "image_url"}]), "not text"),
    "tool content is an object": (lambda r, m: m[3].update(content={"status": "ok"}), "content is an object, not text"),
    "tool content is null": (lambda r, m: m[3].update(content=None), "content is null"),
    "call without name": (lambda r, m: call_of(m).pop("name"), "no name"),
    "call is text": (lambda r, m: m[2].update(tool_calls=["get_order"]), "tool call is a text"),
    "calls are an object": (lambda r, m: m[2].update(tool_calls={"a": 1}), "not a list"),
    "function is text": (lambda r, m: call_of(m).update(function="get_order"), "function is a text"),
    "arguments are missing": (lambda r, m: call_of(m).pop("arguments"), "are missing"),
    "arguments are empty text": (lambda r, m: call_of(m).update(arguments=" "), "are missing"),
    "arguments are a list": (lambda r, m: call_of(m).update(arguments=["ORD-1"]), "a list, not an object"),
    "arguments are the text of a list": (lambda r, m: call_of(m).update(arguments="[1]"), "a list, not an object"),
    "arguments are double encoded": (lambda r, m: call_of(m).update(arguments='"{}"'), "a text, not an object"),
    "arguments hold NaN text": (lambda r, m: call_of(m).update(arguments='{"x": NaN}'), "not valid JSON"),
    "arguments hold NaN": (lambda r, m: call_of(m).update(arguments={"x": float("nan")}), "NaN"),
    "arguments hold a set": (lambda r, m: call_of(m).update(arguments={"x": {1}}), "set, which JSON has not"),
    "arguments have a number key": (lambda r, m: call_of(m).update(arguments={1: 2}), "key that is not text"),
    "arguments hold a huge integer": (lambda r, m: call_of(m).update(arguments={"x": 1 << 70}), "64 bits"),
    "text holds a lone surrogate": (lambda r, m: m[-1].update(content="a\ud800b"), "surrogate"),
    "escaped lone surrogate": (lambda r, m: call_of(m).update(arguments='{"x": "\\ud800"}'), "surrogate"),
    "deep text arguments": (lambda r, m: call_of(m).update(arguments='{"a":' * 200 + "1" + "}" * 200), "levels deep"),
    "very deep text arguments": (lambda r, m: call_of(m).update(arguments="[" * 10**6), "not valid JSON"),
    "call without id": (lambda r, m: call_of(m).pop("id"), "no id"),
    "id is a list": (lambda r, m: call_of(m).update(id=["call_1"]), "no id"),
    "result without id": (lambda r, m: m[3].pop("tool_call_id"), "no tool_call_id"),
    "result twice": (lambda r, m: m.insert(5, dict(m[4])), "answered twice"),
    "result missing": (lambda r, m: m.pop(4), "no result before message 5"),
    "result before its call": (lambda r, m: m.insert(2, m.pop(3)), "unknown call"),
    "id used again a turn later": (lambda r, m: m.extend(copy.deepcopy(m[2:])), "duplicate tool call id"),
    "the user calls a tool": (lambda r, m: m[1].update(tool_calls=m[2]["tool_calls"]), "only|calls tools but"),
    "old function_call": (lambda r, m: m[-1].update(function_call={"name": "x"}), "old function_call"),
    "tools are broken text": (lambda r, m: r.update(tools="[{"), "tools are a text that is not JSON"),
    "tools are an object": (lambda r, m: r.update(tools={"name": "x"}), "tools are an object, not a list"),
    "tools are names": (lambda r, m: r.update(tools=["get_order"]), "schema has no name"),
    "tools are empty": (lambda r, m: r.update(tools=[]), "has no tools"),
    "two tools of one name": (lambda r, m: r.update(tools=r["tools"] * 2), "two tools are called"),
    "messages are text": (lambda r, m: r.update(messages="hello"), "messages are a text"),
    "messages are missing": (lambda r, m: r.pop("messages"), "no messages"),
}


@pytest.mark.parametrize("name", KIN)
def test_a_kindred_defect_is_named(name):
    change, words = KIN[name]
    found = [f.fault for f in faults(changed(change))]
    assert any(part in fault for fault in found for part in words.split("|")), found


@pytest.mark.parametrize("row", [None, 3, "text", [], float("nan"), object()])
def test_what_is_no_row_is_named(row):
    assert "not an object" in faults(row)[0].fault


def test_a_value_that_holds_itself_and_one_that_unfolds_for_ever_are_named_at_once():
    loop: list = []
    loop.extend([loop, loop])
    bomb: list = []
    for _ in range(60):
        bomb = [bomb, bomb]
    deep: dict = {}
    for _ in range(5000):
        deep = {"a": deep}
    for value, words in ((loop, "holds itself"), (bomb, "more than"), (deep, "levels deep")):
        row = changed(lambda r, m, value=value: call_of(m).update(arguments={"x": value}))
        assert words in faults(row)[0].fault


def test_the_depth_limit_is_exact_and_a_shared_part_does_not_hide_depth():
    def chain(n, end=1):
        for _ in range(n):
            end = [end]
        return end

    assert not_json(chain(MAX_DEPTH)) is None
    assert not_json(chain(MAX_DEPTH + 1)) is not None
    shared = chain(60)
    assert not_json([shared, chain(38, shared)]) is None
    assert not_json([shared, chain(41, shared)]) is not None


def test_need_tools_and_final_assistant_can_be_waived_but_a_wrong_name_cannot():
    bare = {"messages": live()["messages"]}
    assert faults(bare, need_tools=False) == []
    assert faults({**live(), "tools": [{"name": "other"}]}, need_tools=False)
    prompt = {**live(), "messages": live()["messages"][:2]}
    assert faults(prompt, final_assistant=False) == []
    assert faults(prompt) != []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "role content tool_calls tool_call_id id name function arguments messages tools type text".split()
            )
            | st.integers(),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(anything)
def test_nothing_makes_it_raise(value):
    for row in (value, {"messages": value}, {"messages": [value]}, {**live(), "tools": value}):
        assert all(isinstance(f, Fault) for f in faults(row))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_good_row_with_one_part_replaced_by_anything_is_judged_without_raising(data):
    row = live()
    message = data.draw(st.sampled_from(row["messages"]))
    target = data.draw(st.sampled_from([message, *message.get("tool_calls", [])]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(anything)
    assert isinstance(faults(row), list)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(json_values)
def test_what_passes_as_json_comes_back_the_same(value):
    from whileai.core.files import dumps, loads

    assert not_json(value) is None
    assert loads(dumps(value)) == value


def test_the_row_is_not_changed():
    row = live()
    before = copy.deepcopy(row)
    faults(row)
    assert row == before
