"""lm-eval's samples: its own recorded figures, one scored answer of several, filters, metrics and folders."""

from __future__ import annotations

import json

import pytest
from made_logs import LM_BASE, LM_TRAINED, document, lines

import whileai as wai
from whileai.core.errors import InputError

NAME = "samples_{}_2026-01-0{}T00-00-00.000001.jsonl"


def recorded(folder):
    """The metrics lm-eval wrote beside the samples."""
    return json.loads(next(folder.rglob("results_*.json")).read_text())["results"]["orders_demo"]


@pytest.mark.parametrize("folder", [LM_BASE, LM_TRAINED], ids=lambda p: p.name)
@pytest.mark.parametrize("filter_", ["take_all", "maj"])
def test_the_rewards_give_the_figure_and_the_standard_error_that_lm_eval_recorded(folder, filter_):
    rows = wai.read(folder, filter=filter_)
    values = [row["reward"] for row in rows]
    mean = sum(values) / len(values)
    error = (sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values)) ** 0.5
    assert len(rows) == 20
    assert mean == pytest.approx(recorded(folder)[f"exact_match,{filter_}"])
    assert error == pytest.approx(recorded(folder)[f"exact_match_stderr,{filter_}"])


def test_one_filter_is_taken_and_it_is_said_which_and_that_one_repeat_of_three_is_scored():
    rows = wai.read(LM_BASE)
    assert rows.notes == (
        "the file holds 2 filters (take_all, maj); the rewards are those of 'take_all', the first",
        "only one of the 3 repeats of a document is scored for a filter, so every document is a single try",
    )
    assert {row["rollout_index"] for row in rows} == {0}
    assert not any("filters" in note for note in wai.read(LM_BASE, filter="maj").notes)
    with pytest.raises(InputError, match="no filter 'best'; the file has take_all, maj"):
        wai.read(LM_BASE, filter="best")


def test_the_folder_of_a_model_the_folder_above_and_the_file_give_the_same_rows():
    file = next(LM_TRAINED.rglob("samples_*"))
    assert list(wai.read(LM_TRAINED)) == list(wai.read(file.parent)) == list(wai.read(file))


def test_the_two_arms_pair_on_the_document():
    found = wai.compare(wai.read(LM_BASE), wai.read(LM_TRAINED))
    assert found.delta == pytest.approx(0.25)
    assert "20 paired" in str(found)


def test_documents_pair_by_content_when_their_positions_moved(tmp_path):
    docs = [document(n, "yes" if n % 3 else "no") for n in range(6)]
    moved = [{**doc, "doc_id": 5 - n, "exact_match": 1.0} for n, doc in enumerate(docs)][::-1]
    one, other = (wai.read(lines(tmp_path / f"samples_{n}.jsonl", d)) for n, d in enumerate([docs, moved]))
    assert wai.compare(one, other).delta == pytest.approx(2 / 6)


def test_a_row_holds_the_prompt_the_scored_reply_the_settings_and_the_whole_sample():
    row = wai.read(LM_BASE)[0]
    assert row["messages"] == [
        {"role": "user", "content": "Where is ORD-0? ☃"},
        {"role": "assistant", "content": "shipped"},
    ]
    assert row["sampling"] == {"until": ["\n"], "do_sample": True, "temperature": 0.7}
    assert row["model_version"] == "qdpv68r5"
    assert row["lm_eval"]["doc"] == {"question": "Where is ORD-0? ☃", "answer": "shipped", "grp": "a"}
    assert len(row["scenario_id"]) == 64


def test_a_single_try_keeps_the_model_s_own_words_and_several_show_what_the_filter_made(tmp_path):
    alone = document(resps=[["so: yes"]], filtered_resps=["yes"])
    several = document(1, resps=[["a", "b", "b"]], filtered_resps=["b"])
    rows = wai.read(lines(tmp_path / "samples_x.jsonl", [alone, several]))
    assert [row["final_text"] for row in rows] == ["so: yes", "b"]


def test_a_log_likelihood_task_has_rewards_and_no_reply(tmp_path):
    weighed = {
        "resps": [[["-1.2", "False"]], [["-3.0", "True"]]],
        "filtered_resps": [["-1.2", "False"], ["-3.0", "True"]],
    }
    arguments = {"gen_args_0": {"arg_0": "Q:", "arg_1": " yes"}, "gen_args_1": {"arg_0": "Q:", "arg_1": " no"}}
    path = lines(tmp_path / "samples_x.jsonl", [document(metrics=["acc"], acc=1.0, arguments=arguments, **weighed)])
    (row,) = rows = wai.read(path)
    assert (row["reward"], row["final_text"], row["prompt"], row["sampling"]) == (1.0, "", "Q:", {})
    assert rows.notes == ("the file records no sampling settings",)


