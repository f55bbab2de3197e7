"""Missing answers: a failed or unscored row is not a zero, and must not be a way to win.

The delta is shown three ways: over scored rows only, with missing rows as zero, and beside the share answered. A
verdict stands only when it survives the worst case: every missing row of the winning arm lost, every missing row of the
other won.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whileai.core.results import Result
from whileai.stats.paired import Delta, Pair
from whileai.stats.tables import Table


@dataclass(frozen=True)
class Answered(Result):
    """Share of rows with a score in each arm, and the delta with missing rows as zero and at their worst.

    as_zero and worst_case are None when nothing is missing. worst_case fills against the direction of the delta.
    """

    before: float
    after: float
    rows_before: int
    rows_after: int
    missing_before: int
    missing_after: int
    as_zero: Delta | None = None
    worst_case: Delta | None = None

    @property
    def missing(self) -> int:
        return self.missing_before + self.missing_after


def answered(before: Table, after: Table) -> Answered:
    """The shares answered, from pooled counts."""
    rows = [int(t.rows.sum()) for t in (before, after)]
    scored = [int(t.n.sum()) for t in (before, after)]
    shares = [s / r if r else 0.0 for s, r in zip(scored, rows, strict=True)]
    return Answered(shares[0], shares[1], rows[0], rows[1], rows[0] - scored[0], rows[1] - scored[1])


def filled(counts: Table, value: float) -> Table:
    """The counts with every unscored row scored `value`."""
    missing = counts.rows - counts.n
    return Table(
        n=counts.rows,
        rows=counts.rows,
        total=counts.total + missing * value,
        square=counts.square + missing * value**2,
        passes=counts.passes + (missing if value == 1 else np.zeros_like(missing)),
    )


def threatened(shares: Answered, pair: Pair | None) -> str:
    """Why a verdict is withheld, for the report."""
    worst = pair.result if pair else None
    shown = (
        ""
        if worst is None or worst.lo is None or worst.hi is None
        else (f" {worst.delta:+.3f} [{worst.lo:+.3f}..{worst.hi:+.3f}]")
    )
    return (
        f"missing answers could undo it: {shares.missing_before} of {shares.rows_before} rows before and"
        f" {shares.missing_after} of {shares.rows_after} after have no score, and at worst the delta is{shown};"
        " score them, or run them again"
    )
