"""Every guarantee is tried on SQLite on a disk and on a real PostgreSQL, one server for all tests of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.databases import new_database
from tests.postgres_server import PostgresServer


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the stores; a module may leave one out."""
    return str(request.param)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store can be made."""
    if kind == "sqlite":
        return str(tmp_path / "penstock.db")
    server: PostgresServer = request.getfixturevalue("server")
    return new_database(server)
