"""Small logs in the shapes other programs write, made by hand."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
BASE = next((DATA / "inspect" / "base").glob("*.eval"))
BASE_JSON = next((DATA / "inspect" / "base").glob("*.json"))
TRAINED = next((DATA / "inspect" / "trained").glob("*.eval"))
ERRORED = next((DATA / "inspect" / "all_errored").glob("*.eval"))
UPSTREAM = DATA / "inspect" / "upstream"
LM_BASE, LM_TRAINED = DATA / "lmeval" / "base", DATA / "lmeval" / "trained"


def sample(task=1, epoch=1, value="C", scorer="match", **extra):
    """One inspect sample; value None leaves it without a score."""
    scores = {} if value is None else {scorer: {"value": value, "explanation": "why"}}
    messages = [{"role": "user", "content": f"ask {task}"}, {"role": "assistant", "content": "answer"}]
    return {"id": task, "epoch": epoch, "input": f"ask {task}", "messages": messages, "scores": scores, **extra}


def header(**extra):
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "m/one", "config": {}}, **extra}


def json_log(path, samples, **extra):
    """An inspect `.json` log; returns its path."""
    path.write_text(json.dumps({**header(**extra), "samples": samples}, indent=2))
    return path


def eval_log(path, samples, *, head="header.json", method=zipfile.ZIP_DEFLATED, kind=zipfile, **extra):
    """An inspect `.eval` log of whole samples; returns its path."""
    with kind.ZipFile(path, "w", method) as zipped:
        for one in samples:
            zipped.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        if head:
            zipped.writestr(head, json.dumps(header(**extra)))
    return path


def members(path, **content):
    """A zip of the given members (name -> text or JSON)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, value in content.items():
            zipped.writestr(name, value if isinstance(value, (str, bytes)) else json.dumps(value))
    return path


def document(number=0, answer="yes", filter_="none", **extra):
    """One line of lm-eval's samples."""
    line = {
        "doc_id": number,
        "doc": {"q": f"question {number}"},
        "target": "yes",
        "arguments": {"gen_args_0": {"arg_0": f"question {number}", "arg_1": {"temperature": 0.7}}},
        "resps": [[answer]],
        "filtered_resps": [answer],
        "filter": filter_,
        "metrics": ["exact_match"],
        "doc_hash": f"hash{number}",
        "exact_match": float(answer == "yes"),
    }
    return {**line, **extra}


def lines(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path
