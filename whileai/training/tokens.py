"""From messages to token ids and back: the chat template, the mask, the parser, the stop token.

One object holds all four for a model and checks itself before anything is trained or measured, so
that what is trained is what is sampled and what is sampled can be read back.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from whileai.core.errors import InputError, RowError
from whileai.core.rows import Call, message_calls, text_of

IGNORED = -100  # the label PyTorch's cross-entropy skips
_TAGGED = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


@dataclass(frozen=True)
class Encoded:
    """One training row: token ids, and labels that equal them where the assistant wrote and IGNORED elsewhere."""

    input_ids: list[int]
    labels: list[int]

    @property
    def trained(self) -> int:
        """How many tokens carry loss."""
        return sum(label != IGNORED for label in self.labels)


class ChatFormat:
    """How one model's conversations are written and read. `own` says whether the model's own template is used."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.own = _shows_tools(tokenizer)
        if not self.own:
            tokenizer.chat_template = _tool_template(tokenizer)
        self.stop_text: str = tokenizer.eos_token
        self.stop_ids: list[int] = [tokenizer.eos_token_id]
        self._check_itself()

    @property
    def digest(self) -> str:
        """Hash of the template in use; two arms must share it."""
        return hashlib.sha256(str(self.tokenizer.chat_template).encode()).hexdigest()[:12]

    def render(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] = (), *, prompt: bool = False) -> str:
        """The conversation as text; `prompt` ends it where the assistant is to write."""
        wire = [_for_template(m) for m in messages]
        text = self.tokenizer.apply_chat_template(
            wire, tools=list(tools) or None, tokenize=False, add_generation_prompt=prompt
        )
        return str(text)

    def prompt_ids(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] = ()) -> list[int]:
        """Token ids up to the point where the assistant is to write."""
        return self._ids(self.render(messages, tools, prompt=True))

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def encode(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] = ()) -> Encoded:
        """Token ids and labels of a whole conversation: assistant turns and their stop token are trained, nothing else.

        Raises RowError when the template does not render the conversation turn by turn, so that no mask exists.
        """
        text = self.render(messages, tools)
        spans = self._spans(messages, tools, text)
        found = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        labels = []
        for token, (start, end) in zip(found["input_ids"], found["offset_mapping"], strict=True):
            inside = any(a <= start and end <= b for a, b in spans) and end > start
            labels.append(token if inside else IGNORED)
        return Encoded(list(found["input_ids"]), labels)

    def _spans(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], text: str) -> list[tuple[int, int]]:
        """Where in `text` each assistant turn stands, from after the prompt through its stop token."""
        spans = []
        for index, message in enumerate(messages):
            if message.get("role") != "assistant":
                continue
            before = self.render(messages[:index], tools, prompt=True)
            after = self.render(messages[: index + 1], tools)
            stop = after.rfind(self.stop_text)
            end = stop + len(self.stop_text)
            if not text.startswith(before) or text[:end] != after[:end] or stop < len(before):
                raise RowError(
                    "the chat template rewrites earlier turns, so what the assistant wrote cannot be marked",
                    mend="use a model whose template renders turn by turn, or end the row after its first answer",
                )
            spans.append((len(before), end))
        return spans

    def parse(self, text: str) -> dict[str, Any]:
        """The assistant message that `text` (as generated, stop token or not) stands for.

        A tool call that cannot be read stays in the content as it was written.
        """
        body = text.split(self.stop_text, maxsplit=1)[0]
        calls = [call for call in (_call(found) for found in _TAGGED.findall(body)) if call]
        if not calls and body.strip().startswith("{"):
            bare = _call(body.strip())
            calls = [bare] if bare else []
            body = "" if bare else body
        if not calls:
            return {"role": "assistant", "content": body.strip()}
        content = _TAGGED.sub(lambda m: "" if _call(m.group(1)) else m.group(0), body).strip()
        return {"role": "assistant", "content": content, "tool_calls": calls}

    def hidden_parts(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], text: str
    ) -> list[str]:
        """Tool names, argument values and results that the rendered `text` does not show ([] is what one wants)."""
        calls = [c for m in messages if m.get("role") == "assistant" for c in message_calls(m)]
        wanted = [str((t.get("function") or t).get("name")) for t in tools]
        wanted += [c.name for c in calls] + [leaf for c in calls for leaf in _leaves(c.arguments)]
        wanted += [
            text_of(m.get("content")).strip() for m in messages if m.get("role") in ("tool", "user", "assistant")
        ]
        return [part for part in dict.fromkeys(wanted) if part and not _visible(part, text)]

    def _check_itself(self) -> None:
        """Write a probe conversation and read it back; refuse a model whose format loses a call."""
        call = {"name": "look_up", "arguments": {"key": "QZ-17", "deep": {"n": [1, 2]}}}
        probe = _probe(call)
        text = self.render(probe, [_PROBE_TOOL])
        hidden = self.hidden_parts(probe, [_PROBE_TOOL], text)
        if hidden:
            raise InputError(
                f"this model's chat template does not show {hidden[0]!r}; a model that cannot see a tool cannot use it"
            )
        encoded = self.encode(probe, [_PROBE_TOOL])
        if encoded.labels[-1] == IGNORED and self.stop_ids[0] not in encoded.labels:
            raise InputError("the stop token is not among the trained tokens, so the model would never learn to stop")
        start = len(self.render(probe[:2], [_PROBE_TOOL], prompt=True))
        read = message_calls(self.parse(text[start : text.index(self.stop_text, start)]))
        if [(c.name, c.arguments) for c in read] != [(call["name"], call["arguments"])]:
            raise InputError(
                "this model writes tool calls in a form that is not understood here; use a ChatML or Hermes model"
            )


