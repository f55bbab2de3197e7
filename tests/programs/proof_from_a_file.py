"""The rows of a training run, graded here: three base passes give the noise, the trained pass the proof."""

import json

from lookup import judge

import whileai as wai

with open("holdout_rows.jsonl", encoding="utf-8") as stream:
    rows = [json.loads(line) for line in stream]
for row in rows:
    row.update(judge(row))

base = [[r for r in rows if r["model_version"] == "base" and r["run"] == n] for n in (1, 2, 3)]
trained = [r for r in rows if r["model_version"] == "trained"]
noise = wai.simulations.eval_variance(*base)
print("before:", wai.pass_at(base[0]))
print("after: ", wai.pass_at(trained))
print("base passes:", " / ".join(f"{m:.3f}" for m in noise["means"].values()), " run_std", f"{noise['run_std']:.3f}")
print(wai.compare(base[0], trained, run_std=noise["run_std"], run_std_runs=3))
