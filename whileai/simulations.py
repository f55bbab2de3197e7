"""simulate(): run an agent over a planned set of tasks. The proof's functions can be imported from here, too."""

from __future__ import annotations

import functools
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from whileai.agents.base import Agent, as_agent
from whileai.core import rows as core_rows
from whileai.core.errors import InputError, UsageError
from whileai.core.files import load_jsonl
from whileai.core.rows import Row
from whileai.core.seeds import content_id
from whileai.data import Data
from whileai.rollout import plan as plans
from whileai.rollout.journal import Journal
from whileai.rollout.loop import Setting, rollout
from whileai.rollout.plan import Cell, Plan
from whileai.rollout.run import run
from whileai.stats.comparison import compare
from whileai.stats.noise import eval_variance
from whileai.stats.passat import pass_at
from whileai.stats.power import holdout_size
from whileai.stats.replication import replicate
from whileai.stats.text import format_delta_report
from whileai.world.answers import World, recorded_world, seeded_world
from whileai.world.phrasings import phrasing
from whileai.world.situations import situations as all_situations
from whileai.world.tools import as_tools

__all__ = [
    "PlanWarning",
    "RolloutWarning",
    "compare",
    "eval_variance",
    "format_delta_report",
    "holdout_size",
    "pass_at",
    "replicate",
    "simulate",
]

Tasks = str | os.PathLike[str] | Iterable[Mapping[str, Any]]

DEFAULT_REPEATS = 4
ADVANCED = ("max_turns", "model_version")


class PlanWarning(UserWarning):
    """Fewer rollouts than asked for were bought, because the tools give no more tasks."""


class RolloutWarning(UserWarning):
    """Some rollouts failed; their rows say how and stay unscored."""


def simulate(
    agent: Any,
    *,
    tools: Sequence[Any] | None = None,
    system_prompt: str | None = None,
    simulator: bool = False,
    mode: str = "rl",
    repeats: int | None = None,
    repeat_policy: str = "fixed",
    phrasings: int = 1,
    budget: int | None = None,
    situations: int | None = None,
    concurrency: int = 1,
    seed: int = 0,
    tasks: Tasks | None = None,
    runs: int = 1,
    out: str | os.PathLike[str] | None = None,
    advanced: Mapping[str, Any] | None = None,
) -> Data:
    """Run `agent` over planned tasks in a seeded world; returns one row a rollout, in the plan's order.

    tools: functions made with @tool, or OpenAI tool schemas; with tasks=, those rows' own when left out.
    budget: the most rollouts to buy; situations, phrasings, repeats: exactly so many tasks, wordings of each, tries of
    each wording (4 when left out). See rollout/plan.py for the order in which a budget is spent.
    tasks: Data, rows or a JSONL path of an earlier run, whose situations, words and tries are run again, whatever
    `situations` and `phrasings` say; `repeats`, when given, is the number of tries instead.
    runs: whole passes, numbered in the rows' `run`.
    concurrency: rollouts at a time; the rows are the same at any. seed: every draw of a row depends on it and the row.
    out: a JSONL path that gets each row as it finishes; the same call after a kill goes on where it stopped.
    advanced: "model_version" names the arm (the agent's name when left out), "max_turns" bounds a conversation (8).

    A rollout that raises is a row with `error`, unscored, and a RolloutWarning. Raises UsageError for arguments that
    make no sense or are not built yet, InputError for tasks= that cannot be used or an `out` of another run.
    """
    _refuse_unbuilt(simulator, mode, repeat_policy)
    named = {"budget": budget, "situations": situations, "repeats": repeats}
    _check_numbers({"phrasings": phrasings, "concurrency": concurrency, "runs": runs}, named, seed)
    pinned = None if tasks is None else _rows(tasks)
    schemas = _schemas(tools, pinned)
    if pinned is None:
        grid = all_situations(schemas, seed)
        amount: dict[str, Any] = {
            "situations": situations,
            "phrasings": phrasings,
            "repeats": repeats or DEFAULT_REPEATS,
            "runs": runs,
        }
        words = functools.partial(_words, schemas, seed)
        bought = plans.buy(grid, grid.pairwise, words, budget=budget, **amount)
    else:
        bought = plans.pin(pinned, repeats=repeats, budget=budget, runs=runs)
    setting = _setting(as_agent(agent), schemas, _prompt(system_prompt, pinned), seed, advanced or {}, pinned or [])
    journal = None if out is None else Journal(out, _header(bought, setting))
    rows = run(bought, lambda owed: rollout(owed, setting), concurrency=concurrency, journal=journal)
    _warn(bought, rows)
    return Data(rows, plan=bought.text)


def _words(schemas: list[dict[str, Any]], seed: int, situation: Mapping[str, Any], wording: int) -> str:
    return phrasing(situation, schemas, wording, seed)


