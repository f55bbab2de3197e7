"""One way to measure a model on held-out tasks, for every arm alike.

Each held-out ask is put to the model in the world of its own row: a tool call is answered as that
task's world answers it, whatever arm is asking. The arms differ in their weights and in nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from whileai.core import rows as core_rows
from whileai.core.errors import InputError
from whileai.core.files import read_jsonl
from whileai.core.progress import track
from whileai.core.rows import SCHEMA_VERSION, Row
from whileai.grading.grade import grade
from whileai.models.local import LocalModel, canonical, load
from whileai.training.config import Sampling
from whileai.training.sampling import sample
from whileai.training.tokens import ChatFormat
from whileai.world.answers import World, world_of


@dataclass(frozen=True)
class Ask:
    """One held-out question: its task, its words, what the prompt shows; `world()` makes the world that answers.

    Every try gets a world of its own: what one try writes, the next must not see.
    """

    scenario_id: str
    wording: int
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    world: Callable[[], World]
    kept: dict[str, Any]


@dataclass
class _Episode:
    """A conversation in progress."""

    ask: Ask
    index: int
    world: World
    messages: list[dict[str, Any]]
    finish_reason: str = ""
    new_tokens: int = 0
    calls: int = field(default=0)


def read_asks(
    source: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    *,
    system_prompt: str | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
) -> list[Ask]:
    """The distinct asks of held-out rows (a path or rows), in order of first appearance.

    `system_prompt` and `tools` are used for rows that carry none of their own, as the seeds' holdout.jsonl does.
    Raises InputError when there are no rows or a row asks nothing.
    """
    rows = list(read_jsonl(source)) if isinstance(source, (str, os.PathLike)) else list(source)
    if not rows:
        raise InputError("there are no held-out rows, so nothing can be measured; lock some tasks away first")
    by_task: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_task.setdefault(core_rows.task_id(row), []).append(row)
    asks = []
    for scenario, members in by_task.items():
        world = partial(world_of, members)
        distinct: dict[str, Mapping[str, Any]] = {}
        for row in members:
            distinct.setdefault(core_rows.ask(row), row)
        asks += [_ask(scenario, i, row, world, system_prompt, tools) for i, row in enumerate(distinct.values())]
    return asks


def _ask(
    scenario: str,
    position: int,
    row: Mapping[str, Any],
    world: Callable[[], World],
    system: str | None,
    tools: Sequence[Any] | None,
) -> Ask:
    text = core_rows.ask(row)
    if not text:
        raise InputError(f"a held-out row of task {scenario} has no user message, so there is nothing to ask")
    prompt = core_rows.system_prompt(row) or system
    opening = [{"role": "system", "content": prompt}] if prompt else []
    shown = core_rows.tools(row) or [dict(t) for t in tools or ()]
    kept = {"situation": row["situation"]} if row.get("situation") is not None else {}
    wording = int(row.get("wording", position))
    return Ask(scenario, wording, [*opening, {"role": "user", "content": text}], shown, world, kept)


def evaluate(
    model: str | LocalModel,
    holdout: str | os.PathLike[str] | Iterable[Mapping[str, Any]] | Sequence[Ask],
    *,
    adapter: str | os.PathLike[str] | None = None,
    tries: int = 4,
    sampling: Sampling | None = None,
    seed: int = 1,
    run: int = 1,
    model_version: str | None = None,
    judge: Callable[[Row], Any] | None = None,
    system_prompt: str | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
) -> list[Row]:
    """Run a model over held-out asks, `tries` times each, and return one row a try.

    model: a name, folder or loaded model; holdout: a path, rows or asks; adapter: a LoRA folder, merged for speed.
    The draws of a row depend on (seed, task, wording, try) only, so both arms see the same ones.
    With `judge` the rows come back graded. Raises InputError for an unknown model or empty held-out set.
    """
    settings = sampling or Sampling()
    asks = _as_asks(holdout, system_prompt, tools)
    local = model if isinstance(model, LocalModel) else load(model, adapter=adapter, merge=True)
    chat = ChatFormat(local.tokenizer)
    version = model_version or ("trained" if local.adapter else "base")
    episodes = [_Episode(ask, index, ask.world(), list(ask.messages)) for ask in asks for index in range(tries)]
    with track(len(episodes), f"{version} pass {run}") as bar:
        _play(local, chat, episodes, settings, seed, bar.advance)
    header = {"seed": seed, "run": run, "model_version": version, "sampling": _recorded(local, chat, settings, tries)}
    rows = [_row(e, header) for e in episodes]
    return list(grade(rows, judge)) if judge is not None else rows


def _as_asks(holdout: Any, system_prompt: str | None, tools: Sequence[Mapping[str, Any]] | None) -> list[Ask]:
    if isinstance(holdout, Sequence) and holdout and isinstance(holdout[0], Ask):
        return list(holdout)
    return read_asks(holdout, system_prompt=system_prompt, tools=tools)


def _recorded(local: LocalModel, chat: ChatFormat, settings: Sampling, tries: int) -> dict[str, Any]:
    """What both arms must share for their difference to mean the weights."""
    return {
        **settings.recorded(),
        "tries": tries,
        "base_model": canonical(local.name),
        "dtype": local.dtype,
        "template": chat.digest,
    }


def _play(
    local: LocalModel,
    chat: ChatFormat,
    episodes: list[_Episode],
    settings: Sampling,
    seed: int,
    report: Callable[[int], None],
) -> None:
    """Turn by turn, all live conversations together: sample, read calls, let each world answer, go on."""
    live = episodes
    for turn in range(settings.max_turns):
        prompts = [chat.prompt_ids(e.messages, e.ask.tools) for e in live]
        draws = [[seed, e.ask.scenario_id, e.ask.wording, e.index, turn] for e in live]
        written = sample(local, prompts, draws, settings, chat.stop_ids)
        for episode, generation in zip(live, written, strict=True):
            text = local.tokenizer.decode(generation.ids, skip_special_tokens=False)
            _take(
                episode, chat.parse(text), generation.finish_reason, len(generation.ids), turn + 1 < settings.max_turns
            )
        report(sum(bool(e.finish_reason) for e in live))
        live = [e for e in live if not e.finish_reason]
        if not live:
            return


def _take(episode: _Episode, message: dict[str, Any], reason: str, tokens: int, may_go_on: bool) -> None:
    """Add what the model wrote; answer its calls, or say why the conversation ends."""
    episode.new_tokens += tokens
    calls = message.get("tool_calls") or []
    for call in calls:
        episode.calls += 1
        call["id"] = f"call_{episode.calls}"
    episode.messages.append(message)
    if not calls:
        episode.finish_reason = reason
        return
    for call in calls:
        answer = episode.world.call(call["name"], call["arguments"])
        episode.messages.append({"role": "tool", "tool_call_id": call["id"], "name": call["name"], "content": answer})
    if not may_go_on:
        episode.finish_reason = "turns"


def _row(episode: _Episode, header: Mapping[str, Any]) -> Row:
    ask = episode.ask
    row: dict[str, Any] = {
        "scenario_id": ask.scenario_id,
        "wording": ask.wording,
        "rollout_index": episode.index,
        "messages": episode.messages,
        "prompt": core_rows.ask({"messages": ask.messages}),
        "final_text": core_rows.final_text({"messages": episode.messages}),
        "system_prompt": core_rows.system_prompt({"messages": ask.messages}),
        "tools": ask.tools,
        **ask.kept,
        "reward": None,
        "error": None,
        "usage": {"completion_tokens": episode.new_tokens},
        "finish_reason": episode.finish_reason,
        "schema_version": SCHEMA_VERSION,
        **header,
    }
    return row  # type: ignore[return-value]


def share_cut(rows: Sequence[Mapping[str, Any]]) -> float:
    """The share of rows whose answer was cut off at max_new_tokens or at the last turn."""
    return sum(r.get("finish_reason") != "stop" for r in rows) / len(rows) if rows else 0.0
