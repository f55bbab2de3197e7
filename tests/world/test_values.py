"""Values look like what they stand for, and are always valid under the schema they were made for."""

from __future__ import annotations

import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai.world.shapes import parameter, shapes
from whileai.world.values import another_id, value
from whileai.world.words import Draw


def made(name, schema, index=0, seed=0, **about):
    return value(parameter(name, schema, True, **about), index, seed)


@pytest.mark.parametrize(
    "name, pattern",
    [
        ("order_id", r"ORD-\d{4}"),
        ("orderId", r"ORD-\d{4}"),
        ("customer_id", r"CUS-\d{4}"),
        ("tracking_number", r"TRK-\d{4}"),
        ("email", r"[a-z]+\.[a-z]+\d*@example\.com"),
        ("date", r"\d{4}-\d{2}-\d{2}"),
        ("phone_number", r"\+44 7700 9\d{5}"),
        ("customer_name", r"[A-Z][a-z]+ [A-Z][a-z]+"),
        ("city", r"[A-Z][a-z]+"),
        ("currency", r"[A-Z]{3}"),
    ],
)
def test_a_string_looks_like_its_name(name, pattern):
    for index in range(50):
        assert re.fullmatch(pattern, made(name, {"type": "string"}, index)), name


def test_the_prefix_of_an_id_comes_from_an_example_in_its_description():
    schema = {"type": "string", "description": "the parcel, such as PX-123456"}
    assert re.fullmatch(r"PX-\d{6}", made("parcel", schema))
    assert re.fullmatch(r"INV-\d{3}", made("id", {"type": "string"}, noun="order", about="e.g. INV-001"))


def test_a_bare_id_takes_its_prefix_from_the_tool():
    assert re.fullmatch(r"TKT-\d{4}", made("id", {"type": "string"}, noun="ticket"))


def test_no_two_situations_share_an_id_even_after_all_short_ones_are_used():
    ids = [made("order_id", {"type": "string"}, i) for i in range(30_000)]
    assert len(set(ids)) == 30_000
    assert {len(i) for i in ids[:9000]} == {8}
    assert {len(i) for i in ids[9000:]} == {9}


def test_amounts_look_like_money():
    amounts = [made("amount", {"type": "number"}, i) for i in range(200)]
    assert all(round(a, 2) == a > 0 for a in amounts)
    assert len(set(amounts)) > 190


SCHEMAS = [
    {"type": "integer"},
    {"type": "integer", "minimum": 100, "maximum": 103},
    {"type": "integer", "exclusiveMinimum": 10, "exclusiveMaximum": 12},
    {"type": "integer", "multipleOf": 5, "minimum": 3},
    {"type": "number", "minimum": 0, "maximum": 1},
    {"type": "number", "maximum": -4},
    {"type": "string", "minLength": 60},
    {"type": "string", "maxLength": 3},
    {"type": "string", "pattern": r"^INV-\d{6}$"},
    {"type": "string", "pattern": r"^(AA|BB)[0-9a-f]{4,6}-?[XYZ]+$"},
    {"type": "string", "format": "uuid"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "enum": ["a", "b"]},
    {"const": 7},
    {"enum": [1, None, "x"]},
    {"type": "boolean"},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2},
    {"type": "array", "items": {"type": "string"}, "maxItems": 1},
    {"type": "array"},
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]},
    {"anyOf": [{"type": "null"}, {"type": "integer"}]},
    {"type": ["null", "string"]},
    {},
]
NAMES = ["order_id", "id", "quantity", "amount", "note", "email", "x", "is_gift", "status", "items", "date", "number"]


@given(st.sampled_from(SCHEMAS), st.sampled_from(NAMES), st.integers(0, 10**6), st.integers(0, 10**9))
def test_every_value_is_valid_under_its_schema_and_depends_on_nothing_but_its_arguments(schema, name, index, seed):
    first = made(name, schema, index, seed)
    jsonschema.validate(first, schema)
    assert first == made(name, schema, index, seed)


def test_references_are_followed():
    definitions = {"Line": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}}
    schema = {"type": "array", "items": {"$ref": "#/$defs/Line"}}
    assert re.fullmatch(r"SKU-\d{4}", made("lines", schema, definitions=definitions)[0]["sku"])


@given(st.sampled_from([*SCHEMAS[:2], {"type": "string"}]), st.integers(0, 10**9))
def test_another_id_is_another(schema, seed):
    wanted = parameter("order_id", schema, True)
    right = value(wanted, 5, 1)
    assert another_id(wanted, right, Draw(seed)) != right


@pytest.mark.parametrize(
    "name, verb, noun, work",
    [
        ("get_order", "get", "order", "read"),
        ("refundOrder", "refund", "order", "update"),
        ("create_support_ticket", "create", "support ticket", "create"),
        ("delete_user", "delete", "user", "delete"),
        ("weather", "", "weather", "read"),
        ("order_lookup", "lookup", "order", "read"),
        ("search", "search", "search", "read"),
        ("get_order_by_id", "get", "order", "read"),
    ],
)
def test_a_name_says_what_the_tool_does(name, verb, noun, work):
    schema = {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    shape = shapes([schema])[name]
    assert (shape.verb, shape.noun, shape.work) == (verb, noun, work)


def test_the_key_is_the_required_id_else_the_first_open_argument():
    def key(required, **properties):
        parameters = {"type": "object", "properties": properties, "required": required}
        shape = shapes([{"function": {"name": "f", "parameters": parameters}}])["f"]
        return shape.key and shape.key.name

    text, flag = {"type": "string"}, {"type": "boolean"}
    assert key(["note", "order_id"], note=text, order_id=text) == "order_id"
    assert key(["note"], note=text, order_id=text) == "note"
    assert key(["urgent"], urgent=flag) is None
    assert key([]) is None


def test_changed_schemas_are_read_again():
    schema = {"function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    other = {"function": {"name": "g", "parameters": {"type": "object", "properties": {}}}}
    assert list(shapes([schema])) == ["f"]
    assert list(shapes([other])) == ["g"]
    assert list(shapes([schema, other])) == ["f", "g"]


def test_a_draw_is_even_and_its_own():
    draw = Draw("a", 1)
    counts = [0] * 10
    for _ in range(10_000):
        counts[draw.below(10)] += 1
    assert all(850 < c < 1150 for c in counts)
    assert [Draw("a", 1).below(1000) for _ in range(3)] == [Draw("a", 1).below(1000)] * 3
    firsts = [Draw(seed).unit() for seed in range(4000)]
    assert abs(sum(firsts) / 4000 - 0.5) < 0.03
    assert sorted(Draw(3).shuffled(range(20))) == list(range(20)) != Draw(3).shuffled(range(20))
