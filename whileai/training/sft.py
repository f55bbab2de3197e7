"""Supervised fine-tuning: a LoRA adapter (or every weight) on rows whose mask is ours, through TRL's SFTTrainer.

TRL gets `input_ids` and `labels` and changes neither. The loss is taken at trained positions only:
the same number as over all of them (the rest is masked), without paying for a vocabulary of logits
at every prompt token.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whileai.core.errors import TrainingError
from whileai.core.extras import need
from whileai.core.files import append_jsonl, read_journal
from whileai.core.progress import track
from whileai.models.local import LocalModel, canonical, quietly
from whileai.training.config import SFT
from whileai.training.tokens import IGNORED, ChatFormat, Encoded

_WHOLE = ".whole"  # marks a checkpoint that was written to its end; a kill leaves one without it


@dataclass(frozen=True)
class Trained:
    """What came out: the adapter folder, optimiser steps, seconds, loss of the first and of the last step."""

    adapter: Path
    steps: int
    seconds: float
    loss_first: float
    loss_last: float


def sft(local: LocalModel, chat: ChatFormat, rows: Sequence[Encoded], config: SFT, folder: Path) -> Trained:
    """Train an adapter for `local` on token rows; everything is written under `folder`.

    A killed run goes on from its last whole checkpoint when called again with the same folder.
    Raises TrainingError when the loss stops being a number; the last good checkpoint is kept.
    """
    trl, peft, datasets, transformers = (need(name, "train") for name in ("trl", "peft", "datasets", "transformers"))
    started = time.monotonic()
    transformers.set_seed(config.seed)
    metrics = folder / "metrics.jsonl"
    checkpoint = last_whole_checkpoint(folder / "checkpoints")
    _forget_after(metrics, _step_of(checkpoint))
    data = datasets.Dataset.from_list([{"input_ids": r.input_ids, "labels": r.labels} for r in rows])
    with track(config.steps, "training") as bar, quietly():
        model = peft.get_peft_model(local.model, _lora(peft, config)) if config.lora_rank else local.model
        bar.advance(_step_of(checkpoint))
        trainer = _trainer_class(trl)(
            model=model,
            args=_arguments(trl, config, folder, local.device),
            train_dataset=data,
            data_collator=_collator(local.tokenizer.pad_token_id),
            processing_class=local.tokenizer,
            callbacks=[_recorder(transformers, metrics, started, bar.advance)],
        )
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    adapter = _save_adapter(trainer.model, local, chat, folder)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    return _summary(adapter, metrics)


def _lora(peft: Any, config: SFT) -> Any:
    return peft.LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=config.lora_dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def _arguments(trl: Any, config: SFT, folder: Path, device: str) -> Any:
    on_gpu = device.startswith("cuda")
    return trl.SFTConfig(
        output_dir=str(folder / "checkpoints"),
        max_steps=config.steps,
        per_device_train_batch_size=config.batch_size,
        learning_rate=config.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=math.ceil(config.warmup * config.steps),
        weight_decay=config.weight_decay,
        seed=config.seed,
        max_length=None,
        dataset_kwargs={"skip_prepare_dataset": True},
        remove_unused_columns=False,
        gradient_checkpointing=False,
        bf16=on_gpu,
        use_cpu=not on_gpu,
        logging_steps=1,
        save_strategy="steps",
        save_steps=config.save_every,
        save_total_limit=2,
        report_to=[],
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )


def _collator(pad: int) -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    """Pad a batch on the right; padding is neither attended to nor trained."""
    torch = need("torch", "train")

    def collate(examples: list[dict[str, Any]]) -> dict[str, Any]:
        width = max(len(e["input_ids"]) for e in examples)

        def padded(key: str, fill: int) -> Any:
            return torch.tensor([e[key] + [fill] * (width - len(e[key])) for e in examples])

        mask = torch.tensor([[1] * len(e["input_ids"]) + [0] * (width - len(e["input_ids"])) for e in examples])
        return {"input_ids": padded("input_ids", pad), "labels": padded("labels", IGNORED), "attention_mask": mask}

    return collate


def trained_loss(model: Any, inputs: dict[str, Any], normaliser: Any = None) -> Any:
    """Mean cross-entropy at the trained positions of a batch (logits are computed nowhere else).

    Equal to the full loss under the same labels. `normaliser` replaces the token count when a step has several batches.
    """
    torch = need("torch", "train")
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    hidden = base.get_decoder()(
        input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
    ).last_hidden_state
    wanted = inputs["labels"][:, 1:]
    trained = wanted != IGNORED
    logits = base.get_output_embeddings()(hidden[:, :-1][trained]).float()
    total = torch.nn.functional.cross_entropy(logits, wanted[trained], reduction="sum")
    return total / (normaliser if normaliser is not None else trained.sum())


def _trainer_class(trl: Any) -> Any:
    class MaskedTrainer(trl.SFTTrainer):  # type: ignore[misc]
        """The loss at trained positions; several processes keep TRL's own, whose wrapper syncs gradients."""

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            alone = self.accelerator.num_processes == 1 and not return_outputs
            if not alone or getattr(model.config, "final_logit_softcapping", None):
                return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
            loss = trained_loss(model, inputs, num_items_in_batch)
            if not math.isfinite(loss.item()):
                raise TrainingError(
                    f"the loss became {loss.item()} at step {self.state.global_step + 1}; the last checkpoint is kept; "
                    "lower learning_rate, or look for a row of nonsense in the training file"
                )
            return loss

    return MaskedTrainer


