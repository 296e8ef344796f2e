"""Runs over HTTP: started once, read, canceled, held, mended, run again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from penstock.access.caller import Caller
from tests.api.conftest import Answer, Client, Serve

RUNS = "/api/workflows/chain/runs"
WAITS = {
    "penstock": 1,
    "name": "waits",
    "external": ["go", "other"],
    "steps": {"a": {"task": "one", "after": "go"}, "b": {"task": "two", "after": ["a", "other"]}},
}
FAILS = {"penstock": 1, "name": "fails", "steps": {"a": {"task": "decide", "with": {"if": "data.ok"}}}}


async def begin(client: Client, definition: dict[str, Any], **body: Any) -> str:
    await client.engine.publish(definition)
    id: str = (await client.post(f"/api/workflows/{definition['name']}/runs", body)).json["id"]
    return id


def test_a_key_that_was_seen_gives_the_first_run(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        body = {"idempotency_key": "k", "input": {"n": 1}}
        first = await client.post(RUNS, body)
        many = await asyncio.gather(*(client.post(RUNS, body) for _ in range(20)))
        return [first, *many, await client.post(RUNS, {**body, "input": {"n": 2}})]

    first, *many, other = serve(talk)

    assert (first.status, first.json["duplicate"]) == (201, False)
    assert {(each.status, each.json["id"], each.json["duplicate"]) for each in many} == {
        (200, first.json["id"], True)
    }
    assert (other.status, other.json["code"]) == (422, "idempotency_mismatch")


def test_of_many_starts_with_one_key_at_once_one_makes_the_run(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        return await asyncio.gather(*(client.post(RUNS, {"idempotency_key": "k"}) for _ in range(50)))

    answers = serve(talk)

    assert len({answer.json["id"] for answer in answers}) == 1
    assert sorted(answer.status for answer in answers) == [200] * 49 + [201]


def test_the_history_and_the_logs_of_a_run_are_read_page_by_page(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        id = (await client.post(RUNS)).json["id"]
        await client.engine.wait(id, 10)
        path = f"/api/runs/{id}/history"
        whole = await client.get(f"{path}?limit=1000")
        pages, cursor = [], ""
        while cursor is not None:
            page = (await client.get(f"{path}?limit=2{cursor}")).json
            pages.append(page["items"])
            cursor = page["next"] and f"&cursor={page['next']}"
        rest = (await client.get(f"{path}?after=3")).json
        logs = await client.get(f"/api/runs/{id}/logs")
        return [whole, pages, rest, logs, await client.get(f"{path}?after=-1")]

    whole, pages, rest, logs, bad = serve(talk)

    items = whole.json["items"]
    assert [item["seq"] for item in items] == list(range(1, len(items) + 1))
    assert (items[-1]["kind"], whole.json["next"]) == ("run_ended", None)
    assert [item for page in pages for item in page] == items
    assert {len(page) for page in pages[:-1]} == {2}
    assert rest == {"items": items[3:], "next": None}
    assert (logs.json, bad.status) == ({"items": [], "next": None}, 400)


def test_a_run_is_held_resumed_and_canceled(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        id = await begin(client, WAITS)
        acts = ("pause", "resume", "cancel", "cancel", "pause")
        return [await client.post(f"/api/runs/{id}/{act}") for act in acts]

    *done, again, late = serve(talk)

    assert [(each.status, each.json["status"]) for each in done] == [
        (200, "paused"),
        (200, "waiting"),
        (200, "canceled"),
    ]
    assert [(each.status, each.json["code"]) for each in (again, late)] == [(409, "run_ended")] * 2


def test_a_failed_run_is_retried_and_any_run_is_run_again(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        id = await begin(client, FAILS, input={"no": 1}, subject="s")
        path = f"/api/runs/{id}"
        return [
            await client.get(path),
            await client.post(f"{path}/retry", {"step": "x"}),
            await client.post(f"{path}/retry", {"step": "a"}),
            await client.post(f"{path}/rerun", {"input": {"ok": True}}),
            await client.post(f"{path}/rerun", {"version": 2}),
        ]

    failed, unknown, retried, again, no_version = serve(talk)

    assert (failed.json["status"], unknown.status, retried.status) == ("failed", 422, 200)
    assert again.status == 201
    assert (again.json["rerun_of"], again.json["subject"]) == (failed.json["id"], "s")
    assert (again.json["status"], no_version.json["code"]) == ("succeeded", "unknown_version")


def test_a_step_of_a_run_is_disabled_and_works_again(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        id = await begin(client, WAITS)
        path = f"/api/runs/{id}/steps"
        await client.post(f"{path}/a", {"disabled": True})
        await client.post(f"{path}/b", {"disabled": True})
        await client.post(f"{path}/b", {"disabled": False})
        wrong = [
            await client.post(f"{path}/{step}", {"disabled": what})
            for step, what in (("a", "port"), ("x", True), ("a", 1))
        ]
        wrong += [await client.post(f"{path}/{step}/skip", {"port": "nope"}) for step in ("a", "x")]
        for event in ("go", "other"):
            await client.post(f"/api/runs/{id}/events", {"event": event})
        return [wrong, await client.engine.wait(id, 10)]

    wrong, run = serve(talk)

    assert [each.status for each in wrong] == [422, 404, 422, 422, 404]
    assert [each.json["code"] for each in wrong if each.status == 404] == ["unknown_step"] * 2
    assert [run["steps"][name]["status"] for name in ("a", "b")] == ["disabled", "complete"]


def test_a_run_that_is_not_there_is_not_found(serve: Serve) -> None:
    async def talk(client: Client) -> list[tuple[int, str]]:
        posts = ("cancel", "pause", "resume", "retry", "rerun")
        answers = [await client.post(f"/api/runs/x/{what}") for what in posts]
        answers += [await client.get(f"/api/runs/x{what}") for what in ("", "/history", "/logs")]
        answers.append(await client.post("/api/runs/x/events", {"event": "e"}))
        return [(answer.status, answer.json["code"]) for answer in answers]

    assert set(serve(talk)) == {(404, "unknown_run")}


def test_a_run_of_a_workflow_that_the_caller_may_not_know_of_is_not_there(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Caller, "everywhere", False)
    monkeypatch.setattr(Caller, "sees", lambda self, workflow: workflow != "chain")

    async def talk(client: Client) -> list[Any]:
        id = await client.engine.start("chain")
        seen = await begin(client, WAITS)
        paths = ["", "/history", "/logs", "/stream"]
        answers = [await client.get(f"/api/runs/{id}{path}") for path in paths]
        answers += [await client.post(f"/api/runs/{id}/{act}") for act in ("cancel", "pause", "rerun")]
        answers.append(await client.post(f"/api/runs/{id}/events", {"event": "go"}))
        by_key = await client.post("/api/events", {"event": "go", "key": {"a": "b"}})
        listed = [
            (await client.get(path)).json["items"] for path in ("/api/workflows", "/api/events/undelivered")
        ]
        return [answers, (await client.get(f"/api/runs/{seen}")).status, by_key.status, listed]

    answers, seen, by_key, listed = serve(talk)

    assert {(each.status, each.json["code"]) for each in answers} == {(404, "unknown_run")}
    assert (seen, by_key) == (200, 404)
    assert ([each["name"] for each in listed[0]], listed[1]) == (["waits"], [])
