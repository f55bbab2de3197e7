"""Preference pairs within one ask: a pass that is preferred to a fail, on the same prompt.

The shared beginning of the two conversations is the prompt, tool results included, so that only what differs is
preferred or not (DPO has no mask for tool results). Source: Rafailov et al., arXiv:2305.18290.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from whileai.core import rows as core_rows
from whileai.core import seeds
from whileai.core.checks import Fault, faults
from whileai.core.errors import UsageError
from whileai.core.jsonable import is_list
from whileai.selection import gates
from whileai.selection.gates import Ask, SelectionReport, Sieve
from whileai.selection.kinds import rows_of
from whileai.selection.shapes import Conversation, conversation

Numbered = tuple[int, Mapping[str, Any]]


def pairs(
    rows: Iterable[Mapping[str, Any]], *, per_ask: int = 1, rule: str = "first", seed: int = 0, threshold: float = 1.0
) -> tuple[list[dict[str, Any]], SelectionReport]:
    """Pair rows ({"prompt", "chosen", "rejected"} and the ask's ids and tools), and what each gate kept and dropped.

    per_ask: at most so many pairs an ask, each of two rows used in no other. rule: "first" takes tries in order,
    "random" in a seeded order. A pair needs a reward of at least `threshold` on one side and less on the other, one
    prompt for both, and two different conversations. Raises InputError when rows are given and none is scored.
    """
    if rule not in ("first", "random"):
        raise UsageError(f"rule={rule!r} is not known for pairs; use first or random")
    sieve = Sieve(rows_of(rows))
    gates.scored(sieve)
    gates.sound(sieve)
    gates.whole(sieve)
    sides = _sides(sieve, threshold)
    sieve.gate(
        "both sides", lambda _, row: None if all(sides[gates.ask_of(row)]) else "the ask has no pass and fail to pair"
    )
    made: list[dict[str, Any]] = []
    used: set[int] = set()
    for ask, (good, bad) in sides.items():
        made += _of_one_ask(_ordered(good, rule, seed, ask), _ordered(bad, rule, seed, ask), per_ask, used)
    sieve.gate(
        "paired", lambda number, _: None if number in used else f"over {per_ask} a side, or no partner that differs"
    )
    return made, sieve.report("dpo", len(made), f"rule {rule}, at most {per_ask} an ask")


def _sides(sieve: Sieve, threshold: float) -> dict[Ask, tuple[list[Numbered], list[Numbered]]]:
    sides: dict[Ask, tuple[list[Numbered], list[Numbered]]] = defaultdict(lambda: ([], []))
    for number, row in sieve.rows:
        sides[gates.ask_of(row)][0 if core_rows.passed(row, threshold) else 1].append((number, row))
    return sides


def _ordered(rows: list[Numbered], rule: str, seed: int, ask: Ask) -> list[Numbered]:
    if rule == "random":
        return sorted(rows, key=lambda item: seeds.integer("pair", seed, ask, *gates.order_of(*item)[:2]))
    return sorted(rows, key=lambda item: gates.order_of(*item))


def _of_one_ask(good: list[Numbered], bad: list[Numbered], per_ask: int, used: set[int]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for number, chosen in good:
        for other, rejected in bad:
            pair = None if other in used or len(made) >= per_ask else _pair(chosen, rejected)
            if pair is not None:
                used |= {number, other}
                made.append(pair)
                break
    return made


def _pair(chosen: Mapping[str, Any], rejected: Mapping[str, Any]) -> dict[str, Any] | None:
    """The pair row, or None when the two were not given the same prompt, or went on in the same way."""
    good, bad = conversation(chosen), conversation(rejected)
    shared = _shared(good, bad)
    asked = any(m["role"] == "user" for m in good[:shared])
    starts = {good[shared]["role"], bad[shared]["role"]}
    if not asked or starts != {"assistant"} or [*map(_bare, good[shared:])] == [*map(_bare, bad[shared:])]:
        return None
    kept = {key: chosen[key] for key in ("scenario_id", "task_id", "wording", "tools", "situation") if key in chosen}
    rewards = {"chosen_reward": core_rows.reward(chosen), "rejected_reward": core_rows.reward(rejected)}
    return {**kept, "prompt": good[:shared], "chosen": good[shared:], "rejected": bad[shared:], **rewards}


def _shared(good: Conversation, bad: Conversation) -> int:
    """How many messages are the same, cut back to where no call waits for its result; each side keeps one."""
    same = 0
    while same < min(len(good), len(bad)) - 1 and _bare(good[same]) == _bare(bad[same]):
        same += 1
    while same and (good[same]["role"] == "tool" or bad[same]["role"] == "tool"):
        same -= 1
    return same


def _bare(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without its ids: two tries number their calls as they like."""
    bare = {key: value for key, value in message.items() if key not in ("tool_call_id", "tool_calls")}
    return {**bare, "calls": [(c["name"], c["arguments"]) for c in message.get("tool_calls", [])]}


def pair_fault(row: Any) -> Fault | None:
    """The first defect of a pair row (prompt, chosen, rejected), or None."""
    if not isinstance(row, Mapping) or not all(is_list(row.get(part)) for part in ("prompt", "chosen", "rejected")):
        return Fault("it is no pair of conversations", "store prompt, chosen and rejected as lists of messages")
    for part in ("chosen", "rejected"):
        if not row[part]:
            return Fault(f"{part} is empty", "store the assistant's messages")
        found = faults({**row, "messages": [*row["prompt"], *row[part]]})
        if found:
            return Fault(f"prompt and {part}: {found[0].fault}", found[0].mend)
    return None


def pair_parts(
    row: Mapping[str, Any], system_prompt: str | None = None
) -> tuple[Conversation, Conversation, Conversation]:
    """Prompt, chosen and rejected of a pair row in the live shape; system_prompt as in `shapes.conversation`."""
    good, bad = (
        conversation({**row, "messages": [*row["prompt"], *row[part]]}, system_prompt)
        for part in ("chosen", "rejected")
    )
    split = len(good) - len(row["chosen"])
    return good[:split], good[split:], bad[split:]
