"""What people do is in the record, in the transaction that did it; what was refused is not."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import OWN, Client, Serve

ADMIN = {"authorization": f"Bearer {OWN}"}
WAITS = {
    "penstock": 1,
    "name": "waits",
    "external": ["paid"],
    "steps": {"ship": {"task": "one", "after": ["paid"]}},
}


async def recorded(client: Client) -> list[tuple[str, str, str, str | None]]:
    items = (await client.get("/api/audit", headers=dict(ADMIN))).json["items"]
    return [(each["actor"], each["action"], each["target"], each["reason"]) for each in reversed(items)]


def test_what_changes_a_run_or_a_workflow_is_recorded_with_who_did_it(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        await client.ask("PUT", "/api/workflows/waits", WAITS, headers=dict(ADMIN))
        await client.post("/api/workflows/waits/publish", {}, headers=dict(ADMIN))
        await client.post("/api/workflows/waits/pause", headers=dict(ADMIN))
        await client.post("/api/workflows/waits/resume", headers=dict(ADMIN))
        run = (await client.post("/api/workflows/waits/runs", {}, headers=dict(ADMIN))).json["id"]
        await client.engine.wait(run, 10, rest=True)
        body = {"force": True, "reason": "not wanted"}
        await client.post(f"/api/runs/{run}/cancel", body, headers=dict(ADMIN))
        again = await client.post(f"/api/runs/{run}/cancel", body, headers=dict(ADMIN))
        return again.status, run, await recorded(client)

    again, run, entries = serve(talk, open=False)

    assert again == 409
    assert entries == [
        ("settings", "publish_workflow", "waits", None),
        ("settings", "pause_workflow", "waits", None),
        ("settings", "resume_workflow", "waits", None),
        ("settings", "cancel_run", run, "not wanted"),
    ]


def test_what_is_only_read_or_tried_is_not_recorded(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        await client.get("/api/queues", headers=dict(ADMIN))
        await client.post("/api/check", WAITS, headers=dict(ADMIN))
        await client.post("/api/workflows/chain/call", {}, headers=dict(ADMIN))
        run = (await client.post("/api/workflows/chain/runs", {}, headers=dict(ADMIN))).json["id"]
        await client.engine.wait(run, 10)
        return await recorded(client)

    assert serve(talk, open=False) == []


def test_an_override_is_recorded_with_its_reason(serve: Serve) -> None:
    stuck = {
        **WAITS,
        "name": "stuck",
        "external": None,
        "steps": {"ship": {"task": "one", "after": ["paid"]}},
    }
    stuck.pop("external")

    async def talk(client: Client) -> Any:
        await client.ask("PUT", "/api/workflows/stuck", stuck, headers=dict(ADMIN))
        body = {"override": "the event will be there tomorrow"}
        made = await client.post("/api/workflows/stuck/publish", body, headers=dict(ADMIN))
        return made.status, await recorded(client)

    status, entries = serve(talk, open=False)

    assert status == 201
    assert entries == [("settings", "publish_workflow", "stuck", "the event will be there tomorrow")]
