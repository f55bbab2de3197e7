"""Pick the rows worth training on. Every gate says what it kept, what it dropped and why.

sft   passes only, sound and whole, so many an ask.
rl    tasks the agent solves some of the time: 20 to 80% of their tries, and asks whose tries differ in reward;
      a group with one reward has no advantage, so it teaches nothing (Shao et al., arXiv:2402.03300, section 4.1).
dpo   pairs of a pass and a fail within an ask; see whileai.selection.pairs.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from whileai.core import rows as core_rows
from whileai.core import seeds
from whileai.core.errors import InputError, UsageError
from whileai.core.locks import Lock, held_out_rows, lock_of, read_lock
from whileai.core.seeds import content_id
from whileai.selection import gates
from whileai.selection.gates import Ask, SelectionReport, Sieve
from whileai.selection.kinds import rows_of
from whileai.selection.pairs import pairs

MODES = ("sft", "rl", "dpo")
RULES = {
    "first": "the first passing tries in order",
    "best": "the highest reward, then the fewest messages, then the shortest text",
    "random": "a seeded draw",
}

HeldOut = Lock | str | os.PathLike[str] | Iterable[Mapping[str, Any]]


def pick(
    rows: Iterable[Mapping[str, Any]],
    *,
    mode: str = "sft",
    per_ask: int = 1,
    rule: str = "first",
    seed: int = 0,
    threshold: float = 1.0,
    band: tuple[float, float] = (0.2, 0.8),
    held_out: HeldOut | None = None,
    force: bool = False,
) -> tuple[list[Any], SelectionReport]:
    """The rows that pass every gate, in their order, and the report; in mode "dpo" pair rows.

    mode: sft, rl or dpo. per_ask: rows (dpo: pairs) kept of one ask. rule: which: first, best (sft only) or random.
    threshold: the reward that counts as a pass. band: the task pass rates kept in mode rl, both ends included.
    held_out: a lock, its path or held-out rows; rows that belong to it are refused, or with force=True kept.
    No rows give no rows.

    Raises UsageError for options that make no sense; InputError when no row is scored or a row is held out.
    """
    _check_options(mode, per_ask, rule, threshold, band)
    found = rows_of(rows)
    if held_out is not None and not force:
        _refuse_held_out(found, held_out)
    if mode == "dpo":
        return pairs(found, per_ask=per_ask, rule=rule, seed=seed, threshold=threshold)
    sieve = Sieve(found)
    gates.scored(sieve)
    if mode == "sft":
        _sft(sieve, per_ask, rule, seed, threshold)
        used = f"rule {rule}: {RULES[rule]}, {per_ask} an ask"
    else:
        _rl(sieve, threshold, band)
        used = f"tasks that pass {band[0]:.0%} to {band[1]:.0%} of their tries"
    kept = [row for _, row in sieve.rows]
    return kept, sieve.report(mode, len(kept), used)


def _check_options(mode: str, per_ask: int, rule: str, threshold: float, band: tuple[float, float]) -> None:
    if mode not in MODES:
        raise UsageError(f"mode={mode!r} is not known; use one of {', '.join(MODES)}")
    if rule not in RULES or (rule == "best" and mode == "dpo"):
        raise UsageError(
            f"rule={rule!r} is not known for mode {mode}; use one of {', '.join(RULES)} (dpo: first, random)"
        )
    if isinstance(per_ask, bool) or not isinstance(per_ask, int) or per_ask < 1:
        raise UsageError(f"per_ask={per_ask!r} keeps nothing; use 1 or more")
    if math.isnan(threshold) or not 0 <= band[0] <= band[1] <= 1:
        raise UsageError(f"threshold={threshold} or band={band} makes no sense; a band is two shares, low then high")


def _refuse_held_out(rows: list[Mapping[str, Any]], held_out: HeldOut) -> None:
    if isinstance(held_out, (str, os.PathLike)):
        held_out = read_lock(held_out)
    numbers = held_out_rows(rows, held_out if isinstance(held_out, Lock) else lock_of(rows_of(held_out, "held_out")))
    if numbers:
        raise InputError(
            f"{len(numbers)} of {len(rows)} rows are held out (first: row {numbers[0]}); training on them would make "
            "the proof worthless: decontaminate first, or pass force=True to keep them"
        )


def _sft(sieve: Sieve, per_ask: int, rule: str, seed: int, threshold: float) -> None:
    gates.passes(sieve, threshold)
    gates.sound(sieve)
    gates.whole(sieve)
    groups: dict[Ask, list[tuple[Any, int]]] = defaultdict(list)
    for number, row in sieve.rows:
        ask = gates.ask_of(row)
        groups[ask].append((_rank(rule, seed, ask, number, row), number))
    chosen = {number for group in groups.values() for _, number in sorted(group)[:per_ask]}
    sieve.gate(
        f"{per_ask} an ask", lambda number, _: None if number in chosen else f"{per_ask} of its ask kept already"
    )


def _rank(rule: str, seed: int, ask: Ask, number: int, row: Mapping[str, Any]) -> tuple[Any, ...]:
    place = gates.order_of(number, row)
    if rule == "random":
        return (seeds.integer("pick", seed, ask, *place[:2]), *place)
    if rule == "best":
        text = sum(len(core_rows.text_of(message.get("content"))) for message in row["messages"])
        return (-(core_rows.reward(row) or 0.0), len(row["messages"]), text, *place)
    return place


def _rl(sieve: Sieve, threshold: float, band: tuple[float, float]) -> None:
    seen: set[Any] = set()

    def again(_: int, row: Mapping[str, Any]) -> str | None:
        key = (gates.ask_of(row), row.get("run"), row.get("rollout_index"), content_id(row.get("messages")))
        if key in seen:
            return "the same rollout again"
        seen.add(key)
        return None

    sieve.gate("once", again)
    rates = _by(sieve, lambda row: gates.ask_of(row)[0], lambda row: bool(core_rows.passed(row, threshold)))
    shares = {task: sum(group) / len(group) for task, group in rates.items()}
    sieve.gate("band", lambda _, row: _outside(shares[gates.ask_of(row)[0]], band))
    gates.sound(sieve)
    gates.whole(sieve)
    rewards = _by(sieve, gates.ask_of, core_rows.reward)
    sieve.gate(
        "differ",
        lambda _, row: "all tries of its ask have one reward" if len(set(rewards[gates.ask_of(row)])) == 1 else None,
    )


def _outside(share: float, band: tuple[float, float]) -> str | None:
    if share < band[0]:
        return f"task passes less than {band[0]:.0%} of tries"
    return f"task passes more than {band[1]:.0%} of tries" if share > band[1] else None


def _by(
    sieve: Sieve, key: Callable[[Mapping[str, Any]], Any], value: Callable[[Mapping[str, Any]], Any]
) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = defaultdict(list)
    for _, row in sieve.rows:
        groups[key(row)].append(value(row))
    return groups
