"""Every recipe's dry run works for a newcomer and writes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RECIPES = sorted((Path(__file__).parents[2] / "recipes").rglob("run.py"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.parent.name)
def test_a_dry_run_ends_well_and_writes_nothing(recipe: Path, tmp_path: Path) -> None:
    before = sorted(recipe.parent.iterdir())
    done = subprocess.run(
        [sys.executable, str(recipe), "--dry-run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert list(tmp_path.iterdir()) == []
    assert [p for p in sorted(recipe.parent.iterdir()) if p.name != "__pycache__"] == before


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.parent.name)
def test_a_recipe_says_what_it_teaches_needs_costs_shows_and_what_did_not_work(recipe: Path) -> None:
    text = (recipe.parent / "README.md").read_text("utf-8")
    for part in ("**Teaches**", "**Needs**", "**Costs**", "**What you should see.**", "**What did not work.**"):
        assert part in text, part
