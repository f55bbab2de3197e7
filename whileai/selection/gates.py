"""Gates: each keeps some rows, drops the rest, and says why. What was dropped can always be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai.core import rows as core_rows
from whileai.core.checks import faults
from whileai.core.errors import InputError, RowError
from whileai.core.locks import ask_digest, known_task
from whileai.core.results import Result

Row = Mapping[str, Any]
Ask = tuple[str, Any]
_CUT = ("length", "max_tokens", "turns")


@dataclass(frozen=True)
class Gate:
    """One gate: how many rows it kept and dropped, and the commonest reasons with their counts."""

    name: str
    kept: int
    dropped: int
    why: str

    def __str__(self) -> str:
        return f"  {self.name:<12s} {self.kept:>6d} kept {self.dropped:>6d} dropped" + (
            f"  ({self.why})" if self.why else ""
        )


@dataclass(frozen=True)
class Dropped:
    """A row that a gate dropped: its 1-based number in the rows given, the gate, the reason, the row itself."""

    row_number: int
    gate: str
    why: str
    row: Row = field(repr=False)


@dataclass(frozen=True)
class SelectionReport(Result):
    """What each gate kept and dropped. `n_kept` counts what came out (pairs in mode dpo); `rule` says how.

    `.dropped` holds every dropped row with its reason; it is left out of to_dict().
    """

    mode: str
    n_rows: int
    n_kept: int
    rule: str
    gates: tuple[Gate, ...]
    dropped: tuple[Dropped, ...] = field(repr=False)

    def __str__(self) -> str:
        what = "pairs made from" if self.mode == "dpo" else "kept of"
        head = f"select {self.mode}: {self.n_kept} {what} {self.n_rows} rows; {self.rule}"
        return "\n".join([head, *map(str, self.gates)])


class Sieve:
    """Rows on their way through the gates, in the order given, each with its 1-based number."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(enumerate(rows, 1))
        self.n_rows = len(self.rows)
        self.gates: list[Gate] = []
        self.dropped: list[Dropped] = []

    def gate(self, name: str, reason: Callable[[int, Row], str | None]) -> None:
        """Drop the rows for which `reason(number, row)` is a text."""
        kept, out = [], []
        for number, row in self.rows:
            why = reason(number, row)
            if why is None:
                kept.append((number, row))
            else:
                out.append(Dropped(number, name, why, row))
        counts = Counter(d.why for d in out).most_common()
        why = "; ".join(f"{text} x{n}" if len(counts) > 1 else text for text, n in counts[:3])
        self.gates.append(Gate(name, len(kept), len(out), why + ("; ..." if len(counts) > 3 else "")))
        self.rows, self.dropped = kept, self.dropped + out

    def report(self, mode: str, n_kept: int, rule: str) -> SelectionReport:
        """The report of all gates so far."""
        return SelectionReport(mode, self.n_rows, n_kept, rule, tuple(self.gates), tuple(self.dropped))


def score(number: int, row: Row) -> float | None:
    """The row's reward. Raises RowError with the row's number when it is no score at all."""
    try:
        return core_rows.reward(row)
    except InputError as error:
        raise RowError(str(error), row_number=number) from error


def scored(sieve: Sieve) -> None:
    """Drop rows without a reward. Raises InputError when there are rows and none has one."""
    sieve.gate("scored", lambda number, row: _unscored(row) if score(number, row) is None else None)
    if sieve.n_rows and not sieve.rows:
        raise InputError(
            f"none of the {sieve.n_rows} rows is scored, so there is no telling which to train on; grade them first"
        )


def _unscored(row: Row) -> str:
    if row.get("error"):
        return "the rollout failed"
    return f"not scored: {row['judge_status']}" if row.get("judge_status") else "not scored"


def passes(sieve: Sieve, threshold: float) -> None:
    """Drop rows whose reward is under the threshold."""
    sieve.gate("passes", lambda _, row: None if core_rows.passed(row, threshold) else f"reward under {threshold:g}")


def sound(sieve: Sieve) -> None:
    """Drop rows that no trainer could take; tools may still come with export."""

    def reason(_: int, row: Row) -> str | None:
        found = faults(row, need_tools=False)
        return found[0].fault if found else None

    sieve.gate("sound", reason)


def whole(sieve: Sieve) -> None:
    """Drop rows that ended because a limit was reached, not because the agent had finished."""
    sieve.gate(
        "whole", lambda _, row: f"cut off ({row['finish_reason']})" if row.get("finish_reason") in _CUT else None
    )


def ask_of(row: Row) -> Ask:
    """The ask a row answers: its task and wording; the text of the ask stands in for what is missing."""
    text = ask_digest(core_rows.ask(row))
    return known_task(row) or text, row.get("wording") if isinstance(row.get("wording"), int) else text


def order_of(number: int, row: Row) -> tuple[int, int, int]:
    """Where a row stands among the tries of its ask: run, try, then its place in the list."""
    run, index = row.get("run"), row.get("rollout_index")
    return run if isinstance(run, int) else 1, index if isinstance(index, int) else number, number
