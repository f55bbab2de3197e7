"""A tool is a function a model may call: its name, what it is for, and a JSON schema of its arguments.

The schema comes from the signature, the annotations and the docstring (Google, NumPy or Sphinx style).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from whileai.core.errors import ToolSchemaError, UsageError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Tool:
    """A callable with `name`, `description`, `parameters` (JSON schema of an object) and `schema` (OpenAI's shape)."""

    def __init__(
        self, name: str, description: str, parameters: Mapping[str, Any], fn: Callable[..., Any] | None = None
    ) -> None:
        """Raises ToolSchemaError when the name is not one a model may call or the schema is not an object's."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ToolSchemaError(f"{name!r} cannot be a tool's name; use 1 to 64 letters, digits, _ or -")
        if not isinstance(parameters, Mapping) or parameters.get("type", "object") != "object":
            raise ToolSchemaError(f"tool {name}: parameters must be the JSON schema of an object, found {parameters!r}")
        if fn is not None:
            functools.update_wrapper(self, fn)
        self.name = name
        self.description = description
        self.parameters: dict[str, Any] = {"type": "object", "properties": {}, **parameters}
        self.fn = fn

    @property
    def schema(self) -> dict[str, Any]:
        """`{"type": "function", "function": {"name", "description", "parameters"}}`."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function itself. Raises UsageError when the tool is a schema without one."""
        if self.fn is None:
            raise UsageError(f"tool {self.name} is only a schema; it has no function to run")
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Tool({self.name}({', '.join(self.parameters['properties'])}))"


def tool(fn: Callable[..., Any]) -> Tool:
    """Make a tool of a function: `@wai.tool` above its definition.

    Every parameter needs an annotation that JSON can carry. Raises ToolSchemaError, naming the parameter, when one
    has none, when its type has no JSON schema, or when the signature has *args, **kwargs or positional-only parameters.
    """
    if isinstance(fn, Tool):
        return fn
    if not callable(fn) or inspect.isclass(fn):
        raise ToolSchemaError(f"{fn!r} is not a function, so it cannot be a tool; decorate a function")
    name = getattr(fn, "__name__", type(fn).__name__)
    summary, described = _docstring(inspect.getdoc(fn) or "")
    hints = _hints(fn, name)
    properties: dict[str, Any] = {}
    required, definitions = [], dict[str, Any]()
    for parameter in inspect.signature(fn).parameters.values():
        where = f"tool {name}: parameter {parameter.name}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ToolSchemaError(f"{where} ({parameter}) has no name a model could fill in; name every parameter")
        if parameter.name not in hints:
            raise ToolSchemaError(f"{where} has no annotation, so its type is unknown; write {parameter.name}: str")
        schema = _property(hints[parameter.name], where, described.get(parameter.name, ""))
        definitions |= schema.pop("$defs", {})
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            _set_default(schema, parameter.default)
        properties[parameter.name] = schema
    parameters: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    return Tool(name, summary, _inlined(parameters, definitions), fn)


def as_tools(tools: Iterable[Any]) -> list[Tool]:
    """Tools from tools, plain functions, schema dicts (OpenAI's shape or flat) and objects with a `.schema` dict.

    Raises ToolSchemaError for anything else and for two tools of one name.
    """
    if isinstance(tools, (Tool, Mapping, str)) or not isinstance(tools, Iterable):
        raise ToolSchemaError(f"tools must be a list, found {type(tools).__name__}; write tools=[{_short(tools)}]")
    made = [_as_tool(item) for item in tools]
    names = [item.name for item in made]
    for name in names:
        if names.count(name) > 1:
            raise ToolSchemaError(f"two tools are called {name}, so a call would be ambiguous; rename one")
    return made


def _as_tool(item: Any) -> Tool:
    if isinstance(item, Tool):
        return item
    schema = item if isinstance(item, Mapping) else getattr(item, "schema", None)
    if isinstance(schema, Mapping):
        inner = schema.get("function", schema)
        if isinstance(inner, Mapping) and "name" in inner:
            body = item if callable(item) else None
            parameters = inner.get("parameters") or {}
            return Tool(inner["name"], str(inner.get("description") or ""), parameters, body)
    if callable(item):
        return tool(item)
    raise ToolSchemaError(f"{_short(item)} is neither a function nor a tool schema with a name; decorate with @tool")


def _short(item: Any) -> str:
    text = getattr(item, "name", None) or getattr(item, "__name__", None) or repr(item)
    return str(text)[:60]


def _hints(fn: Callable[..., Any], name: str) -> dict[str, Any]:
    target = fn if inspect.isroutine(fn) or isinstance(fn, functools.partial) else type(fn).__call__
    try:
        return typing.get_type_hints(getattr(target, "func", target), include_extras=True)
    except (NameError, TypeError, SyntaxError) as error:
        raise ToolSchemaError(
            f"tool {name}: an annotation cannot be read ({error}); import the type it names"
        ) from error


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """What the tool is for, and what each parameter means."""
    if not text:
        return "", {}
    import docstring_parser

    parsed = docstring_parser.parse(text)
    parts = [parsed.short_description, parsed.long_description]
    described = {p.arg_name.strip("*"): " ".join((p.description or "").split()) for p in parsed.params}
    return "\n\n".join(part for part in parts if part), described


def _property(annotation: Any, where: str, description: str) -> dict[str, Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        schema: dict[str, Any] = _plain(TypeAdapter(annotation).json_schema())
    except (PydanticUserError, NameError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ToolSchemaError(
            f"{where} is a {_short(annotation)}, which has no JSON schema ({reason}); use str, int, float, bool,"
            " list, dict, Literal, Enum, a dataclass, a TypedDict or a pydantic model"
        ) from error
    for extra in getattr(annotation, "__metadata__", ()):
        text = extra if isinstance(extra, str) else getattr(extra, "documentation", None)
        if isinstance(text, str):
            description = description or text
    if description:
        schema = {**schema, "description": schema.get("description") if "$ref" not in schema else description}
        schema["description"] = schema["description"] or description
    return schema


def _set_default(schema: dict[str, Any], default: Any) -> None:
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    # a default that JSON cannot carry is still a default: the parameter stays optional
    with contextlib.suppress(PydanticSerializationError):
        schema["default"] = to_jsonable_python(default)


def _plain(schema: Any, *, names: bool = False) -> Any:
    """A schema without the titles pydantic adds; `names` marks a mapping whose keys are the user's own."""
    if isinstance(schema, Mapping):
        return {
            key: _plain(value, names=key in ("properties", "$defs") and not names)
            for key, value in schema.items()
            if names or not (key == "title" and isinstance(value, str))
        }
    return [_plain(item) for item in schema] if isinstance(schema, list) else schema


def _inlined(parameters: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Definitions put where they are used, because small models do not follow a $ref; recursive ones stay."""
    kept: list[str] = []

    def walk(node: Any, above: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [walk(item, above) for item in node]
        if not isinstance(node, dict):
            return node
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if not name:
            return {key: walk(value, above) for key, value in node.items()}
        beside = {key: walk(value, above) for key, value in node.items() if key != "$ref"}
        if _recursive(name, definitions):
            kept.append(name)
            return {"$ref": node["$ref"], **beside}
        return {**walk(definitions[name], (*above, name)), **beside}

    result: dict[str, Any] = walk(parameters, ())
    if kept:
        result["$defs"] = _mentioned(kept, definitions)
    return result


def _references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*(_references(item) for item in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = {str(node["$ref"]).rpartition("/")[2]} if "$ref" in node else set()
    return own.union(*(_references(value) for value in node.values()))


def _mentioned(names: Iterable[str], definitions: dict[str, Any]) -> dict[str, Any]:
    """The named definitions and all that they mention."""
    found: dict[str, Any] = {}
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = definitions[name]
            todo += _references(definitions[name])
    return found


def _recursive(name: str, definitions: dict[str, Any]) -> bool:
    """Whether a definition mentions itself, directly or through others."""
    return name in _mentioned(_references(definitions[name]), definitions)
