"""Published figures come out of the published scores."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from whileai.stats.comparison import compare
from whileai.stats.passat import pass_at

REAL = Path(__file__).parents[1] / "data" / "real"


def read(name):
    with (REAL / name).open(newline="") as file:
        return [
            {
                "task_id": line["task_id"],
                "rollout_index": int(line["repeat"]),
                "model_version": line["arm"],
                "reward": float(line["reward"]) if line["reward"] else None,
            }
            for line in csv.DictReader(file)
        ]


@pytest.mark.parametrize(("k", "hat", "at"), [(1, 0.42, 0.42), (2, 0.2733, 0.5667), (3, 0.22, 0.66), (4, 0.2, 0.72)])
def test_tau_bench_airline_gives_its_published_pass_hat_k_and_pass_at_k(k, hat, at):
    found = pass_at(read("taubench_gpt4o_airline_4trials.csv"), k=k)
    assert (found.n_tasks, found.n_rows) == (50, 200)
    assert found.pass_at_1.value == pytest.approx(0.42)
    assert found.pass_pow_k.value == pytest.approx(hat, abs=5e-5)
    assert found.pass_at_k.value == pytest.approx(at, abs=5e-5)


@pytest.fixture(scope="module")
def published():
    rows = read("livecodebench_o1mini_vs_o1preview.csv")
    mini = [row for row in rows if "mini" in row["model_version"].lower()]
    preview = [row for row in rows if "mini" not in row["model_version"].lower()]
    return compare(mini, preview)


def test_livecodebench_gives_its_published_paired_delta(published):
    assert published.n_paired == 880
    assert (published.before * 880, published.after * 880) == pytest.approx((602, 489))
    assert published.delta == pytest.approx(-0.1284, abs=5e-5)
    assert published.se == pytest.approx(0.01553, abs=5e-6)
    assert published.verdict == "WORSE"


def test_livecodebench_gives_its_discordant_tasks_to_mcnemar(published):
    assert (published.mcnemar["down"], published.mcnemar["up"]) == (157, 44)
    assert published.mcnemar["p"] < 1e-15


def test_with_one_repeat_the_report_says_what_it_cannot_compute(published):
    assert "one try a task: pass^k and what re-sampling alone explains cannot be computed" in str(published)
    assert "eval repeat noise not measured" in str(published)
    assert list(published.metrics) == ["pass_at_1"]
