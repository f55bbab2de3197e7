"""read(): every kind is told by its content, strangers are refused by name, and hostile files cannot hurt."""

from __future__ import annotations

import copy
import gzip
import json
import os
import pickle
import struct
import sys
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_logs import BASE, BASE_JSON, DATA, LM_BASE, document, eval_log, header, json_log, lines, members, sample

import whileai as wai
from whileai.core.errors import InputError, MissingExtra, WhileError
from whileai.interchange import opening

OURS = [{"scenario_id": "a", "messages": [], "reward": 1, "mine": {"x": [1]}}, {"task_id": "b", "reward": None}]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
HERE = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def test_the_kind_is_told_by_the_content_whatever_the_name(tmp_path):
    samples = next(LM_BASE.rglob("samples_*"))
    table = DATA / "real" / "taubench_gpt4o_airline_4trials.csv"
    for kind, source in [("inspect", BASE), ("inspect", BASE_JSON), ("lm_eval", samples), ("csv", table)]:
        named = tmp_path / "rows.txt"
        named.write_bytes(source.read_bytes())
        assert wai.read(named).format == kind == wai.read(source).format


def test_our_own_rows_come_back_as_they_are_gzipped_or_not(tmp_path):
    plain = lines(tmp_path / "rows.jsonl", OURS)
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, str(plain), tmp_path / "rows.jsonl.gz"):
        rows = wai.read(path)
        assert (rows, rows.format, rows.notes) == (OURS, "whileai", ())


def test_an_inspect_log_on_one_line_and_one_that_is_gzipped_are_read(tmp_path):
    (tmp_path / "one.json").write_text(json.dumps({**header(), "samples": [sample()]}))
    (tmp_path / "two.json.gz").write_bytes(gzip.compress((tmp_path / "one.json").read_bytes()))
    assert wai.read(tmp_path / "one.json") == wai.read(tmp_path / "two.json.gz")
    assert wai.read(tmp_path / "one.json").format == "inspect"


def test_rows_are_a_list_that_can_be_copied_and_pickled_with_its_notes():
    rows = wai.read(BASE)
    assert isinstance(rows, list)
    for other in (copy.copy(rows), pickle.loads(pickle.dumps(rows))):
        assert repr(other) == repr(rows)
        assert (other.notes, other.format) == (rows.notes, "inspect")


def test_rows_of_a_log_go_through_the_stages_as_any_rows_do(tmp_path):
    rows = wai.read(BASE)
    kept = wai.select(list(rows), mode="sft")
    assert {row["scenario_id"] for row in kept} == {r["scenario_id"] for r in rows if r["reward"] == 1.0}
    report = wai.export(kept, tmp_path / "train.jsonl")
    assert report.n == len(kept) == report.with_system == report.with_tools


def test_choices_that_a_file_does_not_offer_are_noted_and_change_nothing(tmp_path):
    path = lines(tmp_path / "rows.jsonl", OURS)
    rows = wai.read(path, scorer="match", filter="maj")
    assert rows == OURS
    assert [note.partition(" was")[0] for note in rows.notes] == ["scorer='match'", "filter='maj'"]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("x.txt", b"hello, world\n", "begins with 'hello, world"),
        ("x.json", b'{"results": [], "info": 1}', "holds an object with results, info"),
        ("x.json", b"[1, 2]", "holds a list"),
        ("x.bin", b"\x00\x01\x02", "begins with"),
        ("x.csv", b"task_id\rreward\n", "begins with"),
    ],
)
def test_an_unknown_file_is_refused_with_what_it_holds_and_the_kinds_that_are_known(tmp_path, name, content, fault):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=fault) as caught:
        wai.read(tmp_path / name)
    assert all(known in str(caught.value) for known in ("whileai rows", "inspect", "lm-eval", "CSV"))


