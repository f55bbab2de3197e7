"""Many rollouts: in order at any concurrency, and nothing that is finished is ever run twice."""

from __future__ import annotations

import json
import threading
import time

import pytest

from whileai.core.errors import InputError
from whileai.rollout import plan
from whileai.rollout.journal import Journal
from whileai.rollout.run import run

HEADER = {"seed": 0, "agent": "fake", "plan": "d1"}


def bought(asks=6, repeats=2):
    cells = tuple(plan.Cell(f"s{i}", None, 0, tuple(range(repeats)), f"ask {i}") for i in range(asks))
    return plan.Plan(cells, 1, "")


class Fake:
    """Counts what it ran; the row depends on nothing but what is owed."""

    def __init__(self, fails=(), dies_at=None, uneven=False):
        self.ran, self.fails, self.dies_at, self.uneven = [], set(fails), dies_at, uneven

    def __call__(self, owed):
        if self.dies_at is not None and len(self.ran) >= self.dies_at:
            raise KeyboardInterrupt
        self.ran.append(owed.key)
        if self.uneven:
            time.sleep(0.002 * (hash(owed.key) % 4))
        scenario, wording, index, number = owed.key
        return {
            "scenario_id": scenario,
            "wording": wording,
            "rollout_index": index,
            "run": number,
            "messages": [{"role": "user", "content": f"{scenario}/{index} \u2603"}],
            "error": {"where": "agent", "type": "X", "message": ""} if owed.key in self.fails else None,
        }


@pytest.mark.parametrize("concurrency", [1, 2, 8, 50])
def test_rows_come_in_the_plans_order_and_each_once(concurrency):
    p, fake = bought(), Fake(uneven=True)
    rows = run(p, fake, concurrency=concurrency)
    assert [(r["scenario_id"], r["rollout_index"]) for r in rows] == [(o.key[0], o.key[2]) for o in p.owed()]
    assert sorted(fake.ran) == sorted(o.key for o in p.owed())


def test_concurrency_is_how_many_run_at_a_time():
    together, most, lock = [0], [0], threading.Lock()

    def one(owed):
        with lock:
            together[0] += 1
            most[0] = max(most[0], together[0])
        time.sleep(0.01)
        with lock:
            together[0] -= 1
        return Fake()(owed)

    run(bought(12), one, concurrency=3)
    assert 2 <= most[0] <= 3


@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_finished_file_is_the_rows_in_the_plans_order(tmp_path, concurrency):
    out = tmp_path / "rows.jsonl"
    rows = run(bought(), Fake(uneven=True), concurrency=concurrency, journal=Journal(out, HEADER))
    assert [json.loads(line) for line in out.read_bytes().splitlines()] == rows


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("torn", [b"", b'{"scenario_id":"s9","mess'])
def test_an_interrupted_run_goes_on_where_it_stopped_and_ends_as_if_never_interrupted(
    tmp_path, capsys, concurrency, torn
):
    out, whole = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    expected = run(bought(), Fake(), journal=Journal(whole, HEADER))
    first = Fake(dies_at=5)
    with pytest.raises(KeyboardInterrupt):
        run(bought(), first, concurrency=concurrency, journal=Journal(out, HEADER))
    assert "the same call goes on from there" in capsys.readouterr().err
    kept = {(r["scenario_id"], 0, r["rollout_index"], 1) for r in map(json.loads, out.read_bytes().splitlines())}
    with out.open("ab") as stream:
        stream.write(torn)
    second = Fake()
    assert run(bought(), second, concurrency=concurrency, journal=Journal(out, HEADER)) == expected
    assert out.read_bytes() == whole.read_bytes()
    assert not kept & set(second.ran)
    assert len(kept) + len(second.ran) == 12


def test_a_complete_journal_runs_nothing(tmp_path):
    out, fake = tmp_path / "rows.jsonl", Fake()
    first = run(bought(), Fake(), journal=Journal(out, HEADER))
    before = out.stat().st_mtime_ns
    assert run(bought(), fake, journal=Journal(out, HEADER)) == first
    assert fake.ran == []
    assert out.stat().st_mtime_ns == before


def test_failed_rows_are_tried_again_and_replaced(tmp_path):
    out, whole = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    run(bought(), Fake(), journal=Journal(whole, HEADER))
    failing = {("s1", 0, 0, 1), ("s5", 0, 1, 1)}
    run(bought(), Fake(fails=failing), journal=Journal(out, HEADER))
    again = Fake()
    run(bought(), again, journal=Journal(out, HEADER))
    assert set(again.ran) == failing
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("field", ["seed", "agent", "plan"])
def test_a_journal_of_another_run_is_refused_naming_the_field_that_differs(tmp_path, field):
    out = tmp_path / "rows.jsonl"
    run(bought(), Fake(), journal=Journal(out, HEADER))
    before = out.read_bytes()
    with pytest.raises(InputError, match=f"its {field} is .*, this call's is 'other'"):
        Journal(out, {**HEADER, field: "other"})
    assert out.read_bytes() == before


def test_a_file_that_no_run_began_is_never_written_into(tmp_path):
    out = tmp_path / "rows.jsonl"
    out.write_text('{"mine": 1}\n')
    with pytest.raises(InputError, match="no run of simulate began it"):
        Journal(out, HEADER)
    assert out.read_text() == '{"mine": 1}\n'


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="its folder must exist"):
        Journal(tmp_path / "gone" / "rows.jsonl", HEADER)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_bug_of_our_own_is_raised_not_swallowed(concurrency):
    def one(owed):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(bought(), one, concurrency=concurrency)
