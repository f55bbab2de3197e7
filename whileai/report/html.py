"""The report: one HTML file with no script and nothing fetched, so that it can be mailed, archived and believed.

jinja2 escapes everything; conversations.visible() makes what is invisible in model text visible.
"""

from __future__ import annotations

import os
from pathlib import Path

from whileai.core.extras import need
from whileai.core.files import write_text
from whileai.report.conversations import visible
from whileai.report.page import Page, Rows, arms_of, make_page, read_run


def write_report(source: str | os.PathLike[str] | Rows, path: str | os.PathLike[str], *, title: str = "") -> Path:
    """Write the report page of a run to `path`; returns the path.

    source: a run folder, the path of its holdout_rows.jsonl, or graded rows of both arms (`model_version` "base" and
    "trained", `run` numbering the passes). Raises InputError when an arm is missing or nothing is scored in both.
    """
    from_file = isinstance(source, (str, os.PathLike))
    evidence = read_run(source) if from_file else arms_of(source)  # type: ignore[arg-type]
    name = title or (Path(source).resolve().name if from_file else "report")  # type: ignore[arg-type]
    write_text(path, render(make_page(evidence, visible(name, 200))))
    return Path(path)


def render(page: Page) -> str:
    """The page as HTML. Raises MissingExtra without jinja2 and matplotlib."""
    jinja2 = need("jinja2", "report")
    markup = need("markupsafe", "report").Markup  # our own SVG; every other value is escaped
    template = Path(__file__).with_name("page.html.jinja").read_text("utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    plots = {name: markup(svg) if svg else "" for name, svg in page.plots.items()}
    return str(environment.from_string(template).render(page=page, plots=plots))
