"""What a budget buys: which asks are tried, how often, and in which order.

A cell is an ask: one situation in one wording. Cells are bought in an order in which a smaller budget's cells
are always the first ones of a bigger budget's: every situation of the pairwise array once, then their further
wordings one after the other, then situations beyond the array, each in all its wordings, until the grid is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from whileai.core import rows as core_rows
from whileai.core.errors import InputError, UsageError
from whileai.core.seeds import content_id
from whileai.world.situations import Situation, scenario_id


class Cell(NamedTuple):
    """One ask: a situation in the words of `text`. `tries` are try numbers; a pinned ask may lack its situation."""

    scenario_id: str
    situation: Mapping[str, Any] | None
    wording: int
    tries: tuple[int, ...]
    text: str


class Owed(NamedTuple):
    """One rollout that the plan owes; `run` numbers whole passes from 1."""

    cell: Cell
    rollout_index: int
    run: int

    @property
    def key(self) -> tuple[str, int, int, int]:
        """What tells this rollout from every other of its plan."""
        return self.cell.scenario_id, self.cell.wording, self.rollout_index, self.run


@dataclass(frozen=True)
class Plan:
    """The cells, how many passes over them, and in one line what was bought."""

    cells: tuple[Cell, ...]
    runs: int
    text: str
    spent: bool = False

    def __len__(self) -> int:
        return self.runs * sum(len(cell.tries) for cell in self.cells)

    def __str__(self) -> str:
        return self.text

    def owed(self) -> Iterator[Owed]:
        """Every rollout, pass by pass, cell by cell, try by try: the order of the rows."""
        for run in range(1, self.runs + 1):
            for cell in self.cells:
                for index in cell.tries:
                    yield Owed(cell, index, run)

    @property
    def digest(self) -> str:
        """A content hash of what is owed; equal plans owe equal rollouts."""
        cells = [[c.scenario_id, c.wording, list(c.tries), c.text] for c in self.cells]
        return content_id([cells, self.runs])


def buy(
    grid: Sequence[Situation],
    pairwise: int,
    words: Callable[[Situation, int], str],
    *,
    situations: int | None = None,
    phrasings: int = 1,
    repeats: int = 4,
    budget: int | None = None,
    runs: int = 1,
) -> Plan:
    """Choose the cells. `grid` holds every situation there is, its first `pairwise` ones the pairwise array;
    `words` puts a situation into its n-th wording.

    situations: exactly that many, each in `phrasings` wordings, each tried `repeats` times, in `runs` passes;
    left out, as many as the budget buys (without a budget: the pairwise array).
    budget: the most rollouts to buy, over all runs; asks are bought whole, so fewer than `repeats` may be left over.
    Raises UsageError when the budget does not buy a single ask.
    """
    first = min(pairwise if situations is None else situations, len(grid))
    total = len(grid) if situations is None and budget is not None else first
    cost = repeats * runs
    limit = total * phrasings if budget is None else min(budget // cost, total * phrasings)
    if limit == 0:
        raise UsageError(
            f"budget={budget} does not buy one ask, which costs repeats x runs = {cost} rollouts; give at least {cost}"
        )
    tries = tuple(range(repeats))
    chosen = list(islice(_ordered(first, total, phrasings), limit))
    used = {i: grid[i] for i, _ in chosen}
    ids = {i: scenario_id(situation) for i, situation in used.items()}
    cells = tuple(Cell(ids[i], used[i], w, tries, words(used[i], w)) for i, w in chosen)
    spent = situations is not None and situations > len(grid) if budget is None else limit < budget // cost
    sentence = _bought(cells, repeats, runs) + "; " + _left(budget, limit, cost, spent, (situations, total, phrasings))
    return Plan(cells, runs, sentence, spent)


def _ordered(first: int, total: int, phrasings: int) -> Iterator[tuple[int, int]]:
    """(situation, wording) pairs in the order they are bought."""
    for wording in range(phrasings):
        for position in range(first):
            yield position, wording
    for position in range(first, total):
        for wording in range(phrasings):
            yield position, wording


def _bought(cells: Sequence[Cell], repeats: int, runs: int) -> str:
    tasks = len({cell.scenario_id for cell in cells})
    wordings = len({cell.wording for cell in cells})
    passes = f" x {runs} runs" if runs > 1 else ""
    rollouts = len(cells) * repeats * runs
    return (
        f"plan: {rollouts} rollouts = {_count(len(cells), 'ask')} x {_count(repeats, 'try', 'tries')}{passes}, "
        f"over {_count(tasks, 'situation')} in up to {_count(wordings, 'wording')}"
    )


def _left(budget: int | None, limit: int, cost: int, spent: bool, asked: tuple[int | None, int, int]) -> str:
    situations, total, phrasings = asked
    if spent and budget is None:
        return f"the grid is spent: {situations} situations were wanted and these tools give {total}"
    if spent:
        whole = "the situations wanted are" if situations is not None and situations <= total else "the grid is"
        return (
            f"{whole} spent ({total} situations x {phrasings} wordings), {(budget or 0) - limit * cost} rollouts of the"
            " budget are left over; raise phrasings or repeats"
        )
    if budget is None:
        return "no budget was set"
    if budget % cost:
        return f"the budget is spent, {budget % cost} left over because an ask costs {cost}"
    return "the budget is spent"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def pin(
    rows: Iterable[Mapping[str, Any]], *, repeats: int | None = None, budget: int | None = None, runs: int = 1
) -> Plan:
    """The cells of an earlier run: the same situations, words and tries (or `repeats` tries each when given).

    Rows without `wording` are told apart by their words. Raises InputError when there are no rows or one asks nothing,
    UsageError when the budget does not cover the pinned rollouts: dropping some would break the pairing.
    """
    asks: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for number, row in enumerate(rows, 1):
        text = core_rows.ask(row)
        if not text:
            raise InputError(f"row {number} of tasks= has no user message, so there is nothing to ask again")
        asks.setdefault((core_rows.task_id(row), row.get("wording", text)), []).append(row)
    if not asks:
        raise InputError("tasks= holds no rows, so it pins nothing; give the rows of an earlier run")
    position: dict[str, int] = {}
    cells = []
    for (task, wording), members in asks.items():
        position[task] = position.get(task, -1) + 1
        number = wording if isinstance(wording, int) else position[task]
        tries = tuple(range(repeats)) if repeats is not None else _tries(members)
        cells.append(Cell(task, members[0].get("situation"), number, tries, core_rows.ask(members[0])))
    plan = Plan(tuple(cells), runs, "")
    if budget is not None and budget < len(plan):
        raise UsageError(f"tasks= pins {len(plan)} rollouts and budget={budget} does not cover them; leave budget out")
    text = f"plan: {len(plan)} rollouts = {_count(len(cells), 'ask')} over {_count(len(position), 'situation')}"
    return Plan(plan.cells, runs, f"{text}, pinned by tasks=" + (f" x {runs} runs" if runs > 1 else ""))


def _tries(members: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """The try numbers of an ask's rows; rows without one, as from a file, are counted."""
    numbers = {row["rollout_index"] for row in members if isinstance(row.get("rollout_index"), int)}
    return tuple(sorted(numbers)) if numbers else tuple(range(len(members)))
