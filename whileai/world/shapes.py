"""What a tool's schema says about its work: reading or writing, about what, and which argument tells things apart."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from whileai.core.files import dumps
from whileai.core.seeds import content_id

READS = frozenset(
    "get fetch find look lookup search check list read show view query track retrieve describe see count compare "
    "calculate compute convert estimate quote verify validate load browse summarize translate ask".split()
)
CREATES = frozenset("create add book make open place new register submit send post schedule reserve insert".split())
DELETES = frozenset("delete remove drop erase purge".split())
CHANGES = frozenset(
    "update cancel refund change set edit modify move assign close reopen approve reject pay charge transfer return "
    "replace rename issue apply start stop pause resume enable disable mark reset renew upgrade downgrade extend "
    "reschedule unsubscribe subscribe archive restore lock unlock block unblock escalate confirm merge tag".split()
)
_IDS = ("id", "number", "no", "code", "ref", "reference", "sku", "uuid", "key", "identifier", "barcode", "num")
_AMOUNTS = frozenset("amount price total cost fee sum budget balance refund salary".split())
_NAMES_OF_KINDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("email", frozenset("email mail recipient sender".split())),
    ("phone", frozenset("phone mobile telephone fax".split())),
    ("datetime", frozenset("timestamp datetime".split())),
    ("date", frozenset("date day deadline since until birthday checkin checkout departure arrival when".split())),
    ("time", frozenset("time hour".split())),
    ("amount", _AMOUNTS),
    ("city", frozenset("city town location place destination origin airport where region".split())),
    ("country", frozenset("country nation".split())),
    ("address", frozenset("address street".split())),
    ("currency", frozenset("currency".split())),
    ("language", frozenset("language lang locale".split())),
    ("url", frozenset("url uri link website".split())),
    ("postcode", frozenset("zip zipcode postcode postal".split())),
    (
        "person",
        frozenset(
            "name first last full customer user username person owner assignee author contact guest member to".split()
        ),
    ),
    ("product", frozenset("product item title subject brand model category topic".split())),
    (
        "text",
        frozenset(
            "query question text message body note notes reason comment description content prompt details".split()
        ),
    ),
)
_FORMATS = {
    "email": "email", "date": "date", "date-time": "datetime", "time": "time", "uuid": "uuid", "uri": "url",
}  # fmt: skip
_ID_EXAMPLE = re.compile(r"\b([A-Z]{2,6})-(\d{1,12})\b")


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool. `kind` says what its values look like: id, email, amount, choice, ..."""

    name: str
    schema: Mapping[str, Any]
    required: bool
    kind: str
    type: str
    prefix: str = ""
    digits: int = 4

    @property
    def words(self) -> str:
        """The name as people say it."""
        return self.name.replace("_", " ").replace("-", " ").strip()

    @property
    def is_id(self) -> bool:
        """Whether the value names one thing and no other."""
        return self.kind in ("id", "uuid", "email")


@dataclass(frozen=True)
class Shape:
    """One tool, understood: its name's `verb` and `noun`, its `work` (read, create, update, delete), its `key`."""

    name: str
    verb: str
    noun: str
    work: str
    parameters: tuple[Parameter, ...]
    key: Parameter | None
    schema: Mapping[str, Any]

    @cached_property
    def thing(self) -> str:
        """What the key names: `order` for order_id, else the tool's own noun."""
        if self.key is None or self.key.kind not in ("id", "uuid"):
            return self.noun
        return _stem(self.key.name) or self.noun

    @cached_property
    def validator(self) -> Any:
        """A compiled validator of the arguments."""
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.schema)

    def fault(self, arguments: Any) -> str | None:
        """What is wrong with the arguments of a call, in one sentence, or None."""
        if not isinstance(arguments, Mapping):
            return f"the arguments are a {type(arguments).__name__}, not an object"
        text = dumps(arguments)  # the tries of one ask make the same call, and validating is slow
        if text not in self._faults:
            if len(self._faults) > 4096:
                self._faults.clear()
            self._faults[text] = self._fault(arguments)
        return self._faults[text]

    @cached_property
    def _faults(self) -> dict[str, str | None]:
        return {}

    def _fault(self, arguments: Mapping[str, Any]) -> str | None:
        worst = next(iter(self.validator.iter_errors(dict(arguments))), None)
        if worst is not None:
            where = ".".join(map(str, worst.absolute_path))
            return f"{where}: {worst.message}" if where else str(worst.message)
        unknown = sorted(set(arguments) - {p.name for p in self.parameters}) if self.closed else []
        return f"unknown argument {unknown[0]!r}" if unknown else None

    @cached_property
    def closed(self) -> bool:
        """Whether arguments beyond the named ones are mistakes, as they are for a function without **kwargs."""
        return not self.schema.get("additionalProperties") and "patternProperties" not in self.schema


_by_identity: OrderedDict[tuple[int, ...], tuple[tuple[Mapping[str, Any], ...], dict[str, Shape]]] = OrderedDict()
_by_content: OrderedDict[str, dict[str, Shape]] = OrderedDict()


def shapes(schemas: Sequence[Mapping[str, Any]]) -> dict[str, Shape]:
    """The shape of each tool by name, from OpenAI schemas; kept, because every rollout asks again."""
    identity = tuple(map(id, schemas))
    held = _by_identity.get(identity)
    if held is None:
        content = content_id(list(schemas))
        found = _by_content.get(content)
        if found is None:
            found = {shape.name: shape for shape in map(_shape, schemas)}
            _keep(_by_content, content, found)
        held = (tuple(schemas), found)  # holding the schemas keeps their identities from being used again
        _keep(_by_identity, identity, held)
    return held[1]


