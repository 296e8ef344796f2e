"""How much an expression may ask for: limits of its text, and the meter of its evaluation."""

from __future__ import annotations

from typing import Any

from penstock.expression.errors import Fault

SOURCE = 4096
NESTING = 64
CHAIN = 200
COST = 25_000
TEMPLATE_COST = 100_000
RESULT = 64 * 1024
WHOLE_VALUE = 1024 * 1024
PATTERN = 512
PATTERN_MEMORY = 64 * 1024
LONG = 1024
"""Texts longer than this are charged even for work that is nearly free."""

INT_LOW, INT_HIGH = -(2**63), 2**63 - 1
UINT_HIGH = 2**64 - 1

Env = list[Any]
"""What a running expression holds: the scope, the units spent, then a place for each loop variable."""


def charge(env: Env, units: int) -> None:
    """Spend `units`; raises a final fault when the budget is gone."""
    env[1] += units
    if env[1] > COST:
        raise Fault("cost_exceeded", f"this takes more than {COST:,} steps of work, so it was stopped")