def test_a_missing_file_an_empty_one_and_folders_without_a_choice_are_sentences(tmp_path):
    (tmp_path / "empty").write_bytes(b"\n\n")
    (tmp_path / "logs").mkdir()
    for path, fault in [("gone", "no such file"), ("empty", "is empty"), ("logs", "a folder without a log")]:
        with pytest.raises(InputError, match=fault):
            wai.read(tmp_path / path)
    for name in ("a.eval", "b.eval"):
        eval_log(tmp_path / "logs" / name, [sample()])
    with pytest.raises(InputError, match=r"name one file of it \(.*a\.eval, .*b\.eval\)"):
        wai.read(tmp_path / "logs")


def test_a_broken_line_of_rows_is_named_by_its_number(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"task_id": "a"}\n{"task_id": \n')
    with pytest.raises(InputError, match=r"rows.jsonl:2: the line is not JSON"):
        wai.read(tmp_path / "rows.jsonl")


def test_gzipped_rows_under_another_name_say_how_to_name_them(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(gzip.compress(b'{"task_id": "a"}\n'))
    with pytest.raises(InputError, match=r"rename it to end in \.gz"):
        wai.read(tmp_path / "rows.jsonl")


# Hostile files.


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "FREE_SIZE", 1 << 20)
    path = members(tmp_path / "bomb.eval", **{"header.json": header(), "samples/1_epoch_1.json": b"0" * (32 << 20)})
    tracemalloc.start()
    with pytest.raises(InputError, match=r"would unpack to 32\.0 MiB from .* zip bomb"):
        wai.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_a_member_that_unpacks_to_more_than_its_limit_is_refused(tmp_path, monkeypatch):
    path = eval_log(tmp_path / "x.eval", [sample(metadata={"x": "y" * 5000})])
    monkeypatch.setattr(opening, "MEMBER_LIMIT", 4000)
    with pytest.raises(InputError, match=r"samples/1_epoch_1\.json unpacks to more than"):
        wai.read(path)


def test_a_json_log_larger_than_its_limit_is_refused(tmp_path, monkeypatch):
    path = json_log(tmp_path / "x.json", [sample(metadata={"x": "y" * 5000})])
    monkeypatch.setattr(opening, "MEMBER_LIMIT", 4000)
    with pytest.raises(InputError, match=r"x\.json holds more than .* of JSON in one piece"):
        wai.read(path)


def test_a_member_that_lies_about_its_size_is_refused(tmp_path):
    path = eval_log(tmp_path / "x.eval", [sample()])
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02", 0, data.rindex(b"PK\x01\x02"))  # the sample's entry in the directory
    data[place + 24 : place + 28] = struct.pack("<I", 7)
    path.write_bytes(data)
    with pytest.raises(InputError, match="cannot be unpacked"):
        wai.read(path)


def test_names_that_climb_out_of_the_archive_are_only_labels_and_nothing_is_written(tmp_path):
    path = members(
        tmp_path / "x.eval",
        **{
            "header.json": header(),
            "samples/../../up_epoch_1.json": sample(1),
            "/etc/passwd": "x",
            "../../samples/2_epoch_1.json": sample(2),
            "samples/3_epoch_1.json": sample("../../3"),
        },
    )
    before = sorted(os.listdir(tmp_path))
    assert [row["scenario_id"] for row in wai.read(path)] == ["../../3"]
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_log_that_was_cut_off_is_refused(tmp_path, share):
    for source in (BASE, BASE_JSON):
        data = source.read_bytes()
        path = tmp_path / source.name
        path.write_bytes(data[: int(len(data) * share)])
        with pytest.raises(InputError, match=r"empty|not a whole zip file|not JSON"):
            wai.read(path)


def test_a_zip_without_inspect_s_header_and_one_with_a_broken_header_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"a zip without inspect's header \(it holds a\.txt, b\.txt\)"):
        wai.read(members(tmp_path / "x.zip", **{"a.txt": "x", "b.txt": "y"}))
    with pytest.raises(InputError, match=r"x\.eval: header\.json is not JSON"):
        wai.read(members(tmp_path / "x.eval", **{"header.json": '{"eval": '}))
    with pytest.raises(InputError, match="its header has no eval with a task"):
        wai.read(members(tmp_path / "y.eval", **{"header.json": {"status": "success"}}))
    with pytest.raises(InputError, match=r"it holds nothing"):
        wai.read(members(tmp_path / "z.eval"))


