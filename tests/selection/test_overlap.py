"""Planted copies are found and shown with both texts; templates with other ids are not; rows come back whole."""

from __future__ import annotations

import copy
import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.core.errors import InputError
from whileai.selection.copies import Copies, Text
from whileai.selection.overlap import decontaminate

WORDS = """
battery blanket bridge candle carpet copper cotton desert dinner engine fabric forest garden guitar hammer harbor island
jacket kettle ladder lemon marble meadow mirror needle orange pepper pillow planet pocket rabbit ribbon river saddle
shadow silver spider summer ticket timber tunnel velvet violin walnut window winter wooden yellow zipper anchor
""".split()


def row(task, *asks, **more):
    messages = [{"role": "system", "content": "Help customers with orders."}]
    for ask in asks:
        messages += [{"role": "user", "content": ask}, {"role": "assistant", "content": "Yes."}]
    named = {} if task is None else {"scenario_id": task}
    return {
        **named,
        "system_prompt": "Help customers with orders.",
        "tools": [{"name": "f"}],
        "messages": messages,
        **more,
    }


def sentence(rng, n=14):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def rule(ask, held, **more):
    """The rule by which `ask` copies one of the held-out asks, or None."""
    asks = [held] if isinstance(held, str) else held
    _, report = decontaminate([row("t", ask, **more)], [row(f"h{i}", a) for i, a in enumerate(asks)])
    return report.dropped[0].rule if report.dropped else None


STORY = (
    "My grandmother ordered a blue ceramic teapot for our anniversary in Lisbon and the courier left it with a "
    "neighbour who moved away, so please tell me whether order ORD-1111 can be sent again before the party outside."
)
LONG_TEMPLATE = (
    "I have been waiting for two weeks now and nobody answers the phone, so please check {} and tell me what is going "
    "on with it, because I need it before the weekend and my patience is at an end, thank you very much indeed."
)


def test_a_held_out_task_is_dropped_whatever_it_says_and_the_rest_comes_back_untouched():
    rows = [row("a", "x"), row("b", "quite another thing", mine=[1]), row("c", "y")]
    before = copy.deepcopy(rows)
    kept, report = decontaminate(rows, against=[row("b", "held")])
    assert rows == before
    assert kept == [rows[0], rows[2]]
    assert kept[0] is rows[0]
    assert (report["n_contaminated"], report["n_kept"]) == (1, 2)
    only = report.dropped[0]
    assert (only.row_number, only.rule, only.score, only.task) == (2, "same task", 1.0, "b")
    assert (only.text, only.holdout_text, only.holdout_task) == ("quite another thing", "held", "b")


def test_the_same_ask_is_found_case_space_and_unicode_forms_aside():
    assert rule("WHERE is  my\nｏrder?", "Where is my order?") == "same ask"
    assert rule("Where are my orders, all of them?", "Where is my order?") is None


def test_a_copy_with_words_around_it_is_found_by_runs_of_eight():
    rng = random.Random(1)
    held = sentence(rng, 20)
    assert rule(f"{sentence(rng, 30)} {held} {sentence(rng, 30)}", held) == "8-gram"


def test_eighty_percent_of_the_runs_is_the_edge():
    rng = random.Random(2)
    words = rng.sample(WORDS, 27)  # twenty runs of eight
    tail = "one two three four five six".split()
    assert rule(" ".join([*tail, *words[:23]]), " ".join(words)) == "8-gram"  # sixteen of twenty
    assert rule(" ".join([*tail, *words[:22], *tail]), " ".join(words)) is None  # fifteen of twenty


def test_an_edited_copy_is_found_by_its_letters():
    held = "Could you please tell me whether the blue ceramic teapot was left with the neighbour yesterday"
    edits = [
        held.replace("blue", "bleu").replace("neighbour", "neighbor"),
        held.replace("please ", ""),
        held.replace("yesterday", "today"),
        held.replace("Could", "Would"),
        held + "?!",
    ]
    assert all(rule(edit, held) in ("8-gram", "edited copy") for edit in edits)
    assert rule(held.replace("tell", "teII").replace("left", "Ieft"), held) == "edited copy"


def test_an_opposite_of_few_words_is_no_copy():
    assert rule("Please enable the alarm at home", "Please disable the door at home") is None
    assert rule("Cancel my trip", "Cancel my trial") is None


def test_a_later_turn_that_copies_is_found_and_shown():
    held = "Could you please tell me whether the blue ceramic teapot was left with the neighbour"
    _, report = decontaminate([row("t", "Hello there", held)], [row("h", held, "thanks")])
    assert (report.dropped[0].rule, report.dropped[0].text) == ("same ask", held)
    assert decontaminate([row("t", "thanks")], [row("h", held, "thanks")])[1].n_contaminated == 0


