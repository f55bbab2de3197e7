"""Decontaminate at scale: seconds and memory for 100,000 rows against 1,000 held-out, recall and false alarms.

python benchmarks/decontaminate.py            # about a minute; writes benchmarks/decontaminate.md
python benchmarks/decontaminate.py --dry-run  # a tenth of the rows, prints only
"""

from __future__ import annotations

import argparse
import random
import resource
import string
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whileai.core.files import write_text
from whileai.selection.overlap import decontaminate

RNG = random.Random(0)
WORDS = sorted({"".join(RNG.choices(string.ascii_lowercase, k=RNG.randint(2, 9))) for _ in range(3000)})
FILL = "please thanks really just also kindly again now".split()


def row(task: str, ask: str) -> dict[str, Any]:
    """A row that asks `ask`."""
    return {"scenario_id": task, "messages": [{"role": "user", "content": ask}, {"role": "assistant", "content": "ok"}]}


def sentence(n: int) -> str:
    """Words at random."""
    return " ".join(RNG.choices(WORDS, k=n))


TEMPLATES = [f"{sentence(11)} {{}} {sentence(5)}" for _ in range(40)]


def templated() -> str:
    """One of forty templates with an id."""
    return RNG.choice(TEMPLATES).format(f"ORD-{RNG.randrange(10**8)}")


def own() -> str:
    """An ask like no other, with an id in it."""
    words = sentence(18).split()
    return " ".join([*words[:9], f"ORD-{RNG.randrange(10**8)}", *words[9:]])


def edited(ask: str, share: float) -> str:
    """The ask with a share of its words changed: a letter doubled, the word dropped, or one added."""
    words = ask.split()
    for place in RNG.sample(range(len(words)), max(1, round(share * len(words)))):
        if "ORD" not in words[place]:
            words[place] = RNG.choice([words[place] + words[place][-1], "", f"{RNG.choice(FILL)} {words[place]}"])
    return " ".join(filter(None, words))


def other_id(ask: str) -> str:
    """The ask with its id exchanged."""
    return " ".join(f"ORD-{RNG.randrange(10**8)}" if w.startswith("ORD") else w for w in ask.split())


PLANTED: dict[str, Callable[[str], str]] = {
    "word for word, other case": str.upper,
    "with words before and after": lambda ask: f"{sentence(12)} {ask} {sentence(12)}",
    "5% of the words edited": lambda ask: edited(ask, 0.05),
    "10% of the words edited": lambda ask: edited(ask, 0.1),
    "20% of the words edited": lambda ask: edited(ask, 0.2),
    "paraphrase (half of the words new)": lambda ask: " ".join(
        w if RNG.random() < 0.5 or "ORD" in w else RNG.choice(WORDS) for w in ask.split()
    ),
    "the id exchanged (18 words: another task)": other_id,
}


def speed(n_rows: int) -> str:
    """Seconds for growing training sides."""
    lines = ["| rows | held out | asks | CPU seconds | dropped |", "|---|---|---|---|---|"]
    for name, ask in (("40 templates with ids", templated), ("all different", own)):
        held = [row(f"h{i}", ask()) for i in range(1000)]
        for n in (n_rows // 4, n_rows):
            rows = [row(f"t{i}", ask()) for i in range(n)]
            started = time.process_time()
            _, report = decontaminate(rows, held)
            seconds = time.process_time() - started
            lines.append(f"| {n:,} | 1,000 | {name} | {seconds:.1f} | {report.n_contaminated} |")
    return "\n".join(lines)


def quality(n: int) -> str:
    """Share of planted copies found, of asks of their own and of template asks; and of clean rows dropped."""
    held = {"own asks": [own() for _ in range(n)], "template asks": [templated() for _ in range(n)]}
    against = [row(f"{kind}{i}", ask) for kind, asks in held.items() for i, ask in enumerate(asks)]
    lines = ["| training text | dropped, of own asks | dropped, of template asks |", "|---|---|---|"]
    for name, change in PLANTED.items():
        lines.append(f"| {name} | {' | '.join(_share([change(a) for a in asks], against) for asks in held.values())} |")
    clean = [_share([make() for _ in range(10 * n)], against) for make in (own, templated)]
    return "\n".join([*lines, f"| clean | {clean[0]} | {clean[1]} |"])


def _share(asks: list[str], against: list[dict[str, Any]]) -> str:
    _, report = decontaminate([row(f"x{i}", ask) for i, ask in enumerate(asks)], against)
    return f"{report.n_contaminated} of {len(asks)}"


def main() -> None:
    """Print the tables; write them unless it is a dry run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true")
    small = parser.parse_args().dry_run
    parts = ["# Decontaminate", "", speed(10_000 if small else 100_000), ""]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts += [f"Peak memory of the process, rows included: {peak:.0f} MB.", "", quality(50 if small else 500), ""]
    text = "\n".join(parts)
    print(text)
    if not small:
        write_text(Path(__file__).with_suffix(".md"), text)


if __name__ == "__main__":
    main()
