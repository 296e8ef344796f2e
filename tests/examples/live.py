"""The examples on a real server: `penstock up` and their scripts as processes of their own, asked over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests import waiting
from tests.cli.command import environment
from tests.cli.serving import LONGEST, serving
from tests.cli.test_front import base_of

LIMIT = 30.0
"""Seconds that anything may take."""
T = TypeVar("T")


class Live:
    """A server, asked over HTTP."""

    def __init__(self, base: str) -> None:
        self.base = base

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and answer."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = Request(
            self.base + path, raw, {"Content-Type": "application/json", **headers}, method=method
        )
        try:
            with urlopen(request, timeout=LIMIT) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def good(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.ask(method, path, body)
        assert status < 300, (status, answer)
        return answer

    def start(self, workflow: str, input: Any = None) -> str:
        """A new run; its id."""
        return str(self.good("POST", f"/api/workflows/{workflow}/runs", {"input": input})["id"])

    def until(self, run: str, *statuses: str) -> Any:
        """The run, once it has one of these statuses."""
        return until(lambda: self.good("GET", f"/api/runs/{run}"), lambda found: found["status"] in statuses)

    def runs(self, workflow: str, **filters: str) -> list[Any]:
        query = "&".join(f"{name}={value}" for name, value in filters.items())
        items: list[Any] = self.good("GET", f"/api/runs?workflow={workflow}&limit=200&{query}")["items"]
        return items

    def history(self, run: str) -> list[Any]:
        items: list[Any] = self.good("GET", f"/api/runs/{run}/history?limit=1000")["items"]
        return items


def until(look: Callable[[], T], done: Callable[[T], bool]) -> T:
    """What is seen, once it is as it should be; fails with it where it never is."""
    return waiting.until_sync(look, "what should be seen", LIMIT, so=done)


@contextmanager
def upped(workflows: Path, cwd: Path, *more: object, **variables: str) -> Iterator[Live]:
    """`penstock up` with the workflows of a folder."""
    args = ("up", "--workflows", workflows, *more)
    with serving(*args, cwd=cwd, ready=True, longest=LONGEST, program=None, **variables) as up:
        yield Live(base_of(up))
        up.stop()


@contextmanager
def script(file: Path, *args: object, cwd: Path, **variables: str) -> Iterator[str]:
    """A script of the examples that listens; its address."""
    process = subprocess.Popen(
        [sys.executable, str(file), *map(str, args)],
        cwd=cwd,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        text=True,
    )
    end = threading.Timer(2 * LIMIT, process.kill)
    end.start()
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found[0]
    finally:
        end.cancel()
        process.kill()
        process.communicate()
