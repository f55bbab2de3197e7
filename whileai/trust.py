"""Can a judge be believed? Its verdicts are held against labels, and the answer says what would settle it.

This stands above `stats` and `grading`, because it needs both and neither may import the other.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai.core import rows as core_rows
from whileai.core.errors import InputError, UsageError
from whileai.core.results import Result
from whileai.core.rows import Row
from whileai.grading.grade import Graded, Judge, grade
from whileai.grading.health import GradingWarning
from whileai.stats.agreement import Agreement, agreement
from whileai.stats.biases import LengthBias, length_bias
from whileai.stats.corrected import CorrectedRate, corrected_rate
from whileai.stats.labels import read_numbers
from whileai.stats.raters import Krippendorff, SelfAgreement, krippendorff_alpha, self_agreement

TRUSTED, NOT_TRUSTED, UNDECIDED = "TRUSTED", "NOT TRUSTED", "UNDECIDED"
ENOUGH_ANSWERS = 0.95  # the rows a judge stays silent on could hide any disagreement
STEADY = 0.9  # a judge that repeats itself less often than this decides partly by lot
RELIABLE = 0.667  # Krippendorff's (2004) lowest alpha for tentative conclusions
SHOWN = 3

Marks = list[float | None]  # 1.0 a pass, 0.0 a fail, None nothing, one per row


@dataclass(frozen=True)
class Disagreement:
    """A labelled row that the judge saw otherwise; `row` is 1-based, `reason` the judge's own."""

    row: int
    task: str
    label: float
    verdict: float
    reason: str


@dataclass(frozen=True)
class JudgeTrust(Result):
    """Whether a judge agrees with labels enough to stand in for them.

    verdict: TRUSTED when kappa's lower bound reaches min_kappa; NOT TRUSTED when its upper bound stays below, or the
    judge tells no rows apart or leaves too many unanswered; else UNDECIDED. `trusted` is True for the first alone.
    settle: what decided it, or what would. more_rows: labelled rows still needed, 0 when decided, None when labels
    alone will not do it. Verdicts and labels pass at `threshold`. agreement, length and corrected are None when the
    judge answered no labelled row. n_rows given, n_labelled of them labelled and finished, n_answered of those judged.
    """

    verdict: str
    trusted: bool
    settle: str
    more_rows: int | None
    min_kappa: float
    threshold: float
    agreement: Agreement | None
    self_agreement: SelfAgreement | None
    labellers: Krippendorff | None
    length: LengthBias | None
    corrected: CorrectedRate | None
    disagreements: tuple[Disagreement, ...]
    warnings: tuple[str, ...]
    n_rows: int
    n_labelled: int
    n_answered: int

    def __str__(self) -> str:
        answers = f"{self.n_labelled} of {self.n_rows} rows labelled, {self.n_answered} of those judged"
        evidence = (self.agreement, self.self_agreement, self.labellers, self.length, self.corrected)
        parts = [answers, *(str(part) for part in evidence if part is not None)]
        parts += [f"row {d.row} ({d.task}): label {d.label:g}, judge {d.verdict:g}" for d in self.disagreements[:SHOWN]]
        if len(self.disagreements) > SHOWN:
            parts.append(f"and {len(self.disagreements) - SHOWN} more in .disagreements")
        parts += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([f"{self.verdict}: {self.settle}", *(f"  {line}" for p in parts for line in p.splitlines())])


def judge_trust(
    rows: Iterable[Mapping[str, Any]],
    judge: Judge | None,
    labels: str | Sequence[Any] = "label",
    *,
    rejudge: int = 1,
    min_kappa: float = 0.6,
    threshold: float = 1.0,
    alpha: float = 0.05,
) -> JudgeTrust:
    """Hold `judge` against labels: kappa, self-agreement, length bias, and the pass rate put right.

    judge: a judge as in `grade`, or None to take the rewards that the rows carry. labels: the key that holds a row's
    label, a list of such keys (several labellers; the majority counts, an even split is left out), or one label per
    row; a bool or number, None where not labelled. The judge does not see the keys named here. rejudge: how often it
    is asked again about each labelled row. Raises InputError when there are no rows or no labels, or a label is text;
    UsageError for options that make no sense.
    """
    given = list(rows)
    keys, columns = _labels(given, labels)
    _check(judge, rejudge, min_kappa, keys)
    people = [_marks(column, threshold) for column in columns]
    votes = list(zip(*people, strict=True))
    label = [_majority(vote) if row.get("error") is None else None for row, vote in zip(given, votes, strict=True)]
    labelled = [i for i, mark in enumerate(label) if mark is not None]
    if not labelled:
        raise InputError("no finished row has a label that counts (a majority, not an even split); label some more")
    hidden = [{key: value for key, value in row.items() if key not in keys} for row in given] if judge else given
    scored = _judged(hidden, judge)
    verdict = _verdicts(scored, threshold)
    again = [
        _verdicts(_judged([hidden[i] for i in labelled], judge), threshold) for _ in range(rejudge if judge else 0)
    ]
    seen = _Seen(given, [core_rows.task_id(row) for row in given], label, verdict, labelled, alpha)
    return _conclude(seen, scored, [[verdict[i] for i in labelled], *again], people, min_kappa, threshold)


