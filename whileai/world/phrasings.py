"""The words a user finds for a situation: a small grammar, filled by the situation, varied by the wording.

What is wanted, the argument values and the circumstances (who, where, when) belong to the situation and are the same
in all its wordings; frames, order and greeting belong to the wording. Every clause carries a circumstance within
seven words, so that two situations seldom share eight words in a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from whileai.world import words
from whileai.world.clauses import CLAUSES, DETAILS, DO, GREETINGS, HISTORIES, LOOK, MINE, TERSE_DO, TERSE_LOOK
from whileai.world.shapes import Shape, shapes
from whileai.world.words import Draw

MOST_WORDS = 40
_LOOKUPS = frozenset(
    "get fetch find look lookup search check list read show view query track retrieve describe see load browse".split()
) | {""}
_ORDERS = tuple(
    tuple(order.split())
    for order in (
        "greeting core one two, one core two, greeting one two core, core two one, greeting two core one, "
        "two one core, core one two"
    ).split(", ")
)
T = TypeVar("T")


def phrasing(situation: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], wording: int = 0, seed: int = 0) -> str:
    """The ask of a situation in its `wording`-th wording (from 0), the same for the same arguments.

    It holds every argument value of the situation as it must be passed, except those the user leaves unsaid.
    """
    shape = shapes(tools)[situation["tool"]]
    draw = Draw(seed, situation)
    slots, later = _slots(draw)
    turn = _Turn(draw, wording)
    stance = str(situation.get("stance"))
    one = turn.of(CLAUSES.get(stance) or DETAILS)
    two = turn.of([c for c in HISTORIES.get(str(situation.get("history"))) or DETAILS if c != one])
    parts = {
        "core": _core(shape, situation, slots, turn),
        "greeting": "" if stance == "terse" else turn.of(GREETINGS).format_map(slots),
        "one": one.format_map(slots),
        "two": two.format_map(later),
    }
    return _joined(parts, turn.of(_ORDERS), stance == "terse")


class _Turn:
    """Choices that differ from wording to wording: each list is entered at a drawn place and walked along."""

    def __init__(self, draw: Draw, wording: int) -> None:
        self._draw = draw
        self._wording = wording

    def of(self, items: Sequence[T]) -> T:
        return items[(self._draw.below(len(items)) + self._wording) % len(items)]


def _slots(draw: Draw) -> tuple[dict[str, Any], dict[str, Any]]:
    """Who, where and when: the circumstances of one situation, now and before; the user stays the same."""
    first = draw.pick(words.FIRST_NAMES)
    user = {"first": first, "name": f"{first} {draw.pick(words.LAST_NAMES)}", "city": draw.pick(words.CITIES)}
    return {**user, **_circumstances(draw)}, {**user, **_circumstances(draw)}


def _circumstances(draw: Draw) -> dict[str, Any]:
    return {
        "p": draw.pick(words.PEOPLE),
        "q": draw.pick(words.FIRST_NAMES),
        "e": draw.pick(words.EVENTS),
        "l": draw.pick(words.PLACES),
        "d": draw.pick(words.DAYS),
        "c": f"{7 + draw.below(14)}:{5 * draw.below(12):02d}",
        "n": 2 + draw.below(28),
    }


def _core(shape: Shape, situation: Mapping[str, Any], slots: Mapping[str, Any], turn: _Turn) -> str:
    """What the user wants, with the values to do it with."""
    unsaid = situation.get("unsaid") or ()
    values = {k: v for k, v in (situation.get("values") or {}).items() if k not in unsaid}
    about = _about(shape, values, slots, turn)
    looking = shape.work == "read" and shape.verb in _LOOKUPS
    rest = {k: v for k, v in values.items() if not (shape.key and k == shape.key.name)}
    if rest:
        said = _listed([f"{k.replace('_', ' ')} {spoken(v)}" for k, v in rest.items()])
        about += turn.of((" with {}", ", {}", " ({})")).format(said)
    terse = situation.get("stance") == "terse"
    if looking:
        return turn.of(TERSE_LOOK if terse else LOOK).replace("{x}", about)
    verb = shape.verb or "handle"
    return turn.of(TERSE_DO if terse else DO).replace("{do}", f"{verb} {about}")


def _about(shape: Shape, values: Mapping[str, Any], slots: Mapping[str, Any], turn: _Turn) -> str:
    """What the request is about: `order ORD-9237`, `the weather for Leeds`, `my order from Tuesday`."""
    key = shape.key
    noun = shape.noun if shape.noun != shape.verb else "it"
    if key is None:
        return f"the {noun}"
    if key.name not in values:
        return turn.of(MINE).format(x=shape.thing if noun == "it" else noun, **slots)
    said = spoken(values[key.name])
    if not key.is_id:
        return f"the {noun} for {said}"
    thing = shape.thing if key.kind in ("id", "uuid") else noun
    if noun in (thing, "it"):
        return turn.of((f"{thing} {said}", f"the {thing} {said}", f"{thing} number {said}", f"{thing} {said}"))
    return f"the {noun} for {thing + ' ' if thing != noun else ''}{said}"


def spoken(value: Any) -> str:
    """A value as it stands in a sentence; strings and numbers verbatim."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{str(k).replace('_', ' ')} {spoken(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return _listed([spoken(v) for v in value])
    return str(value)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1] if parts else ""]))


def _joined(parts: Mapping[str, str], order: Sequence[str], terse: bool) -> str:
    """Sentences in order; the circumstances go first when there are too many words."""
    kept = [name for name in order if parts[name]]
    for name in ("greeting", "two", "one"):
        if sum(len(parts[n].split()) for n in kept) > MOST_WORDS and name in kept:
            kept.remove(name)
    text = ""
    for name in kept:
        part = parts[name] if parts[name][-1] in ".?!,:" else parts[name] + "."
        capital = not terse and not text.endswith(",")
        text += (" " if text else "") + (part[:1].upper() + part[1:] if capital else part)
    return text