@pytest.mark.parametrize(
    "template",
    [
        "Where is {}?",
        "Hi there, could you please look up {} for me and tell me when it is going to arrive?",
        LONG_TEMPLATE,
    ],
)
def test_a_template_with_another_id_is_no_copy_however_long_it_is(template):
    held = [row(f"h{i}", template.format(f"ORD-{1000 + i}")) for i in range(10)]
    train = [row(f"t{i}", template.format(f"ORD-{5000 + i}")) for i in range(50)]
    assert decontaminate(train, held)[1].n_contaminated == 0
    assert decontaminate(train, held[:1])[1].n_contaminated == 0  # the training side alone shows the template
    assert decontaminate([row("t", template.format("ORD-1003"))], held)[1].dropped[0].holdout_task == "h3"


def test_a_short_template_is_no_copy_even_when_it_comes_once():
    assert rule("Where is ORD-2?", "Where is ORD-1?") is None
    assert (
        rule("Hi, could you tell me where my order ORD-2 is?", "Hi, could you tell me where my order ORD-1 is?") is None
    )


def test_a_long_story_of_its_own_with_the_id_exchanged_is_a_copy():
    assert rule(STORY.replace("1111", "2222"), STORY) == "other ids"
    assert rule(STORY.replace("1111", "2222").replace("blue", "red"), STORY) == "other ids"
    half = STORY.split()[:18]
    assert (
        rule(" ".join(half) + " is what I said about ORD-2222 but then we talked of quite other things", STORY) is None
    )


def test_a_short_ask_that_names_an_id_is_found_inside_a_longer_text():
    assert rule("Hello again! Where is ORD-9237? I asked before.", "Where is ORD-9237?") == "8-gram"
    assert rule("Hello again! Where is ORD-9238? I asked before.", "Where is ORD-9237?") is None
    assert rule("Where is my order? I asked before and before that.", "Where is my") is None


def test_leaving_the_id_out_is_another_ask():
    asks = ["Could you look up my order ORD-9237 for me please?", "Could you look up my order for me please?"]
    assert rule(asks[0], asks[1]) is None
    assert rule(asks[1], asks[0]) is None


def test_a_template_with_another_name_in_it_is_no_copy():
    cities = "Paris Berlin Lisbon Dakar Quito Oslo Lima Rome Cairo Delhi".split()
    template = (
        "Could you please tell me what the weather is going to be like in {} on the day after tomorrow in the morning"
    )
    held = [row(f"h{i}", template.format(city)) for i, city in enumerate(cities)]
    train = [row(f"t{i}", template.format(city)) for i, city in enumerate("Bern Kyiv Doha Riga Baku".split())]
    assert decontaminate(train, held)[1].n_contaminated == 0
    assert decontaminate([row("t", template.format("Quito!"))], held)[1].n_contaminated == 1


def test_recall_and_precision_on_planted_copies_among_templates():
    rng = random.Random(7)
    held_asks = [f"{sentence(rng)} ORD-{1000 + i}" for i in range(100)]
    template = "Hi, my name is {} and I would like to know when order {} arrives at my place, thanks"
    held_asks += [template.format(rng.choice(WORDS), f"ORD-{3000 + i}") for i in range(100)]

    def edited(ask):
        words = ask.split()
        place = rng.randrange(len(words) - 1)
        if words[place].startswith("ORD"):
            place = 0
        words[place] = rng.choice([words[place][::-1], words[place] + "s", ""])
        return " ".join(filter(None, words))

    planted = [ask.upper() for ask in held_asks[::2]] + [edited(ask) for ask in held_asks[:100]]
    planted += [f"Good evening. {ask} Bye now." for ask in held_asks[1::2]]
    clean = [f"{sentence(rng)} ORD-{7000 + i}" for i in range(500)]
    clean += [template.format(rng.choice(WORDS), f"ORD-{9000 + i}") for i in range(500)]
    rows = [row(f"p{i}", ask) for i, ask in enumerate(planted)] + [row(f"c{i}", ask) for i, ask in enumerate(clean)]
    _, report = decontaminate(rows, [row(f"h{i}", ask) for i, ask in enumerate(held_asks)])
    found = {o.row_number for o in report.dropped}
    assert not {n for n in found if n > len(planted)}  # no false alarm
    assert len(found) >= 0.97 * len(planted)


def test_duplicates_inside_the_held_out_set_are_reported_once_with_the_effective_number():
    held = [row("a", STORY), row("a", "other words"), row("b", STORY), row("c", STORY.replace("teapot", "tea pot"))]
    held += [row("d", "Something else entirely"), row("d", "Something else entirely")]
    _, report = decontaminate([row("t", "x")], held)
    assert [(o.task, o.holdout_task, o.row_number) for o in report.holdout_duplicates] == [("b", "a", 3), ("c", "a", 4)]
    assert (report.n_holdout_tasks, report.n_effective) == (4, 2)
    assert "2 held-out asks copy another task's: 2 of 4 tasks ask something of their own" in str(report)


def test_rows_without_an_id_and_text_asks_are_judged_by_their_text():
    held = [{"messages": row(None, STORY)["messages"]}, {"prompt": "Where is my blue teapot?"}]
    kept, report = decontaminate([row(None, STORY), {"prompt": "where is my blue teapot?"}, row(None, "other")], held)
    assert len(kept) == 1
    assert [o.task for o in report.dropped] == [None, None]
    assert report.n_holdout_tasks == report.n_effective == 2


