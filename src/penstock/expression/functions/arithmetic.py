"""Arithmetic by exact type: no mixing of number types, no silent overflow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.expression.errors import Fault
from penstock.expression.functions.times import checked_duration, checked_timestamp
from penstock.expression.limits import MAX_INT, MAX_UINT, MIN_INT, Env, charge
from penstock.expression.values import NUMBERS, Duration, Timestamp, UInt, spoken

Operation = Callable[[Env, Any, Any], Any]


def _mismatch(sign: str, left: Any, right: Any) -> Fault:
    kind, other = left.__class__, right.__class__
    message = f"`{sign}` is not defined between {spoken(left)} and {spoken(right)}"
    if kind in NUMBERS and other in NUMBERS:
        message += "; convert with double(...)" if float in (kind, other) else "; convert with int(...)"
    elif sign == "+" and str in (kind, other):
        message += "; convert with string(...)"
    return Fault("no_such_overload", message)


def _signed(value: int) -> int:
    if MIN_INT <= value <= MAX_INT:
        return value
    raise Fault("overflow", "the result does not fit 64 bits")


def _unsigned(value: int) -> UInt:
    if 0 <= value <= MAX_UINT:
        return UInt(value)
    raise Fault("overflow", "the result does not fit 64 bits without a sign")


def add(env: Env, left: Any, right: Any) -> Any:
    """`left + right`."""
    kind, other = left.__class__, right.__class__
    if kind is other:
        if kind is int:
            return _signed(left + right)
        if kind is float:
            return left + right
        if kind is str or kind is bytes or kind is list:
            charge(env, 1 + (len(left) + len(right)) // 8)
            return left + right
        if kind is UInt:
            return _unsigned(int(left) + int(right))
        if kind is Duration:
            return checked_duration(int(left) + int(right))
    if {kind, other} == {Timestamp, Duration}:
        return checked_timestamp(int(left) + int(right))
    raise _mismatch("+", left, right)


def subtract(env: Env, left: Any, right: Any) -> Any:
    """`left - right`."""
    kind, other = left.__class__, right.__class__
    if kind is other:
        if kind is int:
            return _signed(left - right)
        if kind is float:
            return left - right
        if kind is UInt:
            return _unsigned(int(left) - int(right))
        if kind is Duration or kind is Timestamp:
            return checked_duration(int(left) - int(right))
    if kind is Timestamp and other is Duration:
        return checked_timestamp(int(left) - int(right))
    raise _mismatch("-", left, right)


def multiply(env: Env, left: Any, right: Any) -> Any:
    """`left * right`."""
    kind = left.__class__
    if kind is right.__class__:
        if kind is int:
            return _signed(left * right)
        if kind is float:
            return left * right
        if kind is UInt:
            return _unsigned(int(left) * int(right))
    raise _mismatch("*", left, right)


def divide(env: Env, left: Any, right: Any) -> Any:
    """`left / right`, toward zero for whole numbers."""
    kind = left.__class__
    if kind is right.__class__:
        if kind is float:
            return _divide_doubles(left, right)
        if kind is int or kind is UInt:
            if right == 0:
                raise Fault("division_by_zero", "division by zero")
            return _signed(_quotient(left, right)) if kind is int else UInt(int(left) // int(right))
    raise _mismatch("/", left, right)


def modulo(env: Env, left: Any, right: Any) -> Any:
    """`left % right`, with the sign of `left`."""
    kind = left.__class__
    if kind is right.__class__ and (kind is int or kind is UInt):
        if right == 0:
            raise Fault("division_by_zero", "the remainder of a division by zero")
        if kind is UInt:
            return UInt(int(left) % int(right))
        _signed(_quotient(left, right))
        return left - _quotient(left, right) * right
    raise _mismatch("%", left, right)


def negate(env: Env, value: Any) -> Any:
    """`-value`."""
    kind = value.__class__
    if kind is int:
        return _signed(-value)
    if kind is float:
        return -value
    raise Fault("no_such_overload", f"`-` is not defined for {spoken(value)}")


def _quotient(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _divide_doubles(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


OPERATIONS: dict[str, Operation] = {"+": add, "-": subtract, "*": multiply, "/": divide, "%": modulo}