def _keep(store: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    store[key] = value
    if len(store) > 256:
        store.popitem(last=False)


def _shape(schema: Mapping[str, Any]) -> Shape:
    inner = schema.get("function", schema)
    name = str(inner["name"])
    parameters = inner.get("parameters") or {"type": "object", "properties": {}}
    verb, noun = _verb_and_noun(name)
    about = str(inner.get("description") or "")
    required = parameters.get("required") or []
    read = tuple(
        parameter(key, value, key in required, noun, about, parameters.get("$defs"))
        for key, value in (parameters.get("properties") or {}).items()
    )
    return Shape(name, verb, noun, _work(verb), read, _key(read), parameters)


def _verb_and_noun(name: str) -> tuple[str, str]:
    words = [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)] or [name.lower()]
    verbs = READS | CREATES | DELETES | CHANGES
    if words[0] not in verbs:
        if words[-1] in verbs and len(words) > 1 and words[-1] not in ("count", "return", "quote", "issue"):
            return words[-1], " ".join(words[:-1])
        return "", " ".join(words)
    rest = words[1:]
    if rest and rest[0] in ("up", "for", "the", "a"):
        rest = rest[1:]
    return words[0], " ".join(w for w in rest if w not in ("by", "id")) or words[0]


def _work(verb: str) -> str:
    for work, verbs in (("create", CREATES), ("delete", DELETES), ("update", CHANGES)):
        if verb in verbs:
            return work
    return "read"


def _key(parameters: Sequence[Parameter]) -> Parameter | None:
    """The argument without which nobody knows what is meant: the first required id, else the first open one."""
    open_ones = [p for p in parameters if p.required and p.kind not in ("choice", "boolean", "object", "list", "any")]
    return next((p for p in open_ones if p.is_id), open_ones[0] if open_ones else None)


def _stem(name: str) -> str:
    """`order` of order_id, "" of id."""
    words = [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    while words and words[-1] in _IDS:
        words.pop()
    return " ".join(words)


def parameter(
    name: str,
    schema: Mapping[str, Any],
    required: bool,
    noun: str = "",
    about: str = "",
    definitions: Mapping[str, Any] | None = None,
) -> Parameter:
    """What the values of one property look like, from its schema, its name and its description."""
    plain = _resolved(schema, definitions or {})
    kind, type_ = _kind(name, plain)
    prefix, digits = "", 4
    if kind == "id":
        text = " ".join([str(plain.get("description") or ""), str(plain.get("examples") or ""), about])
        example = _ID_EXAMPLE.search(text)
        prefix = example[1] if example else _prefix(_stem(name) or ("sku" if "sku" in name.lower() else noun))
        digits = len(example[2]) if example else 4
    return Parameter(name, plain, required, kind, type_, prefix, max(digits, 3))


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """One plain schema: references followed, the first alternative that is not null taken."""
    for _ in range(8):
        if "$ref" in schema:
            inner = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
        elif "anyOf" in schema or "oneOf" in schema or "allOf" in schema:
            options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or [{}]
            inner = next((o for o in options if o.get("type") != "null"), options[0])
        else:
            break
        outer = {k: v for k, v in schema.items() if k not in ("$ref", "anyOf", "oneOf", "allOf", "default")}
        schema = {**inner, **outer}
    return {**schema, "$defs": definitions} if definitions and schema.get("type") in ("object", "array") else schema


def _kind(name: str, schema: Mapping[str, Any]) -> tuple[str, str]:
    type_ = schema.get("type")
    if isinstance(type_, list):
        type_ = next((t for t in type_ if t != "null"), "string")
    if "enum" in schema or "const" in schema:
        return "choice", str(type_ or "string")
    words = [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    if type_ in ("boolean", "object"):
        return str(type_), str(type_)
    if type_ == "array":
        return "list", "array"
    if type_ in ("integer", "number"):
        return _number_kind(words, str(type_)), str(type_)
    if type_ == "string":
        return _string_kind(words, schema), "string"
    return "any", "any"


def _number_kind(words: Sequence[str], type_: str) -> str:
    if words and words[-1] in ("id", "number", "no", "code"):
        return "id"
    if any(w in _AMOUNTS for w in words):
        return "amount"
    return type_


def _string_kind(words: Sequence[str], schema: Mapping[str, Any]) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if "pattern" in schema:
        return "pattern"
    if words[-1:] == ["name"] and len(words) > 1:
        words = words[:-1]  # product_name is a product, city_name a city
    for word in reversed(words):
        if word in _IDS:
            return "phone" if "phone" in words else "id"
        for kind, names in _NAMES_OF_KINDS:
            if word in names:
                return kind
    return "id" if _ID_EXAMPLE.search(str(schema.get("description") or "")) else "words"


def _prefix(stem: str) -> str:
    known = (
        "order ORD customer CUS invoice INV ticket TKT booking BKG account ACC user USR product PRD payment PAY "
        "shipment SHP tracking TRK transaction TXN reservation RES flight FLT appointment APT subscription SUB "
        "employee EMP claim CLM policy POL refund RFD case CAS contract CTR document DOC project PRJ task TSK"
    ).split()
    word = stem.rsplit(maxsplit=1)[-1] if stem else "ref"
    letters = re.sub(r"[^A-Z]", "", word.upper())
    short = letters + "REF"[: 3 - len(letters)] if len(letters) < 3 else letters[:3]
    return dict(zip(known[::2], known[1::2], strict=True)).get(word, short)
