"""Real brokers for tests: NATS and RabbitMQ as processes of their own, Kafka as librdkafka's mock cluster.

Each listens on 127.0.0.1 and free ports, keeps its things in a temporary folder, can be killed and started again,
and dies with the process of the tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.postgres_server import free_port
from tests.waiting import listens, until_sync

RABBIT = ("/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/sbin/rabbitmq-server")
GOES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
# Linux kills such a child when the thread that made it ends, not when the process does: this one stays.
_SPAWN = ThreadPoolExecutor(1)
START = 120.0
"""Seconds that a broker may take to start."""


class Process:
    """A server that is a process; `start` returns when it takes connections."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="penstock-broker-"))
        self.port = free_port()
        self._children: list[subprocess.Popen[bytes]] = []

    def launch(self, *command: str, variables: Mapping[str, str] | None = None) -> None:
        with (self.home / "log").open("ab") as log:
            started = _SPAWN.submit(
                subprocess.Popen,
                [*GOES_WITH_US, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **(variables or {})},
                cwd=self.home,
                start_new_session=True,
            )
            self._children.append(started.result())

    def wait_for_port(self, port: int) -> None:
        try:
            until_sync(lambda: listens(port), "the broker", START)
        except AssertionError as error:
            raise RuntimeError(f"{error}; it said:\n{(self.home / 'log').read_text()[-2000:]}") from None

    @property
    def ports(self) -> tuple[int, ...]:
        """Where it listens."""
        return (self.port,)

    @property
    def alive(self) -> bool:
        return bool(self._children)

    def kill(self) -> None:
        """At once, and whatever it began."""
        for child in self._children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        self._children = []
        # Of a child's child too: who starts it again must not take the old one for the new.
        until_sync(lambda: not any(map(listens, self.ports)), "the broker to be gone")

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)


class NatsServer(Process):
    """JetStream, with its files; `add_stream` makes what keeps a subject."""

    kind = "nats"

    def start(self) -> NatsServer:
        server = Path(sys.executable).with_name("nats-server")
        self.launch(str(server), "-js", "-sd", str(self.home / "js"), "-a", "127.0.0.1", "-p", str(self.port))
        self.wait_for_port(self.port)
        return self

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}?ack_wait=1s"

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Any]:
        import nats

        client = await nats.connect(f"nats://127.0.0.1:{self.port}")
        try:
            yield client.jetstream()
        finally:
            await client.close()

    async def make(self, topic: str) -> None:
        async with self.connected() as stream:
            await stream.add_stream(name=topic.replace(".", "_"), subjects=[topic])

    async def forget(self, topic: str, group: str) -> None:
        """Remove the consumer of a group, whoever takes by it."""
        async with self.connected() as stream:
            await stream.delete_consumer(topic.replace(".", "_"), group)

    async def put(self, topic: str, body: bytes, id: str | None, headers: Mapping[str, str]) -> None:
        """As another program would."""
        more = {"Nats-Msg-Id": id} if id else {}
        async with self.connected() as stream:
            await stream.publish(topic, body, headers={**headers, **more} or None)


