"""Argument values that look real: `ORD-9237` for order_id, an amount for a price, a member for a Literal.

Ids follow a permutation of the numbers, so no two situations of a run share one.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
import uuid
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from whileai.core.seeds import integer
from whileai.world import words
from whileai.world.shapes import Parameter, parameter
from whileai.world.words import Draw

_FRESH = frozenset("id uuid email phone text person address amount number date datetime".split())

_POOLS = {"city": words.CITIES, "country": words.COUNTRIES, "currency": words.CURRENCIES, "language": words.LANGUAGES}


def is_fresh(wanted: Parameter) -> bool:
    """Whether new values can be had for thousands of situations."""
    return wanted.kind in _FRESH


def value(wanted: Parameter, index: int, seed: int) -> Any:
    """The value of one argument in the situation numbered `index`; valid under the parameter's schema."""
    if wanted.kind == "id":
        return _id(wanted, index, seed)
    draw = Draw(seed, index, wanted.name)
    if wanted.type == "string" and wanted.kind != "choice":
        return _fitting(_text(wanted, draw, index), wanted.schema)
    if wanted.type in ("integer", "number") and wanted.kind != "choice":
        return _number(wanted, draw)
    if wanted.kind == "choice":
        return wanted.schema["const"] if "const" in wanted.schema else draw.pick(wanted.schema["enum"])
    if wanted.kind == "boolean":
        return draw.chance(2)
    if wanted.kind == "list":
        return _list(wanted, index, seed, draw)
    return _object(wanted, index, seed) if wanted.kind == "object" else draw.pick(words.PRODUCTS)


def another_id(wanted: Parameter, right: Any, draw: Draw) -> Any:
    """A value of the same look that is not `right`."""
    number = 10 ** (wanted.digits - 1) + draw.below(9 * 10 ** (wanted.digits - 1))
    if wanted.type == "integer":
        return number if number != right else number + 1
    if wanted.kind == "id" and not {"pattern", "maxLength", "format"} & set(wanted.schema):
        made = f"{wanted.prefix}-{number}"
        return made if made != right else f"{made}0"
    for _ in range(20):
        made = value(wanted, draw.below(1 << 30), draw.below(1 << 30))
        if made != right:
            return made
    return made


def _id(wanted: Parameter, index: int, seed: int) -> Any:
    number = _permuted(index, integer(seed, wanted.name), wanted.digits)
    if wanted.type in ("integer", "number"):
        return _clipped(number, wanted.schema)
    return _fitting(f"{wanted.prefix}-{number}", wanted.schema)


def _permuted(index: int, salt: int, digits: int) -> int:
    """The index-th number of that many digits in a shuffled order; once all are used, of one digit more."""
    first: int = 10 ** (digits - 1)
    span: int = 9 * first
    if index >= span:
        return _permuted(index - span, salt, digits + 1)
    step = int(span * 0.6180339887) | 1
    while math.gcd(step, span) != 1:
        step += 2
    return first + (index * step + salt) % span


def _text(wanted: Parameter, draw: Draw, index: int) -> str:
    kind = wanted.kind
    first, last = draw.pick(words.FIRST_NAMES), draw.pick(words.LAST_NAMES)
    product = draw.pick(words.PRODUCTS)
    if kind in ("date", "datetime", "time"):
        return _moment(kind, draw)
    if kind == "pattern":
        return _matching(str(wanted.schema["pattern"]), draw)
    if kind in _POOLS:
        return draw.pick(_POOLS[kind])
    made = {
        "person": first if "first" in wanted.name else f"{first} {last}",
        "email": f"{first}.{last}{index or ''}@example.com".lower(),
        "phone": f"+44 7700 9{draw.below(10**5):05d}",
        "uuid": str(uuid.UUID(int=(draw.below(1 << 62) << 64) | draw.below(1 << 62), version=4)),
        "address": f"{1 + draw.below(240)} {draw.pick(words.STREETS)}",
        "url": f"https://example.com/{product.replace(' ', '-')}",
        "postcode": str(10000 + draw.below(89999)),
        "text": f"the {product} {draw.pick(words.PROBLEMS)}",
    }
    return made.get(kind, product)


def _moment(kind: str, draw: Draw) -> str:
    day = date(2025, 1, 6) + timedelta(days=draw.below(500))
    clock = f"{7 + draw.below(13):02d}:{5 * draw.below(12):02d}"
    if kind == "date":
        return day.isoformat()
    return f"{clock}:00Z" if kind == "time" else f"{day.isoformat()}T{clock}:00Z"


