"""The situations a tool-using agent is tested in: a pairwise covering array first, then the rest of the grid.

Five axes: the tool that is wanted, the user's stance, the state of the world, the condition of the tool, and what
happened before. In the pairwise array (covertable) every possible pair of values of two axes meets at least once.

The order is chosen so that any beginning of it is a fair test: healthy and failing tools take turns as long as there
are healthy ones left, the failing conditions come round in turn, and asks without an id are spread evenly. A pairwise
array cannot be half healthy, because each failing condition must meet each state; about a quarter of it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple, overload

from whileai.core.errors import InputError
from whileai.core.seeds import content_id
from whileai.world.shapes import Shape, shapes
from whileai.world.values import is_fresh, value
from whileai.world.words import Draw

Situation = dict[str, Any]

NO_ID = "leaves the id out"
STANCES = (
    "plain", "polite", "in a hurry", "frustrated", "chatty", "unsure", "terse", "asks for someone else",
    "wants it in writing", NO_ID,
)  # fmt: skip
CONDITIONS = ("ok", "not found", "permission denied", "timeout", "garbled", "rate limit", "partial", "stale")
HISTORIES = ("first contact", "asked before", "was promised an answer", "tried it alone")
_ORDERS = (
    "shipped, pending, delayed, on hold, delivered, cancelled, returned, in transit, awaiting payment, under review"
)
_OTHERS = "active, pending, new, on hold, closed, expired, archived, suspended, scheduled, under review"
_PAYMENTS = "paid, pending, overdue, on hold, refunded, declined, disputed, scheduled, partly paid, under review"
_TICKETS = "open, pending, new, on hold, closed, reopened, assigned, escalated, waiting for a reply, under review"
_FAMILIES = {
    **dict.fromkeys("order shipment parcel package delivery tracking return".split(), _ORDERS),
    **dict.fromkeys("invoice payment refund bill transaction charge".split(), _PAYMENTS),
    **dict.fromkeys("ticket case issue task claim incident request".split(), _TICKETS),
}
ROUNDS = 64


class Combination(NamedTuple):
    """One cell of the grid, by position on each axis."""

    tool: int
    stance: int
    state: int
    condition: int
    history: int


_SIZES = (len(STANCES), 10, len(CONDITIONS), len(HISTORIES))
_LEFT_OUT = STANCES.index(NO_ID)


def states(shape: Shape) -> tuple[str, ...]:
    """The ten states that what this tool is about can be in."""
    family = next(
        (f for w in reversed(shape.thing.split()) if (f := _FAMILIES.get(w) or _FAMILIES.get(w.removesuffix("s")))),
        _OTHERS,
    )
    return tuple(family.split(", "))


def scenario_id(situation: Mapping[str, Any]) -> str:
    """The task's id: a content hash of its situation."""
    return content_id(situation)


