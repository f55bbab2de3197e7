"""Every pair of axis values meets in the covering array, and beyond it nothing comes twice until the grid is spent."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from whileai.core.errors import InputError
from whileai.world.shapes import shapes
from whileai.world.situations import CONDITIONS, HISTORIES, NO_ID, STANCES, scenario_id, situations, states
from whileai.world.tools import Tool, tool

AXES = ("tool", "stance", "state", "condition", "history")


@tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""


@tool
def refund_order(order_id: str, amount: float, reason: str = "late") -> dict:
    """Refund an order."""


@tool
def find_order(order_id: str) -> dict:
    """Find an order."""


@tool
def list_orders() -> dict:
    """All orders."""


@tool
def set_mode(mode: bool) -> dict:
    """Set the mode."""


SETS = {
    "one": [get_order],
    "two": [get_order, refund_order],
    "no arguments": [list_orders],
    "mixed": [get_order, refund_order, list_orders, set_mode],
    "twelve": [get_order] + [Tool(f"get_order_{i}", "", get_order.parameters) for i in range(11)],
}


def schemas(name):
    return [t.schema for t in SETS[name]]


def placed(tools, situation):
    """A situation as values on the axes; tools about different things have different states, so theirs is a place."""
    shape = shapes([t.schema for t in tools])[situation["tool"]]
    return [(a, states(shape).index(situation[a]) if a == "state" else situation[a]) for a in AXES]


def legal_pairs(tools):
    """Every pair of axis values that some sensible combination holds, by brute force from the rule itself."""
    found = set()
    for t in tools:
        for values in itertools.product([t.name], STANCES, range(10), CONDITIONS, HISTORIES):
            if values[1] == NO_ID and (values[3] != "ok" or t.name in ("list_orders", "set_mode")):
                continue
            found |= set(itertools.combinations(zip(AXES, values, strict=True), 2))
    return found


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", [0, 7])
def test_the_array_covers_exactly_the_possible_pairs(name, seed):
    grid = situations(schemas(name), seed)
    covered = set()
    for situation in grid[: grid.pairwise]:
        covered |= set(itertools.combinations(placed(SETS[name], situation), 2))
    assert covered == legal_pairs(SETS[name])


@pytest.mark.parametrize("seed", range(4))
def test_one_tool_with_one_id_gives_about_a_hundred_situations(seed):
    grid = situations(schemas("one"), seed)
    assert 100 <= grid.pairwise <= 110
    assert grid.grid_size == 9 * 10 * 8 * 4 + 1 * 10 * 1 * 4


@pytest.mark.parametrize("name", ["one", "mixed"])
def test_the_grid_is_spent_without_a_repeat(name):
    grid = situations(schemas(name), 3)
    seen = [tuple(s[axis] for axis in AXES) for s in grid[: grid.grid_size]]
    assert len(set(seen)) == len(seen) == grid.grid_size


def test_beyond_the_grid_the_same_combinations_come_with_new_ids():
    grid = situations(schemas("one"), 3)
    first, second = grid[: grid.grid_size], grid[grid.grid_size : 2 * grid.grid_size]
    combos = [Counter(tuple(s[axis] for axis in AXES) for s in part) for part in (first, second)]
    assert combos[0] == combos[1]
    ids = [s["values"]["order_id"] for s in first + second]
    assert len(set(ids)) == len(ids)
    assert len({scenario_id(s) for s in first + second}) == len(ids)


def test_a_hundred_thousand_situations_can_be_had_and_no_task_twice():
    grid = situations(schemas("one"), 0)
    assert len(grid) >= 100_000
    sample = [grid[i] for i in range(0, len(grid), 37)]
    assert len({scenario_id(s) for s in sample}) == len(sample)


def test_tools_without_open_arguments_end_with_their_grid():
    for t in (list_orders, set_mode):
        grid = situations([t.schema], 0)
        assert len(grid) == grid.grid_size
    mixed = situations(schemas("mixed"), 0)
    assert {s["tool"] for s in mixed[mixed.grid_size : mixed.grid_size + 500]} == {"get_order", "refund_order"}


def test_any_order_of_asking_gives_the_same_situations():
    one, other = situations(schemas("two"), 5), situations(schemas("two"), 5)
    places = [0, 50, 103, 104, 5000, 5840, 5841, 20_000, 3, 200_000, 104]
    by_place = {i: other[i] for i in sorted(places)}
    assert [one[i] for i in places] == [by_place[i] for i in places]
    assert list(itertools.islice(one, 40)) == one[:40]


def test_the_seed_changes_order_and_ids():
    one, other = situations(schemas("one"), 1), situations(schemas("one"), 2)
    assert one[:20] != other[:20]
    ids = [{s["values"]["order_id"] for s in grid[:40]} for grid in (one, other)]
    assert ids[0] != ids[1]


@pytest.mark.parametrize("seed", range(6))
def test_a_beginning_of_sixteen_is_half_healthy_and_shows_every_failure(seed):
    conditions = Counter(s["condition"] for s in situations(schemas("one"), seed)[:16])
    assert conditions["ok"] == 8
    assert set(conditions) == set(CONDITIONS)
    assert max(n for c, n in conditions.items() if c != "ok") <= 2


def test_asks_without_an_id_are_spread_and_their_tool_is_healthy():
    first = situations(schemas("one"), 0)[:48]
    left_out = [i for i, s in enumerate(first) if s["stance"] == NO_ID]
    assert 5 <= len(left_out) <= 12
    assert all(first[i]["condition"] == "ok" and first[i]["unsaid"] == ["order_id"] for i in left_out)
    assert all("unsaid" not in s for s in first if s["stance"] != NO_ID)


def test_values_hold_every_required_argument_and_some_optional_ones():
    grid = situations([refund_order.schema], 0)[:60]
    assert all({"order_id", "amount"} <= set(s["values"]) for s in grid)
    assert 5 < sum("reason" in s["values"] for s in grid) < 50


def test_ends_of_the_sequence_behave_like_a_list():
    grid = situations(schemas("no arguments"), 0)
    assert grid[-1] == grid[len(grid) - 1]
    with pytest.raises(IndexError):
        grid[len(grid)]
    assert len(list(grid)) == len(grid)


def test_no_tools_are_refused():
    with pytest.raises(InputError, match="no tools"):
        situations([], 0)
