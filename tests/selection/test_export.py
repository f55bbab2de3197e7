"""An export holds every part of every row, or there is no export; the file before it survives any failure."""

from __future__ import annotations

import copy
import errno
import gzip
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai.core import rows as core_rows
from whileai.core.checks import faults
from whileai.core.errors import InputError, RowError, UsageError
from whileai.core.files import load_jsonl
from whileai.core.locks import check_lock, lock_of
from whileai.selection import export as exporting
from whileai.selection.export import export

SHAPES = Path(__file__).parents[1] / "data" / "shapes"


def shape(name):
    return [json.loads(line) for line in (SHAPES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


WIRE = shape("openai_finetune_tools")[0]
SCHEMA = WIRE["tools"]


def live(task="s1", reward=1.0, **more):
    """A rollout row as simulate makes it."""
    return {
        "scenario_id": task,
        "wording": 0,
        "reward": reward,
        "steps": [{"turn": 1, "tool": "get_order"}],
        "system_prompt": "Help customers with orders.",
        "tools": SCHEMA,
        "mine": {"kept": True},
        "messages": [
            {"role": "system", "content": "Help customers with orders."},
            {"role": "user", "content": "Where is ORD-1? ☃"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "name": "get_order", "arguments": {"order_id": "ORD-1"}}],
            },
            {"role": "tool", "tool_call_id": "call_1", "name": "get_order", "content": '{"status":"ok"}'},
            {"role": "assistant", "content": "ORD-1 is ok."},
        ],
        **more,
    }


def written(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_an_openai_line_is_the_wire_shape_and_nothing_else(tmp_path):
    row = live()
    before = copy.deepcopy(row)
    report = export([row], tmp_path / "train.jsonl")
    assert row == before
    (line,) = written(tmp_path / "train.jsonl")
    assert line == {
        "messages": [
            {"role": "system", "content": "Help customers with orders."},
            {"role": "user", "content": "Where is ORD-1? ☃"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_order", "arguments": '{"order_id":"ORD-1"}'},
                    }
                ],
            },
            {"role": "tool", "content": '{"status":"ok"}', "tool_call_id": "call_1"},
            {"role": "assistant", "content": "ORD-1 is ok."},
        ],
        "tools": SCHEMA,
    }
    assert (report["n"], report["with_system"], report["with_tools"]) == (1, 1, 1)
    assert report.sha256 == hashlib.sha256((tmp_path / "train.jsonl").read_bytes()).hexdigest()


def test_the_wire_shape_and_the_live_shape_of_a_row_give_the_same_line(tmp_path):
    export(shape("openai_finetune_tools") + shape("trl_messages_dict_args"), tmp_path / "a.jsonl")
    one, other = written(tmp_path / "a.jsonl")
    assert one == other


def test_a_trl_line_has_objects_and_the_tools_name_as_in_the_fixture(tmp_path):
    export(shape("openai_finetune_tools"), tmp_path / "a.jsonl", "trl")
    assert written(tmp_path / "a.jsonl") == shape("trl_messages_dict_args")


def test_trl_tools_become_json_text_only_when_the_schemas_differ(tmp_path):
    other = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}]
    export([live(), live()], tmp_path / "a.jsonl", "trl")
    assert all(isinstance(line["tools"], list) for line in written(tmp_path / "a.jsonl"))
    export([live(), live(tools=other)], tmp_path / "a.jsonl", "trl")
    texts = [line["tools"] for line in written(tmp_path / "a.jsonl")]
    assert [json.loads(text) for text in texts] == [SCHEMA, other]


def test_prompt_completion_starts_the_completion_at_the_first_assistant_turn(tmp_path):
    export([live()], tmp_path / "a.jsonl", "prompt_completion")
    (line,) = written(tmp_path / "a.jsonl")
    assert [m["role"] for m in line["prompt"]] == ["system", "user"]
    assert [m["role"] for m in line["completion"]] == ["assistant", "tool", "assistant"]
    assert line["completion"][0]["tool_calls"][0]["function"]["arguments"] == {"order_id": "ORD-1"}


def test_preference_lines_come_from_graded_rows_and_from_pairs(tmp_path):
    bad = live(reward=0.0)
    bad["messages"][-1] = {"role": "assistant", "content": "It went through."}
    report = export([live(), bad], tmp_path / "a.jsonl", "preference")
    (line,) = written(tmp_path / "a.jsonl")
    assert report.n == report.with_tools == report.with_system == 1
    assert [m["role"] for m in line["prompt"]] == ["system", "user", "assistant", "tool"]
    assert line["chosen"] == [{"role": "assistant", "content": "ORD-1 is ok."}]
    assert line["rejected"] == [{"role": "assistant", "content": "It went through."}]
    export(shape("trl_preference"), tmp_path / "b.jsonl", "preference")
    assert written(tmp_path / "b.jsonl") == shape("trl_preference")
    export([line], tmp_path / "c.jsonl", "preference", system_prompt="New.")
    assert [m["content"] for m in written(tmp_path / "c.jsonl")[0]["prompt"] if m["role"] == "system"] == ["New."]
    with pytest.raises(InputError, match="no pairs to write"):
        export([live(), live()], tmp_path / "d.jsonl", "preference")
    with pytest.raises(RowError, match="row 1: chosen is empty"):
        export([{**line, "chosen": []}], tmp_path / "d.jsonl", "preference")


