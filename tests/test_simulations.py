"""simulate(): what it buys, what it refuses, and that its rows depend on nothing but their own seed."""

from __future__ import annotations

import json
import warnings
from typing import Literal

import pytest

import whileai as wai
from whileai.core.errors import InputError, UsageError
from whileai.core.files import write_jsonl
from whileai.simulations import PlanWarning, RolloutWarning


@wai.tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""
    return {"order_id": order_id}


@wai.tool
def cancel_order(order_id: str, reason: str = "") -> dict:
    """Cancel an order."""
    return {"order_id": order_id}


AGENT = wai.seeded_agent([get_order], rate=0.4)


def simulate(agent=AGENT, **options):
    return wai.simulate(agent, **{"tools": [get_order], "budget": 32, "seed": 1, **options})


@pytest.fixture(scope="module")
def plain():
    return simulate()


def test_the_same_seed_gives_the_same_rows_and_another_seed_does_not(plain):
    assert simulate().rows == plain.rows
    assert simulate(seed=2).rows != plain.rows


@pytest.mark.parametrize("concurrency", [2, 8])
def test_the_rows_are_the_same_at_any_concurrency(plain, concurrency):
    assert simulate(concurrency=concurrency).rows == plain.rows


def test_a_bigger_budget_begins_with_the_same_rows(plain):
    assert simulate(budget=64).rows[:32] == plain.rows


@pytest.mark.parametrize(
    "options", [{"budget": 30}, {"budget": 640, "phrasings": 4}, {"budget": 45, "repeats": 3, "runs": 2}]
)
def test_a_budget_counts_rollouts(options):
    data = simulate(**options)
    cost = options.get("repeats", 4) * options.get("runs", 1)
    assert len(data) == options["budget"] // cost * cost


def test_situations_phrasings_repeats_and_runs_mean_exactly_what_they_say():
    data = simulate(budget=None, situations=5, phrasings=3, repeats=2, runs=2)
    keys = {(r["scenario_id"], r["wording"], r["rollout_index"], r["run"]) for r in data}
    assert len(keys) == len(data) == 5 * 3 * 2 * 2
    assert len({r["scenario_id"] for r in data}) == 5
    assert {r["wording"] for r in data} == {0, 1, 2}


def test_the_wordings_of_one_situation_differ(plain):
    data = simulate(budget=None, situations=12, phrasings=4, repeats=1)
    asks = {}
    for row in data:
        asks.setdefault(row["scenario_id"], set()).add(row["prompt"])
    assert sum(len(words) for words in asks.values()) >= 0.9 * 48


def test_one_tool_gives_about_a_hundred_tasks():
    data = simulate(budget=640, phrasings=4)
    assert 95 <= len({r["scenario_id"] for r in data}) <= 115


def test_a_spent_grid_is_said_out_loud():
    @wai.tool
    def weather(day: Literal["today", "tomorrow"]) -> dict:
        """Tell the weather of a day."""

    with pytest.warns(PlanWarning, match="the grid is spent"):
        data = simulate(wai.seeded_agent([weather]), tools=[weather], budget=None, situations=10**6, repeats=1)
    assert "the grid is spent" in data.report.plan
    assert len({r["scenario_id"] for r in data}) == len(data)


def test_a_row_rebuilds_its_world(plain):
    from whileai.world.answers import seeded_world

    seen = 0
    for row in plain:
        answers = {m["tool_call_id"]: m["content"] for m in row["messages"] if m["role"] == "tool"}
        world = seeded_world(json.loads(json.dumps(row["situation"])), row["tools"])
        for step in row["steps"]:
            assert world.call(step["tool"], step["arguments"]) == answers[step["id"]]
            assert isinstance(json.loads(answers[step["id"]]), dict)
            seen += 1
    assert seen > 5


def test_rows_survive_a_file(plain, tmp_path):
    plain.save(tmp_path / "rows.jsonl")
    assert wai.load(tmp_path / "rows.jsonl").rows == plain.rows


def test_a_lower_rate_plants_a_subset_of_the_same_rollouts(plain):
    lower = simulate(wai.seeded_agent([get_order], rate=0.1), tasks=plain, budget=None)
    planted = [{i for i, row in enumerate(rows) if row["seeded"]} for rows in (lower.rows, plain.rows)]
    assert planted[0] < planted[1]


@pytest.mark.parametrize("given", ["data", "rows", "path"])
def test_tasks_pins_situations_words_and_tries(plain, tmp_path, given):
    write_jsonl(tmp_path / "rows.jsonl", plain.rows)
    tasks = {"data": plain, "rows": plain.rows, "path": tmp_path / "rows.jsonl"}[given]
    again = wai.simulate(AGENT, tools=[get_order], tasks=tasks, seed=1)
    assert again.rows == plain.rows
    other = wai.simulate(AGENT, tools=[get_order], tasks=tasks, seed=99)
    same = ("scenario_id", "wording", "rollout_index", "prompt", "situation")
    assert [[r[k] for k in same] for r in other] == [[r[k] for k in same] for r in plain]
    assert "pinned by tasks=" in other.report.plan


