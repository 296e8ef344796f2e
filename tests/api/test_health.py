"""Whether it is there and ready, which anybody may ask."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from penstock.api.pulse import Pulse
from tests.api.conftest import Client, Serve

AWAY = "the database does not answer: the log of the server says why"


class Notes:
    """A store that counts, and fails where it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = None

    async def notes(self, prefix: str) -> dict[str, str]:
        self.asked += 1
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return {}


def test_a_server_whose_database_answers_is_ready(serve: Serve) -> None:
    answer = serve(lambda client: client.get("/ready"), open=False)

    assert (answer.status, answer.json) == (200, {"status": "ok", "detail": None})


def test_a_server_is_not_ready_before_what_it_serves_is_there(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        client.service.begun = asyncio.Event()
        before = await client.get("/ready")
        client.service.begun.set()
        return before, await client.get("/ready")

    before, after = serve(talk, open=False)

    assert (before.status, before.json["status"], after.status) == (503, "starting", 200)


def test_why_the_database_does_not_answer_is_for_the_log(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        client.service.store = store = Notes()  # type: ignore[assignment]
        store.error = RuntimeError("connection to 10.0.0.5 failed for user penstock")
        return await client.get("/ready")

    answer = serve(talk, open=False)

    assert (answer.status, answer.json) == (503, {"status": "away", "detail": AWAY})


def test_the_database_is_asked_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now, store = [100.0], Notes()
    monkeypatch.setattr("penstock.api.pulse.monotonic", lambda: now[0])

    async def talk() -> list[bool]:
        pulse = Pulse()
        found = await asyncio.gather(*(pulse.beats(store) for _ in range(3)))  # type: ignore[arg-type]
        store.error = RuntimeError("away")
        found.append(await pulse.beats(store))  # type: ignore[arg-type]
        now[0] += 1
        return [*found, await pulse.beats(store)]  # type: ignore[arg-type]

    assert (asyncio.run(talk()), store.asked) == ([True, True, True, True, False], 2)
