"""What the report says, gathered from graded rows and the run's own records."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whileai.core.errors import InputError
from whileai.core.files import load_jsonl, loads, read_journal
from whileai.report import plots
from whileai.report.conversations import Task, chosen_tasks, paired_tasks, side_by_side, visible
from whileai.stats.comparison import Comparison, compare
from whileai.stats.noise import eval_variance
from whileai.stats.passat import PassAt, pass_at

Rows = Sequence[Mapping[str, Any]]
Band = tuple[float, float, float]
PLOTTED_TASKS = 120
TONES = {"PASS": "good", "WORSE": "bad"}


@dataclass(frozen=True)
class Evidence:
    """What a report is made from: the base passes and the trained passes, graded, and the run's own records."""

    base: Sequence[Rows]
    trained: Sequence[Rows]
    metrics: Sequence[Mapping[str, Any]] = field(default_factory=list)
    config: Mapping[str, Any] = field(default_factory=dict)
    ledger: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """Everything the template shows."""

    title: str
    verdict: str
    tone: str
    sentence: str
    caution: str
    comparison: str
    base_passes: list[float]
    tasks: list[Task]
    pairs: list[dict[str, Any]]
    chosen: str
    facts: list[tuple[str, str]]
    plots: dict[str, Any]


def read_run(source: str | os.PathLike[str]) -> Evidence:
    """The evidence of a run folder (or of a rows file beside its records)."""
    path = Path(source)
    folder = path if path.is_dir() else path.parent
    rows = path / "holdout_rows.jsonl" if path.is_dir() else path
    found = arms_of(load_jsonl(rows))
    if not path.is_dir():
        return found
    config = folder / "config.json"
    return Evidence(
        base=found.base,
        trained=found.trained,
        metrics=read_journal(folder / "metrics.jsonl"),
        config=loads(config.read_bytes()) if config.exists() else {},
        ledger=[str(line.get("line", "")) for line in read_journal(folder / "ledger.jsonl")],
    )


def arms_of(rows: Rows) -> Evidence:
    """Rows sorted into passes of each arm. Raises InputError when one of the arms is missing."""
    arms: dict[str, dict[int, list[Mapping[str, Any]]]] = {"base": {}, "trained": {}}
    for row in rows:
        passes = arms.get(str(row.get("model_version")))
        if passes is not None:
            passes.setdefault(int(row.get("run") or 1), []).append(row)
    for name, passes in arms.items():
        if not passes:
            raise InputError(f'no row has model_version "{name}", so there is no such arm to report on')
    return Evidence(*([passes[n] for n in sorted(passes)] for passes in arms.values()))  # type: ignore[arg-type]


def sentence(found: Comparison) -> str:
    """One sentence for someone who reads nothing else."""
    rates = f"{found.before:.0%} of tries before and {found.after:.0%} after, over {found.n_paired} paired tasks"
    change = f"{100 * found.delta:+.0f} points"
    if found.lo is not None and found.hi is not None:
        change += f" ({1 - found.alpha:.0%} interval {100 * found.lo:+.0f} to {100 * found.hi:+.0f})"
    if found.verdict == "PASS":
        return f"The trained model is better: it succeeds on {rates}, {change}."
    if found.verdict == "WORSE":
        return f"The trained model is worse: it succeeds on {rates}, {change}."
    if found.verdict == "NO DIFFERENCE":
        return f"Training did not move it: success on {rates}, {change}."
    return f"There is no verdict: success on {rates}, {change}."


def caution(found: Comparison) -> str:
    """What the sentence does not say."""
    if found.floor is None:
        return "How much a re-run moves the score by itself was not measured."
    noise = f"Re-running the evaluation can move the score by {100 * found.floor.value:.1f} points by itself."
    return f"{noise} The training ran once: run it again with another seed before you tell anyone."


def facts_of(evidence: Evidence) -> list[tuple[str, str]]:
    """Versions, settings and digests, flat, in the order they were recorded."""
    passes = f"{len(evidence.base)} base, {len(evidence.trained)} trained"
    rows = sum(map(len, [*evidence.base, *evidence.trained]))
    return [("passes", passes), ("rows", str(rows)), *_flat("", evidence.config)]


def _flat(prefix: str, value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, Mapping):
        return [(visible(prefix, 80), visible(str(value), 200))]
    return [pair for key, item in value.items() for pair in _flat(f"{prefix}.{key}" if prefix else str(key), item)]


def mean_reward(rows: Rows) -> float:
    """The mean over tasks of the mean reward; what pass@1 estimates."""
    tasks = paired_tasks(rows, rows)
    return sum(task.before for task in tasks) / len(tasks)


def make_page(evidence: Evidence, title: str) -> Page:
    """Compare the arms and gather everything the template shows. Raises what compare raises."""
    base, trained = evidence.base, evidence.trained
    means = [mean_reward(rows) for rows in base]
    noise = eval_variance(*base) if len(base) > 1 else None
    spread = (noise.run_std, len(base)) if noise else (None, None)
    delta = compare(base[0], trained[0], run_std=spread[0], run_std_runs=spread[1])
    before, after = pass_at(base[0]), pass_at(trained[0])
    tasks = paired_tasks(base[0], trained[0])
    shown = chosen_tasks(tasks)
    return Page(
        title=title,
        verdict=delta.verdict,
        tone=TONES.get(delta.verdict, "even"),
        sentence=sentence(delta),
        caution=caution(delta),
        comparison=f"before: {before}\nafter:  {after}\n{delta}",
        base_passes=means,
        tasks=tasks,
        pairs=[side_by_side(task) for task in shown],
        chosen=f"{len(shown)} of {len(tasks)} tasks: what got worse, the biggest gains, and what still fails.",
        facts=facts_of(evidence),
        plots=_plots(delta, tasks, (before, after), (means, [mean_reward(rows) for rows in trained]), evidence.metrics),
    )


def _plots(
    found: Comparison,
    tasks: Sequence[Task],
    rates: tuple[PassAt, PassAt],
    passes: tuple[list[float], list[float]],
    metrics: Sequence[Mapping[str, Any]],
) -> dict[str, str]:
    """Every chart there is something to draw for; "" for the others."""
    names, before, after = _rates(*rates)
    losses = [(m["step"], m["loss"]) for m in metrics if m.get("step") is not None and m.get("loss") is not None]
    many = len(tasks) <= PLOTTED_TASKS
    floor = found.floor.value if found.floor else None
    return {
        "difference": plots.difference(found.delta, found.lo, found.hi, floor),
        "estimates": plots.estimates(names, before, after) if names else "",
        "passes": plots.passes(*passes, floor) if len(passes[0]) > 1 else "",
        "tasks": plots.tasks([t.label for t in tasks], [t.before for t in tasks], [t.after for t in tasks])
        if many
        else "",
        "curve": plots.curve(*zip(*losses, strict=True)) if len(losses) > 1 else "",
    }


def _rates(before: PassAt, after: PassAt) -> tuple[list[str], list[Band], list[Band]]:
    """The rates that both arms have with an interval, under the names people know."""
    named = {"pass@1": "pass_at_1", f"pass^{before.k}": "pass_pow_k", f"pass@{before.k}": "pass_at_k"}
    found = {
        name: (before[key], after[key]) for name, key in named.items() if before.k == after.k or key == "pass_at_1"
    }
    kept = {n: pair for n, pair in found.items() if all(e is not None and e.lo is not None for e in pair)}
    bands = [[(e.value, e.lo, e.hi) for e in arm] for arm in zip(*kept.values(), strict=True)] or [[], []]
    return list(kept), bands[0], bands[1]
