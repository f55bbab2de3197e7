"""Results read like a dict, are JSON, and are safe to show."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from whileai.core import errors
from whileai.core.errors import MissingExtra, RowError, WhileError
from whileai.core.extras import need
from whileai.core.results import Result


@dataclass(frozen=True)
class Inner(Result):
    value: float


@dataclass(frozen=True)
class Outer(Result):
    inner: Inner
    numbers: Any = field(default_factory=lambda: np.array([1.0, float("nan")]))
    label: str = "<script>"

    def __str__(self) -> str:
        return self.label


def test_a_result_reads_like_a_dict_and_like_an_object() -> None:
    result = Outer(Inner(0.5))
    assert result["label"] == result.label
    assert list(result) == ["inner", "numbers", "label"]
    assert dict(result)["inner"]["value"] == 0.5
    with pytest.raises(KeyError, match="it has inner, numbers, label"):
        result["missing"]
    with pytest.raises(AttributeError):
        result.label = "x"  # type: ignore[misc]


def test_a_result_is_json_with_no_nan() -> None:
    text = json.dumps(Outer(Inner(float("inf"))).to_dict(), allow_nan=False)
    assert json.loads(text) == {"inner": {"value": None}, "numbers": [1.0, None], "label": "<script>"}


def test_a_notebook_shows_it_escaped() -> None:
    assert Outer(Inner(0.5))._repr_html_() == "<pre>&lt;script&gt;</pre>"


def test_every_error_of_ours_is_also_one_of_pythons() -> None:
    own = [
        e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, WhileError) and e is not WhileError
    ]
    standard = (ValueError, TypeError, ImportError, RuntimeError)
    assert len(own) >= 8
    assert all(issubclass(e, standard) for e in own)
    assert {e.exit_code for e in own} == {2, 4, 5}


def test_a_row_error_says_which_row_what_is_wrong_and_the_mend() -> None:
    error = RowError("it has no messages", mend="drop it", row_number=3, source="a.jsonl")
    assert str(error) == "a.jsonl: row 3: it has no messages; drop it"


def test_a_missing_package_says_which_extra_brings_it() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'whileai\[train\]'"):
        need("no_such_package_at_all", "train")
    assert need("json", "train") is json
