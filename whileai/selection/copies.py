"""Which held-out text a text copies. The rules, and why they are what they are, stand in whileai.selection.overlap."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rapidfuzz import fuzz

from whileai.core.locks import folded

RUN = 8  # words in a run; Brown et al. used 13 for documents, asks are shorter
COVERED = 0.8
ALIKE = 0.9
APART = 0.5  # an edited copy shares more than this of what sets the ask apart
COMMON = 20  # pairs and runs of words in more held-out tasks than this weigh nothing
SPECIFIC_WORDS = 24
TEMPLATE_IDS = 5
_PROPOSED = 0.3  # share of the weight in pairs of words from which a candidate is looked at

# A word, with inner marks (ORD-9237, don't, a@b.example); each sign of a script without spaces is a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+(?:[-_./:@'’#][^\W_]+)*")
_BLANK = "#"

Gram = tuple[str, ...]


class Text(NamedTuple):
    """A text ready to be compared: folded, its words, its ids (words with a digit), and the words with ids blanked."""

    said: str
    folded: str
    words: tuple[str, ...]
    ids: frozenset[str]
    blanked: tuple[str, ...]

    @classmethod
    def of(cls, said: str) -> Text:
        """Prepare `said`."""
        plain = folded(said)
        words = tuple(_WORD.findall(plain))
        ids = frozenset(word for word in words if not word.isalpha() and any(map(str.isdigit, word)))
        blanked = tuple(_BLANK if word in ids else word for word in words) if ids else words
        return cls(said, plain, words, ids, blanked)


class Match(NamedTuple):
    """The best copy found: which rule, how nearly (0 to 1), and which of the held-out texts."""

    rule: str
    score: float
    held: int


def grams(words: Sequence[str], n: int) -> list[Gram]:
    """Every run of `n` words, in order."""
    return list(zip(*(words[i:] for i in range(n)), strict=False))


@dataclass
class _Weights:
    """The runs of every held-out text with their weights: 1/n² for a run that n tasks have in common."""

    of: list[dict[Gram, float]]
    totals: list[float]

    @classmethod
    def over(cls, runs: Sequence[Sequence[Gram]], tasks: Sequence[str]) -> _Weights:
        """`runs` and the task of every text."""
        where: dict[Gram, set[str]] = defaultdict(set)
        for own, task in zip(runs, tasks, strict=True):
            for gram in own:
                where[gram].add(task)
        weight = {gram: 1 / len(n) ** 2 if len(n) <= COMMON else 0.0 for gram, n in where.items()}
        of = [{gram: weight[gram] for gram in own} for own in runs]
        return cls(of, [sum(own.values()) for own in of])

    def share(self, index: int, there: set[Gram]) -> float:
        """The share of a held-out text's weight that is in `there`; 0 when all of it is boilerplate."""
        own, total = self.of[index], self.totals[index]
        return sum(weight for gram, weight in own.items() if gram in there) / total if total else 0.0


