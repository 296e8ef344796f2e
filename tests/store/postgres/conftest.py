"""An empty database for each test of this folder."""

from __future__ import annotations

import pytest

from tests.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def database(server: PostgresServer) -> str:
    return server.create_database()


@pytest.fixture(scope="session")
def second_database(server: PostgresServer) -> str:
    return server.create_database()


@pytest.fixture
def url(server: PostgresServer, database: str) -> str:
    """An empty database: the same one each time, since every new one is hundreds of files."""
    return emptied(server, database)


@pytest.fixture
def spare(server: PostgresServer, second_database: str) -> str:
    """Another empty database."""
    return emptied(server, second_database)


def emptied(server: PostgresServer, database: str) -> str:
    server.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public", database.rpartition("/")[2])
    return database
