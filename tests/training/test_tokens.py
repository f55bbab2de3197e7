"""What is trained is what the assistant wrote, what is sampled can be read back, and nothing is hidden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tiny_task
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.core.errors import InputError
from whileai.core.rows import message_calls
from whileai.models.local import load
from whileai.training.tokens import IGNORED, ChatFormat


@pytest.fixture(scope="module")
def chat(untrained: Path) -> ChatFormat:
    return ChatFormat(load(str(untrained)).tokenizer)


def decode(chat: ChatFormat, ids: list[int]) -> str:
    return str(chat.tokenizer.decode(ids, skip_special_tokens=False))


def test_the_trained_tokens_are_the_assistants_words_and_their_stop_token(chat: ChatFormat) -> None:
    row = tiny_task.conversation("ORD-12", 0)
    encoded = chat.encode(row["messages"], row["tools"])
    trained = decode(chat, [label for label in encoded.labels if label != IGNORED])
    call = '<tool_call>{"name": "get_order", "arguments": {"order_id": "ORD-12"}}</tool_call><|im_end|>'
    assert trained == call + "ORD-12 is shipped.<|im_end|>"
    assert decode(chat, encoded.input_ids) == chat.render(row["messages"], row["tools"])


def test_our_mask_is_the_templates_own_generation_mask(chat: ChatFormat) -> None:
    row = tiny_task.conversation("ORD-12", 0)
    wire = [dict(m) for m in row["messages"]]
    found = chat.tokenizer.apply_chat_template(
        wire, tools=row["tools"], return_dict=True, return_assistant_tokens_mask=True
    )
    encoded = chat.encode(row["messages"], row["tools"])
    assert found["input_ids"] == encoded.input_ids
    assert found["assistant_masks"] == [int(label != IGNORED) for label in encoded.labels]


def test_the_prompt_of_each_turn_is_a_prefix_of_the_training_row(chat: ChatFormat) -> None:
    row = tiny_task.conversation("ORD-12", 0)
    whole = chat.encode(row["messages"], row["tools"]).input_ids
    for turn in (2, 4):
        prompt = chat.prompt_ids(row["messages"][:turn], row["tools"])
        assert whole[: len(prompt)] == prompt


names = st.text(st.characters(categories=("Ll", "Lu", "Nd")), min_size=1, max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@given(name=names, arguments=st.dictionaries(names, values, max_size=4))
@settings(max_examples=80, deadline=None)
def test_a_rendered_call_reads_back_as_itself(chat: ChatFormat, name: str, arguments: dict[str, Any]) -> None:
    text = f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"
    if "</tool_call>" in json.dumps(arguments):
        return
    read = message_calls(chat.parse(text + "<|im_end|>"))
    assert [(c.name, c.arguments) for c in read] == [(name, arguments)]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>{not json}</tool_call>",
        "<tool_call>[1, 2]</tool_call>",
        '<tool_call>{"name": 3, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "x", "arguments": [1]}</tool_call>',
        "<tool_call>" + "[" * 5000 + "</tool_call>",
        '<tool_call>{"name": "x"',
    ],
)
def test_a_call_that_cannot_be_read_stays_in_the_content(chat: ChatFormat, text: str) -> None:
    message = chat.parse(text)
    assert "tool_calls" not in message
    assert message["content"] == text


def test_text_around_a_call_is_kept(chat: ChatFormat) -> None:
    message = chat.parse('Let me look. <tool_call>{"name": "a", "arguments": {}}</tool_call><|im_end|>')
    assert message["content"] == "Let me look."
    assert message["tool_calls"] == [{"name": "a", "arguments": {}}]


def test_a_part_the_prompt_does_not_show_is_named(chat: ChatFormat) -> None:
    row = tiny_task.conversation("ORD-12", 0)
    text = chat.render(row["messages"][:2], row["tools"])
    assert any("shipped" in part for part in chat.hidden_parts(row["messages"], row["tools"], text))
    assert chat.hidden_parts(row["messages"], row["tools"], chat.render(row["messages"], row["tools"])) == []


def test_a_template_that_hides_tools_is_replaced_only_where_chatml_exists(untrained: Path) -> None:
    tokenizer = load(str(untrained)).tokenizer
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    assert ChatFormat(tokenizer).own is False
    tokenizer.chat_template = None
    tokenizer.eos_token = "<|pad|>"
    with pytest.raises(InputError, match="hides tools"):
        ChatFormat(tokenizer)


def test_a_template_that_shows_tools_is_kept(untrained: Path) -> None:
    tokenizer = load(str(untrained)).tokenizer
    ours = ChatFormat(tokenizer)
    again = ChatFormat(tokenizer)
    assert again.own is True
    assert again.digest == ours.digest