def test_a_system_prompt_is_filled_in_or_replaced_and_never_doubled(tmp_path):
    bare = live()
    del bare["messages"][0]
    keyed, bare = bare, {k: v for k, v in bare.items() if k != "system_prompt"}

    def systems(row, **options):
        export([row], tmp_path / "a.jsonl", **options)
        return [m["content"] for m in written(tmp_path / "a.jsonl")[0]["messages"] if m["role"] == "system"]

    assert systems(live()) == systems(keyed) == ["Help customers with orders."]
    assert systems(bare) == []
    for row in (live(), keyed, bare):
        assert systems(row, system_prompt="New.") == ["New."]
        assert systems(row, system_prompt="") == []


def test_tools_are_filled_in_or_replaced_from_schemas_flat_schemas_or_tool_functions(tmp_path):
    class Tool:
        schema = SCHEMA[0]

    bare = {k: v for k, v in live().items() if k != "tools"}
    for tools in (SCHEMA, [SCHEMA[0]["function"]], [Tool()]):
        assert export([bare, live()], tmp_path / "a.jsonl", tools=tools).with_tools == 2
        assert [line["tools"] for line in written(tmp_path / "a.jsonl")] == [SCHEMA, SCHEMA]


def test_calls_without_ids_get_ids_and_their_results_refer_to_them(tmp_path):
    row = live()
    del row["messages"][2]["tool_calls"][0]["id"]
    del row["messages"][3]["tool_call_id"]
    export([row], tmp_path / "a.jsonl")
    (line,) = written(tmp_path / "a.jsonl")
    assert line["messages"][3]["tool_call_id"] == line["messages"][2]["tool_calls"][0]["id"] == "call_1"
    assert faults(line) == []


def test_text_parts_become_text_and_a_weight_stays(tmp_path):
    row = live()
    row["messages"][1]["content"] = [{"type": "text", "text": "Where is "}, {"type": "text", "text": "ORD-1?"}]
    row["messages"][2]["weight"] = 0
    export([row], tmp_path / "a.jsonl")
    (line,) = written(tmp_path / "a.jsonl")
    assert line["messages"][1]["content"] == "Where is ORD-1?"
    assert line["messages"][2]["weight"] == 0


@pytest.mark.parametrize("broken", shape("broken_rows"), ids=lambda row: row["_defect"])
def test_a_broken_row_refuses_the_whole_export_with_its_number_and_keeps_the_old_file(tmp_path, broken):
    path = tmp_path / "train.jsonl"
    path.write_text("old\n")
    with pytest.raises(RowError, match="row 2: ") as caught:
        export([live(), broken, live()], path)
    assert caught.value.row_number == 2
    assert caught.value.fault == faults(broken)[0].fault
    assert faults(broken)[0].mend in str(caught.value)
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["train.jsonl"]


def test_drop_broken_writes_the_rest_and_lists_what_was_left_out(tmp_path):
    broken = shape("broken_rows")
    report = export([live(), *broken, live(), None], tmp_path / "a.jsonl", drop_broken=True)
    assert report.n == 2
    assert [d.row_number for d in report.dropped] == [*range(2, 2 + len(broken)), 3 + len(broken)]
    assert "left out row 2: " in str(report)
    assert json.loads(json.dumps(report.to_dict()))["dropped"][0]["row_number"] == 2
    with pytest.raises(InputError, match=f"all {len(broken)} rows are broken"):
        export(broken, tmp_path / "b.jsonl", drop_broken=True)
    assert not (tmp_path / "b.jsonl").exists()


def test_nothing_is_written_for_no_rows_or_an_unknown_format(tmp_path):
    with pytest.raises(InputError, match="there are no rows"):
        export([], tmp_path / "a.jsonl")
    with pytest.raises(UsageError, match="format='csv' is not known"):
        export([live()], tmp_path / "a.jsonl", "csv")
    with pytest.raises(InputError, match="no such folder"):
        export([live()], tmp_path / "none" / "a.jsonl")
    assert not list(tmp_path.iterdir())