def test_the_report_is_sentences_and_goes_to_json():
    _, report = decontaminate([row("x", "a"), *[row(f"t{i}", STORY) for i in range(12)]], [row("h", STORY)])
    lines = str(report).splitlines()
    assert lines[0] == "decontaminate: 12 of 13 rows dropped (12 same ask), 1 kept; 1 held-out tasks"
    assert lines[1].startswith("  row 2 copies held-out task h (same ask, 1.00): 'My grandmother ordered")
    assert lines[-1] == "  ... and 2 more in .dropped"
    assert len(json.loads(json.dumps(report.to_dict()))["dropped"]) == 12


class Kind:
    def __init__(self, rows):
        self.rows = list(rows)

    def __iter__(self):
        return iter(self.rows)

    def _with(self, rows):
        return Kind(rows)


def test_the_kind_given_comes_back_and_nothing_to_compare_with_is_refused():
    kept, _ = decontaminate(Kind([row("a", "x"), row("h", "y")]), Kind([row("h", "z")]))
    assert isinstance(kept, Kind)
    assert len(kept.rows) == 1
    assert decontaminate([], [row("h", "z")])[0] == []
    with pytest.raises(InputError, match="no held-out rows"):
        decontaminate([row("a", "x")], [])
    with pytest.raises(InputError, match="item 2 is a str, not a row"):
        decontaminate([row("a", "x"), "b"], [row("h", "z")])
    with pytest.raises(InputError, match="against are a str"):
        decontaminate([], "holdout.jsonl")


def test_ids_are_words_with_a_digit_and_scripts_without_spaces_are_words_sign_by_sign():
    text = Text.of("Where’s ORD-9237, on 2024-05-01? Don't ask a.b@example.com")
    assert text.ids == {"ord-9237", "2024-05-01"}
    assert text.words == ("where’s", "ord-9237", "on", "2024-05-01", "don't", "ask", "a.b@example.com")
    assert text.blanked == ("where’s", "#", "on", "#", "don't", "ask", "a.b@example.com")
    assert (
        rule("你好,请帮我查一下我上周订购的蓝色茶壶在哪里,谢谢", "请帮我查一下我上周订购的蓝色茶壶在哪里") == "8-gram"
    )


def naive_share(ask, held):
    """The share of held's runs of eight in ask, all weights one: the rule without an index."""

    def runs(text):
        words = text.split()
        return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}

    return len(runs(held) & runs(ask)) / len(runs(held))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 30), st.integers(0, 30))
def test_with_one_held_out_ask_the_index_finds_exactly_what_the_rule_says(seed, start, length):
    rng = random.Random(seed)
    held = " ".join(rng.sample(WORDS, 30))
    ask = " ".join([*(f"x{c}" for c in "abcdefgh"), *held.split()[start : start + length], *"p q r s t u v w".split()])
    match = Copies([(held, "h")]).match(ask)
    assert (match is not None) == (naive_share(ask, held) >= 0.8)


texts = st.text(st.sampled_from("ab1 -é你?"), max_size=20)


@settings(max_examples=100, deadline=None)
@given(st.lists(texts, max_size=8), st.lists(texts, min_size=1, max_size=5))
def test_nothing_held_out_word_for_word_is_ever_kept_and_all_rows_are_accounted_for(asks, held):
    rows = [row(f"t{i}", ask) for i, ask in enumerate(asks)]
    kept, report = decontaminate(rows, [row(f"h{i}", ask) for i, ask in enumerate(held)])
    assert len(kept) + report.n_contaminated == len(rows)
    said = {" ".join(ask.casefold().split()) for ask in held} - {""}
    assert not [r for r in kept if " ".join(r["messages"][1]["content"].casefold().split()) in said]
    assert 1 <= report.n_effective <= report.n_holdout_tasks
    again, second = decontaminate(kept, [row(f"h{i}", ask) for i, ask in enumerate(held)])
    assert second.n_contaminated <= report.n_contaminated
    assert again == kept or report.n_contaminated > 0


def test_twenty_thousand_rows_against_a_thousand_take_a_fifth_of_the_time_a_hundred_thousand_may():
    rng = random.Random(0)
    templates = [sentence(rng, 12) + " {} " + sentence(rng, 4) for _ in range(60)]

    def ask():
        return rng.choice(templates).format(f"ORD-{rng.randrange(10**9)}") if rng.random() < 0.5 else sentence(rng, 20)

    held = [row(f"h{i}", ask()) for i in range(1000)]
    rows = [row(f"t{i}", ask()) for i in range(19_900)]
    rows += [row(f"p{i}", held[i]["messages"][1]["content"]) for i in range(100)]
    started = time.process_time()
    _, report = decontaminate(rows, held)
    assert time.process_time() - started < 4  # the whole is benchmarks/decontaminate.py
    assert report.n_contaminated == 100
