"""Time and memory of `pass_at` and `compare` on many rows, beside `scipy.stats.bootstrap` in the same run.

    python benchmarks/speed_statistics.py            # half a minute; writes benchmarks/speed_statistics.md
    python benchmarks/speed_statistics.py --dry-run  # a hundredth of the rows, prints only

With WHILEAI_PEER_PYTHON set to a Python that has the registry's package `whileai` 0.131, its `pass_at` and `compare`
are timed as well, in a process of their own and on the same 16,000 rows an arm.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from whileai.core.files import load_jsonl, write_jsonl, write_text
from whileai.core.seeds import integer
from whileai.stats.columns import Columns, columns
from whileai.stats.comparison import compare
from whileai.stats.intervals import score_interval, spread
from whileai.stats.passat import pass_at
from whileai.stats.tables import table

Row = dict[str, Any]
TASKS, TRIES, STREAMED, PEER_TASKS, BOOTSTRAPPED = 100_000, 4, 1_000_000, 4_000, 10_000

PEER = """
import json, sys, time, whileai
from importlib.metadata import version
before, after = ([json.loads(line) for line in open(path)] for path in sys.argv[1:3])
best, compare = {}, lambda: whileai.compare(before, after)
for name, ask in (("pass_at", lambda: whileai.pass_at(before)), ("compare", compare)):
    times = []
    for _ in range(int(sys.argv[3])):
        start = time.perf_counter(); ask(); times.append(time.perf_counter() - start)
    best[name] = min(times)
print(json.dumps({"version": version("whileai"), **best}))
"""

STREAM = """
import sys, time
from whileai.core.files import read_jsonl
from whileai.stats.passat import pass_at
rows = read_jsonl(sys.argv[1])
start = time.perf_counter()
found = pass_at(rows)
seconds = time.perf_counter() - start
try:  # getrusage would count what the parent held before exec
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
except OSError:
    peak = float("nan")
print(seconds, peak, found.n_rows)
"""


def rows(arm: int, tasks: int, rate: float) -> Iterator[Row]:
    """Rows with the keys a saved row has beside its conversation; task rates differ (ICC .3)."""
    rng = np.random.default_rng(integer("speed", 0))
    p = rng.beta(rate * 7 / 3, (1 - rate) * 7 / 3, tasks)
    passed = np.random.default_rng(integer("speed", arm)).random((tasks, TRIES)) < p[:, None]
    for task in range(tasks):
        for j, reward in enumerate(passed[task].tolist()):
            name = f"task-{task:06d}"
            yield {
                "scenario_id": name,
                "task_id": name,
                "wording": 0,
                "rollout_index": j,
                "run": arm,
                "seed": (arm * tasks + task) * TRIES + j,
                "reward": float(reward),
            }


def best(ask: Callable[[], object], times: int = 3) -> float:
    """Least seconds of a few calls: what else runs on the machine only adds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        ask()
        found.append(time.perf_counter() - start)
    return min(found)


def megabytes(found: Columns) -> float:
    """What the columns hold: their arrays, and the list of task names."""
    parts = vars(found).values()
    return sum(a.nbytes if isinstance(a, np.ndarray) else sys.getsizeof(a) for a in parts) / 2**20


def in_memory(scale: float) -> list[list[str]]:
    tasks = int(TASKS * scale)
    before, after = list(rows(1, tasks, 0.5)), list(rows(2, tasks, 0.6))
    n = f"{len(before):,} rows"
    found = columns(before)
    tracemalloc.start()
    columns(before)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return [
        [f"`pass_at`, {n}, all intervals", f"{best(lambda: pass_at(before)):.2f} s", "0.5 s"],
        [f"`compare`, {n} an arm", f"{best(lambda: compare(before, after)):.2f} s", "1 s"],
        [f"columns of {n}, held", f"{megabytes(found):.0f} MB", "50 MB"],
        ["the same while they are read (tracemalloc peak)", f"{peak:.0f} MB", ""],
    ]


