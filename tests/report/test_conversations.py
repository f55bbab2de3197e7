"""Readers see the conversations that tell something, and nothing in them acts on the page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.report.conversations import chosen_tasks, paired_tasks, side_by_side, visible


def row(task, reward, index=0, text="ok", ask="Where is ORD-1?", **more):
    messages = [{"role": "user", "content": ask}, {"role": "assistant", "content": text}]
    return {"scenario_id": task, "messages": messages, "reward": reward, "rollout_index": index, **more}


@given(st.text(st.characters(exclude_categories=())))
def test_shown_text_has_no_control_character_escape_code_or_direction_override(text):
    shown = visible(text)
    hidden = set(shown) & {chr(c) for c in (*range(9), *range(0x0B, 0x20), 0x7F, 0x200B, 0x202E, 0x2066, 0xFEFF)}
    assert not hidden
    shown.encode("utf-8")  # no lone surrogate is left


def test_invisible_things_become_visible_marks():
    assert visible("a\x1b[31mred\u202eb\nc") == "a\\x1b[31mred\\u202eb\nc"


def test_a_megabyte_is_shown_by_its_beginning_and_the_rest_is_counted():
    shown = visible("x" * 1_000_000)
    assert len(shown) < 5000
    assert shown.endswith("(996,000 more characters)")


@pytest.mark.parametrize(("value", "shown"), [(None, ""), ([{"type": "text", "text": "hi"}], "hi"), (3, "3")])
def test_other_contents_are_shown_as_text(value, shown):
    assert visible(value) == shown


def test_tasks_are_paired_by_id_their_rates_ignore_unscored_rows_and_the_biggest_gain_is_first():
    before = [row("a", 0.0), row("a", None, 1), row("b", 1.0), row("c", None), row("only", 1.0)]
    after = [row("a", 1.0), row("a", 0.0, 1), row("b", 0.0), row("c", 1.0)]
    found = paired_tasks(before, after)
    assert [(t.label, t.before, t.after) for t in found] == [("a", 0.0, 0.5), ("b", 1.0, 0.0)]


def test_what_got_worse_is_shown_first_then_gains_then_what_still_fails():
    def arm(gains, worse, failing):
        return [row(f"g{i}", gains) for i in range(9)] + [row(f"w{i}", worse) for i in range(9)] + [row("f", failing)]

    found = paired_tasks(arm(0.0, 1.0, 0.0), arm(1.0, 0.0, 0.0))
    labels = [t.label[0] for t in chosen_tasks(found, 6)]
    assert labels == ["w", "w", "g", "g", "f", "g"]
    assert len({t.label for t in chosen_tasks(found, 6)}) == 6
    assert len(chosen_tasks(found[:3], 6)) == 3


def test_the_pair_shown_is_the_same_try_of_the_same_ask_and_moved_as_the_task_did():
    before = [row("a", 1.0, 0, "first"), row("a", 0.0, 1, "second")]
    after = [row("a", 1.0, 0, "third"), row("a", 1.0, 1, "fourth")]
    shown = side_by_side(paired_tasks(before, after)[0])
    assert [arm["messages"][0]["text"] for arm in shown["arms"]] == ["second", "fourth"]
    assert shown["arms"][0]["score"] == "reward 0"


def test_both_shapes_of_a_tool_call_are_shown_with_their_arguments():
    calls = [
        {"name": "get_order", "arguments": {"order_id": "ORD-1"}},
        {"function": {"name": "get_order", "arguments": '{"a": 1}'}},
    ]
    found = row("a", 1.0)
    found["messages"].insert(1, {"role": "assistant", "content": "", "tool_calls": calls})
    shown = side_by_side(paired_tasks([found], [found])[0])["arms"][0]["messages"][0]["calls"]
    assert shown == ['get_order({"order_id": "ORD-1"})', 'get_order({"a": 1})']
