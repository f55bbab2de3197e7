"""The whole loop on one page: simulate, grade, lock, decontaminate, select, export, train, measure, compare.

`prove()` runs it with a real model really trained on this machine. Every step is a public function;
copy the page and change what you like.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whileai.agents.seeded import seeded_agent
from whileai.core.files import loads
from whileai.core.results import Result
from whileai.core.rows import Row, ask, calls, final_text
from whileai.data import Data
from whileai.report.html import write_report
from whileai.simulations import simulate
from whileai.stats.comparison import compare
from whileai.stats.noise import eval_variance
from whileai.stats.passat import pass_at
from whileai.training.config import SFT, Sampling
from whileai.training.job import train
from whileai.world.tools import tool

_ORDER = re.compile(r"\bORD-\d+\b")
_CLAIMED = re.compile(r"\b(done|went through|completed|succeeded|confirmed)\b", re.IGNORECASE)
_SUCCESS = {"ok", "created", "success", "done", "updated", "deleted"}


@tool
def get_order(order_id: str) -> dict[str, Any]:
    """Look up an order by id."""
    raise NotImplementedError("the world answers for this tool")


def order_desk_judge(row: Mapping[str, Any]) -> dict[str, Any]:
    """1 when the asked order was looked up, the reply leads with it, and it claims nothing the tool did not say.

    It reads messages only, so a stand-in's rows and a real model's rows are scored alike.
    """
    asked = set(_ORDER.findall(ask(row)))
    made = calls(row)
    if not asked:
        return _verdict(not made, "asked for the missing id" if not made else "called a tool without an id")
    if not made or made[0].name != "get_order" or str(made[0].arguments.get("order_id")) not in asked:
        return _verdict(False, "did not look up the order that was asked about")
    reply = final_text(row).strip()
    first_sentence = re.split(r"(?<=[.!?])\s", reply)[0]
    if str(made[0].arguments["order_id"]) not in first_sentence:
        return _verdict(False, "the first sentence is not about the order")
    return _verdict(_status(row) in _SUCCESS or not _CLAIMED.search(reply), "what it claims against what the tool said")


def _verdict(good: bool, reason: str) -> dict[str, Any]:
    return {"reward": float(good), "reason": reason}


def _status(row: Mapping[str, Any]) -> Any:
    result = next((m["content"] for m in row["messages"] if m["role"] == "tool"), "{}")
    return loads(result).get("status")


@dataclass(frozen=True)
class Proof(Result):
    """What the loop came to. `str()` is the verdict in report form; paths are where things were written."""

    verdict: str
    delta: float
    text: str
    run: str
    train: str
    holdout: str
    holdout_rows: str
    adapter: str
    report: str
    seconds: float

    def __str__(self) -> str:
        return self.text


def prove(
    out: str | os.PathLike[str] = "runs/prove",
    *,
    tools: Sequence[Any] = (get_order,),
    judge: Callable[[Row], Any] = order_desk_judge,
    system_prompt: str = "Help customers with orders.",
    seed: int = 0,
    budget: int = 640,
    holdout_tasks: int = 40,
    tries: int = 4,
    base_passes: int = 3,
    config: SFT | None = None,
    sampling: Sampling | None = None,
    say: Callable[[str], None] = print,
) -> Proof:
    """Run the whole loop into folder `out` and return the verdict; called again it goes on where it stopped.

    budget: rollouts of the stand-in agent that the training rows come from; holdout_tasks: tasks locked away;
    tries: tries a task in every pass. Raises what the stages raise; nothing half-written is left behind.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    data = simulate(
        seeded_agent(list(tools)),
        tools=list(tools),
        system_prompt=system_prompt,
        repeats=4,
        phrasings=4,
        budget=budget,
        seed=seed,
    )
    scored = data.grade(judge=judge)
    say(f"{len(scored)} rows over {_n_tasks(scored)} tasks; stand-in agent: {scored.pass_at}")
    train_file, holdout_file = write_sides(scored, folder, holdout_tasks, seed, say)
    done = train(
        train_file,
        holdout_file,
        config=config,
        sampling=sampling,
        out=folder,
        judge=judge,
        base_passes=base_passes,
        tries=tries,
        say=say,
    )
    return _conclude(folder, done.seconds, base_passes, say)


def write_sides(
    scored: Data, folder: Path, holdout_tasks: int, seed: int, say: Callable[[str], None]
) -> tuple[Path, Path]:
    """Lock tasks away, then write the rows worth training on, none of which copies a locked one."""
    train_file, holdout_file = folder / "train.jsonl", folder / "holdout.jsonl"
    rest, held = scored.split(holdout_tasks=holdout_tasks, seed=seed)
    rest, overlap = rest.decontaminate(against=held)
    one_ask_a_task(held).save(holdout_file)
    written = rest.select(mode="sft").export(train_file)
    copies = f"{overlap['n_contaminated']} training rows dropped as near copies of a held-out ask"
    say(f"{holdout_tasks} tasks locked away; {copies}")
    say(f"{written['n']} rows written to {train_file}")
    return train_file, holdout_file


def one_ask_a_task(rows: Data) -> Data:
    """The first wording of every task: a held-out pass then has `tries` rows a task, as even groups."""
    first: dict[str, int] = {}
    for row in rows:
        known = first.setdefault(row["scenario_id"], row["wording"])
        first[row["scenario_id"]] = min(known, row["wording"])
    return Data(row for row in rows if row["wording"] == first[row["scenario_id"]])


def _n_tasks(rows: Sequence[Row]) -> int:
    return len({row["scenario_id"] for row in rows})


def _conclude(folder: Path, seconds: float, base_passes: int, say: Callable[[str], None]) -> Proof:
    """Compare the arms from the rows on disk, print the verdict and where everything is."""
    rows = list(Data.load(folder / "holdout_rows.jsonl"))
    base = [[r for r in rows if r["model_version"] == "base" and r["run"] == n] for n in range(1, base_passes + 1)]
    trained = [r for r in rows if r["model_version"] == "trained"]
    noise = eval_variance(*base) if base_passes > 1 else None
    delta = (
        compare(base[0], trained, run_std=noise.run_std, run_std_runs=base_passes)
        if noise
        else compare(base[0], trained)
    )
    lines = [f"before: {pass_at(base[0])}", f"after:  {pass_at(trained)}"]
    if noise:
        means = " / ".join(f"{mean:.3f}" for mean in noise.means.values())
        lines.append(f"base passes: {means}  run_std {noise.run_std:.3f}")
    text = "\n".join([*lines, str(delta)])
    report = write_report(folder, folder / "report.html")
    proof = Proof(
        verdict=delta.verdict,
        delta=delta.delta,
        text=text,
        run=str(folder),
        train=str(folder / "train.jsonl"),
        holdout=str(folder / "holdout.jsonl"),
        holdout_rows=str(folder / "holdout_rows.jsonl"),
        adapter=str(folder / "adapter"),
        report=str(report),
        seconds=seconds,
    )
    say(text)
    for name in ("run", "train", "holdout", "holdout_rows", "adapter", "report"):
        say(f"{name + ':':14s}{proof[name]}")
    return proof
