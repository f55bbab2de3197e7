"""Logs of inspect: `.eval` (a zip, deflate or zstd) and `.json` (with bare NaN), samples whole or in chunks.

The transcript (`events`) is read for the tools' schemas and then left out of the row. Everything else a sample holds
stays: scores, metadata, target and the like under `inspect`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from whileai.core import rows as core_rows
from whileai.core.errors import InputError, WhileError
from whileai.interchange.inspect_messages import live_messages, tool_schemas, with_attachments
from whileai.interchange.opening import Archive, archive, brief, document
from whileai.interchange.scores import chosen, count, listed, number

Found = TypeVar("Found")
_HEADERS = ("header.json", "_journal/start.json")
_LEFT_OUT = frozenset(
    "id epoch input messages output events events_data attachments message_refs model_usage error limit".split()
)


def is_header(value: Any) -> bool:
    """Whether a JSON value is the head of an inspect log."""
    return isinstance(value, Mapping) and isinstance(value.get("eval"), Mapping) and "task" in value["eval"]


def has_header(zipped: Archive) -> bool:
    """Whether a zip is an inspect log."""
    return any(name in zipped.members for name in _HEADERS)


def read_eval(path: str, scorer: str | None) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and notes of an `.eval` file. Raises InputError for one that is broken or holds no samples."""
    with archive(path) as zipped:
        header = zipped.json(next((name for name in _HEADERS if name in zipped.members), _HEADERS[0]))
        return rows_of(path, header, _samples(zipped), scorer)


def read_json(path: str, scorer: str | None) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and notes of a `.json` log. Raises InputError for one that is broken or holds no samples."""
    log = document(path)
    if not is_header(log):
        raise InputError(f"{path} is JSON but no inspect log: it has no eval with a task")
    return rows_of(path, log, log.get("samples") or [], scorer)


def rows_of(
    path: str, header: Mapping[str, Any], samples: Iterable[Any], scorer: str | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and notes of a log's header and samples, in the order of the dataset, then of the epochs."""
    if not is_header(header):
        raise InputError(f"{path}: its header has no eval with a task, so it is no inspect log")
    rows = _in_shape(path, _rows, header, samples)
    if not rows:
        raise InputError(
            f"{path} (status {header.get('status')}) holds no samples, so there is nothing to pair; run the eval again"
            " with its samples logged"
        )
    name = chosen(_in_shape(path, _scorers, rows), scorer, what="scorer", option="scorer", path=path)
    return _in_shape(path, _finished, header, rows, name)


