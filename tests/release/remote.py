"""A task service for tests: it does what it is told, and keeps a log of what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

DROP = "drop"
"""An answer: the connection is cut without one."""
SILENCE = "silence"
"""An answer: none comes."""
FLOW = {"initialize": "pending", "start": "running", "publish": "publishing", "cancel": "canceled"}
NEXT = {"running": "staged", "publishing": "published"}

Answer = int | str | dict[str, Any]


class Remote:
    """One service. `answers` are, by action, what it says instead of what it should, in order; the last one stays.

    With `polled` it moves on whenever it is asked for its state; without, it stays until `states` is changed.
    """

    def __init__(self, name: str = "s", *, polled: bool = True, **answers: list[Answer]) -> None:
        self.name, self.polled, self.answers = name, polled, answers
        self.states: dict[str, str] = {}
        self.log: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        self.base = ""
        self.status: Answer = {"name": name, "version": "1.0"}
        self.asked = asyncio.Event()
        self.hold: asyncio.Event | None = None
        self.told: Callable[[str, str], Any] | None = None

    @property
    def actions(self) -> list[str]:
        """What it was asked to do, in order, but for its state."""
        return [action for action, _ in self.log if action != "get_status"]

    async def until(self, action: str) -> dict[str, Any]:
        """Wait until it is asked for an action; the body."""
        while True:
            self.asked.clear()
            for each, body in self.log:
                if each == action:
                    return body
            await self.asked.wait()

    async def show_status(self, request: web.Request) -> web.StreamResponse:
        if isinstance(self.status, int):
            return web.Response(status=self.status)
        return web.json_response(self.status)

    async def take(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        action, task = body["action"], body["task_id"]
        self.log.append((action, body))
        self.headers.append(dict(request.headers))
        self.asked.set()
        if action in self.answers and not self._too_early(action, task):
            told = self.answers[action]
            answer = told.pop(0) if len(told) > 1 else told[0]
            return await self._odd(request, task, answer)
        if action == "get_status":
            state = self.states.get(task)
            if state is None:
                return web.Response(status=404)
            if self.polled:
                state = self.states[task] = NEXT.get(state, state)
        else:
            state = self.states[task] = FLOW[action]
        if self.told is not None:
            await self.told(task, state)
        return web.json_response({"name": self.name, "task_id": task, "state": state, "progress": "50%"})

    def _too_early(self, action: str, task: str) -> bool:
        """What it shall say of publishing, while it is staged and only asked whether it still is."""
        first = self.answers[action][0]
        word = first.get("state") if isinstance(first, dict) else first
        asked = any(each == "publish" and body["task_id"] == task for each, body in self.log)
        waits = self.states.get(task) == "staged" and not asked
        return action == "get_status" and word in ("publishing", "published") and waits

    async def _odd(self, request: web.Request, task: str, answer: Answer) -> web.StreamResponse:
        if answer == DROP:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if answer == SILENCE:
            assert self.hold is not None
            await self.hold.wait()
            return web.Response()
        if isinstance(answer, int):
            return web.Response(status=answer)
        said = {"state": answer} if isinstance(answer, str) else answer
        if "text" in said:
            return web.Response(text=said["text"])
        if isinstance(said.get("state"), str):
            self.states[task] = said["state"]
        return web.json_response({"task_id": task, **said})


@asynccontextmanager
async def serving(*remotes: Remote) -> AsyncIterator[None]:
    """The services, each on its own port of loopback."""
    runners = []
    for remote in remotes:
        app = web.Application()
        app.router.add_get("/status", remote.show_status)
        app.router.add_post("/tasks", remote.take)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        runners.append(runner)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        remote.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        remote.hold = asyncio.Event()
    try:
        yield
    finally:
        for remote in remotes:
            if remote.hold is not None:
                remote.hold.set()
        for runner in runners:
            await runner.cleanup()
