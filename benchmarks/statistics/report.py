"""The recorded tables as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from math import sqrt
from typing import Any

from benchmarks.statistics.experiments import Outcome, Verdicts
from benchmarks.statistics.others import Claims, Peeking, Sized
from benchmarks.statistics.populations import ICCS, RATES, Population

INTERVALS = ("percentile", "plain t", "score")
RULES = ("percentile", "t", "literal", "t + literal floor", "moderated")
PRINTED = ("percentile", "t", "moderated")  # the intervals behind the five rules


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def error(share: float, datasets: int) -> str:
    """Monte-Carlo standard error in points."""
    return f"{100 * sqrt(max(share * (1 - share), 1 / datasets) / datasets):.2f}"


def coverage_table(outcomes: Sequence[Outcome], methods: Sequence[str] = INTERVALS) -> str:
    """mean / least over the cells of one n and k, then the mean width of each method and its zero-width share."""
    rows = []
    for (n, tries), found in _grouped(outcomes, lambda o: (o.cell.n, o.cell.tries)):
        cells = [
            f"{percent(_mean([o.share[m] for o in found]))} / {percent(min(o.share[m] for o in found))}"
            for m in methods
        ]
        widths = " / ".join(f"{_mean([o.width[m] for o in found]):.3f}" for m in methods)
        flat = " / ".join(percent(_mean([o.flat[m] for o in found])) for m in methods)
        rows.append([str(n), str(tries), *cells, widths, flat, error(0.95, sum(o.datasets for o in found))])
    head = ["n", "k", *methods, f"mean width, {' / '.join(methods)}", "zero width, %", "MC error of the means"]
    return markdown(head, rows)


def verdict_table(found: Sequence[Verdicts], what: str, worst: Callable[[Iterable[float]], float] | None) -> str:
    """mean (and worst) over the cells of one n and k of `what`: false_pass, power or coverage."""
    rows, names = [], PRINTED if what == "coverage" else RULES
    for (n, tries), cells in _grouped(found, lambda v: (v.cell.n, v.cell.tries)):
        columns = []
        for rule in names:
            shares = [getattr(v, what)[rule] for v in cells]
            columns.append(percent(_mean(shares)) + (f" / {percent(worst(shares))}" if worst else ""))
        total = sum(v.datasets for v in cells)
        middle = _mean([getattr(v, what)["t"] for v in cells])
        rows.append([str(n), str(tries), *columns, error(middle, total)])
    return markdown(["n", "k", *names, "MC error"], rows)


def every_cell(outcomes: Sequence[Outcome]) -> str:
    """Coverage of every cell, `percentile -> score`."""
    rows = []
    for key, found in _grouped(outcomes, lambda o: (o.cell.n, o.cell.tries, o.cell.icc, o.cell.shift)):
        by_rate = {o.cell.rate: o for o in found}
        columns = [f"{percent(by_rate[p].share['percentile'])} -> {percent(by_rate[p].share['score'])}" for p in RATES]
        rows.append([*_key(key), *columns, str(found[0].datasets)])
    return markdown(["n", "k", "ICC", "run effect", *(f"p={p:g}" for p in RATES), "datasets"], rows)


def every_verdict(found: Sequence[Verdicts], what: str) -> str:
    """`what` of every cell, in the order of RULES."""
    rows = []
    for key, cells in _grouped(found, lambda v: (v.cell.n, v.cell.tries, v.cell.icc, v.cell.shift)):
        by_rate = {v.cell.rate: v for v in cells}
        columns = [" / ".join(percent(getattr(by_rate[p], what)[rule]) for rule in RULES) for p in RATES]
        rows.append([*_key(key), *columns, str(cells[0].datasets)])
    return markdown(["n", "k", "ICC", "run effect", *(f"p={p:g}" for p in RATES), "datasets"], rows)


def run_effects() -> str:
    """What the run effect of the tables does to the mean of one pass, in points."""
    rows = [[f"{icc:g}", *(f"{100 * Population(p, icc).run_std():.2f}" for p in RATES)] for icc in ICCS]
    return markdown(["ICC", *(f"p={p:g}" for p in RATES)], rows)


def gains() -> str:
    return ", ".join(f"{100 * Population(p, 0.05).gain():g} points at p={p:g}" for p in RATES)


def hard_table(found: Sequence[tuple[str, int, int | str, dict[str, float], int]]) -> str:
    rows = [
        [name, str(n), str(tries), *(percent(shares[rule]) for rule in RULES), error(shares["t"], datasets)]
        for name, n, tries, shares, datasets in found
    ]
    return markdown(["null", "n", "k", *RULES, "MC error"], rows)


def peeking_table(found: Sequence[Peeking], datasets: int) -> str:
    rows = [
        [p.name, percent(p.ordinary), percent(p.always_valid), f"{p.mean_tasks:.0f}", error(p.always_valid, datasets)]
        for p in found
    ]
    head = ["truth", "PASS, ordinary interval at every look", "PASS, monitor", "mean tasks until monitor", "MC error"]
    return markdown(head, rows)


def claims_table(found: Sequence[Claims], datasets: int) -> str:
    rows = []
    for rule in dict.fromkeys(c.rule for c in found):
        ours = [c for c in found if c.rule == rule]
        false_claims, power = ([percent(getattr(c, name)) for c in ours] for name in ("false_claim", "power"))
        rows.append([rule, " / ".join(false_claims), " / ".join(power), error(0.05, datasets)])
    stds = " / ".join(f"{100 * s:g}" for s in dict.fromkeys(c.training_std for c in found))
    head = ["rule", f"false claim at training sd {stds} points", "power at +10, the same", "MC error at 5%"]
    return markdown(head, rows)


def sizes_table(found: Sequence[Sized], datasets: int) -> str:
    rows = [[s.name, str(s.n), percent(s.power), error(s.power, datasets)] for s in found]
    return markdown(["plan (effect .1, base .6, k=4)", "tasks", "measured power", "MC error"], rows)


def _grouped(found: Sequence[Any], key: Callable[[Any], tuple[Any, ...]]) -> list[tuple[Any, list[Any]]]:
    return [(k, list(group)) for k, group in groupby(sorted(found, key=lambda o: _order(key(o))), key=key)]


def _order(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(99 if part == "uneven" else part for part in key)


def _key(key: tuple[Any, ...]) -> list[str]:
    n, tries, icc, shift = key
    return [str(n), str(tries), f"{icc:g}", "yes" if shift else "no"]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
