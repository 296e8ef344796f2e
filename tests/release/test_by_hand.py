"""The run of a release belongs to the coordinator: what hands could do to it would go past its promises."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock_release import workflow
from tests.release.conftest import STUDY, coordinating, states
from tests.release.remote import Remote, serving


def test_hands_cannot_move_the_run_of_a_release(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", polled=False)
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            run = (await here.until(id, "running"))["run"]
            acts: list[tuple[str, Any]] = [
                (f"/api/runs/{run}/rerun", {}),
                (f"/api/runs/{run}/rerun", {"from": "publish"}),
                (f"/api/runs/{run}/steps/stage", {"disabled": True}),
                (f"/api/runs/{run}/steps/stage/skip", {"port": "done"}),
                (f"/api/runs/{run}/events", {"event": "publish_asked"}),
                ("/api/events", {"event": "publish_asked", "key": {"service": remote.log[0][1]["task_id"]}}),
                (f"/api/runs/{run}/cancel", {"force": True}),
                (f"/api/runs/{run}/pause", {}),
                (f"/api/workflows/{workflow.NAME}/pause", None),
                (f"/api/workflows/{workflow.NAME}/runs", {"input": {}}),
                ("/api/tokens", {"insert": [{"name": "/custom/penstock-release/live/RE_1", "data": {}}]}),
            ]
            for path, body in acts:
                status, problem = await here.ask("POST", path, body)
                assert (path, status, problem["code"]) == (path, 409, "managed")
                assert "the release coordinator" in problem["detail"]

            assert remote.actions == ["initialize", "start"]
            assert (await here.good("GET", f"/releases/{id}"))["state"] == "running"

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/stop", None),
        ("POST", "/start", None),
        ("DELETE", "", None),
        ("PUT", "", {"penstock": 1, "name": workflow.NAME, "steps": {"a": {"task": "set"}}}),
    ],
)
def test_hands_cannot_change_the_workflow_of_releases(
    method: str, path: str, body: Any, tmp_path: Path
) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            await here.release()
            before = await here.good("GET", f"/api/workflows/{workflow.NAME}")
            status, problem = await here.ask(method, f"/api/workflows/{workflow.NAME}{path}", body)

            assert (status, problem["code"]) == (409, "managed")
            assert await here.good("GET", f"/api/workflows/{workflow.NAME}") == before

    asyncio.run(talk())


@pytest.mark.parametrize("prefix", ["/custom/penstock-release/", "/custom/penstock-rel", "/custom/"])
def test_hands_cannot_claim_what_the_coordinator_keeps(prefix: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            claim: dict[str, Any] = {"claim": {"owner": "me", "prefix": prefix, "lease": 60, "limit": 1000}}
            if (
                prefix == "/custom/"
            ):  # where there is nothing of the coordinator, there is nothing to keep from
                assert (await here.ask("POST", "/api/tokens", claim))[0] == 200
            await here.ask("POST", "/studies", {"kf_id": STUDY, "name": "A study"})
            status, problem = await here.ask("POST", "/api/tokens", claim)

            assert (status, problem["code"]) == (409, "managed")
            await here.engine.edit_tokens(insert=[{"name": "/custom/penguins/1"}])
            claim["claim"]["prefix"] = "/custom/penguins/"
            assert len((await here.good("POST", "/api/tokens", claim))["items"]) == 1

    asyncio.run(talk())


def test_hands_cannot_retry_a_release_that_has_failed(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", start=[400])
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            run = (await here.until(id, "failed"))["run"]

            assert (await here.ask("POST", f"/api/runs/{run}/retry", {}))[0] == 409
            assert remote.actions == ["initialize", "start", "cancel"]

    asyncio.run(talk())


def test_incidents_offer_nothing_that_is_refused(tmp_path: Path) -> None:
    async def talk() -> None:
        bad = Remote("bad", initialize=[503])
        async with serving(bad), coordinating(tmp_path) as here:
            await here.register(bad)
            await here.until(await here.release(), "failed")
            [incident] = (await here.good("GET", "/api/incidents"))["items"]

            assert incident["actions"] == []
            assert incident["text"].endswith(". It belongs to the release coordinator: use /releases")

    asyncio.run(talk())


def test_a_run_that_is_canceled_by_hand_cancels_its_release(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", polled=False)
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            run = (await here.until(id, "running"))["run"]
            await here.good("POST", f"/api/runs/{run}/cancel", {})

            assert states(await here.until(id, "canceled")) == {"a": "canceled"}

    asyncio.run(talk())


def test_a_release_runs_the_workflow_of_the_coordinator_whoever_published_another(tmp_path: Path) -> None:
    other = (
        f"penstock: 1\nname: {workflow.NAME}\nexternal: [never]\nsteps:\n  a: {{task: set, after: never}}\n"
    )

    async def talk() -> None:
        remote = Remote("a")
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            with here.engine.acting_for(workflow.NAME):
                await here.engine.publish(other)
            await here.until(await here.release(), "staged")
            with here.engine.acting_for(workflow.NAME):
                await here.engine.publish(other)

            assert (await here.until(await here.release(), "staged"))["state"] == "staged"
            status, problem = await here.ask(
                "POST", f"/api/workflows/{workflow.NAME}/publish", {"definition": other}
            )
            assert (status, problem["code"]) == (409, "managed")

    asyncio.run(talk())


def test_a_release_that_lost_a_document_does_not_stop_the_others(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", polled=False)
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            lost, hurt, whole = [await here.release() for _ in range(3)]
            for id in (lost, hurt, whole):
                await here.until(id, "running")
            documents = here.coordinator.documents
            await documents.change(delete=await documents.all(f"tasks/{lost}/"))
            kept = await documents.get(f"releases/{hurt}")
            assert kept is not None
            await documents.change(update=[(kept, {**kept.data, "round": None, "tasks": None})])

            for path in ("/tasks", "/events"):
                assert (await here.ask("GET", path))[0] == 200
            assert (await here.good("GET", f"/releases/{lost}"))["tasks"] == []
            listed = await here.good("GET", "/releases")
            assert {each["kf_id"] for each in listed["results"]} == {lost, whole}
            kept = await documents.get(f"releases/{hurt}")
            assert kept is not None
            await documents.change(update=[(kept, {})])
            for method in ("GET", "PATCH", "DELETE"):
                status, told = await here.ask(method, f"/releases/{hurt}", {} if method == "PATCH" else None)
                damaged = f"What is kept of releases/{hurt} is damaged (kf_id, "
                assert (status, told.get("detail", "")[: len(damaged)]) == (409, damaged)
            for path in ("/releases", f"/studies/{STUDY}/releases"):
                listed = await here.good("GET", path)
                assert {each["kf_id"] for each in listed["results"]} == {lost, whole}
            await here.good("DELETE", f"/releases/{whole}")
            assert (await here.until(whole, "canceled"))["state"] == "canceled"

    asyncio.run(talk())


def test_events_of_some_types_can_be_asked_for(tmp_path: Path) -> None:
    async def talk() -> list[list[str]]:
        async with coordinating(tmp_path) as here:
            for kind in ("info", "warning", "error"):
                await here.good("POST", "/events", {"event_type": kind, "message": kind})
            asked = ("warning,error", "error", "", "nothing")
            pages = [await here.good("GET", f"/events?event_type={each}") for each in asked]
            return [sorted(event["message"] for event in page["results"]) for page in pages]

    assert asyncio.run(talk()) == [["error", "warning"], ["error"], ["error", "info", "warning"], []]
