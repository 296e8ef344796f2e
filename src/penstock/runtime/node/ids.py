"""Run ids: unique, and sorted by creation time."""

from __future__ import annotations

import os
import random
import threading
import time

_chance = random.Random()
os.register_at_fork(after_in_child=_chance.seed)  # else a forked child would make its parent's ids again
_lock = threading.Lock()
_last = 0


def new_run_id() -> str:
    """Twenty hexadecimal digits: milliseconds, then chance. Of one process, each is above the one before."""
    global _last
    with _lock:
        made = time.time_ns() // 1_000_000 << 36 | _chance.getrandbits(36)
        # In one millisecond chance alone would decide which run is the newer one.
        _last = made if made > _last else _last + 1 + _chance.getrandbits(16)
        return f"{_last:020x}"
