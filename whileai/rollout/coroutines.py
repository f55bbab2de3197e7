"""An async agent works like any other: its coroutine runs on one background loop, whoever waits for it.

A loop of its own on a thread of its own also works in a notebook, where the main thread's loop is already running.
"""

from __future__ import annotations

import inspect
import threading
from typing import Any

_lock = threading.Lock()
_loop: Any = None


def settled(value: Any) -> Any:
    """`value` itself, or what it comes to when it is a coroutine."""
    if not inspect.iscoroutine(value):
        return value
    import asyncio

    return asyncio.run_coroutine_threadsafe(value, _background_loop()).result()


def _background_loop() -> Any:
    global _loop
    import asyncio

    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="whileai-async-agents", daemon=True).start()
    return _loop
