"""Canceling: everyone is told, once their last request is over, and what they say meanwhile ends nothing early."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.postgres_server import PostgresServer
from tests.release.conftest import LIMIT, coordinating, states
from tests.release.remote import DROP, SILENCE, Answer, Remote, serving


@pytest.mark.parametrize("word", ["staged", "failed"])
def test_a_report_while_it_is_canceled_does_not_stand_for_the_answer(
    word: str, url: str, tmp_path: Path
) -> None:
    async def talk() -> None:
        slow = Remote("slow", polled=False, get_status=[SILENCE])
        patient = timedelta(seconds=10)
        async with serving(slow), coordinating(tmp_path, url, request_timeout=patient) as here:
            await here.register(slow)
            id = await here.release()
            task = (await slow.until("get_status"))["task_id"]
            await here.good("DELETE", f"/releases/{id}")
            answer = await here.good("PATCH", f"/tasks/{task}", {"state": word, "progress": 70})

            assert (answer["state"], answer["progress"]) == ("running", 0)
            assert (await here.good("GET", f"/releases/{id}"))["state"] == "canceling"
            assert slow.hold is not None
            slow.hold.set()
            assert states(await here.until(id, "canceled", "failed")) == {"slow": "canceled"}
            assert slow.actions == ["initialize", "start", "cancel"]
            told = await here.events(id)
            assert f"task {task} reports {word} while it is running: ignored" in told
            assert not any("failed:" in each for each in told)

    asyncio.run(talk())


@pytest.mark.parametrize("answer", [503, DROP])
def test_cancel_is_repeated_until_it_is_answered(answer: Answer, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", polled=False, cancel=[answer, "canceled"])
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            await here.until(id, "running")
            await here.good("DELETE", f"/releases/{id}")
            await here.until(id, "canceled")

            assert remote.actions.count("cancel") == 2

    asyncio.run(talk())


def test_a_release_is_not_over_before_its_services_were_told(tmp_path: Path) -> None:
    """However short its time: the request that is outstanding, and the cancel, must have theirs."""

    async def talk() -> None:
        slow = Remote("slow", polled=False, get_status=[SILENCE])
        short: dict[str, Any] = {"timeout": timedelta(seconds=0.5), "request_timeout": timedelta(seconds=1.5)}
        async with serving(slow), coordinating(tmp_path, **short) as here:
            await here.register(slow)
            id = await here.release()
            async with asyncio.timeout(LIMIT):
                await slow.until("get_status")
                await here.until(id, "canceled", "failed")

            assert slow.actions == ["initialize", "start", "cancel"]

    asyncio.run(talk())


def test_cancel_waits_for_a_request_that_another_server_has_outstanding(
    server: PostgresServer, tmp_path: Path
) -> None:
    async def talk() -> None:
        slow = Remote("slow", start=[SILENCE])
        patient: dict[str, Any] = {"request_timeout": timedelta(seconds=10), "url": server.create_database()}
        async with (
            serving(slow),
            coordinating(tmp_path, **patient) as one,
            coordinating(tmp_path, **patient) as two,
        ):
            await one.register(slow)
            id = await one.release()
            await slow.until("start")
            await two.good("DELETE", f"/releases/{id}")
            await two.until(id, "canceling")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(slow.until("cancel"), 1)
            assert slow.hold is not None
            slow.hold.set()

            await two.until(id, "canceled")
            assert slow.actions == ["initialize", "start", "cancel"]

    for _ in range(3):  # either server may be the one that cancels
        asyncio.run(talk())
