"""A PostgreSQL for each experiment: it is crashed, and its clock is moved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres_server import PostgresServer


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    server = PostgresServer().start()
    yield server
    server.remove()
