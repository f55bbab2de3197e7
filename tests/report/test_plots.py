"""The charts are plain SVG: coloured by the page, described in words, the same each time, and deaf to markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from whileai.report import plots

pytest.importorskip("matplotlib")

DRAWN = {
    "difference": lambda: plots.difference(0.48, 0.34, 0.62, 0.011),
    "difference without a floor": lambda: plots.difference(-0.02, -0.1, 0.05, None),
    "difference of nothing": lambda: plots.difference(0.0, 0.0, 0.0, None),
    "difference without an interval": lambda: plots.difference(1.0, None, None, None),
    "tasks": lambda: plots.tasks(["a", "b<script>", "$x$"], [0.0, 0.5, 1.0], [1.0, 0.5, 0.0]),
    "estimates": lambda: plots.estimates(["pass@1"], [(0.2, 0.1, 0.3)], [(0.7, 0.6, 0.8)]),
    "passes": lambda: plots.passes([0.25, 0.24, 0.25], [0.73], 0.011),
    "curve": lambda: plots.curve([1, 2, 3], [3.0, 1.0, 0.8]),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_chart_is_one_well_formed_described_svg_with_no_outside_reference(name):
    svg = DRAWN[name]()
    root = ET.fromstring(re.sub(r'xmlns:\w+="[^"]*"|xlink:', "", svg))
    assert root.tag.endswith("svg")
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert not re.search(r'(href|src)="(?!#)', svg)
    assert "<script" not in svg


@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_is_coloured_by_the_page_and_drawn_the_same_twice(name):
    svg = DRAWN[name]()
    assert "var(--ink)" in svg
    assert not re.search(r"(fill|stroke): *#|color: *black", svg)
    assert svg == DRAWN[name]()


def test_the_description_says_the_numbers():
    assert (
        'aria-label="Change +48.0 points, interval +34.0 to +62.0; changes under 1.1 points are noise"'
        in DRAWN["difference"]()
    )
    assert "1 rose, 1 fell" in DRAWN["tasks"]()