def test_pinned_rows_bring_their_own_tools_and_prompt():
    before = simulate(system_prompt="Help with orders.")
    assert wai.simulate(AGENT, tasks=before, seed=1).rows == before.rows


def test_a_holdout_file_with_only_ids_and_messages_can_be_run_again(plain):
    held = [{"scenario_id": r["scenario_id"], "messages": r["messages"]} for r in plain]
    again = wai.simulate(AGENT, tools=[get_order], tasks=held, repeats=2)
    assert {r["prompt"] for r in again} == {r["prompt"] for r in plain}
    assert not [r for r in again if r["error"]]


def test_model_version_names_the_arm_and_max_turns_bounds_it():
    class Caller:
        def respond(self, messages, tools, *, seed, situation=None):
            return {"tool_calls": [{"name": "get_order", "arguments": {"order_id": "ORD-1"}}]}

    data = simulate(Caller(), budget=4, advanced={"model_version": "v9", "max_turns": 2})
    assert {r["model_version"] for r in data} == {"v9"}
    assert {r["finish_reason"] for r in data} == {"turns"}
    assert {len(r["steps"]) for r in data} == {2}


def test_a_plain_function_is_an_agent_and_its_failures_are_rows():
    def agent(messages):
        if "ORD" in messages[-1]["content"]:
            raise TimeoutError("too slow")
        return "Which order?"

    with pytest.warns(RolloutWarning, match=r"of 32 rollouts failed \(most often TimeoutError in the agent\)"):
        data = simulate(agent)
    failed = [r for r in data if r["error"]]
    assert 0 < len(failed) < len(data) == 32
    assert all(r["reward"] is None for r in failed)


def test_rows_are_written_as_they_finish_and_a_finished_run_is_not_run_again(tmp_path, plain):
    out = tmp_path / "rows.jsonl"
    assert simulate(out=out).rows == plain.rows
    assert wai.load(out).rows == plain.rows
    assert simulate(out=out, concurrency=8).rows == plain.rows


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": 2}, "seed"),
        ({"system_prompt": "Be brief."}, "system_prompt"),
        ({"budget": 28}, "rollouts"),
        ({"advanced": {"model_version": "other"}}, "model_version"),
        ({"agent": wai.seeded_agent([get_order], rate=0.1)}, "rate"),
        ({"agent": lambda text: "Which order?"}, "agent"),
    ],
)
def test_a_journal_of_another_run_is_refused_naming_what_differs(tmp_path, change, field):
    out = tmp_path / "rows.jsonl"
    fixed = {"advanced": {"model_version": "v"}}
    simulate(out=out, **fixed)
    before = out.read_bytes()
    with pytest.raises(InputError, match=f"its {field} is"):
        simulate(out=out, **{**fixed, **change})
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"simulator": True}, "not built yet"),
        ({"simulator": "openai/x"}, "not built yet"),
        ({"mode": "dpo"}, 'simulate has mode="rl"'),
        ({"repeat_policy": "successive"}, "not built yet"),
        ({"budget": 0}, "budget=0"),
        ({"budget": 3}, "does not buy one ask"),
        ({"budget": 6.4}, "budget=6.4"),
        ({"budget": True}, "budget=True"),
        ({"situations": -1}, "situations=-1"),
        ({"phrasings": 0}, "phrasings=0"),
        ({"repeats": 0}, "repeats=0"),
        ({"concurrency": 0}, "concurrency=0"),
        ({"runs": 0}, "runs=0"),
        ({"seed": None}, "seed=None"),
        ({"seed": "0"}, "seed='0'"),
        ({"tools": None}, "simulate needs tools="),
        ({"tools": []}, "simulate needs tools="),
        ({"system_prompt": 3}, "system_prompt is a int"),
        ({"advanced": {"model": "x"}}, "advanced= has no 'model'; it knows max_turns, model_version"),
        ({"advanced": {"max_turns": 0}}, "max_turns=0"),
        ({"agent": 3}, "not an agent"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(options, said):
    with pytest.raises(UsageError) as caught:
        simulate(**options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_tasks_that_cannot_be_used_are_refused(tmp_path, plain):
    for tasks, said in [([], "holds no rows"), (["s1"], "holds a str"), (tmp_path / "gone.jsonl", "no such file")]:
        with pytest.raises(InputError, match=said):
            wai.simulate(AGENT, tools=[get_order], tasks=tasks)
    with pytest.raises(UsageError, match="pins 32 rollouts"):
        wai.simulate(AGENT, tools=[get_order], tasks=plain, budget=16)


def test_several_tools_share_the_tasks():
    tools = [get_order, cancel_order]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = wai.simulate(wai.seeded_agent(tools), tools=tools, budget=200, repeats=2)
    assert {step["tool"] for row in data for step in row["steps"]} == {"get_order", "cancel_order"}


def test_the_proofs_functions_can_be_imported_from_here():
    from whileai import simulations

    for name in ("compare", "eval_variance", "format_delta_report", "holdout_size", "pass_at", "replicate"):
        assert getattr(simulations, name) is getattr(wai, name)
