"""Whether a judge's scores can be believed: did it answer, does it tell rows apart, what did it read.

Each check answers a mistake people have made: a judge that raised on every row, one that read the wrong
shape and scored 404 rows 0.0 with a tight interval, and one that read a field only stand-in agents write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai.core.results import Result
from whileai.core.rows import Row

STAND_IN_FIELDS = ("seeded",)


class GradingWarning(UserWarning):
    """The scores were computed, but they should not be believed as they are."""


@dataclass(frozen=True)
class Health(Result):
    """What a grading pass was like.

    n: rows given; judged: rows the judge saw (rows that failed in the rollout are not judged);
    scored: rows with a reward; failures: status -> count; rewards: distinct rewards seen (at most 20);
    reads: fields of stand-in agents that the judge looked at; warnings: one sentence each.
    """

    n: int
    judged: int
    scored: int
    failures: dict[str, int]
    rewards: tuple[float, ...]
    reads: tuple[str, ...]
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        head = f"graded: {self.scored} of {self.n} rows scored"
        if self.n > self.judged:
            head += f", {self.n - self.judged} failed in the rollout and were not judged"
        return "\n".join([head, *(f"  {text}" for text in self.warnings)])


class WatchedRow(dict[str, Any]):
    """A row copy that notes which stand-in fields are read from it."""

    def __init__(self, row: Mapping[str, Any], seen: set[str]) -> None:
        super().__init__(row)
        self._seen = seen

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._note(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self._note(key)
        return super().__contains__(key)

    def pop(self, key: str, *default: Any) -> Any:
        self._note(key)
        return super().pop(key, *default)

    def _note(self, key: object) -> None:
        if key in STAND_IN_FIELDS:
            self._seen.add(str(key))


def examine(rows: Sequence[Row], judged: Sequence[bool], reads: set[str]) -> Health:
    """Look at graded rows; `judged[i]` says whether the judge saw row i, `reads` what stand-in fields it read."""
    seen = [row for row, was in zip(rows, judged, strict=True) if was]
    rewards = [row["reward"] for row in seen if row.get("reward") is not None]
    failures = Counter(row.get("judge_status", "") for row in seen if row.get("reward") is None)
    distinct = tuple(sorted({float(r) for r in rewards if r is not None})[:20])
    warnings = [
        *_failure_warnings(len(seen), failures),
        *_sameness_warnings(len(rewards), distinct),
        *_read_warnings(reads),
    ]
    return Health(len(rows), len(seen), len(rewards), dict(failures), distinct, tuple(sorted(reads)), tuple(warnings))


def _failure_warnings(judged: int, failures: Counter[str]) -> Iterator[str]:
    failed = sum(failures.values())
    if not failed:
        return
    status = failures.most_common(1)[0][0]
    if failed == judged:
        yield f"the judge failed on every one of {judged} rows ({status}), so nothing is scored; mend the judge"
    else:
        yield f"the judge failed on {failed} of {judged} rows (most often: {status}); they stay unscored, not zero"


def _sameness_warnings(scored: int, distinct: tuple[float, ...]) -> Iterator[str]:
    if scored >= 2 and len(distinct) == 1:
        yield (
            f"the judge scored all {scored} rows {distinct[0]:g}, so nothing can be learned or compared;"
            " a judge that reads the wrong field looks just like this, so read a few rows against it"
        )


def _read_warnings(reads: set[str]) -> Iterator[str]:
    for name in sorted(reads):
        yield (
            f"the judge reads row[{name!r}], which only stand-in agents write: on a real model's rows it will fail;"
            " judge the messages instead"
        )
