"""Draws belong to the item: the same on any machine, in any order, in any process."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from whileai.core import seeds

parts = st.lists(st.none() | st.booleans() | st.integers() | st.text(max_size=6), max_size=4)


def test_the_values_never_change() -> None:
    assert seeds.integer(0, "task", 1) == 9069900884595147794
    assert seeds.content_id({"b": 1, "a": [True, None]}) == seeds.content_id({"a": [True, None], "b": 1})


def test_another_process_with_another_hash_seed_draws_the_same() -> None:
    code = "from whileai.core import seeds; print(seeds.integer(3, {'x': 'ä'}), seeds.rng(1, 'a').random())"
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": h}, capture_output=True, text=True, check=True, cwd="."
        ).stdout
        for h in ("1", "2")
    }
    assert len(found) == 1


@given(parts, parts)
def test_other_parts_draw_another_number(one: list[object], other: list[object]) -> None:
    same = [type(a) is type(b) and a == b for a, b in zip(one, other, strict=False)]
    if len(one) != len(other) or not all(same):
        assert seeds.integer(*one) != seeds.integer(*other)


@given(parts)
def test_a_unit_draw_lies_in_the_unit_interval(values: list[object]) -> None:
    assert 0 <= seeds.unit(*values) < 1


def test_unit_draws_are_spread_evenly() -> None:
    draws = [seeds.unit("spread", n) for n in range(20_000)]
    counts = [sum(k / 10 <= d < (k + 1) / 10 for d in draws) for k in range(10)]
    assert all(abs(count - 2000) < 5 * (2000 * 0.9) ** 0.5 for count in counts)
