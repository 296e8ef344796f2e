"""Run ids: unique, and sorted by the time in which they were made."""

from __future__ import annotations

import os
import random
import time

_chance = random.Random()
os.register_at_fork(after_in_child=_chance.seed)  # else a forked child would make its parent's ids again


def new_run_id() -> str:
    """Twenty hexadecimal digits: milliseconds, then chance."""
    return f"{time.time_ns() // 1_000_000 << 36 | _chance.getrandbits(36):020x}"
