"""`wai compare`: the paired difference of two arms, and an exit code a build can act on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from whileai.cli.logs import Filter, Scorer, arms, only, read_rows, warn_of_other_asks
from whileai.cli.shell import GATE, NO_VERDICT, OK, Outcome, command
from whileai.cli.userfile import load_callable
from whileai.core.errors import InputError, UsageError

FAIL_ON = ("worse", "no-pass", "never")


@command("wai compare before.jsonl after.jsonl --fail-on no-pass")
def compare(
    before: Annotated[str, typer.Argument(help="Graded rows, a log `wai.read` knows, or a training run's rows.")],
    after: Annotated[str, typer.Argument(help="The other arm; left out, BEFORE holds both arms.")] = "",
    judge: Annotated[str, typer.Option(help="Grade the rows first.", metavar="file.py:name")] = "",
    run_std: Annotated[float | None, typer.Option(help="How far a re-run moves the score by itself.")] = None,
    run_std_runs: Annotated[int | None, typer.Option(help="From how many runs that was measured.")] = None,
    scorer: Scorer = "",
    filter_: Filter = "",
    fail_on: Annotated[str, typer.Option(help="worse, no-pass or never: when to exit 1.")] = "worse",
    strict: Annotated[bool, typer.Option("--strict", help="Exit 3 when there is no verdict.")] = False,
) -> Outcome:
    """Pair the tasks of two arms and say whether the difference is bigger than the noise."""
    from whileai.stats.comparison import compare as stage

    check_gate(fail_on)
    passes = two_arms(before, after, judge, scorer, filter_)
    if len(passes) > 2 and run_std is None:
        from whileai.stats.noise import eval_variance

        run_std, run_std_runs = eval_variance(*passes[:-1]).run_std, len(passes) - 1
    warn_of_other_asks(passes[0], passes[-1])
    found = stage(passes[0], passes[-1], run_std=run_std, run_std_runs=run_std_runs)
    return Outcome(str(found), found.to_dict(), code=exit_code(found.verdict, fail_on, strict))


def two_arms(
    before: str, after: str, judge: str, scorer: str = "", filter_: str = ""
) -> list[Sequence[Mapping[str, Any]]]:
    """The base passes, then the trained arm; from two files, or from one file that holds both."""
    rows = [_graded(read_rows(path, scorer, filter_), judge) for path in (before, after) if path]
    if after:
        return list(rows)
    runs = sorted({row.get("run", 1) for row in rows[0] if row.get("model_version") == "base"})
    base = [[r for r in rows[0] if r.get("model_version") == "base" and r.get("run", 1) == n] for n in runs]
    trained = [r for r in rows[0] if r.get("model_version") == "trained"]
    if base and trained:
        return [*base, trained]
    held = arms(rows[0])
    if len(held) != 2:
        raise InputError(
            f"{before} does not hold rows of both arms (model_version base and trained, or any two), so nothing can"
            " be paired; give the other arm's file too"
        )
    warnings.warn(f"before is {held[0]!r} and after {held[1]!r}, in the order of {before}", stacklevel=1)
    return [only(rows[0], held[0]), only(rows[0], held[1])]


def _graded(rows: Sequence[Mapping[str, Any]], judge: str) -> Sequence[Mapping[str, Any]]:
    if not judge:
        return rows
    from whileai.grading.grade import grade

    return grade(rows, load_callable(judge, "a judge"))


def check_gate(fail_on: str) -> None:
    """Raise UsageError for an unknown gate, before anything is read or run."""
    if fail_on not in FAIL_ON:
        raise UsageError(f"--fail-on is {', '.join(FAIL_ON[:2])} or {FAIL_ON[2]}, not {fail_on!r}")


def exit_code(verdict: str, fail_on: str, strict: bool) -> int:
    """0, 1 when the gate failed, 3 when --strict and there is no verdict."""
    if verdict == "WORSE" and fail_on != "never":
        return GATE
    if verdict.startswith("NO VERDICT"):
        return NO_VERDICT if strict else GATE if fail_on == "no-pass" else OK
    return GATE if fail_on == "no-pass" and verdict != "PASS" else OK
