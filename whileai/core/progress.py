"""How far a long loop has come, on stderr: rich on a terminal, plain lines elsewhere, silence on request.

Nothing is shown for work that is over within two seconds, and every line that is shown has an ETA.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol

GRACE_SECONDS = 2.0
LINE_SECONDS = 10.0
LINE_SHARE = 0.1

_quiet = False


class Progress(Protocol):
    """What a loop sees of its progress display."""

    def advance(self, n: int = 1, note: str = "") -> None:
        """Count `n` more items as done; `note` says something about the last one."""


def set_quiet(quiet: bool) -> None:
    """Silence (or allow again) every progress display of this process."""
    global _quiet
    _quiet = quiet


@contextmanager
def track(total: int, label: str, quiet: bool | None = None) -> Iterator[Progress]:
    """Show the progress of `total` items called `label`; yields an object with `.advance(n=1, note="")`.

    `quiet` None follows `set_quiet` and the variable WHILEAI_QUIET. An exception passes through and ends the display.
    """
    display = _choose(total, label, quiet)
    try:
        yield display
    finally:
        display.close()


def _choose(total: int, label: str, quiet: bool | None) -> _Lines:
    if quiet is None:
        quiet = _quiet or os.environ.get("WHILEAI_QUIET", "") not in ("", "0")
    if quiet:
        return _Silent(total, label)
    return _Bar(total, label) if _is_terminal(sys.stderr) else _Lines(total, label)


def _is_terminal(stream: IO[str]) -> bool:
    """A terminal a person is looking at; CI logs and dumb terminals get lines."""
    if os.environ.get("CI") or os.environ.get("NO_COLOR") or os.environ.get("TERM", "") == "dumb":
        return False
    return bool(getattr(stream, "isatty", lambda: False)())


def seconds_text(seconds: float) -> str:
    """A duration as people read it: 8s, 3m20s, 1h05m."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


class _Lines:
    """A plain line after every tenth of the work, or every ten seconds when a tenth takes longer."""

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(self, total: int, label: str) -> None:
        self.total = max(int(total), 0)
        self.label = label
        self.done = 0
        self.started = self.said_at = self.clock()
        self.said = -1

    def advance(self, n: int = 1, note: str = "") -> None:
        self.done += n
        now = self.clock()
        if now - self.started < GRACE_SECONDS:
            return
        enough = self.done - max(self.said, 0) >= LINE_SHARE * self.total
        if self.said < 0 or enough or now - self.said_at >= LINE_SECONDS:
            self.say(now, note)

    def say(self, now: float, note: str = "") -> None:
        self.said, self.said_at = self.done, now
        print(line(self.label, self.done, self.total, now - self.started, note), file=sys.stderr, flush=True)

    def close(self) -> None:
        """The last line, so that a log never ends at 90%."""
        if self.said >= 0 and self.said != self.done:
            self.say(self.clock())


def line(label: str, done: int, total: int, elapsed: float, note: str = "") -> str:
    """One plain line: share, rate and what is left, or what it took when all is done."""
    share = f"{100 * done // total}%" if total else "100%"
    return f"{label}: {done}/{total} ({share}), {_pace(done, total, elapsed)}" + (f" | {note}" if note else "")


def _pace(done: int, total: int, elapsed: float) -> str:
    rate = done / elapsed if elapsed > 0 else 0.0
    if done >= total:
        return f"{rate:.3g}/s, in {seconds_text(elapsed)}"
    return f"{rate:.3g}/s, ETA {seconds_text((total - done) / rate)}" if rate else "ETA unknown"


class _Silent(_Lines):
    """Counts, says nothing."""

    def advance(self, n: int = 1, note: str = "") -> None:
        self.done += n

    def close(self) -> None:
        return None


class _Bar(_Lines):
    """A rich bar with rate and ETA that appears after the grace period and leaves one line behind."""

    bar: Any = None
    task: Any = None

    def advance(self, n: int = 1, note: str = "") -> None:
        self.done += n
        if self.bar is None:
            if self.clock() - self.started < GRACE_SECONDS:
                return
            self._open()
        pace = _pace(self.done, self.total, self.clock() - self.started)
        self.bar.update(self.task, completed=self.done, pace=pace, note=note)

    def _open(self) -> None:
        from rich import progress
        from rich.console import Console

        self.bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[pace]} {task.fields[note]}", markup=False),
            console=Console(stderr=True),
        )
        self.bar.start()
        self.task = self.bar.add_task(self.label, total=self.total, pace="", note="")

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
