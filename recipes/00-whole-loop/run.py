"""The whole loop by hand, to copy and change: your tool, your judge, your agent, a small model trained on this machine.

python run.py             # about ten minutes on two quiet cores
python run.py --dry-run   # a second: everything but the training, nothing written
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import whileai as wai

SYSTEM = "Help customers with refunds."


@wai.tool
def get_refund(refund_id: str) -> dict[str, Any]:
    """Look up a refund by id."""
    raise NotImplementedError  # the world answers


def judge(row: dict[str, Any]) -> bool:
    """Right when the refund that was asked about was looked up and the first sentence is about it."""
    asked = re.findall(r"\b[A-Z]+-\d+\b", row["messages"][1]["content"])
    calls = [call for message in row["messages"] for call in message.get("tool_calls") or []]
    if not asked:
        return not calls
    looked_up = bool(calls) and calls[0]["arguments"].get("refund_id") in asked
    return looked_up and asked[0] in re.split(r"(?<=[.!?])\s", row["messages"][-1]["content"] or "")[0]


def main() -> int:
    """Build both sides, then train and compare unless it is a dry run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="stop before anything is written or trained")
    parser.add_argument("--out", default="runs/refunds", help="the run folder")
    flags = parser.parse_args()

    agent = wai.seeded_agent([get_refund])
    data = wai.simulate(agent, tools=[get_refund], system_prompt=SYSTEM, budget=640, repeats=4, phrasings=2)
    scored = data.grade(judge)
    rest, held = scored.split(holdout_tasks=40)
    clean, report = rest.decontaminate(against=held)
    chosen = clean.select(mode="sft")
    print(scored)
    print(report)
    print(chosen.report.selection)
    if flags.dry_run:
        return 0

    out = Path(flags.out)
    out.mkdir(parents=True, exist_ok=True)
    chosen.export(out / "train.jsonl")
    held.save(out / "holdout.jsonl")
    done = wai.train(out / "train.jsonl", out / "holdout.jsonl", out=out, judge=judge, tries=2)
    rows = wai.load(done["holdout_rows"])
    base = [[r for r in rows if r["model_version"] == "base" and r["run"] == n] for n in (1, 2, 3)]
    trained = [r for r in rows if r["model_version"] == "trained"]
    print(wai.compare(base, trained))
    return 0


if __name__ == "__main__":
    sys.exit(main())
