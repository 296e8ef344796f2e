"""Clocks over HTTP: listed, previewed, filled; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Answer, Client, Serve
from tests.api.test_access import made
from tests.waiting import until

NIGHTLY = {
    "penstock": 1,
    "name": "nightly",
    "source": {"kind": "schedule", "cron": "0 2 * * *"},
    "steps": {"first": {"task": "one"}},
}


def test_schedules_are_listed(serve: Serve) -> None:
    async def talk(client: Client) -> Answer:
        await client.engine.publish(NIGHTLY, start=True)
        return await client.get("/api/schedules")

    answer = serve(talk)

    (shown,) = answer.json["items"]
    assert (shown["workflow"], shown["schedule"], shown["state"]) == (
        "nightly",
        "at 02:00 every day",
        "started",
    )
    assert [tick[10:] for tick in shown["next"]] == ["T02:00:00Z"] * 5


def test_who_is_bound_to_workflows_sees_their_schedules(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        await client.engine.publish(NIGHTLY)
        found = []
        for pattern in ("nightly", "chain"):
            headers = await made(client, "viewer", workflows=[pattern])
            answer = await client.get("/api/schedules", headers=headers)
            found.append([each["workflow"] for each in answer.json["items"]])
        return found

    assert serve(talk, open=False) == [["nightly"], []]


def test_a_backfill_is_counted_and_then_done(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        await client.engine.publish(NIGHTLY)
        asked = {"from": "2025-03-01", "to": "2025-03-14"}
        first = await client.post("/api/workflows/nightly/backfill", {**asked, "dry_run": True})
        second = await client.post("/api/workflows/nightly/backfill", asked)
        again = await client.post("/api/workflows/nightly/backfill", asked)
        return [first, second, again]

    counted, begun, again = serve(talk)

    assert (counted.json["count"], counted.json["dry_run"]) == (14, True)
    assert (begun.status, begun.json["count"]) == (200, 14)
    assert (again.status, again.json["code"]) == (409, "backfilling")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/workflows/nightly/backfill", {"from": "2025-03-01"}, 422),
        ("/api/workflows/nightly/backfill", {"from": "x", "to": "2025-03-01"}, 422),
        ("/api/workflows/nightly/backfill", {"from": "0001-01-01", "to": "9999-12-31"}, 422),
        ("/api/workflows/chain/backfill", {"from": "2025-03-01", "to": "2025-03-02"}, 422),
        ("/api/workflows/nothing/backfill", {"from": "2025-03-01", "to": "2025-03-02"}, 404),
        ("/api/schedules/preview", {"cron": "60 25 * * *"}, 422),
        ("/api/schedules/preview", {"cron": "@daily", "tz": "Mars/X"}, 422),
        ("/api/schedules/preview", {"every": -1}, 422),
        ("/api/schedules/preview", {"count": 3}, 422),
    ],
)
def test_what_cannot_be_is_refused(serve: Serve, path: str, body: dict[str, Any], status: int) -> None:
    async def talk(client: Client) -> Answer:
        await client.engine.publish(NIGHTLY)
        return await client.post(path, body)

    assert serve(talk).status == status


def test_what_is_fed_is_listed_with_what_is_wrong(serve: Serve) -> None:
    async def talk(client: Client) -> dict[str, Any]:
        await client.engine.publish({**NIGHTLY, "source": {"kind": "schedule", "every": "1s"}}, start=True)
        found = await until(
            lambda: client.get("/api/sources"), "a source that is fed", so=lambda answer: answer.json["items"]
        )
        line: dict[str, Any] = found.json["items"][0]
        return line

    line = serve(talk)

    assert (line["workflow"], line["what"], line["kind"], line["state"]) == (
        "nightly",
        "source",
        "schedule",
        "fed",
    )
    assert line["node"] is not None


def test_ticks_are_shown_before_saving(serve: Serve) -> None:
    answer = serve(lambda client: client.post("/api/schedules/preview", {"every": "1h", "count": 3}))

    assert (answer.json["schedule"], len(answer.json["next"])) == ("every 1h", 3)
