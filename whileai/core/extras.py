"""Heavy packages are imported at the moment of use; a missing one says which extra brings it."""

from __future__ import annotations

import importlib
from typing import Any

from whileai.core.errors import MissingExtra


def need(module: str, extra: str) -> Any:
    """Import `module`, or raise MissingExtra with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != top:
            raise
        raise MissingExtra(f"this needs the package {top}: pip install 'whileai[{extra}]'") from error
