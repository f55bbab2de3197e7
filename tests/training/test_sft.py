"""The loss is the full masked loss, the adapter trains and loads, and a run that goes wrong says where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny_task
import torch
from conftest import tiny_config

from whileai.core.errors import InputError, TrainingError
from whileai.core.files import load_jsonl
from whileai.models.local import LocalModel, attach, load
from whileai.training.config import Sampling
from whileai.training.records import encode_records, read_records
from whileai.training.sampling import sample
from whileai.training.sft import _WHOLE, _collator, last_whole_checkpoint, sft, trained_loss
from whileai.training.tokens import IGNORED, ChatFormat, Encoded


def loaded(model: Path, count: int = 32) -> tuple[LocalModel, ChatFormat, list[Encoded]]:
    local = load(str(model))
    chat = ChatFormat(local.tokenizer)
    return local, chat, encode_records(read_records(tiny_task.split()[0][:count]), chat, 1024)


def batch_of(rows: list[Encoded]) -> dict[str, Any]:
    return dict(_collator(0)([{"input_ids": r.input_ids, "labels": r.labels} for r in rows]))


def test_the_loss_at_trained_positions_is_the_full_masked_loss(untrained: Path) -> None:
    local, _, rows = loaded(untrained, 5)
    batch = batch_of(rows)
    with torch.no_grad():
        ours = trained_loss(local.model, batch)
        full = local.model(**batch).loss
    assert torch.allclose(ours, full, rtol=1e-5)


def test_the_loss_on_two_tokens_is_what_a_hand_computes(untrained: Path) -> None:
    local, _, _ = loaded(untrained, 1)
    ids = torch.tensor([[1, 40, 41, 42]])
    labels = torch.tensor([[IGNORED, IGNORED, 41, 42]])
    with torch.no_grad():
        loss = trained_loss(local.model, {"input_ids": ids, "labels": labels, "attention_mask": torch.ones_like(ids)})
        odds = torch.log_softmax(local.model(ids).logits[0].double(), -1)
    assert float(loss) == pytest.approx(-float(odds[1, 41] + odds[2, 42]) / 2, rel=1e-5)


def test_changing_a_masked_token_label_changes_nothing_and_padding_is_not_trained(untrained: Path) -> None:
    local, _, rows = loaded(untrained, 4)
    short = Encoded(rows[0].input_ids[:-1], rows[0].labels[:-1])
    with torch.no_grad():
        alone = trained_loss(local.model, batch_of([short]))
        padded = trained_loss(local.model, batch_of([short, rows[1]]), 1)
        other = trained_loss(local.model, batch_of([rows[1]]), 1)
    assert float(padded - other) == pytest.approx(float(alone) * short.trained, rel=1e-4)


def test_a_lora_adapter_learns_saves_and_loads_on_its_base_only(
    untrained: Path, trained_run: Any, tmp_path: Path
) -> None:
    local, chat, rows = loaded(untrained)
    config = tiny_config(untrained, lora_rank=8, steps=12, batch_size=8)
    done = sft(local, chat, rows, config, tmp_path)
    assert done.loss_last < done.loss_first
    fresh = attach(load(str(untrained)), done.adapter)
    batch = batch_of(rows[:4])
    with torch.no_grad():
        tuned = float(trained_loss(fresh.model, batch))
        merged = float(trained_loss(fresh.model.merge_and_unload(), batch))
        base = float(trained_loss(load(str(untrained)).model, batch))
    assert merged == pytest.approx(tuned, rel=1e-4)
    assert tuned < base
    prompt = chat.prompt_ids(tiny_task.conversation("ORD-12", 0)["messages"][:2], [tiny_task.TOOL])
    greedy = Sampling(temperature=0, max_new_tokens=8)
    unmerged = sample(attach(load(str(untrained)), done.adapter), [prompt], [0], greedy, chat.stop_ids)
    assert unmerged == sample(
        load(str(untrained), adapter=done.adapter, merge=True), [prompt], [0], greedy, chat.stop_ids
    )
    with pytest.raises(InputError, match="only fits the base it was trained on"):
        attach(load(str(trained_run.adapter)), done.adapter)


def test_the_same_seed_trains_the_same_weights(untrained: Path, tmp_path: Path) -> None:
    losses = []
    for name in ("a", "b"):
        local, chat, rows = loaded(untrained)
        (tmp_path / name).mkdir()
        sft(local, chat, rows, tiny_config(untrained, steps=4), tmp_path / name)
        losses.append([line["loss"] for line in load_jsonl(tmp_path / name / "metrics.jsonl")])
    assert losses[0] == losses[1]


def test_a_loss_that_is_not_a_number_stops_with_the_step_and_keeps_the_checkpoint(
    untrained: Path, tmp_path: Path
) -> None:
    local, chat, rows = loaded(untrained)
    config = tiny_config(untrained, steps=4, save_every=2)
    steps = 0

    def poison(module: Any, arguments: Any, output: Any) -> Any:
        nonlocal steps
        steps += 1
        return output * float("nan") if steps > 3 else output

    local.model.get_output_embeddings().register_forward_hook(poison)
    with pytest.raises(TrainingError, match="at step 4; the last checkpoint is kept"):
        sft(local, chat, rows, config, tmp_path)
    assert last_whole_checkpoint(tmp_path / "checkpoints") is not None


def test_a_torn_checkpoint_is_not_resumed_from(tmp_path: Path) -> None:
    for step in (5, 10):
        (tmp_path / f"checkpoint-{step}").mkdir()
    (tmp_path / "checkpoint-5" / _WHOLE).touch()
    assert last_whole_checkpoint(tmp_path) == tmp_path / "checkpoint-5"
    assert not (tmp_path / "checkpoint-10").exists()


def test_an_adapter_folder_without_an_adapter_is_refused(untrained: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no adapter"):
        load(str(untrained), adapter=tmp_path)
