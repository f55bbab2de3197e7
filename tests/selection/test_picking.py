"""Every gate keeps what it should, says what it dropped and why, and nothing is lost between them."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.core.errors import InputError, RowError, UsageError
from whileai.selection.pairs import pairs
from whileai.selection.picking import pick
from whileai.selection.split import lock


def row(task="a", reward=1.0, answer="It is shipped.", **more):
    return {
        "scenario_id": task,
        "wording": 0,
        "rollout_index": 0,
        "reward": reward,
        "finish_reason": "stop",
        "mine": [1],
        "messages": [{"role": "user", "content": f"Where is {task}?"}, {"role": "assistant", "content": answer}],
        **more,
    }


def gates(report):
    return {gate.name: (gate.kept, gate.dropped) for gate in report.gates}


def test_sft_keeps_the_first_sound_pass_of_every_ask_as_it_was_given():
    rows = [
        row(reward=0.0),
        row(rollout_index=2, answer="second pass"),
        row(rollout_index=1, answer="first pass"),
        row(rollout_index=3, answer=""),
        row(rollout_index=0, answer="cut", finish_reason="length"),
        row("b", reward=None, judge_status="judge raised"),
        row("c", reward=True, wording=1),
        row("c", reward=1.5, wording=0),
        row("d", reward=0.99),
        row("e", reward=float("nan"), error={"where": "agent"}),
    ]
    before = copy.deepcopy(rows)
    kept, report = pick(rows)
    assert rows == before
    assert kept == [rows[2], rows[6], rows[7]]
    assert all(any(k is r for r in rows) for k in kept)
    assert gates(report) == {
        "scored": (8, 2), "passes": (6, 2), "sound": (5, 1), "whole": (4, 1), "1 an ask": (3, 1),
    }  # fmt: skip
    assert (report.n_rows, report.n_kept, report["mode"]) == (10, 3, "sft")


def test_the_report_prints_one_line_a_gate_with_the_reasons():
    _, report = pick([row(), row(reward=0.0), row("b", reward=None, judge_status="judge raised"), row("c", None)])
    lines = str(report).splitlines()
    assert lines[0] == "select sft: 1 kept of 4 rows; rule first: the first passing tries in order, 1 an ask"
    assert lines[1].split() == "scored 2 kept 2 dropped (not scored: judge raised x1; not scored x1)".split()
    assert lines[2].split() == "passes 1 kept 1 dropped (reward under 1)".split()
    assert len(lines) == 1 + len(report.gates)
    json.dumps(report.to_dict())


def test_dropped_holds_every_dropped_row_with_its_number_gate_and_reason():
    rows = [row(), row(reward=0.0), row(rollout_index=1), row("b", answer=" ")]
    _, report = pick(rows)
    assert [(d.row_number, d.gate) for d in report.dropped] == [(2, "passes"), (4, "sound"), (3, "1 an ask")]
    assert all(d.row is rows[d.row_number - 1] for d in report.dropped)
    assert "answer is empty" in report.dropped[1].why


def test_rows_that_never_carried_tools_pass_because_export_may_bring_them():
    call = {"id": "c", "name": "f", "arguments": {}}
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "{}"},
        {"role": "assistant", "content": "done"},
    ]
    assert pick([{"messages": messages, "reward": 1}])[1].n_kept == 1
    assert pick([{"messages": messages, "reward": 1, "tools": [{"name": "g"}]}])[1].n_kept == 0


def test_k_an_ask_and_the_rules():
    rows = [row(rollout_index=i, answer="x" * n) for i, n in enumerate([5, 3, 9, 1, 7])]
    rows.append(row(rollout_index=9, reward=2.0, answer="x" * 99))
    assert pick(rows, per_ask=2)[0] == rows[:2]
    assert pick(rows, rule="best")[0] == [rows[5]]
    assert pick(rows[:5], rule="best", per_ask=2)[0] == [rows[1], rows[3]]
    drawn = [rows.index(pick(rows, rule="random", seed=seed)[0][0]) for seed in range(60)]
    assert set(drawn) == set(range(6))
    assert pick(rows[::-1], rule="random", seed=4)[0] == pick(rows, rule="random", seed=4)[0]


def test_rows_without_ids_are_grouped_by_what_they_ask():
    bare = [{"messages": row(task)["messages"], "reward": 1.0} for task in "aab"]
    assert pick(bare)[0] == [bare[0], bare[2]]


def test_an_earlier_run_comes_first():
    rows = [row(run=2, rollout_index=0), row(run=1, rollout_index=5)]
    assert pick(rows)[0] == [rows[1]]


def test_nothing_scored_is_refused_and_nothing_at_all_gives_nothing():
    with pytest.raises(InputError, match="none of the 2 rows is scored"):
        pick([row(reward=None), {"messages": []}])
    kept, report = pick([])
    assert kept == []
    assert report.n_rows == 0


def test_a_reward_that_is_no_score_names_its_row():
    with pytest.raises(RowError, match="row 2: a reward is str 'good'"):
        pick([row(), row(reward="good")])


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "ppo"}, {"rule": "worst"}, {"per_ask": 0}, {"per_ask": True}, {"threshold": float("nan")},
        {"band": (0.8, 0.2)}, {"mode": "dpo", "rule": "best"},
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(UsageError):
        pick([row()], **options)


def test_held_out_rows_are_refused_unless_forced(tmp_path):
    held = [row("b")]
    lock(held, tmp_path / "lock.json")
    for given_lock in (held, tmp_path / "lock.json", str(tmp_path / "lock.json")):
        with pytest.raises(InputError, match=r"1 of 2 rows are held out \(first: row 2\)"):
            pick([row(), row("b")], held_out=given_lock)
        assert pick([row()], held_out=given_lock)[1].n_kept == 1
    assert pick([row(), row("b")], held_out=held, force=True)[1].n_kept == 2


def tries(task, rewards, **more):
    return [row(task, r, rollout_index=i, answer=f"answer {i}", **more) for i, r in enumerate(rewards)]


def test_rl_keeps_the_band_both_ends_included_and_drops_unanimous_asks():
    rows = [
        *tries("never", [0, 0, 0, 0, 0]),
        *tries("low", [1, 0, 0, 0, 0]),
        *tries("high", [1, 1, 1, 1, 0]),
        *tries("nine", [1] * 9 + [0]),
        *tries("mixed", [1, 1], wording=0),
        *tries("mixed", [1, 0], wording=1),
    ]
    kept, report = pick(rows, mode="rl")
    assert [(r["scenario_id"], r["wording"]) for r in kept] == [("low", 0)] * 5 + [("high", 0)] * 5 + [("mixed", 1)] * 2
    assert gates(report)["band"] == (14, 15)
    assert gates(report)["differ"] == (12, 2)
    assert "task passes less than 20% of tries x5" in str(report)
    assert len(pick(rows, mode="rl", band=(0.0, 1.0))[0]) == 5 + 5 + 10 + 2


def test_rl_drops_a_rollout_loaded_twice_but_not_two_tries_that_say_the_same():
    rows = [row(rollout_index=0), row(rollout_index=1), row(rollout_index=2, reward=0.0)]
    kept, report = pick([*rows, copy.deepcopy(rows[2])], mode="rl")
    assert kept == rows
    assert gates(report)["once"] == (3, 1)


def test_rl_counts_a_cut_try_in_the_pass_rate_before_it_drops_it():
    rows = [*tries("a", [1, 1]), *tries("b", [1, 0])]
    rows.append(row("a", 0.0, rollout_index=2, finish_reason="length"))
    kept, report = pick(rows, mode="rl")
    assert {r["scenario_id"] for r in kept} == {"b"}  # what is left of a is unanimous
    assert gates(report)["band"] == (5, 0)
    assert gates(report)["whole"] == (4, 1)


def talk(reward, found, answer, call_id="c1", task="a", **more):
    messages = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": f"Where is {task}?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": call_id, "name": "get", "arguments": {"id": task}}]},
        {"role": "tool", "tool_call_id": call_id, "name": "get", "content": found},
        {"role": "assistant", "content": answer},
    ]
    return row(task, reward, messages=messages, **more)


def test_a_pair_shares_its_prompt_tool_result_included_whatever_the_ids():
    good, bad = talk(1.0, '{"a":1}', "right"), talk(0.0, '{"a":1}', "wrong", call_id="x9")
    (pair,), report = pairs([good, bad])
    assert [m["role"] for m in pair["prompt"]] == ["system", "user", "assistant", "tool"]
    assert (pair["chosen"], pair["rejected"]) == (
        [{"role": "assistant", "content": "right"}],
        [{"role": "assistant", "content": "wrong"}],
    )
    assert (pair["scenario_id"], pair["chosen_reward"], pair["rejected_reward"]) == ("a", 1.0, 0.0)
    assert report.n_kept == 1


def test_a_pair_whose_tool_results_differ_starts_at_the_call():
    (pair,), _ = pairs([talk(1.0, '{"a":1}', "right"), talk(0.0, '{"a":2}', "wrong")])
    assert [m["role"] for m in pair["prompt"]] == ["system", "user"]
    assert (
        [m["role"] for m in pair["chosen"]]
        == [m["role"] for m in pair["rejected"]]
        == ["assistant", "tool", "assistant"]
    )


def test_only_one_ask_is_paired_with_itself_and_only_conversations_that_differ():
    same = [talk(1.0, "{}", "same"), talk(0.0, "{}", "same", rollout_index=1)]
    assert pairs(same)[0] == []
    assert pairs([talk(1.0, "{}", "x", task="a"), talk(0.0, "{}", "y", task="b")])[0] == []
    assert pairs([talk(1.0, "{}", "x"), talk(0.0, "{}", "y", wording=1)])[0] == []
    other_prompt = talk(0.0, "{}", "y")
    other_prompt["messages"][0] = {"role": "system", "content": "Be rude."}
    made, report = pairs([talk(1.0, "{}", "x"), other_prompt])
    assert made == []
    assert gates(report)["paired"] == (0, 2)


def test_k_pairs_an_ask_use_every_row_once():
    rows = [talk(float(i % 2), "{}", f"answer {i}", rollout_index=i) for i in range(6)]
    assert [len(pairs(rows, per_ask=k)[0]) for k in (1, 2, 3, 9)] == [1, 2, 3, 3]
    said = [p["chosen"][0]["content"] for p in pairs(rows, per_ask=3)[0]]
    assert said == ["answer 1", "answer 3", "answer 5"]
    draws = {pairs(rows, rule="random", seed=s)[0][0]["chosen"][0]["content"] for s in range(30)}
    assert draws == {"answer 1", "answer 3", "answer 5"}
    kept, report = pick(rows, mode="dpo", per_ask=2)
    assert report.n_kept == len(kept) == 2
    assert str(report).startswith("select dpo: 2 pairs made from 6 rows; rule first, at most 2 an ask")


def test_a_broken_or_cut_row_is_in_no_pair():
    good = talk(1.0, "{}", "x")
    assert pairs([good, talk(0.0, "{}", "")])[0] == []
    assert pairs([good, talk(0.0, "{}", "y", finish_reason="length")])[0] == []


random_rows = st.builds(
    row,
    task=st.sampled_from("abc"),
    reward=st.sampled_from([None, 0.0, 0.5, 1.0, True, 2]),
    answer=st.sampled_from(["", "yes", "no"]),
    wording=st.integers(0, 1),
    rollout_index=st.integers(0, 3),
    finish_reason=st.sampled_from(["stop", "length"]),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(random_rows, max_size=20), st.sampled_from(["sft", "rl"]), st.integers(1, 3))
def test_every_row_is_kept_or_dropped_once_and_the_counts_add_up(rows, mode, per_ask):
    try:
        kept, report = pick(rows, mode=mode, per_ask=per_ask)
    except InputError:
        assert all(r["reward"] is None for r in rows)
        return
    assert report.n_kept + len(report.dropped) == report.n_rows == len(rows)
    assert sorted([id(r) for r in kept] + [id(d.row) for d in report.dropped]) == sorted(map(id, rows))
    left = len(rows)
    for gate in report.gates:
        assert gate.kept + gate.dropped == left
        left = gate.kept
    if mode == "sft":
        asks = [(r["scenario_id"], r["wording"]) for r in kept]
        assert max(map(asks.count, asks), default=0) <= per_ask
        assert all(r["reward"] >= 1 for r in kept)
        assert pick(rows[::-1], per_ask=per_ask)[1].n_kept == len(kept)