class _Stream:
    """A file that takes some bytes and then has no room."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()

    def write(self, data):
        self.stream.write(data[:100])
        self.stream.flush()
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_one_sentence_and_the_old_file_survives(tmp_path, monkeypatch):
    path = tmp_path / "train.jsonl"
    export([live()], path)
    before = path.read_bytes()
    real = os.fdopen
    monkeypatch.setattr("whileai.core.files.os.fdopen", lambda *a, **k: _Stream(real(*a, **k)))
    with pytest.raises(InputError, match="could not be written .No space left on device.; what was there before"):
        export([live(), live()], path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["train.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="RLIMIT_FSIZE is a POSIX limit")
def test_a_real_limit_of_the_file_system_is_met_the_same_way(tmp_path):
    path = tmp_path / "train.jsonl"
    export([live()], path)
    before = path.read_bytes()
    (tmp_path / "row.json").write_text(json.dumps(live()))
    code = (
        "import json, resource, signal, sys\n"
        "from whileai.selection.export import export\n"
        "row = json.load(open(sys.argv[2]))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    export([row] * 200, sys.argv[1])\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(tmp_path / "row.json")], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("InputError"), done.stderr
    assert "could not be written" in done.stdout
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["row.json", "train.jsonl"]


def test_a_line_that_lost_a_part_is_noticed_before_the_file_takes_its_place(tmp_path, monkeypatch):
    path = tmp_path / "train.jsonl"
    path.write_text("old\n")
    real = exporting.shapes.openai

    def forgetful(messages, tools):
        line = real(messages, tools)
        line["messages"][2].pop("tool_calls")
        return line

    monkeypatch.setattr(exporting.shapes, "openai", forgetful)
    with pytest.raises(InputError, match="line 1 lost 'call get_order"):
        export([live()], path)
    monkeypatch.setattr(exporting.shapes, "openai", real)
    monkeypatch.setattr(exporting, "_read_back", lambda stream: b"")
    with pytest.raises(InputError, match="0 lines came back of 1"):
        export([live()], path)
    assert path.read_text() == "old\n"


def test_a_file_can_be_compressed_and_goes_to_standard_output(tmp_path, capsysbinary):
    export([live()], tmp_path / "a.jsonl")
    export([live()], tmp_path / "a.jsonl.gz")
    data = (tmp_path / "a.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == data
    report = export([live()], "-")
    assert capsysbinary.readouterr().out == data
    assert report.sha256 == hashlib.sha256(data).hexdigest()


def test_an_exported_line_can_be_refused_by_a_lock_without_any_id(tmp_path):
    export([live()], tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="are held out"):
        check_lock(load_jsonl(tmp_path / "a.jsonl"), lock_of([live()]))


def test_the_written_file_loads_with_datasets_and_keeps_every_key(tmp_path):
    datasets = pytest.importorskip("datasets")
    export([live(), live("s2")], tmp_path / "a.jsonl")
    loaded = datasets.load_dataset("json", data_files=str(tmp_path / "a.jsonl"), cache_dir=str(tmp_path / "cache"))
    calls = [core_rows.calls(row) for row in loaded["train"]]
    assert calls == [core_rows.calls(live())] * 2


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
names = st.text("abc_", min_size=1, max_size=5)


@st.composite
def conversations(draw):
    """A conversation of any number of turns, calls in either shape, ids or none."""
    with_ids = draw(st.booleans())
    messages = [{"role": "system", "content": draw(texts)}] if draw(st.booleans()) else []
    messages.append({"role": "user", "content": draw(texts)})
    used, number = set(), 0
    for _ in range(draw(st.integers(0, 3))):
        calls, results = [], []
        for _ in range(draw(st.integers(1, 2))):
            number += 1
            inner = {"name": draw(names), "arguments": draw(st.dictionaries(texts, values, max_size=3))}
            used.add(inner["name"])
            if draw(st.booleans()):
                inner = {"type": "function", "function": {**inner, "arguments": json.dumps(inner["arguments"])}}
            calls.append({"id": f"c{number}", **inner} if with_ids else inner)
            result = {"role": "tool", "content": draw(st.text(st.characters(exclude_categories=["Cs"])))}
            results.append({**result, "tool_call_id": f"c{number}"} if with_ids else result)
        messages += [{"role": "assistant", "content": draw(st.none() | texts), "tool_calls": calls}, *results]
    messages.append({"role": "assistant", "content": draw(texts)})
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in sorted(used)]
    return {"scenario_id": "s", "messages": messages, "tools": tools}


def content(row):
    """What a row says, apart from ids and shapes."""
    return [
        (m["role"], core_rows.text_of(m.get("content")), [c[1:] for c in core_rows.message_calls(m)])
        for m in row.get("messages") or [*row["prompt"], *row["completion"]]
    ]


@settings(max_examples=120, deadline=None)
@given(st.lists(conversations(), min_size=1, max_size=4), st.sampled_from(["openai", "trl", "prompt_completion"]))
def test_whatever_is_written_comes_back_and_exports_to_the_same_bytes(tmp_path_factory, rows, form):
    path = tmp_path_factory.mktemp("x") / "a.jsonl"
    before = copy.deepcopy(rows)
    report = export(rows, path, form)
    lines = load_jsonl(path)
    assert rows == before
    assert report.n == len(lines) == len(rows)
    assert [content(line) for line in lines] == [content(row) for row in rows]
    if form != "prompt_completion":
        assert [faults(line) for line in lines] == [[]] * len(rows)
        first = path.read_bytes()
        assert export(lines, path, form).sha256 == report.sha256
        assert path.read_bytes() == first
