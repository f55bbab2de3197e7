"""Data strings the stages together. Each method is one call into a stage; no stage knows Data.

The functions at the end are those stages for any rows, where the result should be Data and not a plain list.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, overload

from whileai.core import rows as core_rows
from whileai.core.errors import InputError
from whileai.core.files import load_jsonl, write_jsonl
from whileai.core.results import Result
from whileai.core.rows import Row
from whileai.grading import grade as grading
from whileai.grading.health import Health
from whileai.selection import export as exporting
from whileai.selection import overlap, picking
from whileai.selection import split as splitting
from whileai.selection.gates import SelectionReport
from whileai.stats import passat

Given = TypeVar("Given", bound=Iterable[Mapping[str, Any]])


@dataclass(frozen=True)
class Report(Result):
    """What happened to the rows so far: the plan's line, the judge's health, the gates of each later stage."""

    plan: str | None = None
    grading: Health | None = None
    selection: SelectionReport | None = None
    decontamination: overlap.Contamination | None = None

    def __str__(self) -> str:
        parts = (self.plan, self.grading, self.selection, self.decontamination)
        return "\n".join(str(part) for part in parts if part is not None)


class Data(Sequence[Row]):
    """Rows with what happened to them. Behaves as a sequence of rows; a slice is Data again.

    `rows` is a plain list; `report` says what was planned, how the judge did, and what each gate kept.
    """

    def __init__(
        self, rows: Iterable[Mapping[str, Any]], *, plan: str | None = None, report: Report | None = None
    ) -> None:
        self.rows: list[Row] = list(rows)  # type: ignore[arg-type]  # rows are checked where they are used
        self.report = report or Report(plan=plan)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Data: ...
    def __getitem__(self, index: int | slice) -> Row | Data:
        return self._with(self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __eq__(self, other: object) -> bool:
        return self.rows == other.rows if isinstance(other, Data) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # rows are dicts, so Data is no key

    def __repr__(self) -> str:
        return f"<Data: {self._summary()}>"

    def __str__(self) -> str:
        return "\n".join(filter(None, [self._summary(), str(self.report)]))

    def _summary(self) -> str:
        rewards = [r for r in map(core_rows.reward, self.rows) if r is not None]
        tasks = len({core_rows.task_id(row) for row in self.rows})
        parts = [f"{len(self)} rows over {tasks} tasks", f"{len(rewards)} scored"]
        if rewards:
            parts[-1] += f", mean reward {sum(rewards) / len(rewards):.3f}"
        failed = sum(row.get("error") is not None for row in self.rows)
        return ", ".join(parts + ([f"{failed} failed"] if failed else []))

    def _with(self, rows: Iterable[Mapping[str, Any]], **changes: Any) -> Data:
        return Data(rows, report=replace(self.report, **changes))

    @property
    def pass_at(self) -> passat.PassAt:
        """pass@1, pass^k, pass@k and headroom with their intervals; see whileai.pass_at for its options."""
        return passat.pass_at(self.rows)

    def grade(self, judge: grading.Judge) -> Data:
        """Score every row with `judge`; see whileai.grading.grade."""
        graded = grading.grade(self.rows, judge, stacklevel=3)
        return self._with(graded, grading=graded.health)

    def failures(self, threshold: float = 1.0) -> Data:
        """The scored rows whose reward is below `threshold`. Raises InputError when no row is scored."""
        passed = [core_rows.passed(row, threshold) for row in self.rows]
        if all(p is None for p in passed):
            raise InputError("no row is scored yet, so none is known to have failed; grade the rows first")
        return self._with(row for row, p in zip(self.rows, passed, strict=True) if p is False)

    def select(self, mode: str = "sft", **options: Any) -> Data:
        """The rows worth training on; its gates are in `.report.selection`. Options: whileai.selection.picking.pick."""
        return select(self, mode, **options)

    def split(self, holdout_tasks: int = 40, **options: Any) -> tuple[Data, Data]:
        """Training rows and held-out rows, whole tasks on one side. Options: whileai.selection.split.split."""
        return splitting.split(self, holdout_tasks, **options)

    def decontaminate(self, against: Iterable[Mapping[str, Any]]) -> tuple[Data, overlap.Contamination]:
        """The rows that copy no row of `against`, and what was dropped; see whileai.selection.overlap."""
        return decontaminate(self, against)

    def export(self, path: str | os.PathLike[str], *args: Any, **options: Any) -> exporting.ExportReport:
        """Write the rows as a training file; returns what was written. Options: whileai.selection.export.export."""
        return exporting.export(self.rows, path, *args, **options)

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write the rows, as they are, to a JSONL file (".gz" is compressed); returns how many."""
        return write_jsonl(path, self.rows)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Data:
        """Read rows from a JSONL file that save, simulate(out=) or a training run wrote."""
        return cls(load_jsonl(path))


def load(path: str | os.PathLike[str]) -> Data:
    """Read rows from a JSONL file (".gz" is decompressed, "-" is standard input)."""
    return Data.load(path)


def as_data(rows: Iterable[Mapping[str, Any]]) -> Data:
    """Data as it is, other rows made Data."""
    return rows if isinstance(rows, Data) else Data(rows)


def grade(rows: Iterable[Mapping[str, Any]], judge: grading.Judge) -> Data:
    """Score every row with `judge`; see whileai.grading.grade.grade for what a judge may return."""
    graded = grading.grade(rows, judge, stacklevel=3)
    return as_data(rows)._with(graded, grading=graded.health)


def select(rows: Iterable[Mapping[str, Any]], mode: str = "sft", **options: Any) -> Data:
    """The rows worth training on; its gates are in `.report.selection`. Options: whileai.selection.picking.pick."""
    given = as_data(rows)
    kept, report = picking.pick(given, mode=mode, **options)
    return given._with(kept, selection=report)


def decontaminate(rows: Given, against: Iterable[Mapping[str, Any]]) -> tuple[Given, overlap.Contamination]:
    """The rows that copy no row of `against`, as the kind that was given, and what was dropped.

    See whileai.selection.overlap for what counts as a copy.
    """
    kept, report = overlap.decontaminate(rows, against)
    if isinstance(kept, Data):
        kept.report = replace(kept.report, decontamination=report)
    return kept, report