def _number(wanted: Parameter, draw: Draw) -> Any:
    if wanted.kind == "amount":
        raw: float = 5 + draw.below(400) if wanted.type == "integer" else (500 + draw.below(40000)) / 100
    elif wanted.type == "integer":
        raw = 2 + draw.below(8)
    else:
        raw = (10 + draw.below(900)) / 10
    return _clipped(raw, wanted.schema)


def _clipped(number: float, schema: Mapping[str, Any]) -> Any:
    low, high = schema.get("minimum"), schema.get("maximum")
    whole = schema.get("type") == "integer"
    unit = 1 if whole else 0.5
    if schema.get("exclusiveMinimum") is not None:
        low = max(schema["exclusiveMinimum"] + unit, low if low is not None else -math.inf)
    if schema.get("exclusiveMaximum") is not None:
        high = min(schema["exclusiveMaximum"] - unit, high if high is not None else math.inf)
    if low is not None and high is not None and not low <= number <= high:
        number = low + (number * 0.6180339887 % 1) * (high - low)
        number = math.floor(number) if whole else round(number, 2)
    elif low is not None and number < low:
        number = low + number
    elif high is not None and number > high:
        number = high
    step = schema.get("multipleOf")
    if step and number % step:
        number = math.ceil((low if low is not None else number) / step) * step
    return int(number) if whole else number


def _fitting(text: str, schema: Mapping[str, Any]) -> str:
    text = text[: int(schema.get("maxLength", 200))]
    if "pattern" in schema and not re.search(schema["pattern"], text):
        text = _matching(str(schema["pattern"]), Draw(text))
    return text + "x" * (int(schema.get("minLength", 0)) - len(text))


def _list(wanted: Parameter, index: int, seed: int, draw: Draw) -> list[Any]:
    item = parameter(
        _singular(wanted.name), wanted.schema.get("items") or {"type": "string"}, True, definitions=_defs(wanted)
    )
    count = max(wanted.schema.get("minItems", 1), min(1 + draw.below(3), wanted.schema.get("maxItems", 3)))
    found: list[Any] = []
    for position in range(count * 8):
        made = value(item, index * 8 + position, seed)
        if len(found) < count and made not in found:
            found.append(made)
    return found


def _object(wanted: Parameter, index: int, seed: int) -> dict[str, Any]:
    required = wanted.schema.get("required") or []
    properties: Mapping[str, Any] = wanted.schema.get("properties") or {}
    if not properties and isinstance(wanted.schema.get("additionalProperties"), Mapping):
        properties = {"note": wanted.schema["additionalProperties"]}
    return {
        name: value(parameter(name, schema, True, definitions=_defs(wanted)), index, seed)
        for name, schema in properties.items()
        if name in required or not required
    }


def _defs(wanted: Parameter) -> Mapping[str, Any]:
    found: Mapping[str, Any] = wanted.schema.get("$defs") or {}
    return found


def _singular(name: str) -> str:
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _matching(pattern: str, draw: Draw) -> str:
    """A text that matches a regular expression, by Python's own parse of it."""
    parser = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    return "".join(_node(str(op), argument, draw) for op, argument in parser.parse(pattern))


def _node(op: str, argument: Any, draw: Draw) -> str:
    if op == "LITERAL":
        return chr(argument)
    if op == "IN":
        return _node(*_named(draw.pick(argument)), draw)
    if op == "RANGE":
        return chr(argument[0] + draw.below(argument[1] - argument[0] + 1))
    if op == "CATEGORY":
        return str(draw.below(10)) if "NOT" not in str(argument) and "SPACE" not in str(argument) else " "
    if op in ("MAX_REPEAT", "MIN_REPEAT"):
        low, high, inner = argument
        times = low or min(1, int(high))
        return "".join(_node(*_named(part), draw) for _ in range(times) for part in inner)
    if op == "SUBPATTERN":
        return "".join(_node(*_named(part), draw) for part in argument[3])
    if op == "BRANCH":
        return "".join(_node(*_named(part), draw) for part in draw.pick(argument[1]))
    return "x" if op in ("ANY", "NOT_LITERAL") else ""


def _named(part: Any) -> tuple[str, Any]:
    return str(part[0]), part[1]
