"""The front page: every public name, imported at first use and no sooner."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import whileai

SOURCE = Path(whileai.__file__)


@pytest.mark.parametrize("name", whileai.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(whileai, name) is not None


def test_the_names_a_type_checker_sees_are_the_names_there_are():
    guard = next(n for n in ast.parse(SOURCE.read_text()).body if isinstance(n, ast.If))
    seen = {alias.name: node.module for node in guard.body for alias in node.names}
    assert sorted(seen) == sorted(set(whileai.__all__) - {"__version__"})
    for name, module in seen.items():
        home = f"whileai.{whileai._HOME[name]}".rstrip(".")
        assert module == home, name
        assert hasattr(importlib.import_module(home), name), name


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(AttributeError, match="no attribute 'simulat'; it has .*simulate"):
        whileai.simulat


def test_dir_lists_the_public_names():
    assert set(dir(whileai)) == set(whileai.__all__)


def test_importing_whileai_imports_none_of_its_stages_and_no_numpy():
    code = "import sys, whileai; print(*[m for m in sys.modules if m.startswith(('whileai', 'numpy', 'pydantic'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["whileai"]
