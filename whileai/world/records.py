"""The one record a situation is about, as its tools see it: ids that agree, a state, amounts and dates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from whileai.core.seeds import integer
from whileai.world import words
from whileai.world.shapes import Parameter, Shape
from whileai.world.values import value
from whileai.world.words import Draw

_DONE = {"create": "created", "update": "updated", "delete": "deleted"}
_AFTER = {
    "cancel": "cancelled", "refund": "refunded", "close": "closed", "reopen": "open", "approve": "approved",
    "reject": "rejected", "pay": "paid", "charge": "charged", "return": "returned", "archive": "archived",
    "pause": "paused", "resume": "active", "lock": "locked", "unlock": "unlocked", "reschedule": "rescheduled",
    "renew": "renewed", "escalate": "escalated", "assign": "assigned", "transfer": "transferred",
}  # fmt: skip
_RESERVED = ("status", "error", "message", "state")


class Record:
    """State of one situation, the same in every tool that looks at it."""

    def __init__(self, situation: Mapping[str, Any], tools: Mapping[str, Shape]) -> None:
        self._given: Mapping[str, Any] = situation.get("values") or {}
        self._salt = integer(situation)
        self._tools = tools
        self._ids = self._known_ids()
        self._fields: dict[str, Any] = {"state": situation.get("state") or "active"}
        self._draw = Draw(self._salt)
        self.seconds = 5 * (1 + self._draw.below(12))
        self._day = date(2025, 3, 3) + timedelta(days=self._draw.below(300))

    def _known_ids(self) -> dict[str, Any]:
        """Every id that a tool may ask for, by argument name: the situation's own, and made ones that go with it."""
        known = {k: v for k, v in self._given.items() if isinstance(v, (str, int)) and not isinstance(v, bool)}
        for shape in self._tools.values():
            for parameter in shape.parameters:
                if parameter.is_id and parameter.name not in known:
                    known[parameter.name] = value(parameter, self._salt % 9000, self._salt)
        return known

    def stranger(self, shape: Shape, arguments: Mapping[str, Any]) -> tuple[str, Any] | None:
        """The first id among the arguments that is not the situation's, or None."""
        for parameter in shape.parameters:
            given = arguments.get(parameter.name)
            if parameter.is_id and given is not None and not _same(given, self._ids[parameter.name]):
                return parameter.name, given
        return None

    def named(self, shape: Shape, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The key argument, as answers repeat it."""
        key = shape.key.name if shape.key else ""
        return {key: arguments[key]} if key in arguments and key not in _RESERVED else {}

    def answer(self, shape: Shape, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A healthy answer: the record for a read, what was done for a write (which the record keeps)."""
        if shape.work == "read":
            return {"status": "ok", **self.named(shape, arguments), **self._details(shape)}
        kept = {k: v for k, v in arguments.items() if k not in _RESERVED}
        if shape.work == "delete":
            self._fields["state"] = "deleted"
        elif shape.work == "update":
            self._fields.update({k: v for k, v in kept.items() if not self._is_key(k)})
            asked = arguments.get("state", arguments.get("status"))
            self._fields["state"] = _AFTER.get(shape.verb) or asked or self._fields["state"]
        return {"status": _DONE[shape.work], **kept, "state": self._fields["state"]}

    def partial(self, shape: Shape, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Part of the record, and the names of what is missing; a write did not take place."""
        if shape.work != "read":
            return {"status": "partial", **self.named(shape, arguments), "applied": [], "pending": [shape.verb]}
        whole = self._details(shape)
        missing = [name for name in whole if name != "state"]
        return {"status": "partial", **self.named(shape, arguments), "state": whole["state"], "missing": missing}

    def stale(self, shape: Shape, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The record as it was some days ago; a write is refused because of it."""
        as_of = (self._day - timedelta(days=3 + self.seconds // 5)).isoformat()
        if shape.work != "read":
            return {"status": "stale", **self.named(shape, arguments), "message": "the record changed", "as_of": as_of}
        return {"status": "stale", **self.named(shape, arguments), "state": self._fields["state"], "as_of": as_of}

    def _details(self, shape: Shape) -> dict[str, Any]:
        """The fields of a read, shaped by what the tools' own arguments say such a record has."""
        key = shape.key.name if shape.key else ""
        fields = {"state": self._fields["state"], "updated": self._day.isoformat()}
        for parameter in self._related():
            if parameter.name != key and parameter.name not in _RESERVED:
                fields[parameter.name] = self._field(parameter)
        if shape.thing == "order":
            fields.setdefault("item", words.PRODUCTS[self._salt % len(words.PRODUCTS)])
        return {**fields, **{k: v for k, v in self._fields.items() if k in fields}}

    def _related(self) -> list[Parameter]:
        """Ids, people and amounts that the tools name; never the free text of a request."""
        kinds = ("id", "email", "person", "amount", "date", "address")
        return [p for shape in self._tools.values() for p in shape.parameters if p.kind in kinds]

    def _field(self, parameter: Parameter) -> Any:
        if parameter.name in self._ids and parameter.is_id:
            return self._ids[parameter.name]
        return value(parameter, self._salt % 9000, self._salt)

    def _is_key(self, name: str) -> bool:
        return any(p.name == name and p.is_id for shape in self._tools.values() for p in shape.parameters)


def _same(given: Any, known: Any) -> bool:
    return bool(given == known) or str(given).strip().casefold() == str(known).casefold()
