"""From numbers to a verdict: PASS, WORSE, NO DIFFERENCE with its evidence, or NO VERDICT with its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whileai.stats.floors import Floor
from whileai.stats.intervals import equivalence_p
from whileai.stats.paired import FEWEST, Pair
from whileai.stats.power import mde, tasks_needed

PASS, WORSE, NO_DIFFERENCE, NO_VERDICT = "PASS", "WORSE", "NO DIFFERENCE", "NO VERDICT"
CAUTION_BELOW = 20


@dataclass(frozen=True)
class Scale:
    """What counts as small (`sesoi`, the smallest effect of interest) and as worth seeing (`effect`)."""

    sesoi: float
    effect: float
    alpha: float
    power: float = 0.8


@dataclass(frozen=True)
class Ruling:
    """A verdict with its evidence sentences and the numbers behind them.

    mde: the smallest delta this set sees at 80% power. not_excluded: the largest gain the interval leaves open.
    tasks_needed: tasks that would see `effect`; None when re-running alone hides it. label: what kind of PASS or
    NO DIFFERENCE. All numbers None for a single unit.
    """

    verdict: str
    label: str
    evidence: tuple[str, ...]
    equivalence_p: float | None = None
    mde: float | None = None
    not_excluded: float | None = None
    tasks_needed: int | None = None


def rule(pair: Pair, floor: Floor | None, scale: Scale) -> Ruling:
    """The verdict on one paired difference: it must clear zero with its interval and the floor with its size."""
    d = pair.result
    if d.lo is None or d.hi is None or d.n < FEWEST:
        reason = (
            f"{d.n} shared {_units(d.n, d.unit)}: even a jump from 0 to 1 on all of them could be chance,"
            f" so there is no verdict below {FEWEST}"
        )
        return Ruling(NO_VERDICT, "insufficient", (reason,))
    base = _numbers(pair, scale)
    clears = floor is None or abs(d.delta) > floor.value
    if clears and (d.lo > 0 or d.hi < 0):
        return _moved(pair, base, scale)
    return _not_shown(pair, base, floor, scale)


def clears(pair: Pair, floor: Floor | None, verdict: str) -> bool:
    """Whether the difference supports `verdict` (PASS or WORSE)."""
    d = pair.result
    if d.lo is None or d.hi is None or d.n < FEWEST or (floor is not None and abs(d.delta) <= floor.value):
        return False
    return d.lo > 0 if verdict == PASS else d.hi < 0


def withheld(ruling: Ruling, reason: str) -> Ruling:
    """The ruling with its verdict refused for `reason`."""
    sentence = f"{ruling.verdict} withheld: {reason}"
    return replace(ruling, verdict=NO_VERDICT, label=f"{ruling.verdict} withheld", evidence=(sentence,))


def _numbers(pair: Pair, scale: Scale) -> Ruling:
    """The evidence every verdict carries, as numbers."""
    seen, run = pair.spread, pair.run
    p = equivalence_p(seen, scale.sesoi, run=run, reach=pair.reach)
    variance = seen.se**2 * seen.n
    needed = tasks_needed(scale.effect, variance, scale.power, scale.alpha, run.variance) if seen.se > 0 else None
    seen_effect = mde(seen.n, variance, scale.power, scale.alpha, run.variance) if seen.se > 0 else None
    return Ruling("", "", (), p, seen_effect, pair.result.hi, needed)


def _moved(pair: Pair, base: Ruling, scale: Scale) -> Ruling:
    d = pair.result
    if d.lo is not None and d.lo > 0:
        small = d.hi is not None and d.hi < scale.sesoi
        label = f"moved, but by less than {scale.sesoi:g}" if small else "moved, unreplicated"
        advice = "it moved once; train again with another seed, and replicate() both runs, before telling anyone"
        return replace(base, verdict=PASS, label=label, evidence=(f"{label}: {advice}",))
    return replace(
        base, verdict=WORSE, label="fell", evidence=(f"the score fell: a loss of at least {-(d.hi or 0):.2f} is shown",)
    )


def _not_shown(pair: Pair, base: Ruling, floor: Floor | None, scale: Scale) -> Ruling:
    if base.equivalence_p is not None and base.equivalence_p < scale.alpha:
        sentence = f"equivalent within +-{scale.sesoi:g} (two one-sided tests, p={base.equivalence_p:.3f})"
        return replace(base, verdict=NO_DIFFERENCE, label="equivalent", evidence=(sentence,))
    within = _within_floor(pair, floor)
    lead = f"inconclusive, within eval noise ({within})" if within else "inconclusive"
    sentence = f"{lead}: {_open(pair)}"
    if base.mde is not None:
        sentence += f"; this set sees {base.mde:+.2f} at {scale.power:.0%} power, {_size_advice(base, scale, pair)}"
    return replace(base, verdict=NO_DIFFERENCE, label="inconclusive", evidence=(sentence,))


def _open(pair: Pair) -> str:
    lo, hi = pair.result.lo or 0.0, pair.result.hi or 0.0
    gain = f"a gain up to {hi:+.2f}" if hi > 0 else ""
    loss = f"a loss down to {lo:+.2f}" if lo < 0 and (pair.result.delta < 0 or not gain) else ""
    both = " and ".join(filter(None, (gain, loss)))
    return f"{both} {'are' if gain and loss else 'is'} not ruled out"


def _size_advice(base: Ruling, scale: Scale, pair: Pair) -> str:
    if base.tasks_needed is None:
        return f"no number of tasks would see {scale.effect:+.2f} through the run-to-run noise: re-run both arms more"
    units = _units(base.tasks_needed, pair.result.unit)
    return f"{base.tasks_needed} {units} would see {scale.effect:+.2f}"


def _within_floor(pair: Pair, floor: Floor | None) -> str:
    d = pair.result
    if floor is None or abs(d.delta) > floor.value or not ((d.lo or 0) > 0 or (d.hi or 0) < 0):
        return ""
    return f"the interval excludes zero, but {d.delta:+.3f} is under the floor {floor.value:.3f}"


def _units(n: int, unit: str) -> str:
    return unit if n == 1 else f"{unit}s"


def cautions(pair: Pair) -> list[str]:
    """Sentences about a set that is small or whose differences are all the same."""
    d, notes = pair.result, []
    if FEWEST <= d.n < CAUTION_BELOW:
        notes.append(
            f"{d.n} {_units(d.n, d.unit)} are few: a skewed set of fewer than {CAUTION_BELOW} misleads every method"
        )
    if d.n > 1 and pair.spread.se == 0:
        notes.append(
            f"every task moved by exactly {d.delta:+.3f}, so the interval is what unseen tasks could still hide"
        )
    return notes
