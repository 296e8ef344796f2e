"""A server that stops: whoever still waits for an answer then is told so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from penstock.server import http
from penstock.store.rows.change import Change
from tests.api.conftest import standing


def test_a_call_that_does_not_end_in_time_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(http, "DRAIN", 1)

    async def main() -> tuple[int, str]:
        begun, over = asyncio.Event(), asyncio.Event()

        async def hang(changes: Sequence[Change]) -> Any:
            begun.set()
            await over.wait()
            raise ConnectionError("nobody answers")

        async with aiohttp.ClientSession() as session, asyncio.timeout(30):
            async with standing(tmp_path) as (base, service):
                node = (await service.engine.running()).node
                monkeypatch.setattr(node.store, "commit", hang)
                asked = asyncio.create_task(session.post(f"{base}/api/workflows/chain/runs", json={}))
                await begun.wait()
                asyncio.get_running_loop().call_later(3, over.set)
            answer = await asked
            return answer.status, (await answer.json())["detail"]

    status, detail = asyncio.run(main())
    assert status == 503
    assert "this server is stopping" in detail
    assert "Exception in ASGI application" not in caplog.text
