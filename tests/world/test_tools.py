"""A function becomes a tool that a model can be shown, or is refused with the reason."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import jsonschema
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict

from whileai.core.errors import InputError, ToolSchemaError, UsageError
from whileai.world.tools import Tool, as_tools, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(pydantic.BaseModel):
    street: str
    title: str = "home"


class Node(pydantic.BaseModel):
    label: str
    children: list[Node] = []
    address: Address | None = None


@dataclass
class Line:
    sku: str
    count: int


class Options(TypedDict):
    urgent: bool


def get_order(order_id: str) -> dict:
    """Look up an order by id."""
    return {"order_id": order_id}


def test_the_simplest_tool_has_the_schema_of_openai():
    made = tool(get_order)
    assert made.schema == {
        "type": "function",
        "function": {
            "name": "get_order",
            "description": "Look up an order by id.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}},
                "required": ["order_id"],
            },
        },
    }
    assert (made.name, made.description) == ("get_order", "Look up an order by id.")
    assert made.parameters is made.schema["function"]["parameters"]


def test_a_tool_still_runs_and_keeps_its_signature():
    made = tool(get_order)
    assert made("ORD-1") == {"order_id": "ORD-1"}
    assert inspect.signature(made) == inspect.signature(get_order)
    assert made.__doc__ == get_order.__doc__
    assert tool(made) is made


def properties(fn: Callable[..., Any]) -> dict[str, Any]:
    return tool(fn).parameters["properties"]


def test_every_kind_of_annotation_becomes_its_schema():
    def f(
        a: int,
        b: float,
        c: bool,
        d: list[str],
        e: dict[str, int],
        f: Optional[int],  # noqa: UP045
        g: Literal["x", "y"],
        h: Colour,
        i: Line,
        j: Options,
        k: Address,
        m: Any,
    ) -> None: ...

    found = properties(f)
    assert found["a"] == {"type": "integer"}
    assert found["b"] == {"type": "number"}
    assert found["c"] == {"type": "boolean"}
    assert found["d"] == {"type": "array", "items": {"type": "string"}}
    assert found["e"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert found["f"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert found["g"] == {"type": "string", "enum": ["x", "y"]}
    assert found["h"]["enum"] == ["red", "blue"]
    assert set(found["i"]["properties"]) == {"sku", "count"}
    assert found["j"]["properties"] == {"urgent": {"type": "boolean"}}
    assert found["k"]["properties"]["street"] == {"type": "string"}
    assert found["m"] == {}


def test_a_parameter_with_a_default_is_optional_and_shows_it():
    def f(a: int, b: int = 3, c: Colour = Colour.RED, d: Optional[str] = None) -> None: ...  # noqa: UP045

    made = tool(f)
    assert made.parameters["required"] == ["a"]
    shown = {name: schema.get("default", "none") for name, schema in made.parameters["properties"].items()}
    assert shown == {"a": "none", "b": 3, "c": "red", "d": None}


def test_a_default_that_json_cannot_carry_is_left_out():
    def f(a: Any = object()) -> None: ...  # noqa: B008

    assert tool(f).parameters == {"type": "object", "properties": {"a": {}}, "required": []}


def google(order_id: str, note: str) -> None:
    """Do it.

    Args:
        order_id: which order,
            such as ORD-1
        note: what to write
    """


def numpy(order_id: str, note: str) -> None:
    """Do it.

    Parameters
    ----------
    order_id : str
        which order, such as ORD-1
    note : str
        what to write
    """


def sphinx(order_id: str, note: str) -> None:
    """Do it.

    :param order_id: which order, such as ORD-1
    :param note: what to write
    """


@pytest.mark.parametrize("fn", [google, numpy, sphinx])
def test_descriptions_come_from_any_docstring_style(fn):
    made = tool(fn)
    assert made.description == "Do it."
    assert made.parameters["properties"]["order_id"]["description"] == "which order, such as ORD-1"
    assert made.parameters["properties"]["note"]["description"] == "what to write"


def test_annotated_describes_and_constrains():
    def f(
        a: Annotated[str, "in words"],
        b: Annotated[int, pydantic.Field(ge=1, description="how many")],
    ) -> None: ...

    assert properties(f) == {
        "a": {"type": "string", "description": "in words"},
        "b": {"type": "integer", "minimum": 1, "description": "how many"},
    }


def test_nested_models_stand_where_they_are_used_and_a_field_called_title_survives():
    def f(a: Address, b: list[Address]) -> None: ...

    text = str(tool(f).parameters)
    assert "$ref" not in text
    assert "$defs" not in text
    assert text.count("'title'") == 2


def test_a_recursive_model_keeps_its_reference_and_validates():
    def f(node: Node) -> None: ...

    schema = tool(f).parameters
    good = {"node": {"label": "a", "children": [{"label": "b", "address": {"street": "c"}}]}}
    jsonschema.validate(good, schema)
    bad = {"node": {"label": "a", "children": [{"address": {}}]}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, schema)


def test_a_parameter_named_like_a_pydantic_method_is_fine(recwarn):
    def f(schema: str, json: int, copy: bool, model_config: str, _hidden: str) -> None: ...

    assert list(properties(f)) == ["schema", "json", "copy", "model_config", "_hidden"]
    assert not recwarn


def no_annotation(x): ...


def star(*xs: int): ...


def double_star(**xs: int): ...


def positional(x: int, /): ...


def callback(x: Callable[[int], int]): ...


def a_class(x: ToolSchemaError): ...


def unknown(x: Nowhere): ...  # noqa: F821


@pytest.mark.parametrize(
    "fn, says",
    [
        (no_annotation, "parameter x has no annotation"),
        (star, "xs"),
        (double_star, "xs"),
        (positional, "parameter x"),
        (callback, "parameter x is a Callable, which has no JSON schema"),
        (a_class, "parameter x is a ToolSchemaError, which has no JSON schema"),
        (unknown, "Nowhere"),
        (lambda: None, "cannot be a tool's name"),
        (Address, "not a function"),
        (3, "not a function"),
    ],
)
def test_what_cannot_be_a_schema_is_refused_by_name(fn, says):
    with pytest.raises(ToolSchemaError, match=says) as caught:
        tool(fn)
    assert isinstance(caught.value, (InputError, TypeError))
    assert "\n" not in str(caught.value)


def test_as_tools_takes_tools_functions_schemas_and_lookalikes():
    class Lookalike:
        schema = {"type": "function", "function": {"name": "like", "parameters": {"type": "object", "properties": {}}}}

    flat = {"name": "flat", "description": "d", "parameters": {"type": "object", "properties": {"a": {}}}}
    wire = {"type": "function", "function": {"name": "wire"}}
    made = as_tools([tool(get_order), google, flat, wire, Lookalike()])
    assert [t.name for t in made] == ["get_order", "google", "flat", "wire", "like"]
    assert all(isinstance(t, Tool) for t in made)
    assert made[3].parameters == {"type": "object", "properties": {}}
    with pytest.raises(UsageError, match="only a schema"):
        made[2]()


def test_a_schema_survives_the_round_trip():
    assert as_tools([tool(google).schema])[0].schema == tool(google).schema


@pytest.mark.parametrize("given_tools", [get_order, "get_order", {"name": "x"}, 3])
def test_tools_must_be_a_list(given_tools):
    with pytest.raises(ToolSchemaError, match="must be a list"):
        as_tools(given_tools)


@pytest.mark.parametrize("item", [3, "text", {"no": "name"}, {"name": "x", "parameters": {"type": "array"}}])
def test_what_is_no_tool_is_refused(item):
    with pytest.raises(ToolSchemaError):
        as_tools([item])


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ToolSchemaError, match="two tools are called get_order"):
        as_tools([get_order, tool(get_order)])


@given(st.from_type(type(None)) | st.text() | st.integers() | st.lists(st.integers()))
def test_anything_as_a_name_either_fits_or_is_refused(name):
    try:
        assert Tool(name, "", {"type": "object"}).name == name
    except ToolSchemaError as error:
        assert "name" in str(error)  # noqa: PT017
