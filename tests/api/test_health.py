"""Whether it is there and ready, which anybody may ask."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from penstock.api.readiness import Readiness
from penstock.secrets.errors import SecretKeyError
from tests.api.conftest import Client, Serve

AWAY = "the database does not answer: the log of the server says why"


class Locked:
    """A vault that counts its checks and fails on demand."""

    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = None

    async def check(self) -> None:
        self.asked += 1
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error


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
        client.service.access.vault = vault = Locked()  # type: ignore[assignment]
        vault.error = RuntimeError("connection to 10.0.0.5 failed for user penstock")
        return await client.get("/ready")

    answer = serve(talk, open=False)

    assert (answer.status, answer.json) == (503, {"status": "away", "detail": AWAY})


def test_a_node_without_the_key_of_the_secrets_is_not_ready(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        client.service.access.vault = vault = Locked()  # type: ignore[assignment]
        vault.error = SecretKeyError("sealed with the key 0123456789ab")
        return await client.get("/ready")

    answer = serve(talk, open=False)

    assert (answer.status, answer.json["status"]) == (503, "locked")
    assert "0123456789ab" not in answer.text


def test_the_database_is_asked_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now, vault = [100.0], Locked()
    monkeypatch.setattr("penstock.api.readiness.monotonic", lambda: now[0])

    async def talk() -> list[str | None]:
        pulse = Readiness()
        found = list(await asyncio.gather(*(pulse.trouble(vault) for _ in range(3))))  # type: ignore[arg-type]
        vault.error = RuntimeError("away")
        found.append(await pulse.trouble(vault))  # type: ignore[arg-type]
        now[0] += 1
        return [*found, await pulse.trouble(vault)]  # type: ignore[arg-type]

    assert (asyncio.run(talk()), vault.asked) == ([None, None, None, None, "away"], 2)
