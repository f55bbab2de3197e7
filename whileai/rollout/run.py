"""Many rollouts: side by side, in the plan's order, resumable, and the same rows at any concurrency."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from whileai.core.progress import track
from whileai.core.rows import Row
from whileai.rollout.journal import Journal
from whileai.rollout.plan import Owed, Plan

One = Callable[[Owed], Row]


def run(plan: Plan, one: One, *, concurrency: int = 1, journal: Journal | None = None) -> list[Row]:
    """Run every rollout the plan owes with `one`; returns the rows in the plan's order.

    With a journal, rows it already holds are taken from it (failed ones are tried again) and each finished row is
    appended at once. An interrupt keeps what is finished, says where, and passes through.
    """
    owed = list(plan.owed())
    done = journal.done() if journal else {}
    missing = [item for item in owed if item.key not in done]
    try:
        with track(len(missing), "rollouts") as bar:
            for item, row in _side_by_side(missing, one, concurrency):
                if journal:
                    journal.append(row)
                done[item.key] = row
                bar.advance()
    except KeyboardInterrupt:
        if journal:
            print(
                f"interrupted: {len(done)} of {len(owed)} rows are in {journal.path}; the same call goes on from there",
                file=sys.stderr,
            )
        raise
    rows = [done[item.key] for item in owed]
    if journal:
        journal.settle(owed, rows)
    return rows


def _side_by_side(owed: Iterable[Owed], one: One, concurrency: int) -> Iterator[tuple[Owed, Row]]:
    """(owed, row) pairs as they finish. One at a time needs no thread; a row never depends on its neighbours."""
    if concurrency == 1:
        for item in owed:
            yield item, one(item)
        return
    todo, stop = iter(owed), threading.Event()
    take = threading.Lock()
    finished: queue.Queue[tuple[Owed | None, Any]] = queue.Queue()

    def work() -> None:
        try:
            while not stop.is_set():
                with take:
                    item = next(todo, None)
                if item is None:
                    break
                finished.put((item, one(item)))
            finished.put((None, None))
        except BaseException as error:  # the waiting thread raises it
            finished.put((None, error))

    yield from _collected(finished, work, stop, concurrency)


def _collected(
    finished: queue.Queue[tuple[Owed | None, Any]], work: Callable[[], None], stop: threading.Event, workers: int
) -> Iterator[tuple[Owed, Row]]:
    """Start the workers and hand out what they finish; daemon threads, so that an interrupt need not wait for them."""
    for number in range(workers):
        threading.Thread(target=work, name=f"whileai-rollout-{number}", daemon=True).start()
    try:
        while workers:
            item, result = finished.get()
            if item is not None:
                yield item, result
            elif result is None:
                workers -= 1
            else:
                raise result
    finally:
        stop.set()
