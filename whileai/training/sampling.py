"""Batched sampling on this machine: what is shared is computed once.

The prefix every prompt shares (system prompt and tools) is run once; each distinct prompt once; its
tries branch off by copying the cache. Prompts of like length decode together, and a finished row
leaves the batch at once. Each row draws from a generator of its own, so the batch it sat in does not
choose its words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from whileai.core import seeds as item_seeds
from whileai.core.extras import need
from whileai.models.local import LocalModel
from whileai.training.cache import Slots
from whileai.training.config import Sampling

_PREFILL_TOKENS = 512


@dataclass(frozen=True)
class Generation:
    """New token ids (the stop token included when there was one) and why it ended: "stop" or "length"."""

    ids: list[int]
    finish_reason: str


@dataclass
class _Group:
    """One distinct prompt: its tokens after the shared prefix, and which requests want it."""

    suffix: list[int]
    requests: list[int] = field(default_factory=list)


def sample(
    local: LocalModel,
    prompts: Sequence[Sequence[int]],
    seeds: Sequence[Any],
    sampling: Sampling,
    stop_ids: Sequence[int],
    on_finished: Callable[[int], None] | None = None,
) -> list[Generation]:
    """Sample one continuation a prompt. `seeds[i]` alone decides the draws of request i.

    prompts: token ids, each at least one token long. Returns generations in the order of `prompts`.
    """
    torch = need("torch", "train")
    if not prompts:
        return []
    prefix = _common_prefix(prompts)
    groups = _groups(prompts, len(prefix))
    done: dict[int, Generation] = {}
    with torch.inference_mode():
        shared = _prefill_prefix(local, prefix)
        for batch in _batches(groups, sampling.batch_size):
            requests = [r for group in batch for r in group.requests]
            decode = _Decode(local, sampling, set(stop_ids), requests, [seeds[r] for r in requests])
            logits, cache, pads, positions = _prefill(local, shared, len(prefix), batch, sampling.max_new_tokens)
            for request, generation in decode.run(logits, cache, len(prefix), pads, positions):
                done[request] = generation
                if on_finished is not None:
                    on_finished(1)
    return [done[i] for i in range(len(prompts))]


def _common_prefix(prompts: Sequence[Sequence[int]]) -> list[int]:
    """Longest prefix of all prompts that leaves each at least one token of its own."""
    first, last = list(min(prompts, key=list)), list(max(prompts, key=list))
    limit = min(len(p) for p in prompts) - 1
    pairs = enumerate(zip(first[:limit], last[:limit], strict=True))
    return list(first[: next((i for i, (a, b) in pairs if a != b), limit)])


def _groups(prompts: Sequence[Sequence[int]], skip: int) -> list[_Group]:
    found: dict[tuple[int, ...], _Group] = {}
    for index, prompt in enumerate(prompts):
        suffix = tuple(prompt[skip:])
        found.setdefault(suffix, _Group(list(suffix))).requests.append(index)
    return sorted(found.values(), key=lambda g: (len(g.suffix), g.suffix))


def _batches(groups: list[_Group], size: int) -> Iterator[list[_Group]]:
    """Consecutive groups, ordered by length, with about `size` requests in all; sizes are evened out."""
    total = sum(len(g.requests) for g in groups)
    target = total / max(1, -(-total // size))
    batch: list[_Group] = []
    filled, goal = 0, target
    for group in groups:
        if batch and filled + len(group.requests) / 2 > goal:
            yield batch
            batch, goal = [], goal + target
        batch.append(group)
        filled += len(group.requests)
    yield batch


@lru_cache(maxsize=8)
def cache_keyword(forward: Callable[..., Any]) -> str:
    """What this transformers release calls the cache argument (renamed in 5.x, the old name goes in 5.40)."""
    return "cache" if "cache" in inspect.signature(forward).parameters else "past_key_values"


def _forward(local: LocalModel, ids: Any, positions: Any, mask: Any, cache: Slots) -> Any:
    """Logits of the last position, `[rows, vocabulary]`; the new keys and values are in `cache` afterwards."""
    base = local.model.get_base_model() if hasattr(local.model, "get_base_model") else local.model
    where = {cache_keyword(base.forward.__func__): cache}
    out = local.model(
        input_ids=ids, position_ids=positions, attention_mask=mask, use_cache=True, logits_to_keep=1, **where
    )
    cache.commit()
    return out.logits[:, -1].float()


def _prefill_prefix(local: LocalModel, prefix: list[int]) -> Slots:
    torch = need("torch", "train")
    cache = Slots(len(prefix))
    if prefix:
        ids = torch.tensor([prefix], device=local.device)
        length = len(prefix)
        causal = torch.ones(length, length, dtype=torch.bool, device=local.device).tril()[None, None]
        _forward(local, ids, torch.arange(length, device=local.device)[None], causal, cache)
    return cache


def _prefill(
    local: LocalModel, shared: Slots, prefix: int, batch: list[_Group], room: int
) -> tuple[Any, Slots, Any, Any]:
    """Run each distinct prompt of the batch once, then branch: (logits, cache, padding, positions) a request."""
    torch = need("torch", "train")
    width = max(len(g.suffix) for g in batch)
    cache = Slots(prefix + width + room, rows=sum(len(g.requests) for g in batch))
    found = []
    for part in _like_lengths(batch):
        logits, own, pads, positions = _run_prompts(local, shared, prefix, part)
        branch = torch.tensor([i for i, g in enumerate(part) for _ in g.requests], device=local.device)
        cache.join(own, branch, prefix, prefix + width)
        found.append((logits[branch], pads[branch] + width - max(len(g.suffix) for g in part), positions[branch]))
    return torch.cat([f[0] for f in found]), cache, torch.cat([f[1] for f in found]), torch.cat([f[2] for f in found])


def _like_lengths(batch: list[_Group]) -> Iterator[list[_Group]]:
    """The batch, ordered by length, in parts of a few hundred tokens: enough for the cores, with little padding."""
    part: list[_Group] = []
    for group in batch:
        if part and len(part) * len(group.suffix) >= _PREFILL_TOKENS:
            yield part
            part = []
        part.append(group)
    yield part


def _run_prompts(local: LocalModel, shared: Slots, prefix: int, part: list[_Group]) -> tuple[Any, Slots, Any, Any]:
    """(logits, cache, padding, last position) of each distinct prompt, padded on the left of its own tokens."""
    torch = need("torch", "train")
    width = max(len(g.suffix) for g in part)
    pads = torch.tensor([width - len(g.suffix) for g in part], device=local.device)
    ids = torch.tensor([[0] * (width - len(g.suffix)) + g.suffix for g in part], device=local.device)
    cache = shared.spread(len(part), prefix + width)
    slot = torch.arange(prefix + width, device=local.device)
    query = slot[prefix:]
    seen = (slot[None, None, :] <= query[None, :, None]) & _visible(slot, prefix, pads)[:, None, :]
    seen |= slot[None, None, :] == query[None, :, None]  # padding sees itself: a row with nothing to see is NaN
    positions = (query[None, :] - pads[:, None]).clamp(min=0)
    logits = _forward(local, ids, positions, seen[:, None], cache)
    return logits, cache, pads, positions[:, -1]


def _visible(slot: Any, prefix: int, pads: Any) -> Any:
    return (slot[None, :] < prefix) | (slot[None, :] >= prefix + pads[:, None])


class _Decode:
    """One batch of rows being decoded; row i of every tensor belongs to `requests[i]`."""

    def __init__(
        self, local: LocalModel, sampling: Sampling, stop: set[int], requests: list[int], seeds: list[Any]
    ) -> None:
        torch = need("torch", "train")
        self.local, self.sampling, self.stop, self.requests = local, sampling, stop, list(requests)
        streams = [item_seeds.rng("token", seed) for seed in seeds]
        uniform = [[stream.random() for _ in range(sampling.max_new_tokens)] for stream in streams]
        self.uniform = torch.tensor(uniform, dtype=torch.float32, device=local.device)
        self.written: list[list[int]] = [[] for _ in requests]

    def run(
        self, logits: Any, cache: Slots, prefix: int, pads: Any, positions: Any
    ) -> Iterator[tuple[int, Generation]]:
        """Yield (request, generation) as rows finish."""
        mask = _decode_mask(cache, prefix, pads, logits)
        for step in range(self.sampling.max_new_tokens):
            tokens = draw(logits, self.uniform[:, step], self.sampling)
            order, finished = self._split(tokens.tolist(), last=step + 1 == self.sampling.max_new_tokens)
            yield from finished
            if not order:
                return
            if finished:
                _compact(cache, order)
                index = tokens.new_tensor(order)
                tokens, positions, pads = tokens[index], positions[index], pads[index]
                self.uniform = self.uniform[index]
                mask = _decode_mask(cache, prefix, pads, logits)
            positions = positions + 1
            seen = mask[..., : cache.length + 1]
            logits = _forward(self.local, tokens[:, None], positions[:, None], seen, cache)

    def _split(self, tokens: list[int], *, last: bool) -> tuple[list[int], list[tuple[int, Generation]]]:
        """Record the new tokens; return which rows go on (in their new order) and which are finished."""
        finished, live = [], []
        for row, token in enumerate(tokens):
            self.written[row].append(token)
            if token in self.stop or last:
                reason = "stop" if token in self.stop else "length"
                finished.append((self.requests[row], Generation(self.written[row], reason)))
            else:
                live.append(row)
        order = _fill_holes(live) if finished else live
        self.requests = [self.requests[row] for row in order]
        self.written = [self.written[row] for row in order]
        return order, finished


def _fill_holes(live: list[int]) -> list[int]:
    """The live rows, packed to the front by moving as few of them as possible."""
    count = len(live)
    movers = [row for row in live if row >= count]
    stay = {row for row in live if row < count}
    return [row if row in stay else movers.pop() for row in range(count)]


def _compact(cache: Slots, order: list[int]) -> None:
    for target, source in enumerate(order):
        if source != target:
            cache.move(source, target)
    cache.rows = len(order)


def _decode_mask(cache: Slots, prefix: int, pads: Any, like: Any) -> Any:
    """Additive mask `[rows, 1, 1, capacity]` that hides the padding."""
    torch = need("torch", "train")
    slot = torch.arange(cache.capacity, device=pads.device)
    hidden = ~_visible(slot, prefix, pads)
    return torch.zeros(hidden.shape, dtype=cache.keys[0].dtype, device=like.device).masked_fill_(hidden, float("-inf"))[
        :, None, None
    ]


def draw(logits: Any, uniform: Any, sampling: Sampling) -> Any:
    """One token a row by inverting the distribution function at that row's uniform number.

    logits: `[rows, vocabulary]` float; uniform: `[rows]` in [0, 1). Temperature 0 is greedy.
    """
    torch = need("torch", "train")
    if sampling.temperature == 0:
        return logits.argmax(-1)
    # The softmax up to its normaliser, which the last cumulative value is; in place, since a vocabulary is large.
    probabilities = (logits - logits.amax(-1, keepdim=True)).div_(sampling.temperature).exp_()
    if sampling.top_p < 1:
        probabilities = _nucleus(probabilities / probabilities.sum(-1, keepdim=True), sampling.top_p)
    cumulative = probabilities.cumsum(-1)
    point = (uniform[:, None] * cumulative[:, -1:]).contiguous()
    return torch.searchsorted(cumulative, point, right=True)[:, 0].clamp(max=logits.shape[-1] - 1)


def _nucleus(probabilities: Any, top_p: float) -> Any:
    """Zero all but the smallest set of tokens whose mass reaches `top_p` (Holtzman et al., arXiv:1904.09751)."""
    ranked, order = probabilities.sort(-1, descending=True)
    outside = ranked.cumsum(-1) - ranked >= top_p
    return probabilities.scatter(-1, order, ranked.masked_fill(outside, 0.0))
