"""How fast a release with many services goes, and what polling them costs: prints the figures as JSON.

`python scripts/bench_releases.py [SERVICES] [SECONDS]`: each service takes a second to stage; then all are polled every
5 seconds for SECONDS, and the processor time of the coordinator is measured; last, all report at the same moment.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from multiprocessing import Process, Queue
from pathlib import Path
from typing import Any

from aiohttp import web

from penstock import Engine
from penstock.boxes.task_environment import TaskEnvironment
from penstock_release.coordinator import Coordinator
from penstock_release.options import Options

WORK = 1.0
"""Seconds that a service takes to stage and to publish."""
THEN = {"running": "staged", "publishing": "published"}
STATES = {"initialize": "pending", "start": "running", "publish": "publishing", "cancel": "canceled"}


def serve(ports: Queue[int], slow: bool) -> None:
    """All services in a process of their own: each has its path."""
    tasks: dict[str, tuple[str, float]] = {}

    async def take(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body["action"] == "get_status" and request.match_info["name"].startswith("push"):
            return web.Response(status=405)
        state, since = tasks.get(body["task_id"], ("pending", 0.0))
        if body["action"] != "get_status":
            state, since = STATES[body["action"]], time.monotonic()
        elif not slow and time.monotonic() - since >= WORK:
            state = THEN.get(state, state)
        tasks[body["task_id"]] = (state, since)
        return web.json_response({"state": state, "progress": 50})

    async def main() -> None:
        app = web.Application()
        app.router.add_get("/{name}/status", lambda request: _named())
        app.router.add_post("/{name}/tasks", take)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        ports.put(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(main())


async def _named() -> web.StreamResponse:
    return web.json_response({"name": "bench"})


async def until(here: Coordinator, id: str, state: str) -> None:
    """Wait until a release is in a state."""
    while (await here.releases.fresh(id)).state != state:
        await asyncio.sleep(0.05)


def phases(history: list[dict[str, Any]]) -> dict[str, float]:
    """How long each phase took, from its first call to its last answer, by the history of the run."""
    at = {(entry["kind"], entry["step"]): datetime.fromisoformat(entry["at"]) for entry in history}
    spans = {
        "initialize": ("initialize", "initialize"),
        "stage": ("start", "stage"),
        "publish": ("publish", "publish"),
    }
    found = {
        f"{name}_seconds": round((at["ended", last] - at["fired", first]).total_seconds(), 2)
        for name, (first, last) in spans.items()
    }
    return {**found, "slowest_service_seconds": WORK}


@asynccontextmanager
async def begun(count: int, port: int, name: str, poll: float = 10) -> AsyncIterator[tuple[Coordinator, str]]:
    """A coordinator with so many services, and a release that goes to all of them."""
    with tempfile.TemporaryDirectory() as folder:
        options = Options(poll_interval=timedelta(seconds=poll), health_every=timedelta(hours=1))
        engine = Engine(
            str(Path(folder) / "bench.db"), world=TaskEnvironment(egress_allow=["127.0.0.1"]), grace=0
        )
        async with engine, Coordinator(engine, options) as here:
            for n in range(count):
                url = f"http://127.0.0.1:{port}/{name}{n}"
                await here.services.register({"name": f"s{n}", "description": "d", "author": "a", "url": url})
            yield here, (await here.create({"name": "R", "studies": []})).id


async def measure(count: int, port: int, poll: float, seconds: float, slow: bool) -> dict[str, Any]:
    async with begun(count, port, "", poll) as (here, id):
        if slow:
            await until(here, id, "running")
            await asyncio.sleep(5)  # until all have started
            used, at = time.process_time(), time.monotonic()
            await asyncio.sleep(seconds)
            share = (time.process_time() - used) / (time.monotonic() - at)
            return {"poll_seconds": poll, "percent_of_a_core": round(100 * share, 2)}
        await until(here, id, "staged")
        await here.publish(id)
        await until(here, id, "published")
        return phases(await here.engine.history((await here.releases.whole(id)).release.data["run"]))


async def pushed(count: int, port: int) -> dict[str, Any]:
    """How long it takes from reports of all services at once until the release shows it."""
    found = {}
    async with begun(count, port, "push") as (here, id):
        for before, word in (("running", "staged"), ("publishing", "published")):
            await until(here, id, before)
            await asyncio.sleep(5)  # until all are asked
            tasks, at = (await here.releases.whole(id)).release.data["tasks"], time.monotonic()
            await asyncio.gather(*(here.reports.take(task, {"state": word}) for task in tasks))
            await until(here, id, word)
            found[f"pushed_{word}_seconds"] = round(time.monotonic() - at, 2)
            if word == "staged":
                await here.publish(id)
    return found


def run(slow: bool, does: Callable[[int], Coroutine[Any, Any, dict[str, Any]]]) -> dict[str, Any]:
    """Do something with services that listen on a port."""
    ports: Queue[int] = Queue()
    services = Process(target=serve, args=(ports, slow), daemon=True)
    services.start()
    try:
        return asyncio.run(does(ports.get()))
    finally:
        services.kill()


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    count, seconds = int((sys.argv[1:] or ["200"])[0]), float((sys.argv[2:] or ["20"])[0])
    found = run(False, lambda port: measure(count, port, 0.25, seconds, False))
    found |= run(True, lambda port: measure(count, port, 5, seconds, True))
    found |= run(True, lambda port: pushed(count, port))
    print(json.dumps({"services": count, **found}))
