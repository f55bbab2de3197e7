"""A language model of a few hundred thousand weights, made from nothing in a second.

It knows nothing, which is the point: what it can do after training, training taught it. Tests and
small experiments train it for real in seconds on one core.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whileai.core.extras import need
from whileai.models.local import quietly

_SPECIAL = ["<|pad|>", "<|im_start|>", "<|im_end|>"]


def make_tiny(
    folder: str | os.PathLike[str],
    texts: Iterable[str],
    *,
    seed: int = 0,
    vocabulary: int = 800,
    hidden: int = 64,
    layers: int = 2,
) -> Path:
    """Write an untrained Llama and a byte-level BPE tokenizer learnt from `texts` to `folder`; returns it.

    initializer_range is 0.1: at this width the usual 0.02 learns nothing in a few hundred steps (measured).
    """
    torch, transformers = need("torch", "train"), need("transformers", "train")
    target = Path(folder)
    tokenizer = _tokenizer(texts, vocabulary)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        initializer_range=0.1,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    with quietly():
        transformers.LlamaForCausalLM(config).save_pretrained(target)
        tokenizer.save_pretrained(target)
    return target


def _tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    tokenizers, transformers = need("tokenizers", "train"), need("transformers", "train")
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=_SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    model.train_from_iterator(list(texts), trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|pad|>"
    )
