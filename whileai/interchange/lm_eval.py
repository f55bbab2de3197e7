"""Output of lm-eval with `--log_samples`: `samples_{task}_{date}.jsonl`, one line for each document and filter.

Only one answer of a document's repeats is scored for a filter, so a document is one try, whatever `repeats` was. A
document is known by the hash of its content: `doc_id` is a position, and moves with `--limit`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from whileai.core import rows as core_rows
from whileai.core.errors import InputError
from whileai.core.files import load_jsonl
from whileai.core.seeds import content_id
from whileai.interchange.opening import brief, document
from whileai.interchange.scores import chosen, count, listed, number

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT.+)\.jsonl$")
_NO_METRIC = frozenset("doc_id doc target arguments resps filtered_resps filter metrics".split())


def is_sample(value: Any) -> bool:
    """Whether a JSON value is a line of lm-eval's samples."""
    return isinstance(value, Mapping) and {"doc_id", "resps", "filtered_resps"} <= value.keys()


def read_samples(path: str, scorer: str | None, filter_: str | None) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and notes of one samples file. Raises InputError when several metrics could be the reward."""
    return _rows_of(path, load_jsonl(path), scorer, filter_)


def read_folder(path: str, scorer: str | None, filter_: str | None) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and notes of an output folder: every task of one model, the newest file of each.

    With several tasks a row's `scenario_id` begins with its task's name: two tasks may share their documents. Raises
    InputError when the folder holds several models.
    """
    files = sorted(str(file) for file in Path(path).rglob("samples_*.jsonl"))
    folders = sorted({str(Path(file).parent) for file in files})
    if len(folders) > 1:
        raise InputError(
            f"{path} holds the output of {len(folders)} models ({listed(folders)}); give one of the folders"
        )
    newest = {_task(file): file for file in files}  # dates sort as text
    several = len(newest) > 1
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for task, file in newest.items():
        found, said = read_samples(file, scorer, filter_)
        rows += [{**row, "scenario_id": f"{task}:{row['scenario_id']}"} for row in found] if several else found
        notes += [f"{task}: {note}" for note in said] if several else said
    if len(files) > len(newest):
        notes.append(f"{count(len(files) - len(newest), 'older file')} of the same tasks left out")
    return rows, notes


def _task(path: str) -> str:
    named = _NAME.search(Path(path).name)
    return named["task"] if named else Path(path).stem.removeprefix("samples_")


