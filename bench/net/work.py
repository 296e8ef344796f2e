"""A work: something that a contender does again and again, and how many steps it fires each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct


class Work(Struct, frozen=True):
    """`run` does it once and gives what it came to, so that all contenders can be held to the same."""

    run: Callable[[], Any]
    steps: int


Works = dict[str, Work]
