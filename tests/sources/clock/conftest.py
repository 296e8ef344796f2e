"""Clocks are tested on virtual time; what processes do, on a real PostgreSQL."""

from __future__ import annotations

from tests.durable.conftest import server as server
