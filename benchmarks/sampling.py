"""Our CPU sampler beside plain batched `generate`, and against the machine's own matrix-product rate.

    python benchmarks/sampling.py            # about seven minutes on two cores; writes benchmarks/sampling.md
    python benchmarks/sampling.py --dry-run  # a few rows, prints only

One run measures all three, so the ratios mean something on a noisy machine; absolute rates do not.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path

import torch

from whileai.core.files import write_text
from whileai.core.progress import set_quiet
from whileai.models.local import LocalModel, load
from whileai.training.config import Sampling
from whileai.training.sampling import sample
from whileai.training.tokens import ChatFormat

NEW = 64
TOOL = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "Look up an order by id.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    },
}
ASKS = (
    "Hi, can you tell me where {} is right now?",
    "I am in a hurry. What is the status of {}, please? My sister's birthday is tomorrow.",
    "{} was meant to arrive on Monday and I have heard nothing since. What happened to it?",
    "Could you look up {}?",
    "This is the third time I write about {}. Please just tell me what the system says about it.",
)


def prompts(local: LocalModel, tasks: int, tries: int) -> list[list[int]]:
    """Token ids of `tasks` asks, each `tries` times, as a held-out pass asks them."""
    chat, draw = ChatFormat(local.tokenizer), random.Random(0)
    found = []
    for number in range(tasks):
        text = ASKS[number % len(ASKS)].format(f"ORD-{draw.randint(1000, 9999)}")
        messages = [{"role": "system", "content": "Help customers with orders."}, {"role": "user", "content": text}]
        found += [chat.prompt_ids(messages, [TOOL])] * tries
    return found


def ours(local: LocalModel, asked: list[list[int]], batch: int) -> int:
    """New tokens our sampler wrote."""
    settings = Sampling(max_new_tokens=NEW, batch_size=batch)
    return sum(len(g.ids) for g in sample(local, asked, range(len(asked)), settings, [local.tokenizer.eos_token_id]))


def plain(local: LocalModel, asked: list[list[int]], batch: int) -> int:
    """New tokens `generate` wrote at the same settings, padded on the left as usual."""
    written, stop = 0, local.tokenizer.eos_token_id
    ordered = sorted(asked, key=len)
    for start in range(0, len(ordered), batch):
        part = ordered[start : start + batch]
        width = max(map(len, part))
        ids = torch.tensor([[stop] * (width - len(p)) + p for p in part])
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in part])
        out = local.model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=NEW,
            do_sample=True,
            temperature=0.7,
            top_k=0,
            pad_token_id=stop,
        )
        for row in out[:, width:].tolist():
            written += row.index(stop) + 1 if stop in row else len(row)
    return written


def timed(work: Callable[[], int], rows: int) -> tuple[float, float, float]:
    """(rows a second, new tokens a second, seconds)."""
    started = time.monotonic()
    tokens = work()
    seconds = time.monotonic() - started
    return rows / seconds, tokens / seconds, seconds


def matrix_rate(local: LocalModel, batch: int) -> float:
    """Multiply-adds a second, times two, over the shapes of one decode step at this batch."""
    weights = [p for p in local.model.parameters() if p.ndim == 2]
    inputs = [torch.randn(batch, w.shape[1]) for w in weights]
    with torch.inference_mode():
        best = 0.0
        for _ in range(6):
            started = time.monotonic()
            for x, w in zip(inputs, weights, strict=True):
                torch.nn.functional.linear(x, w)
            work = 2 * batch * sum(w.numel() for w in weights)
            best = max(best, work / (time.monotonic() - started))
    return best


def table(tasks: int, rows_for_plain: int, batches: tuple[int, ...]) -> str:
    """Run everything and lay it out as Markdown."""
    local = load("SmolLM2-135M-Instruct")
    asked = prompts(local, tasks, 4)
    lines = ["| sampler | batch | rows | rows/s | new tokens/s |", "|---|---|---|---|---|"]
    best: dict[str, float] = {"plain generate": 0.0, "whileai": 0.0}
    sample(local, asked[:4], range(4), Sampling(max_new_tokens=2), [2])  # warm up
    for name, work in (("plain generate", plain), ("whileai", ours)):
        for batch in batches:
            part = asked[:rows_for_plain] if name == "plain generate" else asked
            rate, tokens, _ = timed(lambda: work(local, part, batch), len(part))  # noqa: B023
            best[name] = max(best[name], rate)
            lines.append(f"| {name} | {batch} | {len(part)} | {rate:.2f} | {tokens:.0f} |")
            print(lines[-1], flush=True)
    top = max(batches)
    roof = matrix_rate(local, top) / (2 * sum(p.numel() for p in local.model.parameters() if p.ndim == 2))
    last = float(lines[-1].split("|")[-2])
    ratio = best["whileai"] / best["plain generate"]
    return "\n".join(
        [
            *lines,
            "",
            f"Rows per second against plain `generate` at its best batch size: **{ratio:.1f} times**.",
            f"The machine's own matrix products allow {roof:.0f} tokens/s at batch {top}.",
            f"The sampler reached {last:.0f} ({last / roof:.0%}), prompt, attention and drawing included.",
        ]
    )


def main() -> None:
    """Print the table and record it beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true")
    dry = parser.parse_args().dry_run
    set_quiet(True)
    text = table(4, 8, (8,)) if dry else table(40, 160, (32, 160))
    print(text)
    if not dry:
        head = f"SmolLM2-135M-Instruct, 40 asks x 4 tries, up to {NEW} new tokens, temperature 0.7, "
        head += f"{torch.get_num_threads()} threads."
        write_text(Path(__file__).with_suffix(".md"), f"# CPU sampling\n\n{head} Last recorded run:\n\n{text}\n")


if __name__ == "__main__":
    main()
