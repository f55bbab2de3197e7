"""Results are frozen, print as a report, and read like a dict."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class Result(Mapping[str, Any]):
    """Base of frozen dataclass results: `result["run_std"]` and `result.run_std` are the same value."""

    def __getitem__(self, key: str) -> Any:
        if key in self._names():
            return getattr(self, key)
        raise KeyError(f"{type(self).__name__} has no {key!r}; it has {', '.join(self._names())}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __bool__(self) -> bool:
        return True

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in dataclasses.fields(cls) if field.repr)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready values; NaN and infinities become None."""
        return {name: plain(getattr(self, name)) for name in self._names()}

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def plain(value: Any) -> Any:
    """`value` as JSON-ready Python: results and dataclasses to dicts, NumPy scalars and arrays to Python."""
    if isinstance(value, Result):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (str, bytes)) or value is None or isinstance(value, (bool, int)):
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "tolist"):  # a NumPy scalar or array
        return plain(value.tolist())
    if isinstance(value, (Sequence, set, frozenset)):
        return [plain(item) for item in value]
    return str(value)