_PROBE_TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look a key up.",
        "parameters": {"type": "object", "properties": {"key": {"type": "string"}, "deep": {"type": "object"}}},
    },
}


def _probe(call: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look up QZ-17."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", **call}]},
        {"role": "tool", "tool_call_id": "call_1", "name": "look_up", "content": '{"found": "XK-93"}'},
        {"role": "assistant", "content": "It is XK-93."},
    ]


def _shows_tools(tokenizer: Any) -> bool:
    """Whether the model's own template renders tools, calls and results (some drop them without a word)."""
    if not tokenizer.chat_template:
        return False
    wire = [_for_template(m) for m in _probe({"name": "look_up", "arguments": {"key": "QZ-17"}})]
    try:
        text = tokenizer.apply_chat_template(wire, tools=[_PROBE_TOOL], tokenize=False)
    except Exception:  # a template may refuse roles with any exception of its own
        return False
    return all(part in text for part in ("Look a key up.", "look_up", '"QZ-17"', "XK-93"))


def _tool_template(tokenizer: Any) -> str:
    vocabulary = tokenizer.get_vocab()
    if "<|im_start|>" not in vocabulary or tokenizer.eos_token != "<|im_end|>":
        raise InputError(
            "this model's chat template hides tools, and it has no ChatML tokens for ours; "
            "pick a model that can show tools"
        )
    return resources.files("whileai.training").joinpath("tool_chat.jinja").read_text("utf-8")


def _for_template(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as chat templates want it: content text (never null), calls nested with dict arguments."""
    wire: dict[str, Any] = {"role": message.get("role"), "content": text_of(message.get("content"))}
    calls: list[Call] = message_calls(message) if message.get("role") == "assistant" else []
    if calls:
        wire["tool_calls"] = [
            {"type": "function", "id": c.id, "function": {"name": c.name, "arguments": c.arguments}} for c in calls
        ]
    for key in ("name", "tool_call_id"):
        if message.get(key):
            wire[key] = message[key]
    return wire


def _call(text: str) -> dict[str, Any] | None:
    """A tool call from its JSON text, or None. The text is a model's: it is parsed, never evaluated."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments", value.get("parameters"))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return {"name": value["name"], "arguments": arguments} if isinstance(arguments, dict) else None


def _leaves(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value if isinstance(value, str) else json.dumps(value)]


def _visible(part: str, text: str) -> bool:
    """Whether `part` stands in `text`, as it is or as a JSON string would hold it."""
    return part in text or json.dumps(part)[1:-1] in text or json.dumps(part, ensure_ascii=False)[1:-1] in text
