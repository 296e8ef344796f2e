"""The calls of the coordinator: fields, pages, filters, and who may."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock.api.openapi import describe
from penstock.api.table import CALLS
from penstock.store.errors import StoreFailing
from penstock_release.api import CALLS as OURS
from penstock_release.documents import Document, Documents
from tests.release.conftest import STUDY, coordinating
from tests.release.remote import Remote, serving

LIST = Path(__file__).parent / "permissions.txt"
RELEASE = {
    "kf_id",
    "name",
    "description",
    "state",
    "studies",
    "tasks",
    "notes",
    "version",
    "created_at",
    "tags",
    "author",
    "is_major",
    "partly_published",
    "run",
    "states",
    "next_version",
}


TAGGED = {"name": "R", "studies": [STUDY]}


def test_every_call_is_in_the_list_with_its_action() -> None:
    listed = [tuple(line.split()) for line in LIST.read_text().splitlines()]

    assert sorted(listed) == sorted((call.method, call.path, call.action) for call in OURS)
    assert all(call.everywhere for call in OURS)


def test_the_calls_are_described_and_take_no_name_from_others() -> None:
    before, after = describe(CALLS, "1"), describe((*CALLS, *OURS), "1")

    assert set(before["components"]["schemas"]) <= set(after["components"]["schemas"])
    assert set(after["paths"]) - set(before["paths"]) == {call.path for call in OURS}


def test_a_release_is_refused_field_by_field(tmp_path: Path) -> None:
    cases: list[tuple[Any, Any]] = [
        ({"studies": [STUDY]}, {"name": ["This field is required."]}),
        ({"name": "R", "studies": []}, {"studies": ["Must have at least one study"]}),
        ({"name": "R", "studies": ["SD_X"]}, {"studies": ['Invalid pk "SD_X" - object does not exist.']}),
        ({"name": "R", "studies": "SD_X"}, {"studies": ['Expected a list of items but got type "str".']}),
        ({"name": 7, "studies": [STUDY]}, {"name": ["Not a valid string."]}),
        ({"name": None, "studies": [STUDY]}, {"name": ["This field may not be null."]}),
        (TAGGED | {"tags": ["t"] * 101}, {"tags": ["Ensure this field has no more than 100 elements."]}),
        (TAGGED | {"tags": ["t" * 101]}, {"tags": ["Ensure this field has no more than 100 characters."]}),
    ]

    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            await here.good("POST", "/studies", {"kf_id": STUDY, "name": "S"})
            for body, answer in cases:
                assert await here.ask("POST", "/releases", body) == (400, answer)
            assert (await here.ask("POST", "/releases", b"{"))[0] == 400
            assert (await here.good("GET", "/releases"))["count"] == 0

    asyncio.run(talk())


def test_a_release_has_the_fields_and_keeps_its_state_and_version(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path, url) as here:
            id = await here.release(description="d")
            await here.until(id, "staged")
            shown = await here.good(
                "PATCH", f"/releases/{id}", {"name": "N", "state": "published", "version": "9.9.9"}
            )

            assert set(shown) == RELEASE
            assert (shown["name"], shown["state"], shown["version"]) == ("N", "staged", "0.0.0")
            assert (shown["author"], shown["description"], shown["is_major"]) == ("admin", "d", False)
            assert await here.ask("GET", "/releases/RE_0") == (404, {"detail": "Not found."})
            assert (await here.ask("DELETE", "/releases/RE_0"))[0] == 404

    asyncio.run(talk())


def test_lists_are_paged_and_filtered(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path, url) as here:
            ids = [await here.release() for _ in range(3)]
            for id in ids:
                await here.until(id, "staged")
            await here.good("DELETE", f"/releases/{ids[0]}")
            await here.until(ids[0], "canceled")

            first = await here.good("GET", "/releases?limit=2")
            assert (first["count"], first["previous"]) == (3, None)
            assert [each["kf_id"] for each in first["results"]] == [ids[2], ids[1]]
            rest = await here.good("GET", first["next"])
            assert ([each["kf_id"] for each in rest["results"]], rest["next"]) == ([ids[0]], None)
            assert (await here.good("GET", rest["previous"]))["results"] == first["results"]
            found = (await here.good("GET", "/releases?state=canceled"))["results"]
            assert [each["kf_id"] for each in found] == [ids[0]]
            assert (await here.good("GET", f"/studies/{STUDY}/releases"))["count"] == 3

    asyncio.run(talk())


def test_what_releases_have_in_common_is_read_once_for_a_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, plain_all, plain_get = list[str](), Documents.all, Documents.get

    async def noted_all(documents: Documents, prefix: str) -> list[Document]:
        read.append(prefix)
        return await plain_all(documents, prefix)

    async def noted_get(documents: Documents, name: str) -> Document | None:
        read.append(name)
        return await plain_get(documents, name)

    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            for _ in range(3):
                id = await here.release()
                await here.until(id, "staged")
                note = {"description": "news", "study": STUDY, "release": id}
                await here.good("POST", "/release-notes", note)
            for path in ("/releases", f"/studies/{STUDY}/releases"):
                read.clear()
                shown = (await here.good("GET", path))["results"]

                assert [len(each["notes"]) for each in shown] == [1, 1, 1]
                assert (read.count("notes/"), read.count("counter")) == (1, 1)

    monkeypatch.setattr(Documents, "all", noted_all)
    monkeypatch.setattr(Documents, "get", noted_get)
    asyncio.run(talk())


def test_a_release_that_is_stored_is_not_told_to_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails between two steps: who is told that nothing was changed makes a second one."""
    plain_get = Documents.get

    async def failing_get(documents: Documents, name: str) -> Document | None:
        if name.startswith("releases/"):
            monkeypatch.setattr(Documents, "get", plain_get)
            raise StoreFailing("disk I/O error")
        return await plain_get(documents, name)

    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            await here.good("POST", "/studies", {"kf_id": STUDY, "name": "S"})
            monkeypatch.setattr(Documents, "get", failing_get)

            status, answer = await here.ask("POST", "/releases", TAGGED)

            [release] = (await here.good("GET", "/releases"))["results"]
            later = "was made and will begin by itself, but not just now (disk I/O error)"
            told = f"Release {release['kf_id']} {later}: do not make it again."
            assert (status, answer) == (503, {"detail": told})
            await here.until(release["kf_id"], "staged")

    asyncio.run(talk())


