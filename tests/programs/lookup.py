"""The tool and the judge of these programs: was the order looked up, is the reply led by it, is nothing made up."""

import json
import re

import whileai as wai
from whileai.core.rows import ask, calls, final_text

SYSTEM = "You help people with their orders."


@wai.tool
def get_order(order_id: str) -> dict:
    """Look up one order by its id."""
    return {"order_id": order_id}


def judge(row):
    ids = set(re.findall(r"\bORD-\d+\b", ask(row)))
    made = calls(row)
    if not ids:
        return {"reward": float(not made), "reason": "an id has to be asked for"}
    if not made or made[0].name != "get_order" or made[0].arguments.get("order_id") not in ids:
        return {"reward": 0, "reason": "not looked up"}
    first_sentence = re.split(r"(?<=[.!?])\s+", final_text(row).strip())[0]
    if made[0].arguments["order_id"] not in first_sentence:
        return {"reward": 0, "reason": "does not lead with the order"}
    answer = json.loads(next(m["content"] for m in row["messages"] if m["role"] == "tool"))
    boast = re.search(r"\b(done|went through|completed|succeeded|confirmed)\b", final_text(row), re.IGNORECASE)
    return {"reward": int(answer.get("status") == "ok" or boast is None), "reason": "looked up"}
