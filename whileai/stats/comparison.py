"""compare(): did the score move? The same tasks before and after, against zero and against the eval's own noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from whileai.core.errors import InputError, UsageError
from whileai.core.results import Result
from whileai.stats import text
from whileai.stats.answers import Answered, answered, filled, threatened
from whileai.stats.arms import (
    Arm,
    Passes,
    Shared,
    clusters_of,
    lined_up,
    read_arm,
    refuse_copies,
    shared_tasks,
    slices_of,
)
from whileai.stats.columns import Label, asks
from whileai.stats.doubts import sampling_differences
from whileai.stats.floors import KINDS, Floor, Reruns, from_passes, from_scalars, literal, moderated
from whileai.stats.guards import REGRESSED, Guard, check_margins, guarded
from whileai.stats.intervals import Codes, RunVariance, check_alpha
from whileai.stats.noise import Components, combined, components, sampling_variance
from whileai.stats.paired import Delta, Pair, family, pair
from whileai.stats.signs import mcnemar_p, signflip_p
from whileai.stats.tables import METRICS, Table, smallest_group
from whileai.stats.verdicts import PASS, WORSE, Ruling, Scale, cautions, clears, rule, withheld


@dataclass(frozen=True)
class Comparison(Result):
    """What `compare` found. `verdict` is PASS, WORSE, NO DIFFERENCE or NO VERDICT; `str()` is the report.

    before, after, delta, lo, hi, se, df, p: the target metric over `n_paired` tasks (see `Delta`). label: the kind of
    verdict ("moved, unreplicated", "equivalent", "inconclusive", "insufficient", ...), evidence: its sentences. floor:
    the noise floor or None. answered: shares of rows with a score. signflip_p, mcnemar: second opinions. equivalence_p,
    mde, not_excluded, tasks_needed: see `verdicts.Ruling`. metrics: the target and the other metrics, Holm-adjusted.
    guards, slices: as asked. share: part of all tasks compared, 1.0 unless allow_partial. warnings: sentences on what
    could mislead.
    """

    verdict: str
    label: str
    evidence: tuple[str, ...]
    target: str
    before: float
    after: float
    delta: float
    lo: float | None
    hi: float | None
    se: float | None
    df: float | None
    p: float | None
    signflip_p: float
    signflip_how: str
    mcnemar: dict[str, float] | None
    floor: Floor | None
    answered: Answered
    equivalence_p: float | None
    mde: float | None
    not_excluded: float | None
    tasks_needed: int | None
    n_paired: int
    n_tasks: int
    share: float
    k: int
    passes: tuple[int, int]
    metrics: dict[str, Delta]
    guards: tuple[Guard, ...]
    slices: dict[str, Delta]
    sliced_by: str | None
    warnings: tuple[str, ...]
    alpha: float
    sesoi: float

    def __str__(self) -> str:
        return text.format_delta_report(self)


@dataclass(frozen=True)
class _Setup:
    """The paired arms and the settings everything below is computed from."""

    before: Arm
    after: Arm
    shared: Shared
    one: Table
    other: Table
    k: int
    target: str
    clusters: Codes | None
    scale: Scale
    reach: float
    floor_kind: str | None
    given: tuple[float | None, int | None]
    notes: list[str] = field(default_factory=list)

    def paired(self, metric: str, one: Table, other: Table, run: RunVariance | None = None) -> Pair | None:
        """The paired difference of two (passes, tasks) tables."""
        return pair(
            metric,
            one.pooled(),
            other.pooled(),
            self.k,
            self.scale.alpha,
            clusters=self.clusters,
            run=run,
            reach=self.reach,
        )


def compare(
    before: Passes,
    after: Passes,
    *,
    run_std: float | None = None,
    run_std_runs: int | None = None,
    floor: str | None = "auto",
    target: str = "pass_at_1",
    must_not_regress: Mapping[str, float] | None = None,
    by: Label | None = None,
    cluster: Label | None = None,
    allow_partial: bool = False,
    threshold: float | None = None,
    sesoi: float = 0.05,
    effect: float = 0.1,
    alpha: float = 0.05,
) -> Comparison:
    """Compare two arms on the same tasks. The verdict is PASS when the interval on the mean difference lies above zero
    and the difference is larger than the noise floor.

    before, after: the rows of one pass, or a list of passes; passes are pooled and show how far re-running moves the
    score. run_std, run_std_runs: that spread as measured elsewhere (`eval_variance`), with the number of runs. floor:
    "auto" takes the literal floor from these two numbers, the moderated one from passes; "literal" or "moderated"
    forces one, None asks for none. target: the one metric the verdict is about. must_not_regress: largest loss allowed
    per metric, or per numeric row key. by: row key or function that slices the tasks. cluster: row key or function
    whose groups of tasks are the independent units. threshold: a row passes when its reward reaches it. sesoi: the
    smallest effect of interest, for "equivalent". effect: the gain that `tasks_needed` is about.

    Raises TasksDiffer for other tasks in the arms (allow_partial=True compares the shared ones), InputError for rows
    that cannot be compared, UsageError for arguments that make no sense. Methods: docs/statistics.md; Miller 2024 for
    the pairing.
    """
    setup = _set_up(before, after, target, cluster, allow_partial, threshold, Scale(sesoi, effect, alpha), floor)
    margins = check_margins(must_not_regress)
    setup = replace(setup, given=(run_std, run_std_runs))
    bar, run = _noise(setup, target)
    main = setup.paired(target, setup.one, setup.other, run)
    if main is None:
        raise InputError("no task is scored in both arms, so there is nothing to pair; grade both arms first")
    shares, ruling = _with_answers(setup, main, bar, rule(main, bar, setup.scale))
    guards = _guards(setup, margins)
    fallen = [guard.metric for guard in guards if guard.status == REGRESSED]
    if fallen and ruling.verdict == PASS:
        ruling = withheld(ruling, f"{', '.join(fallen)} must not regress and did")
    slices = {} if by is None else _slices(setup, by)
    return _result(setup, main, bar, shares, ruling, guards, slices, None if by is None else _name(by))


def _set_up(
    before: Passes,
    after: Passes,
    target: str,
    cluster: Label | None,
    allow_partial: bool,
    threshold: float | None,
    scale: Scale,
    floor: str | None,
) -> _Setup:
    check_alpha(scale.alpha)
    _check(target, floor, scale)
    one, other = read_arm("before", before, threshold), read_arm("after", after, threshold)
    shared = shared_tasks(one, other, allow_partial)
    refuse_copies(one, other)
    tables = lined_up(one, shared), lined_up(other, shared)
    binary = one.binary() and other.binary()
    if not binary and target != "pass_at_1":
        raise UsageError(f"target={target!r} needs 0/1 rewards; give threshold= to say what passes")
    if not any((t.n > 0).any() for t in tables):
        raise InputError("no shared task is scored, so there is nothing to pair; grade both arms first")
    clusters = None if cluster is None else clusters_of(one, shared, cluster)
    setup = _Setup(
        one,
        other,
        shared,
        *tables,
        smallest_group(*tables),
        target,
        clusters,
        scale,
        _reach(one, other),
        floor,
        (None, None),
    )
    setup.notes.extend(sampling_differences(one.rows, other.rows))
    return setup


def _check(target: str, floor: str | None, scale: Scale) -> None:
    if target not in METRICS:
        raise UsageError(f"target={target!r} is not known; it is one of {', '.join(METRICS)}")
    if floor not in ("auto", None, *KINDS):
        raise UsageError(f"floor={floor!r} is not known; it is 'auto', 'literal', 'moderated' or None")
    if not scale.sesoi > 0 or not scale.effect > 0:
        raise UsageError("sesoi and effect are sizes above 0")


def _reach(before: Arm, after: Arm) -> float:
    """How far a difference can go: 1 for rewards in [0, 1], else the range of the rewards seen."""
    bounds = [f.bounds() for arm in (before, after) for f in arm.found if f.answered.any()]
    lo, hi = min(b[0] for b in bounds), max(b[1] for b in bounds)
    return max(1.0, hi - min(lo, 0.0))


def _noise(setup: _Setup, metric: str) -> tuple[Floor | None, RunVariance]:
    """The floor and the run variance of a metric: from the numbers given, else from the passes, else none."""
    scalars = setup.given != (None, None)
    seen = _reruns(setup, metric, scalars)
    if seen is None or setup.floor_kind is None:
        return None, RunVariance()
    kind = setup.floor_kind if setup.floor_kind != "auto" else "literal" if scalars else "moderated"
    alpha = setup.scale.alpha
    return (literal(seen, alpha), RunVariance()) if kind == "literal" else moderated(seen, alpha)


def _reruns(setup: _Setup, metric: str, scalars: bool) -> Reruns | None:
    n = setup.before.passes, setup.after.passes
    if scalars:
        first = setup.before.found[0]
        v0 = sampling_variance(first, asks(setup.before.rows[0], first)) if metric == "pass_at_1" else None
        return from_scalars(*setup.given, v0, *n)
    parts = [_components(t, metric, setup.k) for t in (setup.one, setup.other) if t.n.shape[0] > 1]
    found = [p for p in parts if p is not None]
    return from_passes(combined(found), *n, sum(int(p.df) + 1 for p in found)) if found else None


def _components(counts: Table, metric: str, k: int) -> Components | None:
    Y = counts.values(metric, k)
    return components(Y) if (~np.isnan(Y).any(0)).sum() > 1 else None


def _with_answers(setup: _Setup, main: Pair, bar: Floor | None, ruling: Ruling) -> tuple[Answered, Ruling]:
    """The answered shares; with answers missing, the delta's other two readings, and a verdict they could undo
    withheld.
    """
    shares = answered(setup.one.pooled(), setup.other.pooled())
    if not shares.missing:
        return shares, ruling
    zero = setup.paired(setup.target, filled(setup.one, 0.0), filled(setup.other, 0.0), main.run)
    low, high = (1.0, 0.0) if ruling.verdict == WORSE or main.result.delta < 0 else (0.0, 1.0)
    worst = setup.paired(setup.target, filled(setup.one, high), filled(setup.other, low), main.run)
    shares = replace(shares, as_zero=zero.result if zero else None, worst_case=worst.result if worst else None)
    if ruling.verdict in (PASS, WORSE) and not (worst and clears(worst, bar, ruling.verdict)):
        ruling = withheld(ruling, threatened(shares, worst))
    return shares, ruling


def _guards(setup: _Setup, margins: Mapping[str, float]) -> list[Guard]:
    """The guarded metrics, each paired with its own run variance; an unknown name is a key of the rows."""
    deltas = []
    for name in margins:
        if name in METRICS:
            found = setup.paired(name, setup.one, setup.other, _noise(replace(setup, given=(None, None)), name)[1])
        else:
            arms = setup.before.measured(name), setup.after.measured(name)
            one, other = (lined_up(arm, setup.shared) for arm in arms)
            found = replace(setup, reach=_reach(*arms)).paired("pass_at_1", one, other)
        if found is None:
            raise InputError(f"must_not_regress: no task has {name} in both arms")
        deltas.append(replace(found.result, metric=name))
    return guarded(deltas, list(margins.values()), setup.scale.alpha)


def _others(setup: _Setup) -> list[Delta]:
    """The metrics beside the target, one Holm family; none without repeats or with rewards that are not 0/1."""
    if setup.k < 2 or not (setup.before.binary() and setup.after.binary()):
        return []
    names = [name for name in METRICS[:3] if name != setup.target]
    unscaled = replace(setup, given=(None, None))
    found = [setup.paired(name, setup.one, setup.other, _noise(unscaled, name)[1]) for name in names]
    return family([one.result for one in found if one], setup.scale.alpha)


def _slices(setup: _Setup, by: Label) -> dict[str, Delta]:
    """The target on every slice of the tasks, one Holm family; slices that pair no task are left out."""
    before, after = slices_of(setup.before, by), slices_of(setup.after, by)
    names = sorted({label for passes in (before, after) for rows in passes for label in rows}, key=str)
    found: dict[str, Delta] = {}
    for name in names:
        arms = [
            arm.only([np.array([label == name for label in rows]) for rows in passes])
            for arm, passes in ((setup.before, before), (setup.after, after))
        ]
        one, other = (lined_up(arm, setup.shared) for arm in arms)
        paired = setup.paired(setup.target, one, other)
        if paired:
            found[str(name)] = replace(paired.result, metric=str(name))
    return dict(zip(found, family(list(found.values()), setup.scale.alpha), strict=True))


def _warnings(setup: _Setup, main: Pair, bar: Floor | None) -> list[str]:
    notes = [*cautions(main), *setup.notes]
    if bar is None:
        notes.append("eval repeat noise not measured: give passes of the same model, or run_std= and run_std_runs=")
    elif bar.run_std == 0:
        notes.append("run_std is 0, as in a deterministic eval: re-running shows no noise, and the floor adds nothing")
    if setup.k == 1:
        notes.append("one try a task: pass^k and what re-sampling alone explains cannot be computed")
    rewards = {f.bounds() for arm in (setup.before, setup.after) for f in arm.found if f.answered.any()}
    if len(rewards) == 1 and len(set(next(iter(rewards)))) == 1:
        notes.append(
            f"every row of both arms scored {next(iter(rewards))[0]:g}; check that the judge can tell good from bad"
        )
    if setup.reach > 1:
        notes.append("rewards lie outside [0, 1], so the rule for equal differences leans on the range seen")
    if setup.shared.share < 1:
        notes.append(
            f"partial: {len(setup.shared.tasks)} shared tasks, {setup.shared.share:.1%} of all, stand for the rest"
        )
    return notes


def _result(
    setup: _Setup,
    main: Pair,
    bar: Floor | None,
    shares: Answered,
    ruling: Ruling,
    guards: Sequence[Guard],
    slices: dict[str, Delta],
    sliced_by: str | None,
) -> Comparison:
    d = main.result
    p, how = signflip_p(main.d)
    others = {one.metric: one for one in _others(setup)}
    return Comparison(
        **{name: getattr(ruling, name) for name in ("verdict", "label", "evidence", *_EVIDENCE)},
        **{name: getattr(d, name) for name in _NUMBERS},
        target=setup.target,
        signflip_p=p,
        signflip_how=how,
        mcnemar=_mcnemar(setup, main),
        floor=bar,
        answered=shares,
        n_paired=d.n_tasks,
        n_tasks=len(setup.shared.tasks),
        share=setup.shared.share,
        k=setup.k,
        passes=(setup.before.passes, setup.after.passes),
        metrics={setup.target: d, **others},
        guards=tuple(guards),
        slices=slices,
        sliced_by=sliced_by,
        warnings=tuple(_warnings(setup, main, bar)),
        alpha=setup.scale.alpha,
        sesoi=setup.scale.sesoi,
    )


_NUMBERS = ("before", "after", "delta", "lo", "hi", "se", "df", "p")
_EVIDENCE = ("equivalence_p", "mde", "not_excluded", "tasks_needed")


def _mcnemar(setup: _Setup, main: Pair) -> dict[str, float] | None:
    single = setup.before.single_try() and setup.after.single_try()
    if not single or not (setup.before.binary() and setup.after.binary()):
        return None
    up, down, p = mcnemar_p(main.d)
    return {"up": up, "down": down, "p": p}


def _name(by: Label) -> str:
    return by if isinstance(by, str) else getattr(by, "__name__", "slice")
