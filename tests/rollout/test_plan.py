"""A budget buys exactly what it says, in an order that a bigger budget only extends."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.core.errors import InputError, UsageError
from whileai.rollout import plan

sizes = st.tuples(st.integers(1, 30), st.integers(1, 30)).map(lambda t: (max(t), min(t)))  # grid, pairwise
small = st.integers(1, 4)


def buy(every, pairwise, **options):
    return plan.buy(every, pairwise, lambda s, w: f"ask {s['number']} in wording {w}", **options)


def grid(n):
    return [{"tool": "get_order", "number": i} for i in range(n)]


@given(sizes, small, small, small, st.integers(1, 600))
def test_a_budget_is_spent_to_the_last_whole_ask_or_the_grid_is(size, phrasings, repeats, runs, budget):
    n, pairwise = size
    cost = repeats * runs
    if budget < cost:
        with pytest.raises(UsageError, match="does not buy one ask"):
            buy(grid(n), pairwise, phrasings=phrasings, repeats=repeats, budget=budget, runs=runs)
        return
    bought = buy(grid(n), pairwise, phrasings=phrasings, repeats=repeats, budget=budget, runs=runs)
    rollouts = list(bought.owed())
    assert len(rollouts) == len(bought) <= budget
    assert bought.spent or budget - len(bought) < cost
    assert not bought.spent or len(bought) == n * phrasings * cost
    assert len({item.key for item in rollouts}) == len(rollouts)


@given(sizes, small, st.integers(1, 150), st.integers(1, 150))
def test_a_bigger_budget_begins_with_the_cells_of_a_smaller_one(size, phrasings, one, other):
    n, pairwise = size
    little, big = (buy(grid(n), pairwise, phrasings=phrasings, repeats=1, budget=b) for b in sorted((one, other)))
    assert big.cells[: len(little.cells)] == little.cells


@given(sizes, small, small, small)
def test_situations_phrasings_and_repeats_mean_exactly_what_they_say(size, phrasings, repeats, runs):
    n, pairwise = size
    bought = buy(grid(n), pairwise, situations=n, phrasings=phrasings, repeats=repeats, runs=runs)
    asks = {(c.situation["number"], c.wording) for c in bought.cells}
    assert asks == {(s, w) for s in range(n) for w in range(phrasings)}
    assert len(bought) == n * phrasings * repeats * runs
    assert not bought.spent


def test_every_situation_comes_once_then_further_wordings_then_situations_beyond_the_array():
    bought = buy(grid(4), 2, phrasings=3, repeats=1, budget=100)
    order = [(c.situation["number"], c.wording) for c in bought.cells]
    assert order[:6] == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    assert order[6:] == [(2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2)]


def test_a_budget_caps_the_situations_wanted():
    bought = buy(grid(20), 5, situations=10, phrasings=2, repeats=3, budget=31)
    assert [(c.situation["number"], c.wording) for c in bought.cells] == [(i, 0) for i in range(10)]
    assert bought.text.endswith("the budget is spent, 1 left over because an ask costs 3")


def test_the_plan_says_in_one_line_what_was_bought_and_that_the_grid_is_spent():
    spent = buy(grid(6), 3, phrasings=2, repeats=4, budget=400)
    assert re.fullmatch(
        r"plan: 48 rollouts = 12 asks x 4 tries, over 6 situations in up to 2 wordings; "
        r"the grid is spent \(6 situations x 2 wordings\), 352 rollouts of the budget are left over; raise .*",
        str(spent),
    )
    exact = buy(grid(6), 3, repeats=4, budget=8)
    assert (
        str(exact) == "plan: 8 rollouts = 2 asks x 4 tries, over 2 situations in up to 1 wording; the budget is spent"
    )


def test_wanting_more_situations_than_the_tools_give_buys_all_and_says_so():
    bought = buy(grid(6), 3, situations=400, repeats=1)
    assert len(bought) == 6
    assert bought.spent
    assert "400 situations were wanted and these tools give 6" in bought.text


def test_without_budget_and_situations_the_pairwise_array_is_bought():
    assert len(buy(grid(9), 5, repeats=2, phrasings=2)) == 20


def rows(*cells):
    return [
        {"scenario_id": s, "wording": w, "rollout_index": i, "messages": [{"role": "user", "content": f"{s} {w}"}]}
        for s, w, i in cells
    ]


def test_pinning_repeats_the_same_asks_in_the_same_words_with_the_same_tries():
    pinned = plan.pin(rows(("b", 0, 0), ("b", 0, 1), ("a", 2, 0), ("b", 1, 3)))
    assert [(c.scenario_id, c.wording, c.tries, c.text) for c in pinned.cells] == [
        ("b", 0, (0, 1), "b 0"),
        ("a", 2, (0,), "a 2"),
        ("b", 1, (3,), "b 1"),
    ]
    assert "pinned by tasks=" in pinned.text


def test_repeats_given_with_pinned_tasks_means_that_many_tries_of_each_ask():
    assert [c.tries for c in plan.pin(rows(("a", 0, 0), ("b", 0, 0)), repeats=3).cells] == [(0, 1, 2)] * 2


def test_rows_of_a_file_without_wording_and_try_are_told_apart_by_their_words():
    held = [
        {"scenario_id": "a", "messages": [{"role": "user", "content": text}]} for text in ("one", "two", "one", "three")
    ]
    pinned = plan.pin(held)
    assert [(c.wording, c.text, c.tries) for c in pinned.cells] == [
        (0, "one", (0, 1)),
        (1, "two", (0,)),
        (2, "three", (0,)),
    ]


def test_pinning_nothing_silence_or_more_than_the_budget_is_refused():
    with pytest.raises(InputError, match="holds no rows"):
        plan.pin([])
    with pytest.raises(InputError, match="row 1 of tasks= has no user message"):
        plan.pin([{"scenario_id": "a", "messages": []}])
    with pytest.raises(UsageError, match="pins 2 rollouts and budget=1"):
        plan.pin(rows(("a", 0, 0), ("a", 0, 1)), budget=1)


def test_equal_plans_have_equal_digests_and_others_do_not():
    digests = {
        buy(grid(5), 3, repeats=r, phrasings=p, budget=b, runs=n).digest
        for r, p, b, n in [(1, 1, 4, 1), (1, 1, 4, 1), (2, 1, 4, 1), (1, 2, 4, 1), (1, 1, 5, 1), (1, 1, 4, 2)]
    }
    assert len(digests) == 5
