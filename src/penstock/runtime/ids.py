"""Run ids: short, unique, and sorted by the time in which they were made."""

from __future__ import annotations

import secrets
import time

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [high + low for high in _DIGITS for low in _DIGITS]


def new_run_id() -> str:
    """Nine digits of time, seven of chance, in base 32 without letters that look alike."""
    number = (time.time_ns() // 1_000_000) << 35 | secrets.randbits(35)
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(70, -1, -10)])
