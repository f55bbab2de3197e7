"""What a training run and a sampler are told. Imports nothing heavy, so that any place can read a config."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from whileai.core.errors import UsageError


@dataclass(frozen=True)
class Sampling:
    """How the model is sampled. Both arms of a comparison must share it; it is written on every row.

    temperature: 0 is greedy. top_p: nucleus mass in (0, 1]. max_new_tokens: per assistant turn.
    max_turns: assistant turns in one conversation. batch_size: rows decoded together.
    """

    temperature: float = 0.7
    top_p: float = 1.0
    max_new_tokens: int = 64
    max_turns: int = 2
    batch_size: int = 160

    def __post_init__(self) -> None:
        _positive(self, "max_new_tokens", "max_turns", "batch_size")
        if self.temperature < 0 or not 0 < self.top_p <= 1:
            raise UsageError("temperature must be 0 or more and top_p in (0, 1]")

    def recorded(self) -> dict[str, Any]:
        """The settings that change what is sampled (the batch size does not)."""
        return {key: value for key, value in asdict(self).items() if key != "batch_size"}


@dataclass(frozen=True)
class SFT:
    """Supervised fine-tuning with a LoRA adapter (Hu et al., arXiv:2106.09685).

    steps: optimiser steps; batch_size: rows a step; learning_rate: peak, after `warmup` share of the steps, then
    linear to zero; lora_rank, lora_alpha, lora_dropout: the adapter on every linear layer (rank 0 trains every
    weight instead, and the run then holds a whole model where the adapter would be); max_length: tokens a row
    may have (longer rows are refused, never cut); save_every: steps between checkpoints a killed run resumes from.
    """

    base_model: str = "SmolLM2-135M-Instruct"
    steps: int = 24
    batch_size: int = 4
    learning_rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.0
    lora_rank: int = 16
    lora_alpha: int = 32
    lora_dropout: float = 0.0
    max_length: int = 1024
    seed: int = 0
    save_every: int = 5

    method = "sft"

    def __post_init__(self) -> None:
        _positive(self, "steps", "batch_size", "learning_rate", "lora_alpha", "max_length", "save_every")
        if self.lora_rank < 0:
            raise UsageError(f"lora_rank must be 0 (every weight) or more, not {self.lora_rank}")

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON-ready values, with the method's name."""
        return {"method": self.method, **asdict(self)}


def _positive(config: Any, *names: str) -> None:
    known = {field.name for field in fields(config)}
    for name in names:
        if name in known and not getattr(config, name) > 0:
            raise UsageError(f"{name} must be more than 0, not {getattr(config, name)!r}")
