"""The coordinator is killed between any two calls and started again: the release ends rightly all the same."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.postgres_server import PostgresServer, free_port
from tests.release.conftest import LIMIT, Client, coordinating, states
from tests.release.remote import SILENCE, Remote, serving
from tests.waiting import until

ROOT = Path(__file__).parents[2]


class Host(Client):
    """A coordinator that is killed, and started again at the same address."""

    def __init__(self, url: str, folder: Path, session: aiohttp.ClientSession) -> None:
        self.url, self.folder, self.port = url, folder, free_port()
        super().__init__(f"http://127.0.0.1:{self.port}", session)
        self.process: asyncio.subprocess.Process | None = None
        self.kills = 0

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.release.host",
            self.url,
            str(self.folder),
            str(self.port),
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        )
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT):
            assert await self.process.stdout.readline() == b"ready\n"

    async def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()
        self.kills += 1


class Deadly(Remote):
    """A service at each of whose calls the coordinator dies, once: before the answer, or right after it."""

    def __init__(self, name: str, *points: tuple[str, str]) -> None:
        super().__init__(name)
        self.points = list(points)
        self.reached: asyncio.Queue[str] = asyncio.Queue()
        self.dead: asyncio.Event = asyncio.Event()

    async def take(self, request: web.Request) -> web.StreamResponse:
        action = (await request.json())["action"]
        point = next((each for each in self.points if each[0] == action), None)
        if point is None:
            return await super().take(request)
        self.points.remove(point)
        answer = await super().take(request) if point[1] == "after" else web.Response(status=500)
        self.dead.clear()
        self.reached.put_nowait(action)
        await self.dead.wait()
        return answer


POINTS = [
    (action, when)
    for action in ("initialize", "start", "get_status", "publish")
    for when in ("before", "after")
]


async def survives(host: Host, deadly: Deadly, wish: Any) -> dict[str, Any]:
    """Kill and start the host at each point while `wish` comes true; what it comes to."""
    wished = asyncio.ensure_future(wish)
    while not wished.done():
        point = asyncio.ensure_future(deadly.reached.get())
        await asyncio.wait([wished, point], return_when=asyncio.FIRST_COMPLETED)
        if not point.done():
            point.cancel()
            break
        await host.kill()
        deadly.dead.set()
        await host.start()
    return dict(await wished)


async def patient(host: Host, id: str, *states: str) -> dict[str, Any]:
    """Wait for a state of a release, however often the host is away."""

    async def look() -> Any:
        with suppress(aiohttp.ClientError, AssertionError):
            return await host.good("GET", f"/releases/{id}")

    found = await until(
        look,
        f"a release that is {' or '.join(states)}",
        4 * LIMIT,
        so=lambda found: found and found["state"] in states,
    )
    return dict(found)


def test_a_release_survives_the_death_of_its_coordinator_at_every_call(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        deadly, other = Deadly("deadly", *POINTS), Remote("other")
        async with serving(deadly, other), aiohttp.ClientSession() as session:
            host = Host(url, tmp_path, session)
            await host.start()
            try:
                await host.register(deadly, other)
                id = await host.release()
                await survives(host, deadly, patient(host, id, "staged", "failed", "canceled"))
                assert "publish" not in deadly.actions + other.actions
                await host.good("POST", f"/releases/{id}/publish")
                ended = await survives(host, deadly, patient(host, id, "published", "failed", "canceled"))

                assert (ended["state"], set(states(ended).values())) == ("published", {"published"})
                assert (ended["version"], deadly.points) == ("0.1.0", [])
                assert host.kills == len(POINTS)
                assert "cancel" not in deadly.actions + other.actions
            finally:
                await host.kill()

    asyncio.run(talk())


def test_a_coordinator_that_dies_while_it_cancels_tells_everyone_all_the_same(
    url: str, tmp_path: Path
) -> None:
    async def talk() -> None:
        deadly = Deadly("deadly", ("cancel", "before"))
        other = Remote("other", polled=False)
        async with serving(deadly, other), aiohttp.ClientSession() as session:
            host = Host(url, tmp_path, session)
            await host.start()
            try:
                await host.register(deadly, other)
                id = await host.release()
                await host.until(id, "running")
                await host.good("DELETE", f"/releases/{id}")
                ended = await survives(host, deadly, patient(host, id, "canceled", "failed"))

                assert (ended["state"], set(states(ended).values())) == ("canceled", {"canceled"})
                assert deadly.actions[-1] == other.actions[-1] == "cancel"
            finally:
                await host.kill()

    asyncio.run(talk())


def test_a_report_that_was_answered_survives_the_death_of_the_coordinator(tmp_path: Path) -> None:
    """It came before all had started, was kept, and the coordinator died before it could be handed over."""

    async def talk() -> None:
        push, slow = Remote("push", polled=False, get_status=[405]), Remote("slow", start=[SILENCE])
        async with serving(push, slow), aiohttp.ClientSession() as session:
            host = Host(str(tmp_path / "r.db"), tmp_path, session)
            await host.start()
            try:
                await host.register(push, slow)
                id = await host.release()
                task = (await push.until("start"))["task_id"]
                await slow.until("start")
                await host.good("PATCH", f"/tasks/{task}", {"state": "staged"})
                await host.kill()
                slow.answers.clear()
                await host.start()

                ended = await patient(host, id, "staged", "failed", "canceled")
                assert (ended["state"], set(states(ended).values())) == ("staged", {"staged"})
            finally:
                await host.kill()

    asyncio.run(talk())


def test_a_release_that_goes_on_survives_the_death_of_its_coordinator(tmp_path: Path) -> None:
    async def talk() -> None:
        good, deadly = Remote("good"), Deadly("deadly")
        async with serving(good, deadly), aiohttp.ClientSession() as session:
            host = Host(str(tmp_path / "r.db"), tmp_path, session)
            await host.start()
            try:
                await host.register(good, deadly)
                id = await host.release()
                tasks = {t["service_name"]: t["kf_id"] for t in (await host.until(id, "staged"))["tasks"]}
                deadly.answers["get_status"] = ["publishing"]
                await host.good("POST", f"/releases/{id}/publish")
                await host.until_task(tasks["good"], "published")
                deadly.answers["get_status"] = ["failed"]
                await host.until(id, "failed")
                deadly.answers.clear()
                deadly.points = [("publish", "before"), ("publish", "after")]
                await host.good("POST", f"/releases/{id}/publish")
                ended = await survives(host, deadly, patient(host, id, "published", "failed", "canceled"))

                assert (ended["state"], ended["partly_published"], deadly.points) == ("published", [], [])
                assert good.actions.count("publish") == 1
            finally:
                await host.kill()

    asyncio.run(talk())


def test_a_release_that_an_earlier_version_kept_goes_on(tmp_path: Path) -> None:
    late = (
        "round",
        "resumed",
        "asked",
        "out",
        "canceling",
        "ignored",
        "workflow",
        "begun_with",
        "partly_published",
    )

    async def talk() -> None:
        remote = Remote("a")
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            await here.until(id, "staged")
            kept = await here.coordinator.documents.get(f"releases/{id}")
            assert kept is not None
            old = {name: value for name, value in kept.data.items() if name not in late}
            assert await here.coordinator.documents.change(update=[(kept, old)])
            assert (await here.good("GET", f"/releases/{id}"))["partly_published"] == []
            await here.good("POST", f"/releases/{id}/publish")

            assert (await here.until(id, "published", "failed"))["state"] == "published"

    asyncio.run(talk())


def test_a_database_that_is_restarted_fails_no_release(tmp_path: Path) -> None:
    async def talk(postgres: PostgresServer) -> None:
        remotes = [Remote("a", polled=False), Remote("b", polled=False)]
        async with serving(*remotes), coordinating(tmp_path, postgres.create_database()) as here:
            await here.register(*remotes)
            id = await here.release()
            await here.until(id, "running")
            await asyncio.to_thread(postgres.stop, "fast")
            await asyncio.sleep(0.5)  # it is away for many polls
            await asyncio.to_thread(postgres.start)
            for remote in remotes:
                remote.polled = True

            assert (await once_up(here, id))["state"] == "staged"

    async def once_up(here: Client, id: str) -> Any:
        """The release once it is at rest; until then the database may be away for the caller too."""
        _, shown = await until(
            lambda: here.ask("GET", f"/releases/{id}"),
            "a release at rest",
            LIMIT,
            so=lambda found: found[0] == 200 and found[1]["state"] in ("staged", "failed", "canceled"),
        )
        return shown

    postgres = PostgresServer().start()
    try:
        asyncio.run(talk(postgres))
    finally:
        postgres.remove()
