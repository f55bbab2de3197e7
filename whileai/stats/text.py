"""Every report form of the statistics. The first lines are for people who have read one before; the rest is evidence.

A result is passed in whole; this file computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whileai.stats.comparison import Comparison
    from whileai.stats.floors import Floor
    from whileai.stats.monitor import Monitor
    from whileai.stats.noise import EvalVariance
    from whileai.stats.paired import Delta
    from whileai.stats.passat import Estimate, PassAt
    from whileai.stats.power import HoldoutSize
    from whileai.stats.replication import Replication


def estimate(found: Estimate) -> str:
    """0.56 [0.42..0.69], or the bare value when there is no interval."""
    if found.lo is None or found.hi is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} [{found.lo:.2f}..{found.hi:.2f}]"


def pass_at_report(found: PassAt) -> str:
    """The pass@ line, then its method and, where there is something to say, what could mislead."""
    parts = [f"pass@1 {estimate(found.pass_at_1)}"]
    if found.pass_pow_k and found.pass_at_k and found.headroom:
        parts.append(f"pass^{found.k} (pass_pow_k) {estimate(found.pass_pow_k)}")
        parts.append(f"pass@{found.k} {estimate(found.pass_at_k)}")
        parts.append(f"headroom {found.headroom.value:.2f}")
    line = f"{' | '.join(parts)} ({_groups(found)})"
    return "\n  ".join([line, *_pass_at_evidence(found)])


def _groups(found: PassAt) -> str:
    noun = "group" if found.n_tasks == 1 else "groups"
    text = f"{found.n_tasks} {noun}, k={found.k}"
    if found.k_min != found.k_max:
        chosen = "k is the smallest" if found.k == found.k_min else f"k={found.k} was given"
        text += f"; groups are uneven ({found.k_min} to {found.k_max} repeats); {chosen}"
    return text


def _pass_at_evidence(found: PassAt) -> list[str]:
    first = found.pass_at_1
    unit = "tasks" if found.n_clusters is None else "clusters of tasks"
    lines = []
    if first.lo is None:
        lines.append(f"no interval: {first.why}")
    else:
        lines.append(
            f"{1 - found.alpha:.0%} {first.method} intervals over {first.n} {unit}, {found.n_answered} scored rows"
        )
    if found.n_answered < found.n_rows:
        share = found.n_answered / found.n_rows
        left = f"; {_count(found.n_unscored, 'task')} without a scored row left out" if found.n_unscored else ""
        lines.append(f"answered: {share:.1%} ({found.n_answered} of {found.n_rows} rows){left}")
    if found.n_excluded:
        lines.append(
            f"{_count(found.n_excluded, 'task')} with fewer than {found.k} scored tries left out of pass^k and pass@k"
        )
    return [*lines, *found.notes]


def noise_report(found: EvalVariance) -> str:
    """The runs' means and spread, with what re-sampling alone explains."""
    means = " / ".join(f"{mean:.3f}" for mean in found.means.values())
    spread = f"run_std {found.run_std:.3f} (df {found.df}, {found.n_tasks} tasks)"
    lines = [f"{found.metric} of {found.n_runs} runs: {means}  {spread}"]
    if found.resampling_std is not None:
        test = "" if found.F is None or found.p is None else f"; F={found.F:.2f}, p={found.p:.2f}"
        lines.append(f"re-sampling alone gives {found.resampling_std:.3f}{test}")
    return "\n  ".join([*lines, found.sentence, *found.notes])


def size_report(found: HoldoutSize) -> str:
    """The number of tasks, and what it rests on."""
    goal = (
        f"{found.effect:+g} at {found.power:.0%} power, alpha {found.alpha:g}, {_count(found.k, 'try', 'tries')} a task"
    )
    if found.n_tasks is None:
        lines = [f"no number of tasks shows {goal}: whole runs shift too much, so re-run both arms more"]
    else:
        lines = [f"{found.n_tasks} tasks show {goal} ({found.n_tasks_t} by the noncentral t)"]
        if (found.n_low, found.n_high) != (found.n_tasks, found.n_tasks):
            lines.append(f"from {found.n_low} to {found.n_high}: {_ends(found)}")
    lines.append(f"task_std {found.task_std:.3f} from {found.source}")
    return "\n  ".join([*lines, *found.notes])


def _ends(found: HoldoutSize) -> str:
    if found.n_concentrated is None:
        return "the 20% and 80% ends of the pilot's variance"
    return "a gain spread evenly over the tasks, or concentrated in a few"


def format_delta_report(result: Comparison) -> str:
    """The report of a comparison: the verdict alone on the first line, then noise, answers and the delta, then
    evidence.
    """
    lines = [result.verdict]
    if result.floor is not None:
        lines.append(f"eval noise: {_floor(result.floor)}")
    answered = result.answered
    lines.append(f"answered: {answered.before:.1%} before, {answered.after:.1%} after")
    target = result.metrics[result.target]
    noise = f"  noise<{result.floor.value:.3f}" if result.floor else ""
    lines.append(_delta_line(target, target.direction if not _under_floor(result) else "no difference") + noise)
    return "\n    ".join(["\n".join(lines), *_evidence(result)])