@dataclass(frozen=True)
class _Seen:
    """Every row's task, label and verdict, and which rows are labelled."""

    rows: list[Mapping[str, Any]]
    tasks: list[str]
    label: Marks
    verdict: Marks
    labelled: list[int]
    alpha: float

    @property
    def n_answered(self) -> int:
        return sum(self.verdict[i] is not None for i in self.labelled)

    def agreement(self) -> Agreement | None:
        if not self.n_answered:
            return None
        label, verdict = ([marks[i] for i in self.labelled] for marks in (self.label, self.verdict))
        return agreement(label, verdict, tasks=[self.tasks[i] for i in self.labelled], alpha=self.alpha)

    def self_agreement(self, passes: list[Marks]) -> SelfAgreement | None:
        twice = any(sum(mark is not None for mark in marks) >= 2 for marks in zip(*passes, strict=True))
        if not twice:
            return None
        return self_agreement(passes, tasks=[self.tasks[i] for i in self.labelled], alpha=self.alpha)

    def labellers(self, people: list[Marks]) -> Krippendorff | None:
        twice = any(sum(mark is not None for mark in marks) >= 2 for marks in zip(*people, strict=True))
        return krippendorff_alpha(people, tasks=self.tasks, alpha=self.alpha) if twice else None

    def length(self) -> LengthBias | None:
        if not self.n_answered:
            return None
        lengths = [len(core_rows.final_text(row)) for row in self.rows]
        return length_bias(lengths, self.verdict, self.tasks, labels=self.label, alpha=self.alpha)

    def corrected(self) -> CorrectedRate | None:
        if not self.n_answered:
            return None
        return corrected_rate(self.verdict, self.label, tasks=self.tasks, alpha=self.alpha)


def _conclude(
    seen: _Seen, scored: Sequence[Row], passes: list[Marks], people: list[Marks], min_kappa: float, threshold: float
) -> JudgeTrust:
    found, steady, among, length = seen.agreement(), seen.self_agreement(passes), seen.labellers(people), seen.length()
    word, settle, more = _decide(found, seen.n_answered, len(seen.labelled), min_kappa)
    doubts = [*_people_doubts(seen, people, among), *_judge_doubts(scored, steady, length, threshold)]
    return JudgeTrust(
        verdict=word,
        trusted=word == TRUSTED,
        settle=settle,
        more_rows=more,
        min_kappa=min_kappa,
        threshold=threshold,
        agreement=found,
        self_agreement=steady,
        labellers=among,
        length=length,
        corrected=seen.corrected(),
        disagreements=tuple(_disagreements(seen, scored)),
        warnings=tuple(doubts),
        n_rows=len(seen.rows),
        n_labelled=len(seen.labelled),
        n_answered=seen.n_answered,
    )


def _decide(found: Agreement | None, answered: int, labelled: int, least: float) -> tuple[str, str, int | None]:
    """The verdict, the sentence that stands beside it, and how many more labelled rows it needs."""
    if found is None or answered < ENOUGH_ANSWERS * labelled:
        why = f"the judge answered only {answered} of {labelled} labelled rows, fewer than {ENOUGH_ANSWERS:.0%}"
        return NOT_TRUSTED, f"{why}; mend the judge, then measure again", None
    if max(found.label_shares.values()) == 1:
        only = "pass" if found.constant == 1 else "fail"
        return UNDECIDED, f"every label is a {only}, so kappa cannot be measured; label rows of the other kind", None
    if max(found.rater_shares.values()) == 1:
        return NOT_TRUSTED, "the judge gives every labelled row the same verdict, so it tells nothing apart", 0
    lo, hi = found.kappa_lo, found.kappa_hi
    if lo is None or hi is None:
        return UNDECIDED, "the labelled rows are all of one task; label rows of more tasks", None
    level = f"{1 - found.alpha:.0%}"
    if lo >= least:
        return TRUSTED, f"kappa is at least {lo:.2f} ({level}), and {least:g} was asked for", 0
    if hi < least:
        return NOT_TRUSTED, f"kappa is at most {hi:.2f} ({level}), under {least:g}; read the disagreements, mend it", 0
    between = f"kappa lies between {lo:.2f} and {hi:.2f} ({level}), and {least:g} was asked for"
    more = found.more_rows(least)
    if more is None:
        return UNDECIDED, f"{between}; it sits so close that no number of labels settles it: mend the judge", None
    return UNDECIDED, f"{between}; about {more} more labelled rows settle it (80% power, if they agree as these)", more


