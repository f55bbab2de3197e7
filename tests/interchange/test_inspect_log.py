"""inspect's logs: figures that inspect itself recorded, errors as a third state, and every shape of a sample."""

from __future__ import annotations

import json
import zipfile

import pytest
from made_logs import BASE, BASE_JSON, ERRORED, TRAINED, UPSTREAM, eval_log, json_log, members, sample

import whileai as wai
from whileai.core import checks
from whileai.core import rows as core_rows
from whileai.core.errors import InputError
from whileai.interchange.opening import archive

SCORED = [BASE, TRAINED, UPSTREAM / "log_read_sample.eval", UPSTREAM / "log_streaming.eval"]


def head_of(path):
    """The log's header and per-task means, as inspect wrote them."""
    with archive(str(path)) as zipped:
        return zipped.json("header.json"), zipped.json("reductions.json")[0]["samples"]


def task_means(rows):
    tasks: dict[str, list[float]] = {}
    for row in rows:
        if row["reward"] is not None:
            tasks.setdefault(row["scenario_id"], []).append(row["reward"])
    return {task: sum(values) / len(values) for task, values in tasks.items()}


@pytest.mark.parametrize("path", SCORED, ids=lambda p: p.parent.name + "-" + p.stem[-8:])
def test_rewards_give_the_accuracy_and_the_task_means_that_inspect_recorded(path):
    header, reductions = head_of(path)
    rows = wai.read(path)
    means = task_means(rows)
    assert len(rows) == header["results"]["total_samples"]
    assert means == pytest.approx({str(one["sample_id"]): one["value"] for one in reductions})
    accuracy = header["results"]["scores"][0]["metrics"]["accuracy"]["value"]
    assert wai.pass_at(rows).pass_at_1.value == pytest.approx(accuracy)


@pytest.mark.parametrize(("path", "rate"), [(BASE, 0.4048), (BASE_JSON, 0.4048), (TRAINED, 0.7381)])
def test_the_two_arms_give_their_known_rates_and_24_tries_of_which_20_are_scored(path, rate):
    found = wai.pass_at(wai.read(path))
    assert found.pass_at_1.value == pytest.approx(rate, abs=5e-5)
    assert (found.n_rows, found.n_answered) == (24, 20)


def test_two_logs_compare_as_one_pair_of_arms():
    found = wai.compare(wai.read(BASE), wai.read(TRAINED))
    assert found.delta == pytest.approx(1 / 3)
    assert (found.answered.before, found.answered.after) == (20 / 24, 20 / 24)


def test_an_errored_try_has_its_error_and_no_reward_and_an_unscored_one_says_so():
    rows = {(row["scenario_id"], row["rollout_index"]): row for row in wai.read(BASE)}
    for index in range(3):
        row = rows["order-7", index]
        assert row["reward"] is None
        assert row["error"] == {"where": "sample", "type": "RuntimeError", "message": "RuntimeError('backend down')"}
        assert row["finish_reason"] == "error"
    row = rows["order-5", 1]  # its score is NaN
    assert (row["reward"], row["error"]) == (None, None)
    assert row["judge_status"] == "unscored: the scorer gave nan"
    assert rows["order-1", 0]["reward"] == 1.0
    assert rows["order-1", 0]["judge_status"] == "ok"


def test_a_log_that_says_success_while_every_sample_errored_has_no_score_and_is_refused_with_a_sentence():
    rows = wai.read(ERRORED)
    assert len(rows) == 24
    assert {row["reward"] for row in rows} == {None}
    assert "24 of 24 samples ended in an error (ConnectionError), although the log's status is success" in rows.notes[0]
    with pytest.raises(InputError, match="none of the 24 rows has a reward"):
        wai.pass_at(rows)


def test_the_json_and_the_eval_of_one_run_give_the_same_rows(tmp_path):
    log = json.loads(BASE_JSON.read_text())
    head = {key: value for key, value in log.items() if key not in ("samples", "reductions")}
    shuffled = sorted(log["samples"], key=lambda one: one["uuid"])  # members stand in completion order
    with zipfile.ZipFile(tmp_path / "same.eval", "w", zipfile.ZIP_DEFLATED) as zipped:
        for one in shuffled:
            zipped.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        zipped.writestr("header.json", json.dumps(head))
    plain, packed = wai.read(BASE_JSON), wai.read(tmp_path / "same.eval")
    assert repr(list(plain)) == repr(list(packed))  # NaN is not equal to itself
    assert plain.notes == packed.notes


def test_the_zstd_log_and_the_json_log_of_one_task_tell_the_same_story():
    def story(row):
        said = [(m["role"], m["content"], core_rows.message_calls(m)[0:]) for m in row["messages"]]
        calls = [(c.name, c.arguments) for c in core_rows.calls(row)]
        return row["scenario_id"], row["rollout_index"], [(r, c) for r, c, _ in said], calls, row["tools"]

    assert [story(row) for row in wai.read(BASE)] == [story(row) for row in wai.read(BASE_JSON)]


