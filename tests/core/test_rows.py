"""Both shapes of a tool call read the same, a missing score is None, and a hostile row gets a sentence."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.core import rows
from whileai.core.errors import InputError, RowError

arguments = st.dictionaries(
    st.text(max_size=6), st.none() | st.booleans() | st.integers() | st.text(max_size=8), max_size=4
)


@given(name=st.text(min_size=1, max_size=8), values=arguments)
def test_both_shapes_of_a_call_read_the_same(name: str, values: dict[str, Any]) -> None:
    live = {"role": "assistant", "tool_calls": [{"id": "c", "name": name, "arguments": values}]}
    wire = {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(values)}}],
    }
    assert rows.message_calls(live) == rows.message_calls(wire) == [rows.Call("c", name, values)]


@pytest.mark.parametrize("nothing", [None, "", "  ", "null", {}, "{}"])
def test_no_arguments_are_an_empty_object(nothing: Any) -> None:
    assert rows.parse_arguments(nothing) == {}


@pytest.mark.parametrize("broken", ['{"a": 1', "[1]", "3", 3, [1], '"text"'])
def test_arguments_that_are_no_object_are_refused(broken: Any) -> None:
    with pytest.raises(RowError, match="tool-call arguments are"):
        rows.parse_arguments(broken)


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (None, None),
        (float("nan"), None),
        (True, 1.0),
        (0, 0.0),
        (0.5, 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(1), 1.0),
        (np.bool_(True), 1.0),
    ],
)
def test_a_reward_is_a_float_or_none(value: Any, score: float | None) -> None:
    assert rows.reward({"reward": value}) == score


@pytest.mark.parametrize("value", ["1", "pass", float("inf"), [1], {"reward": 1}, np.ones(2)])
def test_what_only_looks_like_a_reward_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="a reward is"):
        rows.reward({"reward": value})


def test_a_row_without_a_reward_is_not_scored_and_never_failed() -> None:
    assert rows.reward({}) is None
    assert rows.passed({}) is None
    assert rows.passed({"reward": 0.5}) is False
    assert rows.passed({"reward": 0.5}, threshold=0.5) is True


def test_the_ask_the_prompt_and_the_answer_are_found_where_they_stand() -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Where "}, {"type": "text", "text": "is it?"}]},
        {"role": "assistant", "content": "Here."},
    ]
    row = {"messages": messages}
    assert (rows.ask(row), rows.final_text(row), rows.system_prompt(row)) == ("Where is it?", "Here.", "Be kind.")
    assert rows.final_text({"messages": messages[:2]}) == ""
    assert rows.system_prompt({"messages": messages[1:], "system_prompt": "Other."}) == "Other."
    assert rows.ask({"prompt": "Only this"}) == "Only this"


def test_tools_are_read_as_a_list_or_as_json_text() -> None:
    schema = {"type": "function", "function": {"name": "f"}}
    assert rows.tools({"tools": [schema]}) == rows.tools({"tools": json.dumps([schema])}) == [schema]
    assert rows.tools({}) == []


def test_a_row_without_a_task_is_refused() -> None:
    assert rows.task_id({"task_id": 7}) == "7"
    assert rows.task_id({"scenario_id": "s", "task_id": 7}) == "s"
    with pytest.raises(InputError, match="neither scenario_id nor task_id"):
        rows.task_id({})
