"""Asks say what is wanted with the values to do it, read differently, and never copy each other."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from rapidfuzz import fuzz, process

from whileai.world.clauses import CLAUSES, DETAILS, DO, GREETINGS, HISTORIES, LOOK, MINE, TERSE_DO, TERSE_LOOK
from whileai.world.phrasings import phrasing, spoken
from whileai.world.situations import NO_ID, STANCES, situations
from whileai.world.tools import tool


@tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""


@tool
def refund_order(order_id: str, amount: float, reason: str = "late") -> dict:
    """Refund an order."""


@tool
def get_weather(city: str, days: int = 1) -> dict:
    """Weather."""


@tool
def update_order_address(order_id: str, address: str, urgent: bool = False) -> dict:
    """Move an order."""


@tool
def send_email(to: str, subject: str, body: str) -> dict:
    """Send."""


@tool
def list_orders() -> dict:
    """All."""


@tool
def tag_items(skus: list[str], labels: dict[str, str]) -> dict:
    """Tag."""


TOOLS = [get_order, refund_order, get_weather, update_order_address, send_email, list_orders, tag_items]


def asks(made, n, wordings, seed=0):
    schemas = [made.schema]
    grid = situations(schemas, seed)
    return [(i, grid[i], phrasing(grid[i], schemas, w, seed)) for i in range(n) for w in range(wordings)]


@pytest.mark.parametrize("made", TOOLS, ids=lambda t: t.name)
def test_an_ask_has_six_to_forty_words_and_every_value_verbatim(made):
    for _, situation, text in asks(made, 104, 3):
        assert 6 <= len(text.split()) <= 40
        unsaid = situation.get("unsaid", [])
        for name, value in situation["values"].items():
            said = spoken(value)
            assert (said in text) == (name not in unsaid), (name, value, text)
        assert not re.search(r"[{}]|  |\.\.|^[a-z]", text) or situation["stance"] == "terse", text


def test_an_ask_without_an_id_names_no_id_at_all():
    left_out = [text for _, s, text in asks(get_order, 104, 4) if s["stance"] == NO_ID]
    assert len(left_out) == 40
    assert not any(re.search(r"\bORD-\d+\b", text) for text in left_out)
    said = [(s["values"]["order_id"], text) for _, s, text in asks(get_order, 104, 4) if s["stance"] != NO_ID]
    assert all(re.findall(r"\bORD-\d+\b", text) == [order] for order, text in said)


@pytest.mark.parametrize("made", TOOLS, ids=lambda t: t.name)
def test_eight_wordings_of_one_situation_are_eight_texts(made):
    for _, group in itertools.groupby(asks(made, 40, 8), key=lambda ask: ask[0]):
        assert len({text for _, _, text in group}) == 8


def test_the_same_arguments_give_the_same_words_in_any_order():
    first = [text for *_, text in asks(get_order, 30, 3)]
    schemas, grid = [get_order.schema], situations([get_order.schema], 0)
    again = {
        (i, w): phrasing(dict(reversed(grid[i].items())), schemas, w, 0) for w in (2, 0, 1) for i in range(29, -1, -1)
    }
    assert first == [again[i, w] for i in range(30) for w in range(3)]


def eight_grams(text):
    words = text.lower().split()
    return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}


def near_copies(asked):
    """Asks that another task's ask copies: 80% of the runs of 8 words, or 90% alike letter by letter."""
    where: dict = {}
    for place, (_, _, text) in enumerate(asked):
        for gram in eight_grams(text):
            where.setdefault(gram, []).append(place)
    found = set()
    for place, (task, _, text) in enumerate(asked):
        grams = eight_grams(text)
        counts: dict[int, int] = {}
        for gram in grams:
            for other in where[gram]:
                if asked[other][0] != task:
                    counts[other] = counts.get(other, 0) + 1
        if any(n >= 0.8 * len(grams) for n in counts.values()):
            found.add(place)
    texts = [text for *_, text in asked]
    alike = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=90, dtype=np.uint8)
    return found | {int(i) for i, j in zip(*np.nonzero(alike), strict=True) if asked[i][0] != asked[j][0]}


@pytest.mark.parametrize("made", [get_order, refund_order, get_weather, list_orders], ids=lambda t: t.name)
def test_asks_of_different_situations_are_not_near_copies(made):
    asked = asks(made, 104, 4)
    assert len(near_copies(asked)) <= len(asked) // 100


def test_a_thousand_asks_are_not_near_copies():
    assert len(near_copies(asks(get_order, 1000, 1))) <= 3


def test_the_copy_check_of_this_test_sees_a_copy():
    asked = asks(get_order, 3, 1)
    asked.append((99, None, asked[0][2].replace("I ", "We ", 1)))
    assert {0, 3} <= near_copies(asked)


def test_no_clause_has_eight_words_in_a_row_without_a_circumstance():
    frames = [*LOOK, *TERSE_LOOK, *DO, *TERSE_DO, *MINE, *GREETINGS, *DETAILS]
    for clause in [*frames, *itertools.chain(*CLAUSES.values()), *itertools.chain(*HISTORIES.values())]:
        assert all(len(run.split()) <= 7 for run in re.split(r"\{\w+\}", clause)), clause


def test_every_stance_but_the_one_without_an_id_has_clauses_of_its_own():
    assert set(CLAUSES) == set(STANCES) - {NO_ID}
