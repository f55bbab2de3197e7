"""Decontaminate: drop the training rows that copy a held-out ask, and say which, from what, and by which rule.

Everything the user says in a training row is held against the first thing the user says in a held-out row:

same task     the rows have the same task id.
same ask      the texts are equal, letter case and white space aside.
8-gram        at least 80% of the held-out ask's runs of 8 words are in the training text (a shorter ask that names an
              id is one run).
edited copy   the texts are at least 90% alike letter by letter (indel similarity, rapidfuzz).
other ids     the held-out ask with its ids exchanged; see below.

Boilerplate does not count as copying. A run of words that n distinct held-out tasks have in common weighs 1/n²
(nothing beyond 20), and an edited copy must share more than half of the ask's weight in pairs of words: what sets the
ask apart, not the template round it.

Ids are words with a digit in them (ORD-1, 2024-05-01, 12). Texts with the same ids, or a training text that has all of
the held-out ask's, are judged as they are. Otherwise the two are about different things, and only the rest of the text
can be a copy: it is one when it is 80% or 90% alike as above with ids blanked out, the shared runs of 8 cover at least
24 words that no other held-out task has, and the blanked text is not a template, that is, comes with fewer than five
sets of ids in both sides together.

Candidates come from an index of the held-out pairs of words, so the work grows with the training side only, and each is
verified exactly. Paraphrases that share few words are not found. Source of the n-gram rule: Brown et al.,
arXiv:2005.14165, appendix C.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from whileai.core.errors import InputError
from whileai.core.locks import ask_digest, known_task, user_texts
from whileai.core.results import Result
from whileai.selection.copies import Copies, Match
from whileai.selection.kinds import Given, like, rows_of


@dataclass(frozen=True)
class Overlap(Result):
    """One text that copies another. `row_number` is 1-based in the rows given; `score` is 1.0 for a full copy."""

    row_number: int
    rule: str
    score: float
    text: str
    task: str | None
    holdout_text: str
    holdout_task: str | None

    def __str__(self) -> str:
        return (
            f"row {self.row_number} copies held-out task {self.holdout_task} ({self.rule}, {self.score:.2f}): "
            f"{_cut(self.text)!r} / {_cut(self.holdout_text)!r}"
        )


@dataclass(frozen=True)
class Contamination(Result):
    """What decontaminate found. Duplicates inside the held-out set are reported, not dropped.

    n_effective: held-out tasks that ask something of their own; copies of one another count once.
    """

    n_contaminated: int
    n_kept: int
    n_holdout_tasks: int
    n_effective: int
    dropped: tuple[Overlap, ...]
    holdout_duplicates: tuple[Overlap, ...]

    def __str__(self) -> str:
        rules = Counter(o.rule for o in self.dropped)
        why = f" ({', '.join(f'{n} {rule}' for rule, n in rules.most_common())})" if rules else ""
        head = (
            f"decontaminate: {self.n_contaminated} of {self.n_contaminated + self.n_kept} rows dropped{why}, "
            f"{self.n_kept} kept; {self.n_holdout_tasks} held-out tasks"
        )
        lines = [head, *_some(self.dropped, "dropped")]
        if self.holdout_duplicates:
            lines.append(
                f"  {len(self.holdout_duplicates)} held-out asks copy another task's: {self.n_effective} of "
                f"{self.n_holdout_tasks} tasks ask something of their own"
            )
        return "\n".join(lines)


def _some(found: tuple[Overlap, ...], name: str) -> list[str]:
    more = [f"  ... and {len(found) - 10} more in .{name}"] if len(found) > 10 else []
    return [f"  {overlap}" for overlap in found[:10]] + more


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def decontaminate(rows: Given, against: Iterable[Mapping[str, Any]]) -> tuple[Given, Contamination]:
    """The rows that copy no held-out row, in the kind given (a list gives a list), and what was dropped.

    against: the held-out rows. Rows come back as they were given, with every key. Rows without a task id are judged by
    their text alone. Raises InputError when there are no held-out rows: everything would be called clean.
    """
    found, held = rows_of(rows), rows_of(against, "against")
    if not held:
        raise InputError(
            "there are no held-out rows to compare with, so every row would pass; give against= the held side"
        )
    asked = [(_ask(row), _name(row)) for row in held]
    tasks = {name: text for text, name in reversed(asked)}
    copies = Copies(asked)
    copies.learn_templates(dict.fromkeys(text for row in found for text in user_texts(row)))
    known: dict[str, Match | None] = {}
    kept, dropped = [], []
    for number, row in enumerate(found, 1):
        overlap = _same_task(number, row, tasks) or _copied(number, row, copies, known)
        if overlap is None:
            kept.append(row)
        else:
            dropped.append(overlap)
    duplicates, n_effective = _inside(asked, copies)
    report = Contamination(len(dropped), len(kept), len(tasks), n_effective, tuple(dropped), tuple(duplicates))
    return like(rows, kept), report


def _ask(row: Mapping[str, Any]) -> str:
    return next(iter(user_texts(row)), "")


def _name(row: Mapping[str, Any]) -> str:
    """The held-out row's task; a row without one is a task of its own, known by what it asks."""
    return known_task(row) or f"(no id, ask {ask_digest(_ask(row))[:8]})"


def _same_task(number: int, row: Mapping[str, Any], tasks: Mapping[str, str]) -> Overlap | None:
    task = known_task(row)
    if task is None or task not in tasks:
        return None
    return Overlap(number, "same task", 1.0, _ask(row), task, tasks[task], task)


def _copied(number: int, row: Mapping[str, Any], copies: Copies, known: dict[str, Match | None]) -> Overlap | None:
    """The nearest copy among what the user says, turn by turn; a text met before is not looked up again."""
    best: tuple[str, Match] | None = None
    for text in user_texts(row):
        if text not in known:
            known[text] = copies.match(text)
        match = known[text]
        if match is not None and (best is None or match.score > best[1].score):
            best = text, match
    if best is None:
        return None
    text, match = best
    held, task = copies.texts[match.held], copies.tasks[match.held]
    return Overlap(number, match.rule, match.score, text, known_task(row), held.said, task)


def _inside(asked: list[tuple[str, str]], copies: Copies) -> tuple[list[Overlap], int]:
    """Held-out asks that copy an ask of another held-out task, and how many tasks ask something of their own."""
    found: list[Overlap] = []
    group = {task: task for _, task in asked}
    seen: set[tuple[str, str]] = set()
    for number, (text, task) in enumerate(asked, 1):
        match = copies.earlier(text, task) if (text, task) not in seen else None
        seen.add((text, task))
        if match is not None:
            other = copies.tasks[match.held]
            found.append(Overlap(number, match.rule, match.score, text, task, copies.texts[match.held].said, other))
            _join(group, task, other)
    return found, len({_root(group, task) for task in group})


def _root(group: dict[str, str], task: str) -> str:
    while group[task] != task:
        task = group[task]
    return task


def _join(group: dict[str, str], one: str, other: str) -> None:
    group[_root(group, one)] = _root(group, other)
