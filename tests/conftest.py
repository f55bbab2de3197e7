"""What holds for every test: no network but loopback, one thread, nothing read from a model hub."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

GUARD = Path(__file__).parent / "guard"

runpy.run_path(str(GUARD / "sitecustomize.py"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(GUARD), os.environ.get("PYTHONPATH", "")]))
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # two threads on a busy machine are slower than one
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
