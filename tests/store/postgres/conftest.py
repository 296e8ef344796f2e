"""One private server for this folder's tests, and a new database for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.testing.postgres import PostgresServer


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    running = PostgresServer().start()
    yield running
    running.remove()


@pytest.fixture
def url(server: PostgresServer) -> str:
    return server.create_database()