def _refuse_unbuilt(simulator: object, mode: str, repeat_policy: str) -> None:
    if simulator is not False:
        raise UsageError(
            f"simulator={simulator!r}: a model that plays the user and the tools is not built yet; use simulator=False,"
            " where a seeded world answers"
        )
    if mode != "rl":
        raise UsageError(
            f'mode={mode!r} is not known; simulate has mode="rl", where every ask is tried `repeats` times'
        )
    if repeat_policy != "fixed":
        raise UsageError(
            f'repeat_policy={repeat_policy!r} is not built yet; use "fixed", where every ask is tried `repeats` times'
        )


def _check_numbers(required: Mapping[str, Any], optional: Mapping[str, Any], seed: Any) -> None:
    for name, value in {**required, **{k: v for k, v in optional.items() if v is not None}}.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name}={value!r} is not a whole number of at least 1")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"seed={seed!r} is not a whole number")


def _rows(tasks: Tasks) -> list[Mapping[str, Any]]:
    rows: list[Any] = load_jsonl(tasks) if isinstance(tasks, (str, os.PathLike)) else list(tasks)
    wrong = next((row for row in rows if not isinstance(row, Mapping)), None)
    if wrong is not None:
        raise InputError(
            f"tasks= holds a {type(wrong).__name__} where a row is wanted; give Data, rows or a JSONL path"
        )
    return rows


def _schemas(tools: Sequence[Any] | None, pinned: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """The tool schemas to show: those given, else those of the pinned rows."""
    given = [] if tools is None else [tool.schema for tool in as_tools(tools)]
    found = given or next((core_rows.tools(row) for row in pinned or [] if row.get("tools")), [])
    if not found:
        raise UsageError("simulate needs tools=, the functions that the agent may call; make them with @tool")
    return found


def _prompt(system_prompt: str | None, pinned: Sequence[Mapping[str, Any]] | None) -> str | None:
    if system_prompt is not None and not isinstance(system_prompt, str):
        raise UsageError(f"system_prompt is a {type(system_prompt).__name__}, not text")
    if system_prompt is None and pinned:
        return core_rows.system_prompt(pinned[0])
    return system_prompt


def _setting(
    agent: Agent,
    schemas: list[dict[str, Any]],
    system_prompt: str | None,
    seed: int,
    advanced: Mapping[str, Any],
    pinned: Sequence[Mapping[str, Any]],
) -> Setting:
    unknown = sorted(set(advanced) - set(ADVANCED))
    if unknown:
        raise UsageError(f"advanced= has no {', '.join(map(repr, unknown))}; it knows {', '.join(ADVANCED)}")
    max_turns = advanced.get("max_turns", 8)
    _check_numbers({"advanced max_turns": max_turns}, {}, seed)
    world = _worlds(schemas, pinned)
    version = str(advanced.get("model_version", name_of(agent)))
    return Setting(agent, schemas, system_prompt, world, seed, version, max_turns)


def _worlds(schemas: list[dict[str, Any]], pinned: Sequence[Mapping[str, Any]]) -> Callable[[Cell], World]:
    """What makes the world of a cell: its situation and the pinned row's tools, else the answers its rows recorded."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in pinned:
        rows.setdefault(core_rows.task_id(row), []).append(row)
    tools = {task: core_rows.tools(members[0]) or schemas for task, members in rows.items()}
    recorded = {task: recorded_world(members) for task, members in rows.items() if not members[0].get("situation")}

    def world(cell: Cell) -> World:
        if cell.situation is None:
            return recorded[cell.scenario_id]
        return seeded_world(cell.situation, tools.get(cell.scenario_id, schemas))

    return world


def name_of(agent: Any) -> str:
    """What to call an agent: its `name`, the function's name, or its class's."""
    inner = getattr(agent, "fn", agent)
    return str(getattr(agent, "name", None) or getattr(inner, "__name__", None) or type(inner).__name__)


def _header(bought: Plan, setting: Setting) -> dict[str, Any]:
    """What the rows of a run depend on; a journal of a run that differs here is another run's."""
    return {
        "seed": setting.seed,
        "agent": name_of(setting.agent),
        "rate": getattr(setting.agent, "rate", None),
        "model_version": setting.model_version,
        "system_prompt": setting.system_prompt,
        "tools": content_id(setting.tools),
        "max_turns": setting.max_turns,
        "rollouts": len(bought),
        "plan": bought.digest,
        "schema_version": core_rows.SCHEMA_VERSION,
    }


def _warn(bought: Plan, rows: Sequence[Row]) -> None:
    if bought.spent:
        warnings.warn(bought.text, PlanWarning, stacklevel=3)
    failed = Counter((row["error"]["where"], row["error"]["type"]) for row in rows if row["error"])
    if failed:
        (where, kind), _ = failed.most_common(1)[0]
        warnings.warn(
            f"{sum(failed.values())} of {len(rows)} rollouts failed (most often {kind} in the {where});"
            " their rows are kept, unscored, with the error",
            RolloutWarning,
            stacklevel=3,
        )
