"""Run ids: short, unique, and sorted by the time in which they were made."""

from __future__ import annotations

import secrets
import time

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


def new_run_id() -> str:
    """Nine digits of time, seven of chance, in base 32 without letters that look alike."""
    return _base32(time.time_ns() // 1_000_000, 9) + _base32(secrets.randbits(35), 7)


def _base32(number: int, width: int) -> str:
    digits = [_DIGITS[number >> 5 * place & 31] for place in range(width)]
    return "".join(reversed(digits))
