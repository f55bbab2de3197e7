"""Rows from counts, and the golden values."""

from __future__ import annotations

import json
from pathlib import Path

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "golden.json").read_text())


def rows_of(passes, tries, **extra):
    """0/1 rows: passes[i] of tries[i] tries of task i pass."""
    return [
        {"scenario_id": f"t{i}", "rollout_index": j, "reward": float(j < c), **extra}
        for i, (c, n) in enumerate(zip(passes, tries, strict=True))
        for j in range(n)
    ]


def rows_of_means(means, n=4, **extra):
    """0/1 rows with the given task means out of n tries each."""
    return rows_of([round(mean * n) for mean in means], [n] * len(means), **extra)


def rows_of_values(values, **extra):
    """One row a task with the given rewards."""
    return [{"scenario_id": f"t{i}", "rollout_index": 0, "reward": v, **extra} for i, v in enumerate(values)]


def arms_of(d, n=4):
    """Two arms of 0/1 rows, n tries a task, whose task differences are d; the before arm sits as low as it can."""
    before = [max(0.0, -x) for x in d]
    after = [b + x for b, x in zip(before, d, strict=True)]
    return rows_of_means(before, n, model_version="v1"), rows_of_means(after, n, model_version="v2")
