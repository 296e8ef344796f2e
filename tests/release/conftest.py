"""A Penstock that coordinates releases, on either database, and a client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from penstock import Engine
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.boxes.task_environment import TaskEnvironment
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import serving
from penstock.store.open import open_store
from penstock_release.api import calls_for
from penstock_release.api.answers import PART
from penstock_release.coordinator import Coordinator
from penstock_release.options import Options
from tests.boxes.conftest import ONE_STORE as ONE_STORE
from tests.boxes.conftest import url as url
from tests.release.remote import Remote
from tests.waiting import until

OWN = "the-admin-token-of-the-tests"
STUDY = "SD_00000001"
QUICK = {
    "poll_interval": timedelta(milliseconds=30),
    "request_timeout": timedelta(seconds=2),
    "task_timeout": timedelta(minutes=5),
    "look_every": timedelta(milliseconds=50),
    "health_every": timedelta(hours=1),
    "heartbeat": timedelta(seconds=1),
}
LIMIT = 20
"""Seconds that anything may take here."""


class Client:
    """Whoever uses the coordinator over HTTP."""

    def __init__(self, base: str, session: aiohttp.ClientSession) -> None:
        self.base, self.session = base, session

    async def ask(self, method: str, path: str, json: Any = None, token: str | None = OWN) -> tuple[int, Any]:
        headers = {"content-type": "application/json"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        data = json if isinstance(json, bytes) else None if json is None else msgspec.json.encode(json)
        address = path if path.startswith("http") else self.base + path
        async with self.session.request(method, address, data=data, headers=headers) as answer:
            raw = await answer.read()
            return answer.status, msgspec.json.decode(raw) if raw else None

    async def good(self, method: str, path: str, json: Any = None) -> Any:
        status, answer = await self.ask(method, path, json)
        assert status < 300, (status, answer)
        return answer

    async def register(self, *remotes: Remote, **more: Any) -> list[str]:
        """Register services; their ids."""
        return [
            (await self.good("POST", "/task-services", service(remote) | more))["kf_id"] for remote in remotes
        ]

    async def release(self, **more: Any) -> str:
        """Begin a release; its id."""
        await self.ask("POST", "/studies", {"kf_id": STUDY, "name": "A study"})
        made = await self.good("POST", "/releases", {"name": "R", "studies": [STUDY], **more})
        return str(made["kf_id"])

    async def until(self, id: str, *states: str) -> dict[str, Any]:
        """Wait until a release is in one of these states; the release."""
        shown = await until(
            lambda: self.good("GET", f"/releases/{id}"),
            f"a release that is {' or '.join(states)}",
            LIMIT,
            so=lambda shown: shown["state"] in states,
        )
        return dict(shown)

    async def until_task(self, id: str, state: str) -> dict[str, Any]:
        """Wait until a task is in a state; the task."""
        return await self._until_task(id, "state", state)

    async def until_progress(self, task: str, progress: int) -> dict[str, Any]:
        """Wait until a task has come so far; the task."""
        return await self._until_task(task, "progress", progress)

    async def _until_task(self, id: str, name: str, value: object) -> dict[str, Any]:
        shown = await until(
            lambda: self.good("GET", f"/tasks/{id}"),
            f"a task whose {name} is {value}",
            LIMIT,
            so=lambda shown: shown[name] == value,
        )
        return dict(shown)

    async def until_told(self, id: str, begins: str) -> None:
        """Wait until an event of a release begins so."""
        await until(
            lambda: self.events(id),
            f"an event that begins with {begins!r}",
            LIMIT,
            so=lambda told: any(each.startswith(begins) for each in told),
        )

    async def events(self, id: str) -> list[str]:
        """The messages of a release, the oldest first, without ids."""
        found = (await self.good("GET", f"/events?release={id}&limit=1000"))["results"]
        return [event["message"] for event in reversed(found)]


class Site(Client):
    """A Penstock that runs in this process, and a client of it."""

    def __init__(self, base: str, session: aiohttp.ClientSession, coordinator: Coordinator) -> None:
        super().__init__(base, session)
        self.coordinator, self.engine = coordinator, coordinator.engine


def service(remote: Remote) -> dict[str, Any]:
    return {"name": remote.name, "description": "of tests", "author": "tests", "url": remote.base}


def states(release: dict[str, Any]) -> dict[str, str]:
    """The state of each task, by the name of its service."""
    return {task["service_name"]: task["state"] for task in release["tasks"]}


@asynccontextmanager
async def coordinating(
    folder: Path, url: str = "memory:", *, port: int = 0, allow: tuple[str, ...] = ("127.0.0.1",), **more: Any
) -> AsyncIterator[Site]:
    """A coordinator that may call 127.0.0.1."""
    options = Options(**{**QUICK, **more})
    store = None if url == "memory:" else await open_store(url)
    engine = Engine(store=store, world=TaskEnvironment(egress_allow=allow), grace=0)
    async with engine:
        running = await engine.running()
        access = Access(running.store, Vault(running.store, Keys(folder / "keys", None)), OWN)
        own = await Service.of(engine, access)
        async with (
            Coordinator(engine, options) as coordinator,
            aiohttp.ClientSession() as session,
        ):
            own.parts[PART] = coordinator
            app = App(own, (*CALLS, *calls_for(options)))
            async with serving(app, "127.0.0.1", port) as base:
                yield Site(base, session, coordinator)