def _in_shape(path: str, step: Callable[..., Found], *given: Any) -> Found:
    """`step(*given)`; what trips over a log that is not in inspect's shape becomes a sentence about the file."""
    try:
        return step(*given)
    except WhileError as error:
        raise error if str(error).startswith(path) else InputError(f"{path}: {error}") from error
    except (LookupError, AttributeError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise InputError(f"{path} is not in inspect's shape ({type(error).__name__}: {brief(error)})") from error


def _finished(
    header: Mapping[str, Any], rows: list[dict[str, Any]], name: str | None
) -> tuple[list[dict[str, Any]], list[str]]:
    for row in rows:
        row.update(_score(header, row, name))
    order = {str(one): place for place, one in enumerate(_config(header, "dataset").get("sample_ids") or [])}
    rows.sort(key=lambda row: (order.get(row["scenario_id"], len(order)), row["rollout_index"]))
    return rows, list(_notes(header, rows, name))


def _samples(zipped: Archive) -> Iterator[Any]:
    for name in zipped.members:
        if not name.startswith("samples/") or not name.endswith(".json"):
            continue
        if name.count("/") == 1:
            yield zipped.json(name)
        elif name.endswith("/sample.json"):
            yield _put_together(zipped, name.removesuffix("/sample.json"))


def _put_together(zipped: Archive, folder: str) -> dict[str, Any]:
    """A chunked sample as one object; its attachments are numbered, and its messages are ranges of a pool."""
    shell: dict[str, Any] = dict(zipped.json(f"{folder}/sample.json"))
    pool = list(_sequence(zipped, f"{folder}/messages/"))
    shell["messages"] = [message for start, stop in shell.pop("message_refs", []) for message in pool[start:stop]]
    shell["attachments"] = {str(i): text for i, text in enumerate(_sequence(zipped, f"{folder}/attachments/"))}
    shell["events"] = list(_sequence(zipped, f"{folder}/events/"))
    if f"{folder}/metadata.json" in zipped.members:
        shell["metadata"] = zipped.json(f"{folder}/metadata.json")
    return shell


def _sequence(zipped: Archive, folder: str) -> Iterator[Any]:
    """The items of numbered chunks, in order; a chunk is named by its first item's number."""
    stems = [name.removeprefix(folder).removesuffix(".json") for name in zipped.members if name.startswith(folder)]
    for start in sorted(int(stem) for stem in stems if stem.isdecimal()):
        yield from zipped.json(f"{folder}{start}.json")


def _rows(header: Mapping[str, Any], samples: Iterable[Any]) -> list[dict[str, Any]]:
    return [_row(header, sample) for sample in samples]  # one transcript in memory at a time


def _row(header: Mapping[str, Any], sample: Any) -> dict[str, Any]:
    attachments = sample.get("attachments") or {}
    given = with_attachments(sample.get("input"), attachments)
    messages = live_messages(with_attachments(sample.get("messages") or [], attachments))
    if not messages:  # the sample broke before the model was asked
        messages = live_messages(given if isinstance(given, list) else [{"role": "user", "content": given}])
    events = sample.get("events") or (sample.get("transcript") or {}).get("events") or []
    row: dict[str, Any] = {
        "scenario_id": str(sample["id"]),
        "rollout_index": int(sample.get("epoch") or 1) - 1,
        "messages": messages,
        "prompt": core_rows.ask({"messages": messages}),
        "final_text": core_rows.final_text({"messages": messages}),
        "system_prompt": core_rows.system_prompt({"messages": messages}),
        "tools": with_attachments(tool_schemas(events), attachments),
        "model_version": str(header["eval"].get("model") or ""),
        "sampling": _sampling(header),
        "usage": _usage(sample),
        "finish_reason": _finish(sample),
        "error": _error(sample),
        "inspect": {
            "task": header["eval"]["task"],
            **{key: with_attachments(value, attachments) for key, value in sample.items() if key not in _LEFT_OUT},
        },
        "schema_version": core_rows.SCHEMA_VERSION,
    }
    if sample.get("limit"):
        row["limit"] = sample["limit"]
    return row


def _error(sample: Mapping[str, Any]) -> dict[str, Any] | None:
    """What broke. inspect does not say at which boundary: the agent, its tools and the provider all look alike."""
    error = sample.get("error")
    if not error:
        return None
    message = str(error.get("message") if isinstance(error, Mapping) else error)
    return {"where": "sample", "type": message.partition("(")[0][:80], "message": message[:500]}


def _sampling(header: Mapping[str, Any]) -> dict[str, Any]:
    """The generation settings the log records: the task's, then the plan's."""
    plan = (header.get("plan") or {}).get("config") or {}
    settings = {**plan, **_config(header, "model_generate_config")}
    return {key: value for key, value in settings.items() if value is not None}


def _usage(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens summed over the models of the sample."""
    total: dict[str, Any] = {}
    for usage in (sample.get("model_usage") or {}).values():
        for key, value in usage.items():
            if isinstance(value, (int, float)):
                total[key] = total.get(key, 0) + value
    return total


def _finish(sample: Mapping[str, Any]) -> str:
    if sample.get("error"):
        return "error"
    choices = (sample.get("output") or {}).get("choices") or [{}]
    return str(choices[-1].get("stop_reason") or "")


def _scorers(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Every scorer, and "scorer/key" for each key of a scorer that gives several values."""
    names: list[str] = []
    for row in rows:
        for name, score in (row["inspect"].get("scores") or {}).items():
            value = score.get("value")
            names += [f"{name}/{key}" for key in value] if isinstance(value, Mapping) else [name]
    return names


def _score(header: Mapping[str, Any], row: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    """The reward, the reason and the judge_status of a row."""
    if row["error"] and not _config(header, "config").get("score_on_error"):
        return {"reward": None, "judge_status": "unscored: the sample ended in an error"}
    scores = row["inspect"].get("scores") or {}
    score, _, key = (name or "").rpartition("/") if name not in scores else (name, "", "")
    found = scores.get(score)
    if found is None:
        return {"reward": None, "judge_status": "unscored: the log has no score for this sample"}
    value = found.get("value")
    reward, status = number((value or {}).get(key) if key else value)
    return {"reward": reward, "judge_status": status, "reason": str(found.get("explanation") or "")}


def _config(header: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return header["eval"].get(key) or {}


def _notes(header: Mapping[str, Any], rows: list[dict[str, Any]], name: str | None) -> Iterator[str]:
    """What a reader of the numbers should know and the rows alone do not say."""
    status = header.get("status")
    if status is None:
        yield "the log has no final header, so the run died"
    elif status != "success":
        yield f"the log's status is {status}, so the run did not end by itself"
    if header.get("invalidated"):
        yield "the log was marked as invalidated"
    yield from _missing(header, rows)
    broken = [row for row in rows if row["error"]]
    if broken:
        kinds = listed(list(dict.fromkeys(row["error"]["type"] for row in broken)))
        said = f", although the log's status is {status}" if len(broken) == len(rows) and status == "success" else ""
        yield f"{len(broken)} of {count(len(rows), 'sample')} ended in an error ({kinds}){said}; they have no reward"
    unscored = sum(row["reward"] is None and not row["error"] for row in rows)
    if unscored:
        yield f"{unscored} of {count(len(rows), 'sample')} ran but have no score, which is not a zero"
    values = [((row["inspect"].get("scores") or {}).get(name) or {}).get("value") for row in rows]
    if "N" in values:
        yield f"{count(values.count('N'), 'sample')} graded N (no answer) count as 0, as they do in inspect"
    if not rows[0]["sampling"]:
        yield "the log records no sampling settings, so the provider's defaults were used, whatever they were"


def _missing(header: Mapping[str, Any], rows: list[dict[str, Any]]) -> Iterator[str]:
    ids = _config(header, "dataset").get("sample_ids") or []
    planned = len(ids) * int(_config(header, "config").get("epochs") or 1)
    total = int((header.get("results") or {}).get("total_samples") or 0)
    if len(rows) < max(planned, total):
        yield f"{len(rows)} of {count(max(planned, total), 'planned sample')} are in the file; the others never ran"