def test_a_row_is_complete_in_the_live_shape_and_passes_the_checks_of_export():
    row = wai.read(BASE)[0]
    assert [m["role"] for m in row["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    call, answer = row["messages"][2]["tool_calls"][0], row["messages"][3]
    assert call.keys() == {"id", "name", "arguments"}
    assert (call["name"], call["arguments"]) == ("get_order", {"order_id": "ORD-1"})
    assert (answer["tool_call_id"], answer["name"]) == (call["id"], "get_order")
    assert json.loads(answer["content"])["status"] == "shipped"
    assert row["tools"][0]["function"]["parameters"]["required"] == ["order_id"]
    assert (row["prompt"], row["final_text"]) == ("Where is my order ORD-1?", "ORD-1 is shipped.")
    assert row["usage"] == {"input_tokens": 90, "output_tokens": 45, "total_tokens": 135}
    assert row["inspect"]["metadata"] == {"difficulty": "hard"}
    assert not checks.faults(row)


@pytest.mark.parametrize(
    ("value", "reward"),
    [("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), (True, 1.0), (False, 0.0), (0.25, 0.25), (1, 1.0), ("0.5", 0.5),
     ("yes", 1.0), ("No", 0.0)],
)  # fmt: skip
def test_a_value_is_worth_what_inspect_takes_it_for(tmp_path, value, reward):
    row = wai.read(json_log(tmp_path / "log.json", [sample(value=value)]))[0]
    assert (row["reward"], row["judge_status"], row["reason"]) == (reward, "ok", "why")


@pytest.mark.parametrize("value", ["maybe", [1, 0], None, float("nan"), float("inf"), 10**400, ""])
def test_a_value_that_is_no_number_leaves_the_row_unscored_and_never_zero(tmp_path, value):
    one = sample()
    one["scores"]["match"]["value"] = value
    row = wai.read(json_log(tmp_path / "log.json", [one]))[0]
    assert row["reward"] is None
    assert row["judge_status"].startswith("unscored: the scorer gave")


def test_no_answer_counts_zero_as_in_inspect_and_a_note_says_how_often(tmp_path):
    rows = wai.read(json_log(tmp_path / "log.json", [sample(1, value="N"), sample(2)]))
    assert "1 sample graded N (no answer) count as 0, as they do in inspect" in rows.notes


def test_several_scorers_are_listed_and_one_must_be_named(tmp_path):
    one = sample(scorer="match", value="I")
    one["scores"]["style"] = {"value": {"tone": 1, "length": 0.5}}
    path = json_log(tmp_path / "log.json", [one])
    with pytest.raises(InputError, match=r"3 scorers .*\(match, style/tone, style/length\); name one with scorer="):
        wai.read(path)
    assert [wai.read(path, scorer=s)[0]["reward"] for s in ("match", "style/tone", "style/length")] == [0.0, 1.0, 0.5]
    with pytest.raises(InputError, match="no scorer 'judge'; the file has match, style/tone, style/length"):
        wai.read(path, scorer="judge")


def test_a_scorer_with_a_slash_in_its_own_name_is_found(tmp_path):
    path = json_log(tmp_path / "log.json", [sample(1, scorer="pkg/match"), sample(2, value=None)])
    assert [row["reward"] for row in wai.read(path, scorer="pkg/match")] == [1.0, None]


def test_an_errored_sample_keeps_its_score_only_where_the_eval_asked_for_that(tmp_path):
    broken = sample(error={"message": "TimeoutError('x')"})
    assert wai.read(json_log(tmp_path / "a.json", [broken]))[0]["reward"] is None
    asked = {"task": "t", "config": {"score_on_error": True}}
    assert wai.read(json_log(tmp_path / "b.json", [broken], eval=asked))[0]["reward"] == 1.0


def test_epochs_count_tries_from_zero_and_rows_stand_in_the_order_of_the_dataset(tmp_path):
    spec = {"task": "t", "config": {"epochs": 2}, "dataset": {"sample_ids": ["b", 10, 9]}}
    samples = [sample(task, epoch) for epoch in (2, 1) for task in (9, "b", 10)]
    rows = wai.read(eval_log(tmp_path / "x.eval", samples, eval=spec))
    assert [(row["scenario_id"], row["rollout_index"]) for row in rows] == [
        ("b", 0), ("b", 1), ("10", 0), ("10", 1), ("9", 0), ("9", 1)
    ]  # fmt: skip


def test_ids_that_are_numbers_in_one_log_and_text_in_the_other_still_pair(tmp_path):
    one = wai.read(json_log(tmp_path / "a.json", [sample(n, value="I") for n in range(3)]))
    other = wai.read(eval_log(tmp_path / "b.eval", [sample(str(n)) for n in range(3)]))
    assert wai.compare(one, other).delta == 1.0


def test_a_run_that_died_is_read_from_its_journal_and_the_missing_tries_are_counted(tmp_path):
    spec = {"task": "t", "config": {"epochs": 3}, "dataset": {"sample_ids": [1, 2]}}
    path = eval_log(
        tmp_path / "x.eval", [sample(1, 1), sample(2, 1)], head="_journal/start.json", eval=spec, status=None
    )
    rows = wai.read(path)
    assert len(rows) == 2
    assert rows.notes[:2] == (
        "the log has no final header, so the run died",
        "2 of 6 planned samples are in the file; the others never ran",
    )


def test_a_cancelled_run_an_invalidated_one_and_unknown_settings_are_said(tmp_path):
    assert "the log's status is cancelled" in wai.read(UPSTREAM / "2025-05-12T20-28-13-04-00_popularity.json").notes[0]
    rows = wai.read(json_log(tmp_path / "x.json", [sample()], invalidated=True))
    assert rows.notes[0] == "the log was marked as invalidated"
    assert "no sampling settings" in rows.notes[-1]


def test_recorded_sampling_settings_reach_the_rows_and_compare_names_what_differs(tmp_path):
    def log(name, temperature):
        spec = {"task": "t", "model_generate_config": {"temperature": temperature, "seed": None}}
        samples = [sample(n, value="C" if n % 2 else "I") for n in range(6)]
        return wai.read(json_log(tmp_path / name, samples, eval=spec, plan={"config": {"max_tokens": 9}}))

    cold, hot = log("a.json", 0.0), log("b.json", 1.0)
    assert cold[0]["sampling"] == {"max_tokens": 9, "temperature": 0.0}
    for row in hot:
        row["reward"] = 1.0
    assert "temperature is 0.0 before and 1.0 after" in str(wai.compare(cold, hot))


def test_attachments_stand_where_they_were_cut_out(tmp_path):
    one = sample(attachments={"abc": "the long text"})
    one["messages"][1]["content"] = [{"type": "text", "text": "attachment://abc"}]
    one["messages"][0]["content"] = "attachment://gone"
    row = wai.read(json_log(tmp_path / "x.json", [one]))[0]
    assert row["final_text"] == "the long text"
    assert row["prompt"] == "attachment://gone"


def test_thoughts_pictures_tool_errors_and_bad_arguments_are_kept_apart_from_what_was_said(tmp_path):
    one = sample()
    one["messages"] = [
        {"role": "user", "content": [{"type": "text", "text": "see "}, {"type": "image", "image": "data:"}]},
        {
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I look"}],
            "tool_calls": [{"id": "a", "function": "f", "arguments": "{broken", "parse_error": "bad"}],
        },
        {"role": "tool", "content": "", "tool_call_id": "a", "function": "f",
         "error": {"type": "timeout", "message": "took too long"}},
    ]  # fmt: skip
    user, assistant, tool = wai.read(json_log(tmp_path / "x.json", [one]))[0]["messages"]
    assert user["content"] == "see [image]"
    assert (assistant["content"], assistant["reasoning_content"]) == ("I look", "hm")
    assert assistant["tool_calls"] == [{"id": "a", "name": "f", "arguments": {"raw": "{broken"}, "parse_error": "bad"}]
    assert (tool["content"], tool["error"]["type"]) == ("took too long", "timeout")


def test_upstream_s_tool_errors_survive():
    errors = [m["error"]["type"] for m in wai.read(UPSTREAM / "log_tool_call_error.json")[0]["messages"]]
    assert errors[:3] == ["parsing", "timeout", "parsing"]


def test_a_chunked_sample_is_put_together_from_its_pool_its_attachments_and_its_events(tmp_path):
    pool = [{"role": "user", "content": "attachment://1"}, {"role": "assistant", "content": "dropped"}]
    late = [{"role": "assistant", "content": "kept"}]
    tool = {"event": "model", "tools": [{"name": "f", "description": "d", "parameters": {"type": "object"}}]}
    shell = {"id": "a", "epoch": 2, "input": "ask", "message_refs": [[0, 1], [2, 3]], "scores": {"m": {"value": "C"}}}
    folder = "samples/a_epoch_2"
    path = members(
        tmp_path / "x.eval",
        **{
            "header.json": {"status": "success", "version": 3, "eval": {"task": "t"}},
            f"{folder}/sample.json": shell,
            f"{folder}/metadata.json": {"hard": True},
            f"{folder}/messages/2.json": late,
            f"{folder}/messages/0.json": pool,
            f"{folder}/attachments/0.json": ["zero", "one"],
            f"{folder}/events/0.json": [tool],
            f"{folder}/events/stats.json": {"n": 1},
        },
    )
    (row,) = wai.read(path)
    assert [m["content"] for m in row["messages"]] == ["one", "kept"]
    assert (row["rollout_index"], row["reward"], row["inspect"]["metadata"]) == (1, 1.0, {"hard": True})
    assert row["tools"][0]["function"]["name"] == "f"


def test_a_sample_that_broke_before_the_model_was_asked_still_has_its_ask(tmp_path):
    one = sample(value=None, error={"message": "boom"})
    one["messages"] = []
    assert wai.read(json_log(tmp_path / "x.json", [one]))[0]["prompt"] == "ask 1"


def test_a_log_without_samples_says_what_to_do(tmp_path):
    for path in (json_log(tmp_path / "x.json", []), eval_log(tmp_path / "x.eval", [])):
        with pytest.raises(InputError, match="holds no samples.*run the eval again with its samples logged"):
            wai.read(path)