def _recorder(transformers: Any, metrics: Path, started: float, advance: Callable[..., None]) -> Any:
    class Recorder(transformers.TrainerCallback):  # type: ignore[misc]
        """One whole line a step in metrics.jsonl; a mark on every checkpoint that was written to its end."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if not logs or "loss" not in logs:
                return
            line = {"step": state.global_step, "loss": float(logs["loss"]), "learning_rate": logs.get("learning_rate")}
            line |= {"seconds": round(time.monotonic() - started, 2), "peak_mb": peak_megabytes()}
            append_jsonl(metrics, line)
            advance(1, note=f"loss {line['loss']:.3f}")

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            if folder.is_dir():
                _sync(folder)
                (folder / _WHOLE).touch()

    return Recorder()


def _sync(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())


def peak_megabytes() -> int:
    """Peak resident memory of this process, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (1024 if sys.platform != "darwin" else 1024 * 1024))


def last_whole_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end, or None; torn ones are removed."""
    found = sorted(folder.glob("checkpoint-*"), key=_step_of)
    whole = [path for path in found if (path / _WHOLE).exists()]
    for torn in set(found) - set(whole):
        shutil.rmtree(torn, ignore_errors=True)
    return whole[-1] if whole else None


def _step_of(checkpoint: Path | None) -> int:
    return int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0


def _forget_after(metrics: Path, step: int) -> None:
    """Drop the log lines of steps that will be taken again."""
    kept = [line for line in read_journal(metrics) if line["step"] <= step]
    metrics.unlink(missing_ok=True)
    for line in kept:
        append_jsonl(metrics, line)


def _save_adapter(model: Any, local: LocalModel, chat: ChatFormat, folder: Path) -> Path:
    """Write adapter and tokenizer (with the template that was trained) beside, then move them into place."""
    target, part = folder / "adapter", folder / ".adapter.part"
    shutil.rmtree(part, ignore_errors=True)
    for config in getattr(model, "peft_config", {}).values():
        config.base_model_name_or_path = canonical(local.name)
    with quietly():
        model.save_pretrained(str(part))
    chat.tokenizer.save_pretrained(str(part))
    shutil.rmtree(target, ignore_errors=True)
    os.replace(part, target)
    return target


def _summary(adapter: Path, metrics: Path) -> Trained:
    lines = read_journal(metrics)
    return Trained(adapter, lines[-1]["step"], lines[-1]["seconds"], lines[0]["loss"], lines[-1]["loss"])
