"""Coverage, false PASS and power of the statistics, simulated: the evidence behind docs/statistics.md.

    python -m benchmarks.statistics           # some four minutes on one core; writes benchmarks/statistics/RESULTS.md
    python -m benchmarks.statistics --quick   # half a minute, prints only

Seeded: the same numbers every time. This folder has no __init__.py on purpose: with one, a script run from benchmarks/
would import it in place of the standard library's `statistics`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.statistics.page import DATASETS, QUICK, everything
from whileai.core.files import write_text


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics", description="Simulate the statistics.")
    parser.add_argument("--quick", action="store_true", help="300 datasets a cell, printed and not recorded")
    parser.add_argument("--out", type=Path, help="write the page here")
    given = parser.parse_args(arguments)
    start = time.perf_counter()
    page = everything(QUICK if given.quick else DATASETS)
    out = given.out or (None if given.quick else Path(__file__).with_name("RESULTS.md"))
    if out is None:
        print(page)
    else:
        write_text(out, page)
    print(
        f"{time.perf_counter() - start:.0f} s, {time.process_time():.0f} s of one core"
        + (f", written to {out}" if out else "")
    )


if __name__ == "__main__":
    main()
