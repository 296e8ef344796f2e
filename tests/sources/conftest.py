"""Hooks are tested on every store that an engine can have."""

from __future__ import annotations

from tests.durable.conftest import place as place