def _rows_of(
    path: str, samples: Sequence[dict[str, Any]], scorer: str | None, filter_: str | None
) -> tuple[list[dict[str, Any]], list[str]]:
    broken = next((n for n, sample in enumerate(samples, 1) if not is_sample(sample)), None)
    if broken is not None:
        raise InputError(
            f"{path}:{broken}: the line has no doc_id, resps and filtered_resps, so it is no lm-eval sample"
        )
    filters = list(dict.fromkeys(map(_filter, samples)))
    one = filters[0]
    if filter_ is not None:
        chosen(filters, filter_, what="filter", option="filter", path=path)
        one = filter_
    kept = [sample for sample in samples if _filter(sample) == one]
    model = _model(path)
    try:
        metric = chosen((m for s in kept for m in _metrics(s)), scorer, what="metric", option="scorer", path=path)
        rows = [_row(sample, metric, model, _task(path)) for sample in kept]
        _count_tries(rows)
        return rows, list(_notes(kept, rows, filters, one, asked=filter_ is not None))
    except InputError:
        raise
    except (LookupError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not in lm-eval's shape ({type(error).__name__}: {brief(error)})") from error


def _filter(sample: Mapping[str, Any]) -> str:
    return str(sample.get("filter") or "none")


def _count_tries(rows: Iterable[dict[str, Any]]) -> None:
    """A document that stands in the dataset again is a further try of one task."""
    seen: Counter[str] = Counter()
    for row in rows:
        row["rollout_index"] = seen[row["scenario_id"]]
        seen[row["scenario_id"]] += 1


def _metrics(sample: Mapping[str, Any]) -> list[str]:
    """The metrics of a sample; older versions did not list them, so there every other number is one."""
    if sample.get("metrics"):
        return [str(name) for name in sample["metrics"]]
    return [key for key, value in sample.items() if key not in _NO_METRIC and isinstance(value, (bool, int, float))]


def _model(path: str) -> str:
    """The model's name from the results file beside the samples, else the folder's name."""
    named = _NAME.search(Path(path).name)
    beside = Path(path).with_name(f"results_{named['date']}.json") if named else None
    if beside is not None and beside.exists():
        results = document(str(beside))
        if isinstance(results, Mapping) and results.get("model_name"):
            return str(results["model_name"])
    return Path(path).resolve().parent.name


def _row(sample: Mapping[str, Any], metric: str | None, model: str, task: str) -> dict[str, Any]:
    prompt, settings = _request(sample.get("arguments"))
    messages = [*_asked(prompt), *_answered(sample)]
    reward, status = number(sample.get(metric)) if metric else (None, "unscored: the sample has no metric")
    return {
        "scenario_id": str(sample.get("doc_hash") or content_id(sample.get("doc"))),
        "rollout_index": 0,
        "messages": messages,
        "prompt": core_rows.ask({"messages": messages}),
        "final_text": core_rows.final_text({"messages": messages}),
        "system_prompt": core_rows.system_prompt({"messages": messages}),
        "model_version": model,
        "sampling": settings,
        "reward": reward,
        "judge_status": status,
        "lm_eval": {"task": task, **sample},
        "schema_version": core_rows.SCHEMA_VERSION,
    }


def _request(arguments: Any) -> tuple[Any, dict[str, Any]]:
    """(prompt, generation settings) of the first request; older versions wrote lists where newer ones name them."""
    requests = list(arguments.values() if isinstance(arguments, Mapping) else arguments or [])
    first: Any = requests[0] if requests else []
    parts = [first.get("arg_0"), first.get("arg_1")] if isinstance(first, Mapping) else [*first, None, None]
    return parts[0], parts[1] if isinstance(parts[1], dict) else {}


def _asked(prompt: Any) -> list[dict[str, Any]]:
    """The prompt as messages: a chat stands as the JSON text of its messages, all else is one user turn."""
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    text = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False)
    try:
        chat = json.loads(text) if text.startswith("[{") else None
    except ValueError:
        chat = None
    if isinstance(chat, list) and all(isinstance(m, dict) and {"role", "content"} <= m.keys() for m in chat):
        return [{**m, "content": core_rows.text_of(m["content"])} for m in chat]
    return [{"role": "user", "content": text}]


def _answered(sample: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The reply that was scored: the model's own words where there was one try, else what the filter made of them.

    A log-likelihood task has none: the model wrote nothing, it weighed what was written.
    """
    repeats = _repeats(sample)
    reply = repeats[0] if len(repeats) == 1 else (sample["filtered_resps"] or [None])[0]
    return [{"role": "assistant", "content": reply}] if isinstance(reply, str) else []


def _repeats(sample: Mapping[str, Any]) -> Sequence[Any]:
    first = (sample["resps"] or [[]])[0]
    return first if isinstance(first, list) else [first]


def _notes(
    kept: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    filters: Sequence[str],
    one: str,
    *,
    asked: bool,
) -> Iterator[str]:
    if len(filters) > 1 and not asked:
        yield f"the file holds {len(filters)} filters ({listed(filters)}); the rewards are those of {one!r}, the first"
    most = max(len(_repeats(sample)) for sample in kept)
    if most > 1:
        yield f"only one of the {most} repeats of a document is scored for a filter, so every document is a single try"
    unscored = sum(row["reward"] is None for row in rows)
    if unscored:
        yield f"{unscored} of {count(len(rows), 'document')} have no score, which is not a zero"
    again = sum(row["rollout_index"] > 0 for row in rows)
    if again:
        yield f"{count(again, 'document')} that stand in the dataset already count as further tries of their task"
    if not any(row["sampling"] for row in rows):
        yield "the file records no sampling settings"
