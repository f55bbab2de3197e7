"""What every command keeps: results on stdout, all else on stderr, one sentence per error, a telling exit code.

0 done, or PASS      2 usage               4 refused input
1 the gate failed    3 no verdict          5 a provider, or training, failed      130 interrupted (resumable)
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass, field
from typing import IO, Annotated, Any

import typer

from whileai.core.errors import UsageError, WhileError
from whileai.core.files import write_jsonl
from whileai.core.progress import set_quiet
from whileai.core.redact import redact
from whileai.core.results import plain

SCHEMA_VERSION = 1
BOTH_WANT_STDOUT = "--json and -o - both want standard output; write the rows to a file"
OK, GATE, NO_VERDICT, INTERRUPTED, CRASHED = 0, 1, 3, 130, 70

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout; everything else goes to stderr.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on stderr.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
_stdout: IO[str] = sys.stdout  # the real one, while a command runs with its prints on stderr
_as_json = False
_SHARED = {"json_": Json, "quiet": Quiet, "debug": Debug}


@dataclass(frozen=True)
class Outcome:
    """What a command found: `text` for people, `payload` for --json, `rows` when -o is "-", and the exit code."""

    text: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    rows: Iterable[Mapping[str, Any]] | None = None
    code: int = OK


def command(example: str) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Make a function a command: shared flags in its help, `example` under it, and nothing it prints on stdout."""

    def decorate(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
        @functools.wraps(function)
        def wrapped(**arguments: Any) -> Outcome:
            # a judge's or an agent's own prints must not mix with rows or JSON
            with redirect_stdout(sys.stderr), warnings.catch_warnings():
                warnings.simplefilter("ignore" if arguments["quiet"] else "always", UserWarning)
                warnings.showwarning = _note
                return function(**{k: v for k, v in arguments.items() if k not in _SHARED})

        own = inspect.signature(function, eval_str=True)
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
            for name, kind in _SHARED.items()
        ]
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own.parameters.values()] + shared
        wrapped.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
        del wrapped.__wrapped__  # inspect would follow it past the signature above
        wrapped.__doc__ = f"{inspect.getdoc(function)}\n\n\b\nExample:\n  {example}"
        return wrapped

    return decorate


def say(line: str) -> None:
    """A line of a long command's ledger, as it happens: on stdout, unless --json wants that for itself."""
    print(line, file=sys.stderr if _as_json else _stdout, flush=True)


def nothing_else_on_stdout() -> AbstractContextManager[Any]:
    """Give the command's own file writing standard output back. Raises UsageError when --json wants it."""
    if _as_json:
        raise UsageError(BOTH_WANT_STDOUT)
    return redirect_stdout(_stdout)


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"note: {message}", file=sys.stderr)


def execute(app: Callable[..., Any], arguments: Sequence[str]) -> int:
    """Run the command line and say how it went; returns the exit code."""
    global _stdout, _as_json
    wants = {flag: flag in arguments for flag in ("--json", "--debug")}
    name = arguments[0] if arguments else ""
    _stdout, _as_json = sys.stdout, wants["--json"]
    set_quiet("--quiet" in arguments or "-q" in arguments)
    try:
        outcome = app(list(arguments) or ["--help"], prog_name="wai", standalone_mode=False)
        if not isinstance(outcome, Outcome):  # help and completion have printed; typer turns Ctrl-C into 130
            code = int(outcome or 0)
            return _interrupted() if code == INTERRUPTED else code
        return _deliver(outcome, name, wants["--json"])
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:  # the reader of our pipe has seen enough
        sys.stdout = sys.stderr
        return OK
    except Exception as error:
        return _failed(error, name, as_json=wants["--json"], debug=wants["--debug"])
    finally:
        set_quiet(False)


def _deliver(outcome: Outcome, name: str, as_json: bool) -> int:
    if outcome.rows is not None:
        if as_json:
            raise UsageError(BOTH_WANT_STDOUT)
        write_jsonl("-", outcome.rows)
        if outcome.text:
            print(outcome.text, file=sys.stderr)
    elif as_json:
        _print_json(name, outcome.code, outcome.payload)
    elif outcome.text:
        print(outcome.text)
    sys.stdout.flush()
    return outcome.code


def _print_json(name: str, code: int, payload: Mapping[str, Any]) -> None:
    head = {"schema_version": SCHEMA_VERSION, "command": name, "exit_code": code}
    print(json.dumps({**head, **plain(payload)}, ensure_ascii=True, allow_nan=False))


def _interrupted() -> int:
    print("interrupted; what was finished is kept, the same command goes on from there", file=sys.stderr)
    return INTERRUPTED


def _failed(error: Exception, name: str, *, as_json: bool, debug: bool) -> int:
    usage = getattr(error, "format_message", None)  # typer's own complaint about the arguments
    message = redact(usage() if usage else _sentence(error))
    code = int(getattr(error, "exit_code", CRASHED))
    if debug:
        traceback.print_exception(error)
    kind = "UsageError" if usage else type(error).__name__
    where = getattr(getattr(error, "ctx", None), "command_path", "wai")
    hint = f" (see: {where} --help)" if usage else ""
    print(f"error: {message}{hint}", file=sys.stderr)
    if as_json:
        _print_json(name, code, {"error": {"kind": kind, "message": message}})
    return code


def _sentence(error: Exception) -> str:
    if isinstance(error, WhileError):
        return str(error)
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'} (--debug shows where)"


def written(rows: Sequence[Mapping[str, Any]], out: str, text: str = "", **payload: Any) -> Outcome:
    """Rows as a command's result: to the file `out`, or on stdout when it is "-" (what is said then goes to stderr)."""
    if out == "-":
        return Outcome(text, payload, rows=rows)
    count = write_jsonl(out, rows)
    said = f"{count} rows written to {out}"
    return Outcome(f"{text}\n{said}" if text else said, {**payload, "n": count, "path": out})