def test_an_encrypted_member_is_refused(tmp_path):
    path = eval_log(tmp_path / "x.eval", [sample()])
    data = bytearray(path.read_bytes())
    for mark, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flag] |= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="samples/1_epoch_1.json is encrypted"):
        wai.read(path)


def test_a_complaint_of_the_zip_library_does_not_quote_half_of_the_file(tmp_path):
    path = eval_log(tmp_path / "x.eval", [sample()])
    data = bytearray(path.read_bytes())
    place = data.index(b"samples/1_epoch_1.json") - 4
    data[place : place + 2] = struct.pack("<H", len(data))  # the name in the sample's own head has no end
    path.write_bytes(data)
    with pytest.raises(InputError, match="cannot be unpacked") as caught:
        wai.read(path)
    assert len(str(caught.value)) < 400


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_second_member_of_one_name_replaces_the_first(tmp_path):
    samples = [sample(value=value) for value in ("I", "C")]
    assert [row["reward"] for row in wai.read(eval_log(tmp_path / "x.eval", samples))] == [1.0]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="zstd is in the standard library")
def test_without_the_extra_a_zstd_log_names_it_and_a_deflated_one_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "backports.zstd.zipfile", None)
    with pytest.raises(MissingExtra, match=r"pip install 'whileai\[inspect\]'"):
        wai.read(BASE)
    assert len(wai.read(eval_log(tmp_path / "x.eval", [sample()]))) == 1


def test_json_nested_without_end_is_refused(tmp_path):
    (tmp_path / "x.json").write_text('{"eval": {"task": "t"}, "status": "success", "samples": ' + "[" * 200_000)
    with pytest.raises(InputError, match="not JSON"):
        wai.read(tmp_path / "x.json")


@given(st.data())
@HERE
def test_flipped_bytes_give_rows_or_our_own_error(tmp_path, data):
    source = data.draw(
        st.sampled_from([BASE.parents[1] / "upstream" / "log_streaming.eval", next(LM_BASE.rglob("s*l"))])
    )
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "x.bin").write_bytes(content)
    try:
        assert all(isinstance(row, dict) for row in wai.read(tmp_path / "x.bin"))
    except WhileError as error:
        assert str(error)  # noqa: PT017


@given(key=st.sampled_from([*sample(), "error", "attachments", "events", "model_usage", "limit"]), value=JSON)
@HERE
def test_any_value_in_a_sample_gives_rows_or_our_own_error(tmp_path, key, value):
    path = json_log(tmp_path / "x.json", [{**sample(), key: value}, sample(2)])
    try:
        assert {row["reward"] for row in wai.read(path)} <= {None, 1.0}
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017


@given(key=st.sampled_from(["status", "eval", "plan", "results", "invalidated"]), value=JSON)
@HERE
def test_any_value_in_a_header_gives_rows_or_our_own_error(tmp_path, key, value):
    path = eval_log(tmp_path / "x.eval", [sample()], **{key: value})
    try:
        assert [row["reward"] for row in wai.read(path)] == [1.0]
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017


@given(key=st.sampled_from(list(document())), value=JSON)
@HERE
def test_any_value_in_a_document_gives_rows_or_our_own_error(tmp_path, key, value):
    path = lines(tmp_path / "samples_x.jsonl", [{**document(), key: value}, document(1)])
    try:
        assert len(wai.read(path)) in (1, 2)  # another filter leaves one
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017
