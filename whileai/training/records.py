"""From a training file to token rows: decoded once, checked, refused with a reason, never cut."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai.core import rows as core_rows
from whileai.core.checks import faults
from whileai.core.errors import InputError, RowError
from whileai.core.files import read_jsonl
from whileai.training.tokens import ChatFormat, Encoded


@dataclass(frozen=True)
class Record:
    """One training conversation: messages with dict arguments, and the tools the prompt shows."""

    number: int
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


def read_records(source: str | os.PathLike[str] | Iterable[Mapping[str, Any]]) -> list[Record]:
    """The conversations of a JSONL file or of rows, in order; arguments text is decoded here and nowhere after.

    Raises InputError when there are none, RowError naming the first broken row.
    """
    if isinstance(source, (str, os.PathLike)):
        name, rows = os.fspath(source), iter(read_jsonl(source))
    else:
        name, rows = "training rows", iter(source)  # type: ignore[arg-type]
    records = [_record(row, number, name) for number, row in enumerate(rows, 1)]
    if not records:
        raise InputError(
            f"{name} has no rows, so there is nothing to train on; select rows that passed and export them"
        )
    return records


def _record(row: Mapping[str, Any], number: int, source: str) -> Record:
    found = faults(row)
    if found:
        raise RowError(found[0].fault, mend=found[0].mend, row_number=number, source=source)
    prompt = core_rows.system_prompt(row)
    messages = [_decoded(m) for m in row["messages"]]
    if prompt and messages[0].get("role") != "system":
        messages.insert(0, {"role": "system", "content": prompt})
    return Record(number, messages, core_rows.tools(row))


def _decoded(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message with text content and, for a call, the live shape `{"id", "name", "arguments": dict}`."""
    plain = {"role": message.get("role"), "content": core_rows.text_of(message.get("content"))}
    plain.update({key: message[key] for key in ("name", "tool_call_id") if message.get(key)})
    calls = core_rows.message_calls(message)
    if calls:
        plain["tool_calls"] = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls]
    return plain


def encode_records(records: Sequence[Record], chat: ChatFormat, max_length: int) -> list[Encoded]:
    """Token rows with our mask. Raises RowError for a row the template hides, cuts short or leaves untrained."""
    encoded = []
    for record in records:
        row = chat.encode(record.messages, record.tools)
        fault, mend = _unfit(record, row, chat, max_length)
        if fault:
            raise RowError(fault, mend=mend, row_number=record.number, source="training file")
        encoded.append(row)
    return encoded


def _unfit(record: Record, row: Encoded, chat: ChatFormat, max_length: int) -> tuple[str, str]:
    if row.trained == 0:
        return "no token of it would be trained", "it needs at least one assistant turn"
    if len(row.input_ids) > max_length:
        return (
            f"it is {len(row.input_ids)} tokens long and max_length is {max_length}, so its end would be cut off",
            f"raise max_length to {len(row.input_ids)} or drop the row",
        )
    hidden = chat.hidden_parts(record.messages, record.tools, chat.render(record.messages, record.tools))
    if hidden:
        return (
            f"the chat template does not show {hidden[0][:60]!r}",
            "use a model whose template shows tools and results",
        )
    return "", ""
