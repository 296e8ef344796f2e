"""The example service, asked and reporting, takes part in releases of `penstock up`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.release.conftest import LIMIT, OWN, Client, states
from tests.waiting import nothing_happens, until

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "task_service" / "service.py"


@asynccontextmanager
async def process(*command: str, **more: Any) -> AsyncIterator[asyncio.StreamReader]:
    """A process while the block runs; what it says."""
    made = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, **more
    )
    assert made.stdout is not None
    try:
        yield made.stdout
    finally:
        with suppress(ProcessLookupError):  # it has ended by itself
            made.kill()
        await made.wait()


async def address(said: asyncio.StreamReader) -> str:
    """The first address that a process tells."""
    async with asyncio.timeout(2 * LIMIT):
        while True:
            line = (await said.readline()).decode()
            assert line, "it has ended"
            for word in line.split():
                if word.startswith("http://"):
                    return word.rstrip("/,.")


@asynccontextmanager
async def upped(folder: Path) -> AsyncIterator[str]:
    more = {
        "PYTHONPATH": str(ROOT / "src"),
        "PENSTOCK_TOKEN": OWN,
        "PENSTOCK_EGRESS_ALLOW": "127.0.0.1",
        "PENSTOCK_RELEASE_POLL_INTERVAL": "50ms",
        "PENSTOCK_RELEASE_OPEN_REPORTS": "true",
    }
    how: dict[str, Any] = {"cwd": folder, "env": {**os.environ, **more}}
    async with process("-m", "penstock", "up", "--port", "0", **how) as said:
        yield await address(said)


def test_the_example_knows_its_tasks_after_a_restart(tmp_path: Path) -> None:
    how = (str(EXAMPLE), "--port", "0", "--seconds", "0.1", "--keep", str(tmp_path / "tasks.json"))

    async def talk() -> None:
        async with aiohttp.ClientSession() as session:

            async def ask(base: str, action: str) -> str:
                body = {"action": action, "task_id": "TA_1", "release_id": "RE_1", "studies": ["SD_1"]}
                async with session.post(f"{base}/tasks", json=body) as answer:
                    return str((await answer.json())["state"])

            async with process(*how) as said:
                base = await address(said)
                assert [await ask(base, "initialize"), await ask(base, "start")] == ["pending", "running"]
            async with process(*how) as said, asyncio.timeout(LIMIT):
                base = await address(said)
                await until(
                    lambda: ask(base, "get_status"), "the end", LIMIT, so=lambda state: state == "staged"
                )

    asyncio.run(talk())


@asynccontextmanager
async def hearing(hears: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """Something in the place of a coordinator that takes the reports of TA_1; its address."""
    app = web.Application()
    app.router.add_patch("/tasks/TA_1", hears)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def staging(there: str) -> None:
    """Let a service stage TA_1."""
    async with aiohttp.ClientSession() as session:
        for action in ("initialize", "start"):
            body = {"action": action, "task_id": "TA_1", "release_id": "RE_1", "studies": ["SD_1"]}
            async with session.post(f"{there}/tasks", json=body) as answer:
                assert answer.status == 200


def test_the_example_reports_after_a_restart_what_nobody_has_heard(tmp_path: Path) -> None:
    """And what was heard it does not report again."""
    kept = tmp_path / "tasks.json"
    how = (str(EXAMPLE), "--port", "0", "--seconds", "0", "--only-push", "--keep", str(kept), "--push")
    heard: list[Any] = []

    async def coordinator(request: web.Request) -> web.StreamResponse:
        heard.append(await request.json())
        return web.Response()

    def told() -> Any:
        return json.loads(kept.read_text())[0].get("told") if kept.exists() else None

    async def talk() -> None:
        async with process(*how, "http://127.0.0.1:9") as said, asyncio.timeout(LIMIT):  # nobody is there
            await staging(await address(said))
            await until(lambda: json.loads(kept.read_text())[0]["state"] == "staged", "the end", LIMIT)
        async with hearing(coordinator) as base, asyncio.timeout(2 * LIMIT):
            async with process(*how, base) as said:
                await address(said)
                await until(lambda: told() == "staged", "the report", LIMIT)
            async with process(*how, base) as said:
                await address(said)
                await nothing_happens(0.3)

    asyncio.run(talk())
    assert heard == [{"state": "staged", "progress": 100}]


def test_the_example_publishes_in_both_modes(tmp_path: Path) -> None:
    async def talk() -> None:
        async with AsyncExitStack() as stack:
            base = await stack.enter_async_context(upped(tmp_path))
            here = Client(base, await stack.enter_async_context(aiohttp.ClientSession()))
            for name, more in (("asked", ()), ("reports", ("--push", base))):
                quick = ("--seconds", "0.1", "--port", "0", "--name", name)
                said = await stack.enter_async_context(process(str(EXAMPLE), *quick, *more))
                body = {"name": name, "description": "d", "author": "a", "url": await address(said)}
                await here.good("POST", "/task-services", body)
            id = await here.release()
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")
            ended = await here.until(id, "published", "failed")

            assert (ended["version"], states(ended)) == (
                "0.1.0",
                {"asked": "published", "reports": "published"},
            )
            assert "/task-services" in (await here.good("GET", "/openapi.json"))["paths"]

    asyncio.run(talk())


def test_the_example_of_a_release_can_be_run_again(tmp_path: Path) -> None:
    async def talk() -> None:
        async with upped(tmp_path) as base, aiohttp.ClientSession() as session:
            here = Client(base, session)
            how: dict[str, Any] = {"env": {**os.environ, "PENSTOCK_TOKEN": OWN}}
            for version in ("0.1.0", "0.2.0"):
                example = (str(ROOT / "examples" / "release" / "release.py"), "--server", base, "--publish")
                async with process(*example, **how) as said, asyncio.timeout(2 * LIMIT):
                    assert (await said.read()).decode().endswith(f"is published as {version}\n")
            found = (await here.good("GET", "/task-services?limit=100"))["results"]

            assert [(each["name"], each["enabled"]) for each in found] == [
                ("archive", False),
                ("portal", False),
                ("index", False),
            ]

    asyncio.run(talk())


def test_the_example_reports_its_end_until_it_is_answered() -> None:
    heard: list[Any] = []

    async def coordinator(request: web.Request) -> web.StreamResponse:
        heard.append(await request.json())
        return web.Response(status=503 if len(heard) < 8 else 200)

    async def talk() -> None:
        how = (str(EXAMPLE), "--port", "0", "--seconds", "0", "--only-push")
        async with hearing(coordinator) as base, process(*how, "--push", base) as said:
            await staging(await address(said))
            await until(lambda: len(heard) >= 8, "eight reports", 2 * LIMIT)

    asyncio.run(talk())
    assert [each["progress"] for each in heard] == [25, 50, 75, 100, 100, 100, 100, 100]
