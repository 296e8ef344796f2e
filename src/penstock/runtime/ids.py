"""Run ids: unique, and sorted by the time in which they were made."""

from __future__ import annotations

import os
import time


def new_run_id() -> str:
    """Twenty hexadecimal digits: milliseconds, then chance."""
    return f"{time.time_ns() // 1_000_000 << 36 | int.from_bytes(os.urandom(5)) >> 4:020x}"
