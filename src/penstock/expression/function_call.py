"""Calling a function of values: a fault without a place gets that of the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.expression.errors import Fault, SourcePosition
from penstock.expression.limits import Env
from penstock.expression.paths import Run


def call(function: Callable[..., Any], arguments: Sequence[Run], place: SourcePosition) -> Run:
    """The closure of `function(env, *arguments)`; one and two arguments are the common and the fast ones."""
    if len(arguments) == 1:
        return _call_one(function, arguments[0], place)
    if len(arguments) == 2:
        return _call_two(function, arguments[0], arguments[1], place)

    def run(env: Env) -> Any:
        values = [argument(env) for argument in arguments]
        try:
            return function(env, *values)
        except Fault as fault:
            fault.place = fault.place or place
            raise

    return run


def _call_one(function: Callable[..., Any], argument: Run, place: SourcePosition) -> Run:
    def run(env: Env) -> Any:
        value = argument(env)
        try:
            return function(env, value)
        except Fault as fault:
            fault.place = fault.place or place
            raise

    return run


def _call_two(function: Callable[..., Any], first: Run, second: Run, place: SourcePosition) -> Run:
    def run(env: Env) -> Any:
        one, other = first(env), second(env)
        try:
            return function(env, one, other)
        except Fault as fault:
            fault.place = fault.place or place
            raise

    return run