class RabbitServer(Process):
    """RabbitMQ of the system, as a node of its own with a name server of its own."""

    kind = "amqp"

    def __init__(self) -> None:
        super().__init__()
        self.names, self.between = free_port(), free_port()

    @property
    def ports(self) -> tuple[int, ...]:
        return self.port, self.names, self.between

    def start(self) -> RabbitServer:
        program = next((path for path in RABBIT if Path(path).exists()), None)
        if program is None:
            raise RuntimeError("RabbitMQ is not there: install it with `apt-get install rabbitmq-server`")
        (self.home / "plugins").write_text("[].\n")
        self.launch("epmd", "-port", str(self.names), "-address", "127.0.0.1")
        self.wait_for_port(self.names)
        self.launch(program, variables=self._variables())
        self.wait_for_port(self.port)
        return self

    def _variables(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "ERL_EPMD_PORT": str(self.names),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"penstock{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self.between),
            "RABBITMQ_MNESIA_BASE": str(self.home / "data"),
            "RABBITMQ_LOG_BASE": str(self.home / "logs"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.home / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(self.home / "none"),
            "RABBITMQ_CONFIG_FILE": str(self.home / "none"),
        }

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Any]:
        import aio_pika

        connection = await aio_pika.connect(self.url)
        try:
            yield await connection.channel()
        finally:
            await connection.close()

    async def make(self, topic: str) -> None:
        """Any topic is there."""

    async def forget(self, _: str, group: str) -> None:
        """Delete the queue of a group, whoever takes from it."""
        async with self.connected() as channel:
            await channel.queue_delete(group)

    async def put(
        self, topic: str, body: bytes, id: str | None, headers: Mapping[str, str], **properties: Any
    ) -> None:
        """As another program would."""
        import aio_pika

        said = {f"cloudEvents:{k[3:]}" if k.startswith("ce-") else k: v for k, v in headers.items()}
        kind = said.pop("content-type", None)
        async with self.connected() as channel:
            exchange = await channel.get_exchange("amq.topic")
            message = aio_pika.Message(
                body, message_id=id, content_type=kind, headers=dict(said), delivery_mode=2, **properties
            )
            await exchange.publish(message, topic)


def _rdkafka() -> ctypes.CDLL:
    """The librdkafka that Python's client has loaded; that client itself cannot set up a mock cluster."""
    import confluent_kafka  # noqa: F401

    lines = Path("/proc/self/maps").read_text().splitlines()
    library = ctypes.CDLL(next(line.split()[-1] for line in lines if "librdkafka" in line))
    for name, answer, takes in (
        ("rd_kafka_new", ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
        ("rd_kafka_destroy", None, [ctypes.c_void_p]),
        ("rd_kafka_mock_cluster_new", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]),
        ("rd_kafka_mock_cluster_bootstraps", ctypes.c_char_p, [ctypes.c_void_p]),
        ("rd_kafka_mock_cluster_destroy", None, [ctypes.c_void_p]),
        ("rd_kafka_mock_group_initial_rebalance_delay_ms", None, [ctypes.c_void_p, ctypes.c_int32]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = answer, takes
    return library


class KafkaCluster:
    """The mock cluster of librdkafka: it speaks the protocol, and forgets all when it is removed."""

    kind = "kafka"

    def __init__(self) -> None:
        from confluent_kafka import Producer

        self._library = _rdkafka()
        self._owner = self._library.rd_kafka_new(0, None, None, 0)
        self._cluster = self._library.rd_kafka_mock_cluster_new(self._owner, 1)
        # Brokers wait for three seconds whether more members join a new group: every test would.
        self._library.rd_kafka_mock_group_initial_rebalance_delay_ms(self._cluster, 50)
        self.hosts = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        self._producer: Any = Producer({"bootstrap.servers": self.hosts, "log_level": 0})

    @property
    def url(self) -> str:
        return f"kafka://{self.hosts}?session.timeout.ms=3000&heartbeat.interval.ms=500"

    async def make(self, topic: str) -> None:
        """The mock makes a topic, of four partitions, as soon as somebody asks for it."""
        await asyncio.to_thread(self._producer.list_topics, topic, timeout=10)

    async def put(self, topic: str, body: bytes, id: str | None, headers: Mapping[str, str]) -> None:
        """As another program would, all to one partition; the offset is the id."""
        said = [(f"ce_{k[3:]}" if k.startswith("ce-") else k, v.encode()) for k, v in headers.items()]

        def put() -> None:
            self._producer.produce(topic, body, headers=said, partition=0)
            assert self._producer.flush(10) == 0

        await asyncio.to_thread(put)

    def remove(self) -> None:
        self._producer = None
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._owner)