def _check(judge: Judge | None, rejudge: int, min_kappa: float, keys: Sequence[str]) -> None:
    if isinstance(rejudge, bool) or not isinstance(rejudge, int) or rejudge < 0:
        raise UsageError(f"rejudge={rejudge!r} is not a whole number of further askings; 0 asks once only")
    if not -1 < min_kappa < 1:
        raise UsageError(f"min_kappa={min_kappa!r} is not between -1 and 1; 0.6 is usual")
    if judge is None and "reward" in keys:
        raise UsageError("labels='reward' with judge=None holds the rewards against themselves; name the labels' key")


def _labels(rows: Sequence[Mapping[str, Any]], labels: str | Sequence[Any]) -> tuple[list[str], list[list[Any]]]:
    """The keys that hold labels, and one column of labels per labeller."""
    if not rows:
        raise InputError("there are no rows, so no judge can be held against labels; give labelled rows")
    given = [labels] if isinstance(labels, str) else list(labels)
    keys = [key for key in given if isinstance(key, str)]
    if not keys or len(keys) < len(given):
        if len(given) != len(rows):
            raise InputError(f"{len(given)} labels for {len(rows)} rows; give one per row, None where not labelled")
        return [], [_numbers(given, "labels")]
    for key in keys:
        if not any(row.get(key) is not None for row in rows):
            raise InputError(
                f"no row has a label under {key!r}; labels= names a key of the rows, or holds one bool or number per"
                " row (map text such as 'good' to True first)"
            )
    return keys, [_numbers([row.get(key) for row in rows], key) for key in keys]


def _numbers(values: Sequence[Any], source: str) -> list[float]:
    found = read_numbers(values, source)
    if all(math.isnan(number) for number in found):
        raise InputError(f"{source}: every label is missing, so nothing can be compared; label some rows")
    return [float(number) for number in found]


def _marks(numbers: Iterable[float | None], threshold: float) -> Marks:
    return [None if n is None or math.isnan(n) else float(n >= threshold) for n in numbers]


def _majority(votes: Sequence[float | None]) -> float | None:
    cast = [vote for vote in votes if vote is not None]
    passes = sum(vote == 1 for vote in cast)
    return None if 2 * passes == len(cast) else float(2 * passes > len(cast))


def _judged(rows: Sequence[Mapping[str, Any]], judge: Judge | None) -> Sequence[Row]:
    """Scored rows; without a judge the rows as they are. Doubts about the judge are reported, not issued."""
    if judge is None:
        return rows  # type: ignore[return-value]  # a dict with a Row's keys
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GradingWarning)
        return grade(rows, judge)


def _verdicts(scored: Sequence[Row], threshold: float) -> Marks:
    return [core_rows.passed(row, threshold) if row.get("error") is None else None for row in scored]


def _disagreements(seen: _Seen, scored: Sequence[Row]) -> Iterator[Disagreement]:
    for i in seen.labelled:
        label, verdict = seen.label[i], seen.verdict[i]
        if label is not None and verdict is not None and label != verdict:
            yield Disagreement(i + 1, seen.tasks[i], label, float(verdict), str(scored[i].get("reason") or ""))


def _people_doubts(seen: _Seen, people: list[Marks], among: Krippendorff | None) -> Iterator[str]:
    voted = [any(mark is not None for mark in marks) for marks in zip(*people, strict=True)]
    failed = sum(vote and row.get("error") is not None for vote, row in zip(voted, seen.rows, strict=True))
    if failed:
        yield f"{failed} labelled rows failed in the rollout and are left out"
    if sum(voted) - failed > len(seen.labelled):
        yield f"the labellers are split evenly on {sum(voted) - failed - len(seen.labelled)} rows, which are left out"
    if among is not None and among.value is not None and among.value < RELIABLE:
        yield (
            f"the labellers agree too little among themselves (alpha {among.value:.2f}, under {RELIABLE}); no judge can"
            " agree with them better, so settle the rule they label by"
        )


def _judge_doubts(
    scored: Sequence[Row], steady: SelfAgreement | None, length: LengthBias | None, threshold: float
) -> Iterator[str]:
    if isinstance(scored, Graded):
        yield from scored.health.warnings
    odd = next((r for r in map(core_rows.reward, scored) if r not in (None, 0.0, 1.0)), None)
    if odd is not None:
        yield f"rewards such as {odd:g} were read as passes from {threshold:g} on; give threshold= if that is not meant"
    if steady is not None and steady.share < STEADY:
        yield f"asked again, the judge gave {steady.n_flipped} of {steady.n_rows} rows another verdict"
    if length is not None and length.biased and length.beyond is not None and length.beyond.value is not None:
        which = "longer" if length.beyond.value > 0 else "shorter"
        yield f"the judge favours {which} replies beyond what the labels say (r {length.beyond.value:+.2f})"