def test_several_metrics_must_be_named(tmp_path):
    path = lines(tmp_path / "samples_x.jsonl", [document(metrics=["acc", "acc_norm"], acc=1.0, acc_norm=0.0)])
    with pytest.raises(InputError, match=r"2 metrics could be the reward \(acc, acc_norm\); name one with scorer="):
        wai.read(path)
    assert [wai.read(path, scorer=m)[0]["reward"] for m in ("acc", "acc_norm")] == [1.0, 0.0]


def test_older_files_that_list_no_metrics_and_nest_arguments_in_lists_are_read(tmp_path):
    old = document(arguments=[["the prompt", {"until": ["\n"]}]])
    for key in ("metrics", "filter", "doc_hash"):
        del old[key]
    (row,) = wai.read(lines(tmp_path / "samples_x.jsonl", [old]))
    assert (row["reward"], row["prompt"], row["sampling"]) == (1.0, "the prompt", {"until": ["\n"]})
    assert row["scenario_id"]


def test_a_chat_prompt_comes_back_as_its_messages(tmp_path):
    chat = [{"role": "system", "content": "be short"}, {"role": "user", "content": "hello"}]
    arguments = {"gen_args_0": {"arg_0": [json.dumps(chat)], "arg_1": {}}}
    (row,) = wai.read(lines(tmp_path / "samples_x.jsonl", [document(arguments=arguments)]))
    assert row["messages"][:2] == chat
    assert row["system_prompt"] == "be short"


def test_a_document_without_a_score_is_unscored_and_counted(tmp_path):
    rows = wai.read(lines(tmp_path / "samples_x.jsonl", [document(exact_match=float("nan")), document(1)]))
    assert [row["reward"] for row in rows] == [None, 1.0]
    assert rows.notes == ("1 of 2 documents have no score, which is not a zero",)


def test_a_document_that_stands_twice_in_the_dataset_is_two_tries_of_one_task(tmp_path):
    rows = wai.read(lines(tmp_path / "samples_x.jsonl", [document(), document(), document(1)]))
    assert [row["rollout_index"] for row in rows] == [0, 1, 0]
    assert wai.pass_at(rows).n_rows == 3
    assert "1 document that stand" in rows.notes[0]


def test_a_folder_of_several_tasks_keeps_documents_they_share_apart_and_takes_the_newest_file(tmp_path):
    lines(tmp_path / "m" / NAME.format("a", 1), [document(0, "no")])
    lines(tmp_path / "m" / NAME.format("a", 2), [document(0)])
    lines(tmp_path / "m" / NAME.format("b_long", 1), [document(0, "no")])
    rows = wai.read(tmp_path)
    assert {row["scenario_id"]: row["reward"] for row in rows} == {"a:hash0": 1.0, "b_long:hash0": 0.0}
    assert rows.notes == ("1 older file of the same tasks left out",)


def test_a_folder_of_several_models_is_refused(tmp_path):
    for model in ("one", "two"):
        lines(tmp_path / model / NAME.format("a", 1), [document()])
    with pytest.raises(InputError, match=r"output of 2 models \(.*one, .*two\); give one of the folders"):
        wai.read(tmp_path)


@pytest.mark.parametrize("odd", [{"resps": None}, {"resps": []}, {"arguments": {}}, {"arguments": None}, {"doc": None}])
def test_a_sample_that_lacks_a_part_keeps_its_score(tmp_path, odd):
    assert wai.read(lines(tmp_path / "samples_x.jsonl", [document(**odd)]))[0]["reward"] == 1.0


@pytest.mark.parametrize("odd", [{"arguments": 7}, {"resps": 7}, {"filtered_resps": 7, "resps": [[1, 2]]}])
def test_a_sample_out_of_shape_is_refused_by_the_file_s_name(tmp_path, odd):
    with pytest.raises(InputError, match=r"samples_x.jsonl is not in lm-eval's shape"):
        wai.read(lines(tmp_path / "samples_x.jsonl", [document(**odd)]))


def test_a_line_of_another_kind_is_named(tmp_path):
    path = lines(tmp_path / "samples_x.jsonl", [document(), {"doc_id": 1}])
    with pytest.raises(InputError, match=r"samples_x.jsonl:2: the line has no doc_id, resps and filtered_resps"):
        wai.read(path)
