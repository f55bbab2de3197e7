"""The sampler gives what plain generation gives, whatever it shares and however it batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.models.local import LocalModel, load
from whileai.training.config import Sampling
from whileai.training.sampling import _fill_holes, draw, sample

GREEDY = Sampling(temperature=0, max_new_tokens=12)


@pytest.fixture(scope="module")
def tiny(untrained: Path) -> LocalModel:
    return load(str(untrained))


def prompts(count: int = 7) -> list[list[int]]:
    """Prompts with a shared start and ends of unlike length."""
    return [[1, 50, 60, 70, 80, *range(90 + i, 90 + i + 1 + (i * 5) % 7)] for i in range(count)]


def generate(local: LocalModel, prompt: list[int], new: int) -> list[int]:
    ids = torch.tensor([prompt])
    out = local.model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=new, do_sample=False, pad_token_id=0
    )
    return list(out[0, len(prompt) :].tolist())


def test_greedy_output_is_what_transformers_generates(tiny: LocalModel) -> None:
    ours = sample(tiny, prompts(), range(7), GREEDY, [2])
    assert [g.ids for g in ours] == [generate(tiny, p, 12) for p in prompts()]


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_the_batch_does_not_choose_the_words(tiny: LocalModel, batch_size: int) -> None:
    asked = [p for p in prompts() for _ in range(3)]
    seeds = list(range(len(asked)))
    alone = [sample(tiny, [p], [s], Sampling(max_new_tokens=10), [2])[0] for p, s in zip(asked, seeds, strict=True)]
    together = sample(tiny, asked, seeds, Sampling(max_new_tokens=10, batch_size=batch_size), [2])
    assert together == alone


def test_order_of_requests_does_not_matter(tiny: LocalModel) -> None:
    asked, seeds = prompts(), list(range(7))
    forward = sample(tiny, asked, seeds, Sampling(max_new_tokens=8), [2])
    backward = sample(tiny, asked[::-1], seeds[::-1], Sampling(max_new_tokens=8), [2])
    assert forward == backward[::-1]


def test_a_row_ends_at_its_stop_token_and_says_so(tiny: LocalModel) -> None:
    long = sample(tiny, prompts(), range(7), GREEDY, [])
    stop = long[0].ids[4]
    cut = sample(tiny, prompts(), range(7), GREEDY, [stop])
    for whole, short in zip(long, cut, strict=True):
        if stop in whole.ids:
            assert short.ids == whole.ids[: whole.ids.index(stop) + 1]
            assert short.finish_reason == "stop"
        else:
            assert (short.ids, short.finish_reason) == (whole.ids, "length")


def test_prompts_that_are_all_the_same_are_run_once_and_still_differ_by_seed(tiny: LocalModel) -> None:
    found = sample(tiny, [[1, 50, 60]] * 8, range(8), Sampling(temperature=1.0, max_new_tokens=8), [2])
    assert len({tuple(g.ids) for g in found}) > 1


def test_no_prompts_give_no_generations(tiny: LocalModel) -> None:
    assert sample(tiny, [], [], GREEDY, [2]) == []


@given(st.lists(st.floats(-4, 4), min_size=2, max_size=12), st.floats(0, 0.999))
@settings(max_examples=60, deadline=None)
def test_a_draw_inverts_the_distribution_function(logits: list[float], uniform: float) -> None:
    token = int(draw(torch.tensor([logits]), torch.tensor([uniform]), Sampling(temperature=1.0))[0])
    mass = torch.softmax(torch.tensor(logits, dtype=torch.float64), 0).cumsum(0)
    below = float(mass[token - 1]) if token else 0.0
    assert below - 1e-5 <= uniform <= float(mass[token]) + 1e-5


def test_draws_follow_the_softmax() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0]])
    uniform = (torch.arange(9000) + 0.5) / 9000
    tokens = draw(logits.expand(9000, 3), uniform, Sampling(temperature=0.5))
    share = torch.bincount(tokens, minlength=3) / 9000
    assert torch.allclose(share, torch.softmax(logits[0] / 0.5, 0), atol=1e-3)


def test_top_p_never_draws_outside_the_nucleus() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]]))
    uniform = (torch.arange(1000) + 0.5) / 1000
    tokens = draw(logits.expand(1000, 4), uniform, Sampling(temperature=1.0, top_p=0.7))
    assert set(tokens.tolist()) == {0, 1}


@given(st.sets(st.integers(0, 30), min_size=1))
def test_holes_are_filled_with_the_fewest_moves(live: set[int]) -> None:
    order = _fill_holes(sorted(live))
    moved = [i for i, row in enumerate(order) if row != i]
    assert sorted(order) == sorted(live)
    assert len(moved) == sum(row >= len(live) for row in live)


def test_an_unknown_setting_is_refused() -> None:
    bad: list[dict[str, Any]] = [{"max_new_tokens": 0}, {"temperature": -1.0}, {"top_p": 0.0}, {"top_p": 1.5}]
    for settings_ in bad:
        with pytest.raises(ValueError, match="must be"):
            Sampling(**settings_)
