"""Whose work this is, for whoever writes a line about it: set where work begins, read where lines are written."""

from __future__ import annotations

from contextvars import ContextVar

from penstock.flow.model.plan import Attempt

ATTEMPT: ContextVar[Attempt | None] = ContextVar("penstock_attempt", default=None)
"""The attempt that this code is part of."""

REQUEST: ContextVar[str | None] = ContextVar("penstock_request", default=None)
"""The id of the HTTP request that this code answers."""
