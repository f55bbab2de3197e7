"""Labels of several raters as whole-number codes, with missing ones marked and never taken for a zero."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai.core.errors import InputError
from whileai.stats.intervals import Codes, Floats

Label = float | str  # what a rater says of one row: a number, a bool (as 0 or 1) or a category's name
MISSING = -1


def read_label(value: Any, source: str) -> Label | None:
    """One label: True and 1 are 1.0, text is stripped, None, NaN and blank text are missing (None).

    Raises InputError for infinities and for anything else than a number, a bool or text.
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # a NumPy or torch scalar
        value = value.item()
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip() or None
    if not isinstance(value, (bool, int, float)):
        raise InputError(
            f"{source}: {type(value).__name__} {str(value)[:40]!r} is no label; use a number, bool or text"
        )
    number = float(value)
    if math.isinf(number):
        raise InputError(f"{source}: a label is infinite, which is no category and no score; use a number or None")
    return None if math.isnan(number) else number


def read_labels(raters: Sequence[Iterable[Any]], names: Sequence[str]) -> tuple[Codes, list[Label]]:
    """Codes (raters, rows) into the sorted categories, MISSING where a rater said nothing.

    Raises InputError when the raters' lengths differ, nobody labelled anything, or text and numbers are mixed.
    """
    pairs = zip(raters, names, strict=True)
    read = [[read_label(value, f"{name}, row {i}") for i, value in enumerate(rater, 1)] for rater, name in pairs]
    lengths = {name: len(labels) for name, labels in zip(names, read, strict=True)}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise InputError(f"labels cannot be paired: {found}; give one per row in the same order, None where missing")
    seen: set[Label] = {label for labels in read for label in labels if label is not None}
    if not seen:
        raise InputError(f"{' and '.join(names)} hold no label at all; nothing can agree or disagree")
    texts, numbers = [c for c in seen if isinstance(c, str)], [c for c in seen if not isinstance(c, str)]
    if texts and numbers:
        raise InputError(
            f"labels mix text ({min(texts)!r}) and numbers ({min(numbers):g}), which would never agree;"
            " give every rater the same scale"
        )
    categories: list[Label] = [*sorted(numbers), *sorted(texts)]
    place = {category: code for code, category in enumerate(categories)}
    return np.array([[MISSING if c is None else place[c] for c in labels] for labels in read], np.int64), categories


def numeric(categories: Sequence[Label], why: str) -> Floats:
    """The categories as numbers. Raises InputError when they are text; `why` says what needs numbers."""
    if any(isinstance(category, str) for category in categories):
        raise InputError(f"{why} needs numbers, and the labels are text such as {str(categories[0])!r}; map them first")
    return np.array(categories, np.float64)


def read_numbers(values: Iterable[Any], source: str) -> Floats:
    """One number per row, NaN where missing. Raises InputError for text and infinities."""
    read = [read_label(value, f"{source}, row {i}") for i, value in enumerate(values, 1)]
    for i, label in enumerate(read, 1):
        if isinstance(label, str):
            raise InputError(f"{source}, row {i}: {label[:40]!r} is text, not a number; use a number, a bool or None")
    return np.array([math.nan if label is None else label for label in read], np.float64)


def same_length(**columns: Sequence[Any] | NDArray[Any] | None) -> None:
    """Raise InputError unless all columns that were given have one entry per row."""
    sizes = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{n} {name}" for name, n in sizes.items())
        raise InputError(f"columns of different length: {found}; give one entry per row, None where missing")


def task_codes(tasks: Sequence[Hashable] | None, keep: NDArray[Any], n: int) -> Codes | None:
    """Codes 0..G-1 of the kept rows' tasks; None when every row is its own task. Raises InputError on a wrong length.

    keep: (n,) boolean mask or indices into the n rows.
    """
    if tasks is None:
        return None
    if len(tasks) != n:
        raise InputError(f"{len(tasks)} tasks for {n} rows; give one task per row, in the same order")
    place: dict[Hashable, int] = {}
    codes = np.array([place.setdefault(task, len(place)) for task in tasks], np.int64)
    kept = np.unique(codes[keep], return_inverse=True)[1].astype(np.int64)
    return kept if kept.size > kept.max(initial=-1) + 1 else None
