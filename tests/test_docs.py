"""Every example in the documentation runs, and prints what the page says it prints.

A `python` block and the `sh` blocks of one page run in order, in one folder, with one namespace; a `text` block after
one of them is its output. Two kinds of shell line are checked and not run: `make` (its target must exist, and a test
cannot call `make test`) and the commands that train a full model (their flags must parse).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TRAINS = {"prove", "train", "evaluate"}  # and what needs the run folder these write


def blocks(page: Path) -> list[tuple[str, str, int]]:
    text = page.read_text()
    return [(m[1], m[2], text[: m.start()].count("\n") + 2) for m in FENCE.finditer(text)]


def run_python(code: str, page: Path, line: int, names: dict) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
    return printed.getvalue()


def run_shell(code: str, folder: Path) -> str:
    printed = ""
    for command in code.replace("\\\n", " ").splitlines():
        words = shlex.split(command, comments=True)
        if not words or words[0] in ("pip", "git", "cd"):
            continue
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), command
            continue
        assert words[0] == "wai", f"a shell example may call make, pip and wai, not {words[0]}"
        needs_a_run = words[1] in TRAINS or "runs/" in command
        line = f"{command.partition('#')[0]} --help" if needs_a_run else command
        done = subprocess.run(line, shell=True, cwd=folder, env=environment(folder), capture_output=True, text=True)
        assert done.returncode in (0, 1), f"{command}\n{done.stderr}"
        printed += "" if needs_a_run else done.stdout
    return printed


def environment(folder: Path) -> dict[str, str]:
    """PATH with a `wai` that is this checkout's, whether or not the package is installed."""
    shim = folder / ".bin" / "wai"
    if not shim.exists():
        shim.parent.mkdir()
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m whileai.cli.main "$@"\n')
        shim.chmod(0o755)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_example_of_the_page_runs_and_prints_what_stands_below_it(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "docs"}
    printed: str | None = None
    for language, code, line in blocks(page):
        if language == "python":
            printed = run_python(code, page, line, names)
        elif language == "sh":
            printed = run_shell(code, tmp_path)
        elif language == "text" and printed is not None:
            assert printed.rstrip() == code.rstrip(), f"{page.name}:{line}"
            printed = None


def test_blocks_are_found_with_their_language_and_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# a\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n")
    assert blocks(page) == [("python", "print(1)\n", 4), ("text", "1\n", 8)]


def test_links_between_pages_lead_somewhere():
    gone = []
    for page in [*PAGES, *(ROOT / name for name in ("AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"))]:
        found = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
        gone += [f"{page.name} -> {t}" for t in found if "://" not in t and not (page.parent / t).exists()]
    assert not gone
