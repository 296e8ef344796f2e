"""Webhooks of `notify`: signed so that receivers can tell, called again until taken, and only where it is allowed."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from penstock.access.caller import ANYBODY_HERE
from penstock.boxes.task_environment import TaskEnvironment
from penstock.engine.background import outbox_publisher, webhooks
from penstock.engine.background.webhooks import DELIVERY_TIMEOUT, NotTaken, Webhooks
from penstock.sources.hooks.signatures import standard, validate_timestamp
from penstock.topics.bus import Outgoing
from penstock.topics.errors import MessageRefused
from tests.boxes.conftest import Functions, Site, functions, says, site
from tests.waiting import until

KEY = f"whsec_{b64encode(b'a secret of the tests, long enough').decode()}"


def tells(address: str, **more: Any) -> dict[str, Any]:
    return {
        "notify": [{"url": address, "secret": "HOOK", **more}],
        "steps": {"a": {"task": "set", "with": {"n": 1}, "emits": ["paid", "OK"]}},
    }


def told(
    folder: Path, url: str, talk: Callable[[Site, Functions], Awaitable[Any]], **paths: Any
) -> tuple[Any, Functions]:
    """What a talk comes to with a Penstock that has the secret HOOK, and a receiver that may be called."""

    async def main() -> tuple[Any, Functions]:
        async with functions(**paths) as there, site(folder, url) as here:
            await here.service.access.set_secret(ANYBODY_HERE, "HOOK", KEY)
            return await talk(here, there), there

    return asyncio.run(main())


async def empty(here: Site) -> None:
    """Wait until nothing waits to be published."""
    outbox = (await here.engine.running()).store.outbox
    await until(outbox, "an empty outbox", so=lambda rows: not rows)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again at once."""
    monkeypatch.setattr(outbox_publisher, "MIN_DELAY", 0.02)
    monkeypatch.setattr(webhooks, "FAILED_RECEIVER_PAUSE", 0.0)


def test_events_and_ends_of_a_run_are_told_in_order_and_signed(tmp_path: Path, url: str) -> None:
    async def talk(here: Site, there: Functions) -> dict[str, Any]:
        run = await here.run(tells(f"{there.base}/hook?for=shop", events=["paid"], statuses=["succeeded"]))
        await empty(here)
        return run

    run, there = told(tmp_path, url, talk, hook=says(None))
    events = [body for _, _, body in there.got]
    assert [each["type"] for each in events] == ["penstock.event", "penstock.run.succeeded"]
    for _, headers, body in there.got:
        fits, id, at = standard(headers, msgspec.json.encode(body))
        assert fits(KEY) and id == body["id"] and id.startswith(run["id"])
        validate_timestamp(at, datetime.now(UTC))
    assert there.got[0][1]["content-type"] == "application/cloudevents+json"


def test_another_penstock_takes_it_as_a_webhook(tmp_path: Path) -> None:
    taker = {
        "penstock": 1,
        "name": "taker",
        "source": {
            "kind": "webhook",
            "verify": {"method": "standard", "secret": "HOOK"},
            "input": "body",
        },
        "steps": {"b": {"task": "set", "with": {}, "emits": "OK"}},
    }

    async def talk(here: Site, there: Functions) -> dict[str, Any]:
        await here.engine.publish(taker, start=True)
        await here.run(tells(f"{here.base}/hooks/taker"))
        await empty(here)
        [row] = await here.engine.runs(workflow="taker")
        return await here.engine.show(row["id"])

    run, _ = told(tmp_path, "memory:", talk)
    assert run["input"] == {"status": "succeeded", "result": {"n": 1}, "error": None}


def test_a_receiver_that_fails_is_called_again_under_the_same_id(
    tmp_path: Path, url: str, hasty: None
) -> None:
    answers = iter([503, 500])

    async def busy(request: web.Request) -> web.Response:
        return web.Response(status=next(answers, 204))

    async def talk(here: Site, there: Functions) -> str:
        run = await here.run(tells(f"{there.base}/busy"))
        await empty(here)
        return str(run["status"])

    status, there = told(tmp_path, url, talk, busy=busy)
    assert status == "succeeded"
    assert len(there.got) == 3 and len({headers["webhook-id"] for _, headers, _ in there.got}) == 1


def test_a_receiver_that_is_gone_is_told_nothing_more(tmp_path: Path, url: str) -> None:
    async def talk(here: Site, there: Functions) -> list[dict[str, Any]]:
        await here.run(tells(f"{there.base}/gone?token=hush"))
        await empty(here)
        return await here.engine.undelivered()

    [aside], there = told(tmp_path, url, talk, gone=says(None, 410))
    assert len(there.got) == 1
    assert "410" in aside["reason"] and "hush" not in str(aside)
    assert aside["data"]["url"] == f"{there.base}/gone"


def test_no_webhook_is_called_where_it_is_not_allowed(
    tmp_path: Path, hasty: None, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> tuple[int, Functions]:
        async with functions(hook=says(None)) as there, site(tmp_path, egress_allow=["a.example"]) as here:
            await here.service.access.set_secret(ANYBODY_HERE, "HOOK", KEY)
            await here.run(tells(f"{there.base}/hook"))
            await until(lambda: "not on the allow-list" in caplog.text, "the refusal in the log")
            [row] = await (await here.engine.running()).store.outbox()
            return row.waiting, there

    waiting, there = asyncio.run(main())
    assert (waiting, there.got) == (1, [])


def test_after_three_days_it_is_set_aside() -> None:
    async def main() -> None:
        async with functions(hook=says(None, 500)) as there:
            environment = TaskEnvironment(egress_allow=["127.0.0.1"], secrets=kept)
            for age, error in ((DELIVERY_TIMEOUT / 2, NotTaken), (DELIVERY_TIMEOUT * 2, MessageRefused)):
                calls = Webhooks(environment, lambda: datetime.now(UTC))
                with pytest.raises(error, match="answered 500"):
                    await calls.publish(f"{there.base}/hook#HOOK", letter(age))

    asyncio.run(main())


async def kept(names: Any) -> dict[str, str]:
    return dict.fromkeys(names, KEY)


def letter(age: timedelta) -> Outgoing:
    body = msgspec.json.encode({"id": "r/1", "time": datetime.now(UTC) - age})
    return Outgoing(id="r/1", key="r", body=body)