def test_tasks_are_found_by_release_service_and_state(tmp_path: Path) -> None:
    async def talk() -> None:
        one, two = Remote("one"), Remote("two")
        async with serving(one, two), coordinating(tmp_path) as here:
            ids = await here.register(one, two)
            id = await here.release()
            await here.until(id, "staged")

            found = await here.good("GET", f"/tasks?release={id}&task_service={ids[0]}&state=staged")
            [task] = found["results"]
            assert (task["service_name"], task["release"]) == ("one", f"{here.base}/releases/{id}")
            assert task["task_service"] == f"{here.base}/task-services/{ids[0]}"
            assert (await here.good("GET", "/tasks?state=running"))["count"] == 0
            checks = await here.good("POST", "/tasks/status_checks")
            assert checks == {"status": "ok", "message": "0 tasks to check"}
            checks = await here.good("POST", "/releases/status_checks")
            assert checks == {"status": "ok", "message": "1 releases to check"}

    asyncio.run(talk())


def test_events_are_added_changed_and_removed_by_hand(tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            id = await here.release()
            body = {"event_type": "info", "message": "m", "release": f"{here.base}/releases/{id}"}
            status, made = await here.ask("POST", "/events", body)
            assert (status, made["release"]) == (201, f"{here.base}/releases/{id}")
            path = f"/events/{made['kf_id']}"
            assert (await here.good("PATCH", path, {"message": "n"}))["message"] == "n"
            assert (await here.good("GET", path))["message"] == "n"
            assert (await here.ask("DELETE", path))[0] == 204
            assert (await here.ask("GET", path))[0] == 404
            answer = {"event_type": ['"x" is not a valid choice.']}
            assert await here.ask("POST", "/events", body | {"event_type": "x"}) == (400, answer)

    asyncio.run(talk())


def test_notes_belong_to_a_study_in_a_release(tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            id = await here.release()
            body = {"description": "news", "study": STUDY, "release": id}
            status, made = await here.ask("POST", "/release-notes", body)
            assert (status, made["study"]) == (201, f"{here.base}/studies/{STUDY}")
            assert (await here.good("GET", f"/releases/{id}"))["notes"] == [made["kf_id"]]
            path = f"/release-notes/{made['kf_id']}"
            assert (await here.good("PATCH", path, {"description": "old"}))["description"] == "old"
            assert (await here.good("GET", f"/release-notes?release={id}"))["count"] == 1
            assert (await here.ask("DELETE", path))[0] == 204
            status, answer = await here.ask("POST", "/release-notes", body | {"study": "SD_NOT0HERE"})
            assert (status, answer) == (400, {"study": ['Invalid pk "SD_NOT0HERE" - object does not exist.']})

    asyncio.run(talk())


def test_studies_are_synced_from_the_data_service(tmp_path: Path) -> None:
    there = [{"kf_id": "SD_0000000A", "name": "A"}, {"kf_id": "SD_0000000B", "name": "B"}]

    async def talk() -> None:
        async def studies(request: web.Request) -> web.StreamResponse:
            return web.json_response({"results": there})

        app = web.Application()
        app.router.add_get("/studies", studies)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with coordinating(tmp_path, dataservice_url=address) as here:
            first = await here.good("POST", "/studies/sync")
            there.pop()
            second = await here.good("POST", "/studies/sync")
            assert [(each["new"], each["deleted"]) for each in (first, second)] == [(2, 0), (0, 1)]
            assert (await here.good("GET", "/studies/SD_0000000B"))["deleted"] is True
            answer = {"studies": ['Invalid pk "SD_0000000B" - object does not exist.']}
            body = {"name": "R", "studies": ["SD_0000000B"]}
            assert await here.ask("POST", "/releases", body) == (400, answer)
        await runner.cleanup()
        async with coordinating(tmp_path) as here:
            assert (await here.ask("POST", "/studies/sync"))[0] == 409

    asyncio.run(talk())


def test_a_study_is_added_by_hand_once(tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            body = {"kf_id": STUDY, "name": "S"}
            assert (await here.ask("POST", "/studies", body))[0] == 201
            answer = {"kf_id": ["study with this kf id already exists."]}
            assert await here.ask("POST", "/studies", body) == (400, answer)
            assert (await here.ask("POST", "/studies", {"kf_id": "x y", "name": "S"}))[0] == 400

    asyncio.run(talk())
