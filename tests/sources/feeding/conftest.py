"""Feeding is tested on every store that an engine can have."""

from __future__ import annotations

from tests.durable.conftest import place as place
from tests.durable.conftest import server as server
