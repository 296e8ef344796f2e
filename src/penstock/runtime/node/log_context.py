"""The run, attempt or request of the current operation, for log lines."""

from __future__ import annotations

from contextvars import ContextVar

from penstock.flow.model.plan import Attempt

ATTEMPT: ContextVar[Attempt | None] = ContextVar("penstock_attempt", default=None)
"""The attempt that this code is part of."""

REQUEST: ContextVar[str | None] = ContextVar("penstock_request", default=None)
"""The id of the HTTP request that this code answers."""
