"""Names of the user's own things on the command line: `agent.py:agent`, `judge.py:judge`, `tools.py`, `seeded:0.3`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from whileai.core.errors import InputError, UsageError


def load_module(source: str) -> ModuleType:
    """Import a `.py` file (its folder is put on sys.path, as `python file.py` does) or a dotted module.

    Raises UsageError when there is no such thing, InputError when its own code fails.
    """
    if source.endswith(".py") and not Path(source).is_file():
        raise UsageError(f"{source}: no such file")
    try:
        return _run_file(Path(source).resolve()) if source.endswith(".py") else _import_dotted(source)
    except ModuleNotFoundError as error:
        raise UsageError(f"{source}: {error}") from error
    except Exception as error:
        raise InputError(f"{source} failed while it was imported: {type(error).__name__}: {error}") from error


def _import_dotted(source: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    return importlib.import_module(source)


def _run_file(path: Path) -> ModuleType:
    """Import a file under its own name, once, so that files which import each other share it."""
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # a .py file always has a spec
    if known is None:  # a file called json.py must not take the place of json
        sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)  # type: ignore[union-attr]
    except BaseException:
        if known is None:
            del sys.modules[path.stem]
        raise
    return module


def load_name(spec: str, what: str) -> Any:
    """The object behind `file.py:name` or `module:name`. Raises UsageError naming what the file does hold."""
    source, colon, name = spec.rpartition(":")
    if not colon or not source or not name:
        raise UsageError(f"{what} is written file.py:name (or module:name), not {spec!r}")
    module = load_module(source)
    if not hasattr(module, name):
        public = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise UsageError(f"{source} has no {name!r}; it has {', '.join(public) or 'nothing callable'}")
    return getattr(module, name)


def load_callable(spec: str, what: str) -> Callable[..., Any]:
    """Like load_name, for a judge or an agent. Raises UsageError when it cannot be called."""
    found = load_name(spec, what)
    if not callable(found):
        raise UsageError(f"{what} {spec} is a {type(found).__name__}, which cannot be called")
    return found  # type: ignore[no-any-return]


def load_tools(spec: str) -> list[Any]:
    """The tools of `file.py` (everything decorated with `@wai.tool`) or `file.py:name,other`."""
    source, _, names = spec.partition(".py:") if ".py:" in spec else (spec, "", "")
    if names:
        return [load_name(f"{source}.py:{name.strip()}", "a tool") for name in names.split(",")]
    module = load_module(spec)
    found = [value for value in vars(module).values() if isinstance(getattr(value, "schema", None), dict)]
    if not found:
        raise UsageError(f"{spec} has no tool; put @wai.tool above the functions your agent may call")
    return found


def load_agent(spec: str, tools: list[Any]) -> Any:
    """`seeded` or `seeded:RATE` is the built-in agent with planted mistakes; anything else is the user's."""
    kind, _, rate = spec.partition(":")
    if kind != "seeded":
        return load_callable(spec, "an agent")
    try:
        share = {"rate": float(rate)} if rate else {}
    except ValueError as error:
        raise UsageError(f"--agent {spec}: the part after seeded: is a rate between 0 and 1, such as 0.3") from error
    from whileai.agents.seeded import seeded_agent

    return seeded_agent(tools, **share)
