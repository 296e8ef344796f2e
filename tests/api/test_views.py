"""Lists of runs that people keep, and what operators look at."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.api.routes import views
from tests.api.conftest import Client, Serve


def test_a_view_is_kept_changed_and_dropped(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        body = {"filter": {"status": "failed"}, "title": "Mine"}
        answers = [
            await client.ask("PUT", "/api/views/my%20failures", body),
            await client.ask("PUT", "/api/views/my%20failures", {"filter": {}}),
            await client.get("/api/views"),
            await client.ask("DELETE", "/api/views/my%20failures"),
            await client.ask("DELETE", "/api/views/my%20failures"),
        ]
        return [(answer.status, answer.json) for answer in answers]

    first, second, listed, dropped, gone = serve(talk)

    assert first == (201, {"name": "my failures", "title": "Mine", "filter": {"status": "failed"}})
    assert second == (200, {"name": "my failures", "title": None, "filter": {}})
    assert listed == (200, {"items": [second[1]], "next": None})
    assert dropped == (204, None)
    assert (gone[0], gone[1]["code"]) == (404, "unknown_view")


def test_there_are_so_many_views_and_each_is_short(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody who looks at the list has all of them read."""

    async def talk(client: Client) -> list[int]:
        names, long = ("a", "b", "c", "a"), {"q": "x" * 1001}
        kept = [(await client.ask("PUT", f"/api/views/{name}", {"filter": {}})).status for name in names]
        wrong = [long, {"x" * 81: ""}, {str(number): "" for number in range(31)}]
        return kept + [(await client.ask("PUT", "/api/views/a", {"filter": each})).status for each in wrong]

    monkeypatch.setattr(views, "MAX_VIEWS", 2)

    assert serve(talk) == [201, 201, 422, 200, 422, 422, 422]


def test_who_is_bound_sees_views_of_its_own_workflows(serve: Serve) -> None:
    async def talk(client: Client) -> list[str]:
        for name, filter in (
            ("all", {"status": "failed"}),
            ("mine", {"workflow": "m1"}),
            ("other", {"workflow": "x"}),
        ):
            await client.ask("PUT", f"/api/views/{name}", {"filter": filter})
        body = {"name": "bound", "role": "viewer", "workflows": ["m*"]}
        token = (await client.post("/api/access", body)).json["token"]
        found = await client.get("/api/views", headers={"authorization": f"Bearer {token}"})
        return [each["name"] for each in found.json["items"]]

    assert serve(talk) == ["all", "mine"]


def test_a_worker_and_its_task_lists_are_shown(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[Any, Any]:
        await client.engine.wait(await client.engine.start("chain"))
        return (await client.get("/api/workers")).json, (await client.get("/api/queues")).json

    workers, queues = serve(talk)

    assert [(each["task_lists"], each["tasks"]) for each in workers["items"]] == [
        (["default"], ["one", "two"])
    ]
    assert queues == {"items": [], "next": None}
