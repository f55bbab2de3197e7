"""Charts as inline SVG: matplotlib draws them once, CSS variables colour them in light and dark.

Text stays text (readable by a screen reader, searchable), nothing is random, and nothing is fetched.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from whileai.core.extras import need

INK, FAINT, BEFORE, AFTER, FLOOR = "#010203", "#020304", "#030405", "#040506", "#050607"
_VARIABLE = {INK: "--ink", FAINT: "--faint", BEFORE: "--before", AFTER: "--after", FLOOR: "--floor"}
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "whileai",
    "font.size": 10,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def difference(delta: float, low: float | None, high: float | None, floor: float | None) -> str:
    """The paired difference with its interval on one axis with zero and the noise floor (points, -100 to 100)."""
    known = low is not None and high is not None
    low, high = (delta if low is None else low), (delta if high is None else high)
    figure, axes = _figure(7.0, 1.35)
    if floor:
        axes.axvspan(-floor, floor, color=FLOOR, alpha=0.35, lw=0)
    axes.axvline(0, color=INK, lw=1)
    axes.plot([low, high], [0, 0], color=AFTER, lw=3, solid_capstyle="butt")
    axes.plot([delta], [0], "o", color=AFTER, ms=9)
    reach = max(abs(low), abs(high), floor or 0, 0.05) * 1.15
    axes.set_xlim(min(-reach * 0.35, low * 1.15), max(reach, high * 1.15) if high > 0 else reach * 0.35)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+.0f}" if abs(value) > 1e-9 else "0")
    axes.set_xlabel("change of pass@1, in points")
    band = f"; changes under {100 * floor:.1f} points are noise" if floor else ""
    interval = f", interval {100 * low:+.1f} to {100 * high:+.1f}" if known else ", no interval"
    return _svg(figure, f"Change {100 * delta:+.1f} points{interval}{band}")


def tasks(labels: Sequence[str], before: Sequence[float], after: Sequence[float]) -> str:
    """One dumbbell a task: its pass rate before and after, in the order given."""
    figure, axes = _figure(7.0, 0.6 + 0.17 * len(labels))
    places = range(len(labels))
    for place, b, a in zip(places, before, after, strict=True):
        axes.plot([b, a], [place, place], color=FAINT, lw=2, zorder=1)
    axes.scatter(before, places, s=34, color=BEFORE, marker="s", zorder=2, label="before")
    axes.scatter(after, places, s=34, color=AFTER, zorder=3, label="after")
    axes.set_yticks(list(places), labels, fontsize=8)
    axes.invert_yaxis()
    _shares(axes.xaxis, axes.set_xlim)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, labelcolor=INK)
    up, down = (
        sum(a > b for b, a in zip(before, after, strict=True)),
        sum(a < b for b, a in zip(before, after, strict=True)),
    )
    return _svg(figure, f"Pass rate of each of {len(labels)} tasks before and after: {up} rose, {down} fell")


def estimates(names: Sequence[str], before: Sequence[Any], after: Sequence[Any]) -> str:
    """pass@1, pass^k, pass@k of both arms with their intervals; each entry is (value, low, high)."""
    figure, axes = _figure(7.0, 0.7 + 0.5 * len(names))
    for offset, arm, colour, marker in ((-0.14, before, BEFORE, "s"), (0.14, after, AFTER, "o")):
        for place, (value, low, high) in enumerate(arm):
            axes.plot([low, high], [place + offset] * 2, color=colour, lw=2.5, solid_capstyle="butt")
            axes.plot([value], [place + offset], marker, color=colour, ms=7)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    _shares(axes.xaxis, axes.set_xlim)
    told = "; ".join(
        f"{n} {100 * b[0]:.0f}% before, {100 * a[0]:.0f}% after" for n, b, a in zip(names, before, after, strict=True)
    )
    return _svg(figure, told)


def passes(base: Sequence[float], trained: Sequence[float], floor: float | None) -> str:
    """Every pass as a dot: the base passes show how far a re-run moves the score by itself."""
    figure, axes = _figure(7.0, 1.5)
    middle = sum(base) / len(base)
    if floor:
        axes.axvspan(middle - floor, middle + floor, color=FLOOR, alpha=0.35, lw=0)
    axes.plot(base, [0] * len(base), "s", color=BEFORE, ms=8)
    axes.plot(trained, [1] * len(trained), "o", color=AFTER, ms=8)
    axes.set_yticks([0, 1], ["base passes", "trained"])
    axes.set_ylim(1.6, -0.6)
    _shares(axes.xaxis, axes.set_xlim)
    said = ", ".join(f"{100 * value:.1f}%" for value in base)
    return _svg(figure, f"Base passes {said}; trained {', '.join(f'{100 * value:.1f}%' for value in trained)}")


def curve(steps: Sequence[float], loss: Sequence[float]) -> str:
    """The training loss, step by step."""
    figure, axes = _figure(7.0, 2.3)
    axes.plot(steps, loss, color=AFTER, lw=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("optimiser step")
    axes.set_ylabel("loss")
    return _svg(figure, f"Training loss from {loss[0]:.3f} to {loss[-1]:.3f} over {len(steps)} logged steps")


def _figure(width: float, height: float) -> tuple[Any, Any]:
    matplotlib = need("matplotlib", "report")
    figures = need("matplotlib.figure", "report")
    with matplotlib.rc_context(_SETTINGS):
        figure = figures.Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots()


def _shares(axis: Any, set_limits: Any) -> None:
    set_limits(-0.02, 1.02)
    axis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")


def _svg(figure: Any, description: str) -> str:
    """The figure as an SVG element that CSS colours, with `description` for those who do not see it."""
    matplotlib = need("matplotlib", "report")
    stream = io.StringIO()
    with matplotlib.rc_context(_SETTINGS):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for colour, name in _VARIABLE.items():
        text = text.replace(colour, f"var({name})")
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