def _under_floor(result: Comparison) -> bool:
    return result.floor is not None and abs(result.delta) <= result.floor.value


def _floor(floor: Floor) -> str:
    given = (
        f"run_std given from {floor.run_std_runs} re-runs"
        if floor.given
        else f"run_std from {floor.run_std_runs} passes"
    )
    spread = "run_std" if floor.kind == "literal" else f"{floor.spread:.3f}"
    what = f"t(df={floor.df:.0f})={floor.t:.2f} x {spread} x sqrt(1/{floor.n_before} + 1/{floor.n_after}); {given}"
    if floor.kind == "moderated":
        what += f", moderated by re-sampling ({floor.resampling_std or 0:.3f})"
    return f"run_std {floor.run_std:.3f}, a delta under {floor.value:.3f} is noise ({what})"


def _delta_line(d: Delta, word: str) -> str:
    interval = "" if d.lo is None or d.hi is None else f" [{d.lo:+.3f}..{d.hi:+.3f}]"
    clustered = "" if d.unit == "task" else f" in {_count(d.n, d.unit)}"
    moved = f"{d.before:.3f} -> {d.after:.3f}  {d.delta:+.3f}{interval}"
    return f"  {d.metric:<29}{moved}  {word}  ({d.n_tasks} paired{clustered})"


def _evidence(result: Comparison) -> list[str]:
    lines = [*result.evidence, _method(result)]
    if result.floor is not None and result.floor.note:
        lines.append(result.floor.note)
    if result.floor is not None and result.floor.sampling_floor is not None:
        lines.append(
            f"run_std {result.floor.run_std:.3f} is smaller than re-sampling alone makes it"
            f" ({result.floor.resampling_std:.3f}); sampling implies a floor of {result.floor.sampling_floor:.3f}"
        )
    if result.mcnemar:
        m = result.mcnemar
        lines.append(f"McNemar exact: {m['up']:.0f} tasks up, {m['down']:.0f} down, p={_p(m['p'])}")
    lines += _answers(result)
    lines += [_other(result, d) for name, d in result.metrics.items() if name != result.target]
    lines += [f"guard {g.status}: {_row(g.delta)}, margin {g.margin:g}" for g in result.guards]
    lines += [f"{result.sliced_by}={_row(d)}{_holm(d)}" for d in result.slices.values()]
    return [*lines, *(f"warning: {warning}" for warning in result.warnings)]


def _method(result: Comparison) -> str:
    if result.df is None or result.p is None:
        return "no interval: a single unit shows no spread"
    target = result.metrics[result.target]
    return (
        f"paired t interval, {1 - result.alpha:.0%}, {_count(target.n, target.unit)}, df {result.df:.1f},"
        f" p={_p(result.p)}; sign-flip p={_p(result.signflip_p)} ({result.signflip_how})"
    )


def _answers(result: Comparison) -> list[str]:
    answered = result.answered
    if answered.as_zero is None:
        return []
    lines = [f"missing answers as zero: {_numbers(answered.as_zero)}"]
    if answered.worst_case is not None:
        lines.append(f"missing answers at their worst: {_numbers(answered.worst_case)}")
    return lines


def _other(result: Comparison, d: Delta) -> str:
    return f"{_row(d)}{_holm(d)}, k={result.k}"


def _holm(d: Delta) -> str:
    return "" if d.p_holm is None else f"  Holm p={_p(d.p_holm)}"


def _row(d: Delta) -> str:
    return f"{d.metric}  {_numbers(d)}  {d.direction}  ({d.n_tasks} paired)"


def _numbers(d: Delta) -> str:
    interval = "" if d.lo is None or d.hi is None else f" [{d.lo:+.3f}..{d.hi:+.3f}]"
    return f"{d.before:.3f} -> {d.after:.3f}  {d.delta:+.3f}{interval}"


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def replication_report(found: Replication) -> str:
    """The verdict over several training runs, then every run."""
    interval = "" if found.lo is None or found.hi is None else f" [{found.lo:+.3f}..{found.hi:+.3f}]"
    lines = [
        found.verdict,
        f"  {found.metric:<29}{found.delta:+.3f}{interval}  ({_count(found.n_started, 'run')}, {found.n_tasks} tasks)",
    ]
    lines += [f"    {name}: {delta:+.3f}" for name, delta in found.deltas.items()]
    return "\n".join([*lines, *(f"    {line}" for line in found.evidence)])


def monitor_report(found: Monitor) -> str:
    """The running verdict with its evidence value."""
    at = f"decided at task {found.decided_at}"
    where = at if found.decided_at else f"undecided after {_count(found.n_seen, 'task')}"
    evidence = (
        f"evidence for a gain {found.e_value:.2f}, for a loss {found.e_loss:.2f} (decides at {found.threshold:g})"
    )
    return "\n    ".join([f"{found.verdict}\n  {where}: delta {found.delta:+.3f}, {evidence}", *found.notes])
