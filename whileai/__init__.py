"""Find what a tool-using agent gets wrong, train a small model on it, and prove that the held-out score moved.

Every name below is imported at first use, so `import whileai` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whileai import simulations as simulations
    from whileai.agents.seeded import seeded_agent as seeded_agent
    from whileai.core import errors as errors
    from whileai.data import Data as Data
    from whileai.data import decontaminate as decontaminate
    from whileai.data import grade as grade
    from whileai.data import load as load
    from whileai.data import select as select
    from whileai.interchange.reading import read as read
    from whileai.selection.export import export as export
    from whileai.selection.split import lock as lock
    from whileai.selection.split import split as split
    from whileai.simulations import simulate as simulate
    from whileai.stats.comparison import compare as compare
    from whileai.stats.monitor import monitor as monitor
    from whileai.stats.noise import eval_variance as eval_variance
    from whileai.stats.passat import pass_at as pass_at
    from whileai.stats.power import holdout_size as holdout_size
    from whileai.stats.replication import replicate as replicate
    from whileai.stats.text import format_delta_report as format_delta_report
    from whileai.training.config import SFT as SFT
    from whileai.training.evaluation import evaluate as evaluate
    from whileai.training.job import train as train
    from whileai.trust import judge_trust as judge_trust
    from whileai.world.tools import tool as tool

__version__ = "0.1.0"

_HOME = {
    "SFT": "training.config",
    "Data": "data",
    "compare": "stats.comparison",
    "decontaminate": "data",
    "errors": "core",
    "eval_variance": "stats.noise",
    "evaluate": "training.evaluation",
    "export": "selection.export",
    "format_delta_report": "stats.text",
    "grade": "data",
    "holdout_size": "stats.power",
    "judge_trust": "trust",
    "load": "data",
    "lock": "selection.split",
    "monitor": "stats.monitor",
    "pass_at": "stats.passat",
    "read": "interchange.reading",
    "replicate": "stats.replication",
    "seeded_agent": "agents.seeded",
    "select": "data",
    "simulate": "simulations",
    "simulations": "",
    "split": "selection.split",
    "tool": "world.tools",
    "train": "training.job",
}

__all__ = [
    "SFT",
    "Data",
    "__version__",
    "compare",
    "decontaminate",
    "errors",
    "eval_variance",
    "evaluate",
    "export",
    "format_delta_report",
    "grade",
    "holdout_size",
    "judge_trust",
    "load",
    "lock",
    "monitor",
    "pass_at",
    "read",
    "replicate",
    "seeded_agent",
    "select",
    "simulate",
    "simulations",
    "split",
    "tool",
    "train",
]


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it, once."""
    if name not in _HOME:
        raise AttributeError(f"module 'whileai' has no attribute {name!r}; it has {', '.join(__all__)}")
    home = _HOME[name]
    if home in ("", "core"):
        value: Any = import_module(f"whileai.{home}.{name}" if home else f"whileai.{name}")
    else:
        value = getattr(import_module(f"whileai.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