class Situations(Sequence[Situation]):
    """Every situation of a set of tools, made when asked for. A longer beginning starts with every shorter one.

    pairwise: how many of the first ones are the covering array. grid_size: combinations of the axes. Beyond the grid
    the combinations come again with new ids and values, `ROUNDS` rounds in all, where the tools have ids to vary.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]], seed: int) -> None:
        """Raises InputError when there are no tools."""
        self._shapes = list(shapes(tools).values())
        if not self._shapes:
            raise InputError("there are no tools, so there is nothing to ask for; give at least one")
        self._seed = seed
        grid = _grid(self._shapes)
        fresh = [c for c in grid if any(map(is_fresh, self._shapes[c.tool].parameters))]
        first = _array(self._shapes, seed)
        self.pairwise, self.grid_size = len(first), len(grid)
        self._rounds: dict[int, list[Combination]] = {0: first}
        self._grid, self._fresh = grid, fresh

    def __len__(self) -> int:
        return self.grid_size + (ROUNDS - 1) * len(self._fresh)

    @overload
    def __getitem__(self, index: int) -> Situation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Situation]: ...
    def __getitem__(self, index: int | slice) -> Situation | list[Situation]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"situation {index} of {len(self)}")
        if position < self.pairwise:
            return self._situation(self._rounds[0][position], position, 0)
        number, place = 0, position
        if position >= self.grid_size:
            number, place = divmod(position - self.grid_size, len(self._fresh))
            number += 1
        return self._situation(self._round(number)[place], position, number)

    def _round(self, number: int) -> list[Combination]:
        """The combinations of one round through the grid, the first one beginning with the array."""
        if number == 0 and len(self._rounds[0]) == self.pairwise:
            used = set(self._rounds[0])
            rest = _mixed([c for c in self._grid if c not in used], Draw(self._seed, "rest"))
            self._rounds[0] = self._rounds[0] + rest
        if number not in self._rounds:
            self._rounds = {0: self._rounds[0], number: _mixed(self._fresh, Draw(self._seed, "round", number))}
        return self._rounds[number]

    def _situation(self, at: Combination, position: int, number: int) -> Situation:
        shape = self._shapes[at.tool]
        draw = Draw(self._seed, "arguments", position)
        wanted = [p for p in shape.parameters if p.required or draw.chance(3)]
        made: Situation = {
            "tool": shape.name,
            "stance": STANCES[at.stance],
            "state": states(shape)[at.state],
            "condition": CONDITIONS[at.condition],
            "history": HISTORIES[at.history],
            "values": {p.name: value(p, position, self._seed) for p in wanted},
        }
        if at.stance == _LEFT_OUT:
            made["unsaid"] = [p.name for p in wanted if p is shape.key or p.is_id]
        if number:
            made["round"] = number
        return made


def situations(tools: Sequence[Mapping[str, Any]], seed: int = 0) -> Situations:
    """The situations of OpenAI tool schemas, in an order that depends on the tools and the seed alone."""
    return Situations(tools, seed)


def possible(at: Combination, has_key: Sequence[bool]) -> bool:
    """Whether a combination makes sense: who leaves the id out must have one, and then no tool is called at all."""
    return at.stance != _LEFT_OUT or (at.condition == 0 and has_key[at.tool])


def _grid(tools: Sequence[Shape]) -> list[Combination]:
    keys = [shape.key is not None for shape in tools]
    stances, states_, conditions, histories = map(range, _SIZES)
    every = (
        Combination(t, s, w, c, h)
        for t in range(len(tools)) for s in stances for w in states_ for c in conditions for h in histories
    )  # fmt: skip
    return [at for at in every if possible(at, keys)]


def _array(tools: Sequence[Shape], seed: int) -> list[Combination]:
    from covertable import make

    keys = [shape.key is not None for shape in tools]
    fields = dict(zip(Combination._fields, map(list, map(range, (len(tools), *_SIZES))), strict=True))
    said = {"operator": "ne", "left": "stance", "value": _LEFT_OUT}
    healthy = {"operator": "eq", "left": "condition", "value": 0}
    has_key = {"operator": "in", "left": "tool", "values": [t for t, key in enumerate(keys) if key]}
    rules = [{"operator": "or", "conditions": [said, rule]} for rule in (healthy, has_key)]
    if len(tools) == 1:  # an axis of one value pairs with nothing new
        del fields["tool"]
        rules = rules[: 1 if keys[0] else 2]
        if not keys[0]:
            fields["stance"] = list(range(_LEFT_OUT))
            rules = []
    rows = [Combination(**{"tool": 0, **row}) for row in make(fields, salt=str(seed), constraints=rules)]
    return _mixed(_healthier(rows), Draw(seed, "array"))


def _pairs(at: Combination) -> Iterator[tuple[int, int, int, int]]:
    return ((i, at[i], j, at[j]) for i in range(5) for j in range(i + 1, 5))


def _healthier(rows: Sequence[Combination]) -> list[Combination]:
    """The array with a working tool wherever the failing one proves no pair that another row does not."""
    seen: dict[tuple[int, int, int, int], int] = {}
    for at in rows:
        for pair in _pairs(at):
            seen[pair] = seen.get(pair, 0) + 1
    taken, out = set(rows), []
    for at in rows:
        well = at._replace(condition=0)
        lost = set(_pairs(at)) - set(_pairs(well))
        if well not in taken and all(seen[pair] > 1 for pair in lost):
            taken.add(well)
            for pair in _pairs(at):
                seen[pair] -= 1
            for pair in _pairs(well):
                seen[pair] = seen.get(pair, 0) + 1
            at = well  # noqa: PLW2901
        out.append(at)
    return out


def _mixed(rows: Iterable[Combination], draw: Draw) -> list[Combination]:
    """Healthy and failing in turn until one kind is spent; asks without an id spread among the healthy."""
    kinds: dict[int, list[Combination]] = {}
    for at in draw.shuffled(list(rows)):
        kinds.setdefault(-1 if at.stance == _LEFT_OUT else at.condition, []).append(at)
    healthy = _spread(kinds.pop(0, []), kinds.pop(-1, []))
    failing = _in_turn([kinds[kind] for kind in draw.shuffled(sorted(kinds))])
    return [at for pair in zip_longest(healthy, failing) for at in pair if at is not None]


def _spread(many: Sequence[Combination], few: Sequence[Combination]) -> list[Combination]:
    """Two lists as one, each evenly along it."""
    keyed = [((i + 0.5) / len(part), at) for part in (many, few) for i, at in enumerate(part)]
    return [at for _, at in sorted(keyed, key=lambda item: item[0])]


def _in_turn(parts: Sequence[Sequence[Combination]]) -> list[Combination]:
    return [at for row in chain(zip_longest(*parts)) for at in row if at is not None]