def streamed(scale: float, folder: Path) -> list[list[str]]:
    """A quarter of the rows and all of them, each in a process of its own: what more rows cost in memory."""
    lines, seen = [], []
    for share in (0.25, 1.0):
        path = folder / "stream.jsonl"
        write_jsonl(path, rows(1, int(STREAMED * scale * share) // TRIES, 0.5))
        size = path.stat().st_size / 2**20
        seconds, peak, n = map(float, _child([sys.executable, "-c", STREAM, str(path)]).split())
        seen.append((n, peak))
        what = f"`pass_at(read_jsonl(path))`, {int(n):,} rows, {size:.0f} MB"
        lines.append([what, f"{seconds:.1f} s, peak {peak:.0f} MB", ""])
    (few, low), (many, high) = seen
    added = f"{(high - low) * 2**20 / (many - few):.0f} bytes"
    return [*lines, ["memory that one more streamed row adds: its columns, and the name of its task", added, ""]]


def beside_scipy(scale: float) -> list[list[str]]:
    """One interval of pass@1 from task means: ours and scipy's percentile bootstrap with 10,000 resamples."""
    return [_bootstrapped(int(tasks * scale)) for tasks in (BOOTSTRAPPED // 10, BOOTSTRAPPED)]


def _bootstrapped(n: int) -> list[str]:
    from scipy.stats import bootstrap

    values = table(columns(list(rows(1, n, 0.5)))).values("pass_at_1", TRIES)
    options: dict[str, Any] = {"n_resamples": 10_000, "method": "percentile", "batch": 200}
    ours = best(lambda: score_interval(spread(values), rows=n * TRIES), 20)
    theirs = best(lambda: bootstrap((values,), np.mean, **options), 1)
    what = f"one interval, {n:,} task means: ours / scipy.stats.bootstrap"
    return [what, f"{1e3 * ours:.2f} ms / {theirs:.2f} s", f"{theirs / ours:,.0f} x"]


def beside_the_peer(scale: float, folder: Path) -> list[list[str]]:
    """Ours and the registry's package on the same rows; nothing where that is not installed."""
    python = os.environ.get("WHILEAI_PEER_PYTHON")
    if not python:
        return []
    paths = [folder / "before.jsonl", folder / "after.jsonl"]
    for arm, path in enumerate(paths, 1):
        write_jsonl(path, rows(arm, int(PEER_TASKS * scale), 0.4 + 0.1 * arm))
    theirs = json.loads(_child([python, "-I", "-c", PEER, *map(str, paths), "2"], folder))
    before, after = map(load_jsonl, paths)
    ours = {"pass_at": best(lambda: pass_at(before)), "compare": best(lambda: compare(before, after))}
    return [
        [
            f"`{name}`, {len(before):,} rows: ours / whileai {theirs['version']}",
            f"{ours[name]:.3f} s / {theirs[name]:.2f} s",
            f"{theirs[name] / ours[name]:,.0f} x",
        ]
        for name in ours
    ]


def _child(command: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout.strip().splitlines()[-1]


def page(scale: float) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [*in_memory(scale), *streamed(scale, folder), *beside_scipy(scale), *beside_the_peer(scale, folder)]
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    lines = [
        "# Speed of the statistics\n",
        f"Written by `python benchmarks/speed_statistics.py`; {versions}. Least of three calls on a shared machine.\n",
        "| what | measured | target, or ratio |",
        "| --- | --- | --- |",
        *(f"| {' | '.join(line)} |" for line in found),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the statistics.")
    parser.add_argument("--dry-run", action="store_true", help="a hundredth of the rows, printed and not recorded")
    dry = parser.parse_args().dry_run
    text = page(0.01 if dry else 1.0)
    print(text)
    if not dry:
        write_text(Path(__file__).with_suffix(".md"), text)


if __name__ == "__main__":
    main()
