"""Two stand-in agents, one careless and one careful, on the same tasks: rows for a trainer, and a paired proof."""

from lookup import SYSTEM, get_order

import whileai as wai
from whileai.simulations import format_delta_report

shared = {
    "tools": [get_order],
    "system_prompt": SYSTEM,
    "simulator": False,
    "mode": "rl",
    "repeats": 4,
    "repeat_policy": "fixed",
    "seed": 0,
}


def honest(row):
    return {"reward": int(not row["seeded"])}


rows = wai.simulate(wai.seeded_agent([get_order]), budget=64, **shared).grade(judge=honest)
print(rows.select(mode="sft").export("passes.jsonl")["n"], "rows written")

careless = wai.simulate(
    wai.seeded_agent([get_order], rate=0.5), budget=64, advanced={"model_version": "careless"}, **shared
)
careful = wai.simulate(
    wai.seeded_agent([get_order], rate=0.1), tasks=careless, advanced={"model_version": "careful"}, **shared
)
first, second = careless.grade(judge=honest), careful.grade(judge=honest)
print("before:", first.pass_at)
print("after: ", second.pass_at)
print(format_delta_report(wai.compare(first.rows, second.rows)))
