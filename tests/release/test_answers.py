"""What is answered to services and users: wrong words, odd fields, and what cannot be changed any more."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.release.conftest import LIMIT, STUDY, coordinating, service, states
from tests.release.remote import SILENCE, Remote, serving


@pytest.mark.parametrize("said", ["banana", "pending", "published", {"progress": 3}])
def test_a_service_that_tells_a_wrong_state_fails_the_release(said: Any, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good", polled=False), Remote("bad", get_status=["running", said])
        async with serving(good, bad), coordinating(tmp_path) as here:
            await here.register(good, bad)
            ended = await here.until(await here.release(), "failed", "staged", "canceled")

            assert (ended["state"], states(ended)) == ("failed", {"good": "canceled", "bad": "failed"})

    asyncio.run(talk())


def test_a_task_is_publishing_once_its_service_has_accepted(tmp_path: Path) -> None:
    async def talk() -> None:
        quick, slow = Remote("quick"), Remote("slow")
        patient = timedelta(seconds=10)
        async with serving(quick, slow), coordinating(tmp_path, request_timeout=patient) as here:
            await here.register(quick, slow)
            id = await here.release()
            tasks = {t["service_name"]: t["kf_id"] for t in (await here.until(id, "staged"))["tasks"]}
            slow.answers["publish"] = [SILENCE]
            quick.answers["get_status"] = [{"state": "publishing"}]
            await here.good("POST", f"/releases/{id}/publish")
            shown = await here.until_task(tasks["quick"], "publishing")

            assert shown["progress"] == 0
            assert (await here.good("GET", f"/tasks/{tasks['slow']}"))["state"] == "staged"

    asyncio.run(talk())


@pytest.mark.parametrize("word", ["publishing", "canceling", "published", "rejected"])
def test_a_word_that_cannot_be_is_recorded_and_changes_nothing(word: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", polled=False)
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            task = (await here.until(id, "running"))["tasks"][0]["kf_id"]
            await here.until_task(task, "running")
            answer = await here.good("PATCH", f"/tasks/{task}", {"state": word, "progress": 90})

            assert (answer["state"], answer["progress"]) == ("running", 0)
            assert any(each.endswith("while it is running: ignored") for each in await here.events(id))

    asyncio.run(talk())


def test_progress_of_what_is_staged_stays(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a")
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            task = (await here.until(id, "staged"))["tasks"][0]["kf_id"]

            assert (await here.good("PATCH", f"/tasks/{task}", {"progress": 3}))["progress"] == 100
            assert (await here.ask("PATCH", f"/tasks/{task}", {"progress": "inf"}))[0] == 400

    asyncio.run(talk())


def test_services_may_tell_their_state_in_any_type(tmp_path: Path) -> None:
    class Plain(Remote):
        async def take(self, request: web.Request) -> web.StreamResponse:
            answer = await super().take(request)
            assert isinstance(answer, web.Response)
            return web.Response(body=answer.body, content_type="text/html")

    async def talk() -> None:
        remote = Plain("a")
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")

            assert (await here.until(id, "published", "failed"))["state"] == "published"

    asyncio.run(talk())


@pytest.mark.parametrize("call", ["/tasks/status_checks", "/releases/status_checks"])
def test_status_checks_ask_the_services_now(call: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", polled=False)
        async with serving(remote), coordinating(tmp_path, poll_interval=timedelta(hours=1)) as here:
            await here.register(remote)
            id = await here.release()
            await remote.until("get_status")
            remote.polled = True
            async with asyncio.timeout(LIMIT):
                while (await here.good("GET", f"/releases/{id}"))["state"] != "staged":
                    await here.good("POST", call)

    asyncio.run(talk())


def test_the_studies_of_a_release_that_has_begun_stay(tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            await here.good("POST", "/studies", {"kf_id": "SD_0000000B", "name": "B"})
            id = await here.release(studies=[STUDY, STUDY])
            assert (await here.good("GET", f"/releases/{id}"))["studies"] == [STUDY]
            path = f"/releases/{id}"

            status, answer = await here.ask("PATCH", path, {"studies": ["SD_0000000B"]})
            assert (status, "has begun with its studies" in answer["detail"]) == (409, True)
            assert (await here.ask("PUT", path, {"name": "N", "studies": [STUDY]}))[0] == 200
            assert (await here.good("GET", path))["studies"] == [STUDY]

    asyncio.run(talk())


def test_the_same_studies_may_be_said_in_any_order_and_when_one_is_gone(tmp_path: Path) -> None:
    async def talk() -> None:
        other = "SD_0000000B"
        async with coordinating(tmp_path) as here:
            await here.good("POST", "/studies", {"kf_id": other, "name": "B"})
            id = await here.release(studies=[STUDY, other])
            await here.coordinator.documents.edit(f"studies/{other}", {"deleted": True})

            changed = await here.good("PUT", f"/releases/{id}", {"name": "N", "studies": [other, STUDY]})
            assert (changed["name"], changed["studies"]) == ("N", [STUDY, other])

    asyncio.run(talk())


def test_a_release_may_not_have_any_number_of_studies(tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            many = [f"SD_{n:08}" for n in range(20_000)]
            status, answer = await here.ask("POST", "/releases", {"name": "R", "studies": many})

            assert (status, list(answer)) == (400, ["studies"])
            assert "500 studies at most" in answer["studies"][0]

    asyncio.run(talk())


@pytest.mark.parametrize(
    "address",
    ["http://[::1", "http://127.0.0.1:1/a b", "http://127.0.0.1:1/a\nb", "http://h:x/", "http://h/a\u00a0b"],
)
def test_what_is_no_address_is_refused(address: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            body = service(Remote("a")) | {"url": address}

            assert await here.ask("POST", "/task-services", body) == (400, {"url": ["Enter a valid URL."]})

    asyncio.run(talk())


def test_what_is_not_there_is_told_before_what_is_wrong(tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            assert await here.ask("DELETE", "/releases/RE_0") == (404, {})
            assert (await here.ask("PUT", "/releases/RE_0", {}))[0] == 404

    asyncio.run(talk())


def test_filters_take_an_address_as_well_as_an_id(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a")
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            await here.until(id, "staged")
            await here.good("POST", "/release-notes", {"description": "d", "study": STUDY, "release": id})
            address = f"{here.base}/releases/{id}"

            assert (await here.good("GET", f"/tasks?release={address}"))["count"] == 1
            assert (await here.good("GET", f"/release-notes?release={address}"))["count"] == 1

    asyncio.run(talk())


def test_sync_takes_all_pages_and_leaves_what_was_made_by_hand(tmp_path: Path) -> None:
    there: list[dict[str, Any]] = [{"kf_id": f"SD_{n:08}", "name": str(n)} for n in range(250)]
    there += [{"kf_id": "RE_00000001"}, {"kf_id": "SD_0000000A", "created_at": 5, "name": 7}]

    async def studies(request: web.Request) -> web.StreamResponse:
        limit, offset = int(request.query["limit"]), int(request.query["offset"])
        return web.json_response({"results": there[offset : offset + limit]})

    async def talk() -> None:
        app = web.Application()
        app.router.add_get("/studies", studies)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with coordinating(tmp_path, dataservice_url=address) as here:
            await here.good("POST", "/studies", {"kf_id": "SD_0000000H", "name": "mine"})
            told = await here.good("POST", "/studies/sync")
            assert (told["new"], told["deleted"]) == (251, 0)
            assert (await here.good("GET", "/studies/SD_0000000A"))["name"] == "SD_0000000A"
            assert (await here.good("GET", "/studies?limit=1"))["count"] == 252
            there.clear()
            assert (await here.ask("POST", "/studies/sync"))[0] == 502
            there.append({"kf_id": "SD_00000001", "name": "one"})
            assert (await here.good("POST", "/studies/sync"))["deleted"] == 250
            assert (await here.good("GET", "/studies/SD_0000000H"))["deleted"] is False
        await runner.cleanup()

    asyncio.run(talk())
