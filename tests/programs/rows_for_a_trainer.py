"""Simulate, grade, lock forty tasks away, drop near copies, keep the passes, write both files."""

import json

from lookup import SYSTEM, get_order, judge

import whileai as wai

rows = wai.simulate(
    wai.seeded_agent([get_order]),
    tools=[get_order],
    system_prompt=SYSTEM,
    simulator=False,
    mode="rl",
    repeats=4,
    repeat_policy="fixed",
    phrasings=4,
    budget=640,
    concurrency=1,
    seed=0,
).grade(judge=judge)

tasks = sorted({row["scenario_id"] for row in rows.rows})
locked = set(tasks[-40:])
rest = [row for row in rows.rows if row["scenario_id"] not in locked]
held = [row for row in rows.rows if row["scenario_id"] in locked]
rest, report = wai.decontaminate(rest, against=held)
written = wai.select(rest, mode="sft").export("train.jsonl", system_prompt=SYSTEM, tools=[get_order.schema])
with open("holdout.jsonl", "w", encoding="utf-8") as stream:
    stream.writelines(json.dumps({"scenario_id": r["scenario_id"], "messages": r["messages"]}) + "\n" for r in held)
print(type(rest).__name__, len(rows.rows), len(tasks), len(locked))
print(report["n_contaminated"], written["n"], written["with_system"], written["with_tools"])
