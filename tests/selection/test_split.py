"""A split never puts a task, or two tasks that ask the same, on both sides; a lock keeps it that way."""

from __future__ import annotations

import copy
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.core.errors import InputError, UsageError
from whileai.selection.split import check_lock, lock, read_lock, split


def row(task, ask=None, **more):
    asked = ask if ask is not None else f"ask of {task}"
    return {"scenario_id": task, "messages": [{"role": "user", "content": asked}], **more}


def many(n=60, tries=3):
    return [
        row(f"t{i:03d}", f"Where is ORD-{i}?", rollout_index=k, kind="ab"[i % 2])
        for i in range(n)
        for k in range(tries)
    ]


def tasks(rows):
    return {r["scenario_id"] for r in rows}


def test_the_wanted_number_of_tasks_is_held_out_and_every_row_is_on_one_side_in_order():
    rows = many()
    train, held = split(rows, 20, seed=1)
    assert len(tasks(held)) == 20
    assert not tasks(train) & tasks(held)
    assert sorted(map(id, train + held)) == sorted(map(id, rows))
    assert train == [r for r in rows if r["scenario_id"] in tasks(train)]


def test_forty_tasks_are_held_out_when_nothing_is_said():
    assert len(tasks(split(many())[1])) == 40


def test_the_same_seed_holds_out_the_same_tasks_in_any_order_and_another_seed_others():
    rows = many()
    shuffled = rows[:]
    random.Random(5).shuffle(shuffled)
    assert tasks(split(rows, 20)[1]) == tasks(split(shuffled, 20)[1])
    assert len({frozenset(tasks(split(rows, 20, seed=s)[1])) for s in range(5)}) == 5


def test_over_many_seeds_every_task_is_held_out_about_equally_often():
    rows = many(20, 1)
    counts = dict.fromkeys(tasks(rows), 0)
    for seed in range(400):
        for task in tasks(split(rows, 5, seed=seed)[1]):
            counts[task] += 1
    assert all(60 < n < 140 for n in counts.values()), counts  # 100 expected, sd 8.7


def test_tasks_with_an_identical_ask_stay_together_case_and_spaces_aside():
    rows = [row(f"t{i}", f"ask {i}") for i in range(10)]
    rows += [row("t0", "Where is  my order?"), row("t1", "where is my ORDER?"), row("t2", "ask 1")]
    for seed in range(30):
        held = tasks(split(rows, 4, seed=seed)[1])
        assert len(held & {"t0", "t1", "t2"}) in (0, 3)
        assert len(held) == 4


def test_a_share_holds_out_that_share_of_the_tasks():
    assert len(tasks(split(many(), share=0.25)[1])) == 15
    assert len(tasks(split(many(3), share=0.01)[1])) == 1


def test_each_stratum_keeps_its_share():
    rows = [row(f"t{i}", kind="rare" if i % 5 == 0 else "usual", situation={"stance": i % 2}) for i in range(50)]
    for key in ("kind", lambda r: r["kind"]):
        held = split(rows, 10, stratify=key, seed=3)[1]
        assert sorted(r["kind"] for r in held) == ["rare"] * 2 + ["usual"] * 8
    inside = split(rows, 10, stratify="situation.stance")[1]
    assert sum(r["situation"]["stance"] for r in inside) == 5


def test_numbers_that_make_no_sense_are_refused():
    for options in (
        {"share": 0.0},
        {"share": 1.0},
        {"holdout_tasks": 0},
        {"holdout_tasks": True},
        {"stratify": "kinds"},
    ):
        with pytest.raises(UsageError):
            split(many(), **options)
    with pytest.raises(InputError, match="40 tasks cannot be held out of 3"):
        split(many(3))
    with pytest.raises(InputError, match="ask the same thing"):
        split([row(f"t{i}", "same") for i in range(5)], 2)
    with pytest.raises(InputError, match="neither scenario_id nor task_id"):
        split([{"messages": []}], 1)
    with pytest.raises(InputError, match="0"):
        split([], 1)


class Kind:
    def __init__(self, rows):
        self.rows = list(rows)

    def __iter__(self):
        return iter(self.rows)


def test_the_kind_given_comes_back():
    train, held = split(Kind(many()), 20)
    assert isinstance(train, Kind)
    assert isinstance(held, Kind)
    assert len(tasks(held.rows)) == 20


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 20)), min_size=2, max_size=60),
    st.integers(1, 6),
    st.integers(0, 5),
)
def test_no_task_and_no_text_is_ever_on_both_sides(pairs, wanted, seed):
    rows = [row(f"t{t}", f"ask {a}") for t, a in pairs]
    before = copy.deepcopy(rows)
    try:
        train, held = split(rows, wanted, seed=seed)
    except InputError:
        return
    assert rows == before
    assert 0 < len(tasks(held)) <= wanted
    assert train
    assert not tasks(train) & tasks(held)
    texts = [{r["messages"][0]["content"] for r in side} for side in (train, held)]
    assert not texts[0] & texts[1]


def test_a_lock_refuses_a_locked_task_a_locked_text_and_an_exported_line(tmp_path):
    train, held = split(many(), 20)
    made = lock(held, tmp_path / "lock.json")
    assert len(made.tasks) == 20
    assert read_lock(tmp_path / "lock.json") == made
    assert "ORD-" not in (tmp_path / "lock.json").read_text()  # the test itself is not in the file
    check_lock(train, made)
    check_lock(train, tmp_path / "lock.json")
    text = held[0]["messages"][0]["content"]
    renamed = row("new", "  " + text.upper())
    line = {"messages": [{"role": "system", "content": "Help."}, {"role": "user", "content": text}], "tools": []}
    prompt = {"prompt": line["messages"], "completion": []}
    later = {"messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": text}]}
    parts = {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}
    for leak in (held[0], row(held[0]["scenario_id"], "x"), renamed, line, prompt, later, parts):
        with pytest.raises(InputError, match=r"1 of the training rows are held out \(row 2\)"):
            check_lock([train[0], leak], made)


def test_a_lock_that_was_edited_or_is_none_is_refused(tmp_path):
    path = tmp_path / "lock.json"
    lock(many(3), path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "tasks": content["tasks"][1:]}))
    with pytest.raises(InputError, match="was changed after it was locked"):
        read_lock(path)
    for text in ("", "[]", '{"tasks": 3}', "{}"):
        path.write_text(text)
        with pytest.raises(InputError, match="is not a lock file"):
            read_lock(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_lock(tmp_path / "none.json")
    with pytest.raises(InputError, match="protect nothing"):
        lock([], path)


def test_a_lock_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "lock.json"
    made = lock(many(3), path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        lock(many(4), path)
    assert read_lock(path) == made
    assert [p.name for p in tmp_path.iterdir()] == ["lock.json"]
