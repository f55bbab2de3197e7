"""The one page that holds the whole loop, run whole with a model that knows nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")

import whileai as wai  # noqa: E402
from whileai.core.files import load_jsonl  # noqa: E402
from whileai.models.tiny import make_tiny  # noqa: E402
from whileai.prove import Proof, get_order, order_desk_judge, prove  # noqa: E402
from whileai.training.config import SFT, Sampling  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::whileai.grading.health.GradingWarning")


@pytest.fixture(scope="module")
def said() -> list[str]:
    return []


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> Proof:
    folder = tmp_path_factory.mktemp("prove")
    torch.set_num_threads(1)
    words = [
        "user system assistant tool",
        '<tool_call>{"name": "get_order", "arguments": {"order_id": "ORD-1"}}</tool_call>',
    ]
    model = make_tiny(folder / "model", words)
    config = SFT(base_model=str(model), steps=2, batch_size=2, lora_rank=4, max_length=4096)
    return prove(
        folder / "run",
        budget=160,
        holdout_tasks=12,
        tries=2,
        base_passes=2,
        config=config,
        sampling=Sampling(max_new_tokens=8),
        say=said.append,
    )


def test_two_steps_of_training_prove_nothing_and_the_verdict_says_so(proof: Proof) -> None:
    assert proof.verdict == "NO DIFFERENCE"
    assert "NO DIFFERENCE" in str(proof)


def test_everything_that_was_promised_is_in_the_run_folder(proof: Proof) -> None:
    for path in (proof.train, proof.holdout, proof.holdout_rows, proof.report):
        assert Path(path).stat().st_size > 0, path
    assert (Path(proof.adapter) / "adapter_config.json").is_file()
    assert len(load_jsonl(proof.holdout_rows)) == 3 * 12 * 2


def test_no_held_out_task_is_trained_on_and_every_one_is_asked_in_one_wording(proof: Proof) -> None:
    held = load_jsonl(proof.holdout)
    asked = {row["messages"][1]["content"] for row in held}
    trained = {row["messages"][1]["content"] for row in load_jsonl(proof.train)}
    assert len({row["scenario_id"] for row in held}) == len(asked) == 12
    assert not asked & trained


def test_both_arms_answered_the_same_asks_under_the_same_settings(proof: Proof) -> None:
    rows = load_jsonl(proof.holdout_rows)
    assert len({json.dumps(row["sampling"], sort_keys=True) for row in rows}) == 1
    arms = {
        (version, run): sorted(
            (r["scenario_id"], r["wording"], r["rollout_index"])
            for r in rows
            if (r["model_version"], r["run"]) == (version, run)
        )
        for version, run in (("base", 1), ("base", 2), ("trained", 1))
    }
    assert arms["base", 1] == arms["base", 2] == arms["trained", 1]


def test_what_is_printed_has_the_ledger_the_verdict_and_the_paths(proof: Proof, said: list[str]) -> None:
    text = "\n".join(said)
    for pattern in (
        r"160 rows over \d+ tasks",
        r"12 tasks locked away; \d+ training rows dropped as near copies of a held-out ask",
        r"base pass 1 \(seed 1\): 24 rows in",
        r"trained 2 steps in [\d.]+s: loss [\d.]+ -> [\d.]+",
        r"base passes: [\d.]+ / [\d.]+  run_std [\d.]+",
        r"answered: 100.0% before, 100.0% after",
        r"  pass_at_1 +[\d.]+ -> [\d.]+",
        r"report: +\S+report\.html",
    ):
        assert re.search(pattern, text), pattern


def row_of(ask: str, *rest: dict[str, object]) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": ask}, *rest]}


def call(order: str) -> dict[str, object]:
    return {"role": "assistant", "content": "", "tool_calls": [{"name": "get_order", "arguments": {"order_id": order}}]}


def answer(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


def result(status: str) -> dict[str, object]:
    return {"role": "tool", "content": json.dumps({"status": status})}


@pytest.mark.parametrize(
    ("row", "reward"),
    [
        (row_of("Where is ORD-12?", call("ORD-12"), result("ok"), answer("ORD-12 is done.")), 1.0),
        (row_of("Where is ORD-12?", call("ORD-12"), result("error"), answer("ORD-12 was not found.")), 1.0),
        (row_of("Where is ORD-12?", call("ORD-12"), result("error"), answer("ORD-12 went through.")), 0.0),
        (row_of("Where is ORD-12?", call("ORD-12"), result("ok"), answer("Sure! ORD-12 is here.")), 0.0),
        (row_of("Where is ORD-12?", call("ORD-1"), result("ok"), answer("ORD-12 is here.")), 0.0),
        (row_of("Where is ORD-12?", answer("ORD-12 is here.")), 0.0),
        (row_of("Where is my order?", answer("Which one?")), 1.0),
        (row_of("Where is my order?", call("ORD-1"), result("ok"), answer("ORD-1 is here.")), 0.0),
        (row_of("Where is ORD-12?", call("ORD-12"), result("ok")), 0.0),
        (
            row_of(
                "Where is ORD-12?",
                {"role": "assistant", "tool_calls": [{"name": "get_order", "arguments": {"order_id": ["x"]}}]},
            ),
            0.0,
        ),
    ],
)
def test_the_judge_scores_what_the_messages_say(row: dict[str, object], reward: float) -> None:
    assert order_desk_judge(row)["reward"] == reward


def test_the_honest_stand_in_never_fails_the_judge() -> None:
    data = wai.simulate(wai.seeded_agent([get_order], rate=0.0), tools=[get_order], budget=800)
    assert {row["reward"] for row in data.grade(order_desk_judge)} == {1.0}
