"""Run ids: short, unique, and sorted by the time in which they were made."""

from __future__ import annotations

import os
import time

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [high + low for high in _DIGITS for low in _DIGITS]
_SHIFTS = range(70, -1, -10)


def new_run_id() -> str:
    """Nine digits of time, seven of chance, in base 32 without letters that look alike."""
    number = time.time_ns() // 1_000_000 << 35 | int.from_bytes(os.urandom(5)) >> 5
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])
