"""The brokers, started once for all tests that use them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.databases import new_database
from tests.postgres_server import PostgresServer
from tests.topics.brokers import KafkaCluster, NatsServer, RabbitServer

Broker = NatsServer | RabbitServer | KafkaCluster


@pytest.fixture(scope="session")
def nats() -> Iterator[NatsServer]:
    server = NatsServer().start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def rabbit() -> Iterator[RabbitServer]:
    server = RabbitServer().start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaCluster]:
    cluster = KafkaCluster()
    yield cluster
    cluster.remove()


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kafka's client gathers messages for as long as it may wait: a second each time adds up."""
    monkeypatch.setattr("penstock.topics.kafka.LOOK", 0.1)


@pytest.fixture(params=["nats", "rabbit", "kafka"])
def broker(request: pytest.FixtureRequest) -> Broker:
    """Each broker in turn."""
    found: Broker = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of its own, of each kind in turn."""
    return _database(request, request.param, tmp_path)


@pytest.fixture(params=["nats-sqlite", "nats-postgres", "rabbit-sqlite", "kafka-sqlite"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Broker, str]:
    """Each broker and each kind of database, with one another as far as they could matter to one another."""
    broker, _, kind = request.param.partition("-")
    return request.getfixturevalue(broker), _database(request, kind, tmp_path)


def _database(request: pytest.FixtureRequest, kind: str, folder: Path) -> str:
    if kind == "sqlite":
        return str(folder / "penstock.db")
    server: PostgresServer = request.getfixturevalue("server")
    return new_database(server)


@pytest.fixture
def topic() -> str:
    """A topic that no other test uses."""
    return f"orders.{uuid4().hex[:12]}"
