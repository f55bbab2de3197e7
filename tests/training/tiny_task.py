"""A small order desk: conversations a tiny model learns in seconds, and held-out asks for it."""

from __future__ import annotations

import itertools
import json
from typing import Any

TOOL = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "Look up an order.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    },
}
SYSTEM = "Help."
_IDS = [f"ORD-{n}" for n in range(11, 41)]
_ASKS = ("Where is {}?", "Has {} shipped?", "Look up {}.", "What about {}?", "I need {} today.", "Is {} late?")


def conversation(order: str, wording: int) -> dict[str, Any]:
    """One right conversation as a live row."""
    state = json.dumps({"status": "ok", "order_id": order, "state": "shipped"})
    call = {"id": "call_1", "name": "get_order", "arguments": {"order_id": order}}
    return {
        "scenario_id": f"{order}:{wording}",
        "wording": 0,
        "tools": [TOOL],
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": _ASKS[wording].format(order)},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "name": "get_order", "content": state},
            {"role": "assistant", "content": f"{order} is shipped."},
        ],
    }


def split() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(training rows, held-out rows): every sixth pair of id and wording is held out."""
    pairs = list(itertools.product(_IDS, range(len(_ASKS))))
    held = {(order, (n * 5 + 1) % len(_ASKS)) for n, order in enumerate(_IDS)}
    rows = {pair: conversation(*pair) for pair in pairs}
    return [rows[p] for p in pairs if p not in held], [rows[p] for p in pairs if p in held]


def judge(row: dict[str, Any]) -> float:
    """1 when the order that was asked about was looked up and the reply leads with it."""
    asked = next(m["content"] for m in row["messages"] if m["role"] == "user")
    called = [c for m in row["messages"] for c in m.get("tool_calls") or []]
    if len(called) != 1 or called[0]["name"] != "get_order":
        return 0.0
    order = str(called[0]["arguments"].get("order_id"))
    return float(order in _IDS and order in asked and row["messages"][-1]["content"].startswith(order))


def texts() -> list[str]:
    """What the tiny tokenizer learns its merges from: the conversations as a prompt shows them."""
    frame = "system\nuser\nassistant\ntool\n<tools></tools><tool_call></tool_call><tool_response></tool_response>"
    hint = 'To use a tool, answer with <tool_call>{"name": ..., "arguments": {...}}</tool_call>.'
    lines = [json.dumps(TOOL["function"]) + hint + frame]
    for row in split()[0]:
        parts = [m["content"] for m in row["messages"]]
        call = row["messages"][2]["tool_calls"][0]
        parts[2] = f"<tool_call>{json.dumps({'name': call['name'], 'arguments': call['arguments']})}</tool_call>"
        lines.append("\n".join([*parts, hint, json.dumps(TOOL["function"])]))
    return lines