@dataclass
class Copies:
    """An index of held-out texts: [(text, task)], distinct texts each under the first task that asks it.

    `learn_templates` is to see the training texts before `match` is asked.
    """

    held: Sequence[tuple[str, str]]
    texts: list[Text] = field(init=False)
    tasks: list[str] = field(init=False)

    def __post_init__(self) -> None:
        first: dict[str, tuple[Text, str]] = {}
        for said, task in self.held:
            text = Text.of(said)
            first.setdefault(text.folded, (text, task))
        self.texts = [text for text, _ in first.values()]
        self.tasks = [task for _, task in first.values()]
        self._exact = {text.folded: index for index, text in enumerate(self.texts)}
        self._runs = _Weights.over([_runs(text) for text in self.texts], self.tasks)
        self._blank_runs = _Weights.over([grams(text.blanked, RUN) for text in self.texts], self.tasks)
        self._pairs = _Weights.over([grams(text.words, 2) for text in self.texts], self.tasks)
        self._index: dict[Gram, list[tuple[int, float]]] = defaultdict(list)
        for index, own in enumerate(self._pairs.of):
            for gram, weight in own.items():
                if weight:
                    self._index[gram].append((index, weight))
        self._id_sets: dict[Gram, set[frozenset[str]]] = {text.blanked: set() for text in self.texts}
        self.learn_templates(said for said, _ in self.held)

    def learn_templates(self, texts: Iterable[str]) -> None:
        """Count the different ids that each held-out text, ids blanked, comes with."""
        for said in texts:
            text = Text.of(said)
            known = self._id_sets.get(text.blanked)
            if known is not None and len(known) < TEMPLATE_IDS:
                known.add(text.ids)

    def match(self, said: str) -> Match | None:
        """The held-out text that `said` copies most nearly, or None."""
        text = Text.of(said)
        exact = self._exact.get(text.folded)
        if exact is not None and text.folded:
            return Match("same ask", 1.0, exact)
        return self._nearest(text, self._candidates(text))

    def earlier(self, said: str, task: str) -> Match | None:
        """The text of another task, given before this held-out text of `task`, that it copies most nearly."""
        text = Text.of(said)
        own = self._exact[text.folded]
        if self.tasks[own] != task:
            return Match("same ask", 1.0, own)
        return self._nearest(text, [i for i in self._candidates(text) if i < own and self.tasks[i] != task])

    def _nearest(self, text: Text, candidates: list[int]) -> Match | None:
        runs = _Runs(text)
        found = [match for index in candidates if (match := self._verify(runs, index)) is not None]
        return max(found, key=lambda match: (match.score, -match.held), default=None)

    def _candidates(self, text: Text) -> list[int]:
        shared: dict[int, float] = defaultdict(float)
        for gram in set(zip(text.words, text.words[1:], strict=False)):
            for index, weight in self._index.get(gram, ()):
                shared[index] += weight
        totals = self._pairs.totals
        return [index for index, weight in shared.items() if weight >= _PROPOSED * totals[index]]

    def _verify(self, runs: _Runs, index: int) -> Match | None:
        held, text = self.texts[index], runs.text
        if held.ids != text.ids and not (held.ids and held.ids <= text.ids):
            return self._verify_rest(runs, index)
        covered = self._runs.share(index, runs.of(min(RUN, len(held.words))))
        if covered >= COVERED:
            return Match("8-gram", round(covered, 4), index)
        alike = fuzz.ratio(text.folded, held.folded, score_cutoff=100 * ALIKE) / 100
        if alike and self._pairs.share(index, runs.of(2)) > APART:
            return Match("edited copy", round(alike, 4), index)
        return None

    def _verify_rest(self, runs: _Runs, index: int) -> Match | None:
        """The same without the ids, which differ: only long text of its own that is no template can be a copy."""
        held, text = self.texts[index], runs.text
        if len(held.blanked) < SPECIFIC_WORDS or len(self._id_sets[held.blanked]) >= TEMPLATE_IDS:
            return None
        there = runs.blanked()
        if self._specific_words(index, there) < SPECIFIC_WORDS:
            return None
        score = self._blank_runs.share(index, there)
        if score < COVERED:
            score = fuzz.ratio(" ".join(text.blanked), " ".join(held.blanked), score_cutoff=100 * ALIKE) / 100
        return Match("other ids", round(score, 4), index) if score else None

    def _specific_words(self, index: int, there: set[Gram]) -> int:
        """How many words of a held-out text lie in shared runs that no other held-out task has."""
        own, words = self._blank_runs.of[index], self.texts[index].blanked
        covered: set[int] = set()
        for start, gram in enumerate(grams(words, RUN)):
            if gram in there and own[gram] == 1.0:
                covered.update(range(start, start + RUN))
        return sum(words[place] != _BLANK for place in covered)


def _runs(text: Text) -> list[Gram]:
    """Runs of 8 words; a shorter text of three words or more that names an id is one run."""
    if len(text.words) >= RUN:
        return grams(text.words, RUN)
    return [text.words] if text.ids and len(text.words) >= 3 else []


class _Runs:
    """The runs of one training text, made when a candidate asks for them."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self._made: dict[int, set[Gram]] = {}

    def of(self, n: int) -> set[Gram]:
        """All runs of `n` words."""
        if n not in self._made:
            self._made[n] = set(grams(self.text.words, n))
        return self._made[n]

    def blanked(self) -> set[Gram]:
        """All runs of 8 with ids blanked."""
        if 0 not in self._made:
            self._made[0] = set(grams(self.text.blanked, RUN))
        return self._made[0]
