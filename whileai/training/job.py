"""The training job: base passes first, then training, then the trained pass, each through one function.

Whatever the place (this machine, Modal, another GPU), this is the body that runs there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from whileai.core.errors import InputError
from whileai.core.files import write_jsonl
from whileai.core.locks import check_lock, lock_of
from whileai.core.results import Result
from whileai.core.rows import Row
from whileai.models.local import LocalModel, load
from whileai.training.config import SFT, Sampling
from whileai.training.evaluation import Ask, evaluate, read_asks, share_cut
from whileai.training.records import Record, encode_records, read_records
from whileai.training.runs import RunFolder, digest
from whileai.training.sft import Trained, peak_megabytes, sft
from whileai.training.tokens import ChatFormat, Encoded


@dataclass(frozen=True)
class TrainReport(Result):
    """What a training job did. `str()` is the ledger; paths are as given; seconds are wall time.

    `holdout_rows` is None when no held-out tasks were given: nothing was measured then.
    """

    run: str
    adapter: str
    holdout_rows: str | None
    n_rows: int
    steps: int
    loss_first: float
    loss_last: float
    seconds: float
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


def train(
    train: str | os.PathLike[str],
    holdout: str | os.PathLike[str] | None = None,
    *,
    config: SFT | None = None,
    out: str | os.PathLike[str] = "runs/sft",
    judge: Callable[[Row], Any] | None = None,
    sampling: Sampling | None = None,
    base_passes: int = 3,
    tries: int = 4,
    say: Callable[[str], None] = print,
) -> TrainReport:
    """Measure the base, train an adapter, measure again: everything under the run folder `out`.

    train: exported rows (JSONL); holdout: held-out rows (JSONL). With a judge the rows come back graded.
    Called again with the same arguments it goes on where a killed run stopped, and repeats nothing.
    Raises InputError for a broken or leaking training file, TrainingError when training cannot go on.
    """
    settings, plan = config or SFT(), sampling or Sampling()
    records = read_records(train)
    asks = _asks(holdout, records)
    if asks:
        lock = lock_of({"task_id": a.scenario_id, "messages": a.messages} for a in asks)
        check_lock(({"messages": r.messages} for r in records), lock, source=f"the rows of {os.fspath(train)}")
    run = RunFolder.open(out, _identity(settings, plan, train, holdout, base_passes, tries), say)
    job = _Job(run, settings, plan, asks, tries, judge)
    job.announce(records, train, holdout)
    for number in range(1, base_passes + 1) if asks else ():
        job.measure("base", number)
    trained = job.train(records)
    if asks:
        job.measure("trained", 1)
    return job.close(trained, len(records))


def _asks(holdout: str | os.PathLike[str] | None, records: Sequence[Record]) -> list[Ask]:
    if holdout is None:
        return []
    first = records[0]
    system = next((m["content"] for m in first.messages if m["role"] == "system"), None)
    return read_asks(holdout, system_prompt=system, tools=first.tools)


def _identity(settings: SFT, plan: Sampling, train: Any, holdout: Any, base_passes: int, tries: int) -> dict[str, Any]:
    inputs = {"train": digest(train), "holdout": digest(holdout) if holdout is not None else None}
    return {
        "config": settings.to_dict(),
        "sampling": plan.recorded(),
        "inputs": inputs,
        "passes": {"base": base_passes, "trained": 1, "tries": tries},
    }


@dataclass
class _Job:
    """A job in progress; the model is loaded only when a stage still needs it."""

    run: RunFolder
    config: SFT
    sampling: Sampling
    asks: list[Ask]
    tries: int
    judge: Callable[[Row], Any] | None
    _base: LocalModel | None = None

    def base(self) -> LocalModel:
        """The untouched base model, loaded once."""
        if self._base is None:
            self._base = load(self.config.base_model)
        return self._base

    def announce(self, records: Sequence[Record], train: Any, holdout: Any) -> None:
        """The first ledger lines: how much there is, and how long the longest row is."""
        if "rendered" in self.run.done:
            for stage in [s for s in ("inputs", "rendered", "asks") if s in self.run.done]:
                self.run.record(stage, "")
            return
        rows = self.encoded(records)
        passes = self.config.steps * self.config.batch_size / len(rows)
        held = f", {len(self.asks)} held-out asks from {Path(holdout).name}" if self.asks else ""
        steps = f"{self.config.steps} steps is {passes:.1f} passes over the rows"
        self.run.record("inputs", f"{len(rows)} rows from {Path(train).name}{held}; {steps}")
        longest = max(len(r.input_ids) for r in rows)
        limit = f"(max_length {self.config.max_length})"
        self.run.record("rendered", f"{len(rows)} training rows rendered; the longest is {longest} tokens {limit}")
        if self.asks:
            tasks = len({a.scenario_id for a in self.asks})
            self.run.record("asks", f"{len(self.asks)} held-out asks over {tasks} tasks")

    def encoded(self, records: Sequence[Record]) -> list[Encoded]:
        """The training rows as tokens under the base model's chat format."""
        return encode_records(records, ChatFormat(self.base().tokenizer), self.config.max_length)

    def measure(self, arm: str, number: int) -> None:
        """One pass of one arm; a pass already on disk is not run again. Both arms' first pass share seed 1."""
        stage = f"{arm}-{number}"
        if stage in self.run.done:
            return self.run.record(stage, "")
        started = time.monotonic()
        model = self.base() if arm == "base" else self._trained_model()
        rows = evaluate(
            model,
            self.asks,
            tries=self.tries,
            sampling=self.sampling,
            seed=number,
            run=number,
            model_version=arm,
            judge=self.judge,
        )
        self.run.keep_rows(stage, rows)
        seconds = time.monotonic() - started
        name = f"base pass {number}" if arm == "base" else "trained pass"
        line = f"{name} (seed {number}): {len(rows)} rows in {seconds:.1f}s, {share_cut(rows):.0%} cut off"
        return self.run.record(stage, line, seconds=seconds)

    def _trained_model(self) -> LocalModel:
        """A fresh base with the adapter merged in: the base weights in memory were trained on."""
        self._base = None
        folder = self.run.path / "adapter"
        if not self.config.lora_rank:
            return replace(load(str(folder)), name=self.config.base_model)
        return load(self.config.base_model, adapter=folder, merge=True)

    def train(self, records: Sequence[Record]) -> Trained:
        """Train, or read what an earlier start of this run trained."""
        held = self.run.done.get("trained")
        if held is not None:
            self.run.record("trained", "")
            facts = {k: held[k] for k in ("steps", "seconds", "loss_first", "loss_last")}
            return Trained(self.run.path / "adapter", **facts)
        base = self.base()
        trained = sft(base, ChatFormat(base.tokenizer), self.encoded(records), self.config, self.run.path)
        self._base = None
        moved = f"loss {trained.loss_first:.3f} -> {trained.loss_last:.3f}"
        line = f"trained {trained.steps} steps in {trained.seconds:.1f}s: {moved}"
        facts = {k: v for k, v in asdict(trained).items() if k != "adapter"}
        self.run.record("trained", line, **facts)
        return trained

    def close(self, trained: Trained, n_rows: int) -> TrainReport:
        """The last ledger lines, and every pass's rows in one file."""
        total = sum(float(entry.get("seconds") or 0) for entry in self.run.done.values())
        device = _device()
        self.run.record(
            "total", f"{device}: {total:.1f}s total, training {trained.seconds:.1f}s; adapter at {trained.adapter}"
        )
        self.run.record("memory", f"peak memory {peak_megabytes() / 1000:.1f} GB")
        path = self._write_rows() if self.asks else None
        return TrainReport(
            run=str(self.run.path),
            adapter=str(trained.adapter),
            holdout_rows=path,
            n_rows=n_rows,
            steps=trained.steps,
            loss_first=trained.loss_first,
            loss_last=trained.loss_last,
            seconds=total,
            lines=tuple(self.run.lines),
        )

    def _write_rows(self) -> str:
        rows: list[Mapping[str, Any]] = []
        for stage in self.run.done:
            rows += self.run.rows(stage) or []
        if not rows:
            raise InputError(f"{self.run.path} lists no finished pass; remove the folder and start again")
        path = self.run.path / "holdout_rows.jsonl"
        write_jsonl(path, rows)
        self.run.record("rows", f"wrote {len(rows)} rows to {path}")
        return str(path)


def _device() -> str:
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else f"CPU ({os.cpu_count()} cores)"
