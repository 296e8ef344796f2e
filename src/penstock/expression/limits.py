"""How much an expression may ask for: limits of its text, and the meter of its evaluation."""

from __future__ import annotations

from typing import Any

from penstock.expression.errors import Fault

MAX_SOURCE = 4096
MAX_NESTING = 64
MAX_CHAIN = 200
MAX_COST = 25_000
MAX_TEMPLATE_COST = 100_000
MAX_RESULT = 64 * 1024
MAX_WHOLE_VALUE = 1024 * 1024
MAX_PATTERN = 512
MAX_PATTERN_MEMORY = 64 * 1024
CHARGED_LENGTH = 1024
"""Texts longer than this are charged even for work that is nearly free."""

MIN_INT, MAX_INT = -(2**63), 2**63 - 1
MAX_UINT = 2**64 - 1

Env = list[Any]
"""What a running expression holds: the scope, the units spent, then a place for each loop variable."""


def charge(env: Env, units: int) -> None:
    """Spend `units`; raises a final fault when the budget is gone."""
    env[1] += units
    if env[1] > MAX_COST:
        raise Fault("cost_exceeded", f"this takes more than {MAX_COST:,} steps of work, so it was stopped")
