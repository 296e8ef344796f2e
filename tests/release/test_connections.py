"""Servers close connections that nobody uses: a service that does so just when it is called has done nothing wrong."""

from __future__ import annotations

import asyncio
from asyncio import BaseTransport
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from aiohttp import web

from penstock.boxes import task_environment
from tests.release.conftest import coordinating, states
from tests.release.remote import Remote, serving


class Lapsing(Remote):
    """A service that keeps connections, and has closed each by the time that it is used again."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._used: WeakSet[BaseTransport] = WeakSet()
        self.lapsed = 0

    async def show_status(self, request: web.Request) -> web.StreamResponse:
        return await (super().show_status(request) if self._first(request) else self._gone(request))

    async def take(self, request: web.Request) -> web.StreamResponse:
        return await (super().take(request) if self._first(request) else self._gone(request))

    def _first(self, request: web.Request) -> bool:
        assert request.transport is not None
        known = request.transport in self._used
        self._used.add(request.transport)
        return not known

    async def _gone(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        self.lapsed += 1
        request.transport.abort()
        return web.Response()


def test_a_connection_that_a_service_has_just_closed_fails_no_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_environment, "SHORT_KEEP_ALIVE", 0.0)

    async def talk() -> None:
        remotes: list[Any] = [Lapsing("a"), Lapsing("b")]
        async with serving(*remotes), coordinating(tmp_path) as here:
            await here.register(*remotes)
            id = await here.release()
            await here.until(id, "staged", "failed")
            await here.good("POST", "/task-services/health_checks")
            await here.good("POST", f"/releases/{id}/publish")
            ended = await here.until(id, "published", "failed", "canceled")

            assert states(ended) == {"a": "published", "b": "published"}
            assert all(each.actions == ["initialize", "start", "publish"] for each in remotes)
            assert any(each.lapsed for each in remotes)  # what may be sent twice was
            assert not [told for told in await here.events(id) if "again" in told or "failed" in told]

    asyncio.run(talk())
