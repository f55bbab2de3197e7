"""Every error whileai raises on purpose.

WhileError
├── InputError (ValueError)            refused input; nothing was written        exit 4
│   ├── RowError                       one row, by number, with its fault and mend
│   ├── TasksDiffer                    two arms that were not run on the same tasks
│   └── ToolSchemaError (TypeError)    a function that cannot be shown to a model
├── UsageError (ValueError)            a call that makes no sense                exit 2
├── MissingExtra (ImportError)         an optional package is not installed      exit 2
├── ProviderError (RuntimeError)       a model or service did not answer         exit 5
└── TrainingError (RuntimeError)       a training run had to stop                exit 5
"""

from __future__ import annotations


class WhileError(Exception):
    """Base of every error raised on purpose; its text is one sentence for a person."""

    exit_code = 1


class InputError(WhileError, ValueError):
    """Input that was refused; nothing was changed or written."""

    exit_code = 4


class RowError(InputError):
    """One broken row: which, what is wrong with it, and how to mend it.

    `row_number` is 1-based (the line of a JSONL file), or None when the row stands alone.
    """

    def __init__(self, fault: str, *, mend: str = "", row_number: int | None = None, source: str = "") -> None:
        self.fault = fault
        self.mend = mend
        self.row_number = row_number
        where = f"row {row_number}" if row_number is not None else "row"
        text = f"{source + ': ' if source else ''}{where}: {fault}"
        super().__init__(f"{text}; {mend}" if mend else text)


class TasksDiffer(InputError):
    """Two arms were not run on the same tasks, so a paired difference does not exist."""


class ToolSchemaError(InputError, TypeError):
    """A function whose signature cannot be written as a JSON schema."""


class UsageError(WhileError, ValueError):
    """Arguments that contradict each other or name something unknown."""

    exit_code = 2


class MissingExtra(WhileError, ImportError):
    """A package of an optional extra is not installed."""

    exit_code = 2


class ProviderError(WhileError, RuntimeError):
    """A model or a service failed to answer."""

    exit_code = 5


class TrainingError(WhileError, RuntimeError):
    """A training run had to stop; what was saved before is kept."""

    exit_code = 5
