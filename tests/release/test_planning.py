"""Which services take part in a release, how far they are, and when each was in which state."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from tests.release.conftest import LIMIT, ONE_STORE, STUDY, coordinating
from tests.release.remote import Remote, serving
from tests.waiting import until


@ONE_STORE
def test_a_release_goes_to_the_services_that_are_named(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        wanted, other = Remote("wanted"), Remote("other")
        async with serving(wanted, other), coordinating(tmp_path, url) as here:
            ids = await here.register(wanted, other)
            id = await here.release(services=[ids[0]])
            staged = await here.until(id, "staged")

            assert [task["service_name"] for task in staged["tasks"]] == ["wanted"]
            assert other.log == []

    asyncio.run(talk())


def test_a_release_that_is_made_again_goes_to_the_same_services(tmp_path: Path) -> None:
    async def talk() -> None:
        wanted, other = Remote("wanted"), Remote("other")
        async with serving(wanted, other), coordinating(tmp_path) as here:
            ids = await here.register(wanted, other)
            id = await here.release(services=[ids[0]])
            await here.until(id, "staged")
            again = await here.good("POST", f"/releases/{id}/rerun")

            assert [task["service_name"] for task in again["tasks"]] == ["wanted"]

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("services", "said"),
    [
        ([], "Must have at least one service"),
        (["TS_00000000"], 'Invalid pk "TS_00000000" - object does not exist.'),
        ("TS_00000000", 'Expected a list of items but got type "str".'),
    ],
)
def test_services_that_cannot_take_part_are_refused(services: object, said: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            await here.good("POST", "/studies", {"kf_id": STUDY, "name": "A study"})
            body = {"name": "R", "studies": [STUDY], "services": services}
            assert await here.ask("POST", "/releases", body) == (400, {"services": [said]})
            assert (await here.good("GET", "/releases"))["count"] == 0

    asyncio.run(talk())


def test_a_service_that_is_not_enabled_cannot_be_chosen(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("sleepy")
        async with serving(remote), coordinating(tmp_path) as here:
            (id,) = await here.register(remote, enabled=False)
            await here.good("POST", "/studies", {"kf_id": STUDY, "name": "A study"})
            status, said = await here.ask(
                "POST", "/releases", {"name": "R", "studies": [STUDY], "services": [id]}
            )
            assert (status, said) == (400, {"services": [f"sleepy ({id}) is not enabled: enable it first."]})

    asyncio.run(talk())


@ONE_STORE
def test_the_progress_of_a_service_that_is_polled_is_shown(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote(polled=False)
        async with serving(remote), coordinating(tmp_path, url) as here:
            await here.register(remote)
            id = await here.release()
            release = await until(
                lambda: here.good("GET", f"/releases/{id}"),
                "progress of 50 %",
                LIMIT,
                so=lambda release: release["tasks"][0]["progress"] == 50,
            )
            [shown] = release["tasks"]
            assert shown["state"] == "running"
            assert (await here.good("GET", f"/tasks/{shown['kf_id']}"))["progress"] == 50

    asyncio.run(talk())


def test_progress_that_is_reported_does_not_fall_back_to_what_was_answered(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", publish=[{"state": "publishing", "progress": 7}])
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            [task] = (await here.until(id, "staged"))["tasks"]
            remote.answers["get_status"] = [{"state": "publishing", "progress": 7}]
            await here.good("POST", f"/releases/{id}/publish")
            path = f"/tasks/{task['kf_id']}"
            await here.until_progress(task["kf_id"], 7)
            await here.good("PATCH", path, {"state": "publishing", "progress": 40})
            for _ in range(3):
                await here.coordinator.look()

            assert (await here.good("GET", path))["progress"] == 40

    asyncio.run(talk())


@ONE_STORE
def test_a_release_tells_when_it_and_its_tasks_were_in_which_state(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote()
        async with serving(remote), coordinating(tmp_path, url) as here:
            await here.register(remote)
            id = await here.release()
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")
            shown = await here.until(id, "published")

            of_task = shown["tasks"][0]["states"]
            assert [each["state"] for each in shown["states"]] == [
                "waiting",
                "initializing",
                "running",
                "staged",
                "publishing",
                "published",
            ]
            assert [each["state"] for each in of_task] == [
                "waiting",
                "initialized",
                "running",
                "staged",
                "publishing",
                "published",
            ]
            assert all(a["at"] <= b["at"] for a, b in [*pairwise(shown["states"]), *pairwise(of_task)])

    asyncio.run(talk())


@pytest.mark.parametrize(("major", "next"), [(False, "0.1.0"), (True, "1.0.0")])
def test_a_release_says_which_version_it_will_have(major: bool, next: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            id = await here.release(is_major=major)
            assert (await here.until(id, "staged"))["next_version"] == next
            await here.good("POST", f"/releases/{id}/publish")
            shown = await here.until(id, "published")
            assert (shown["version"], shown["next_version"]) == (next, None)

    asyncio.run(talk())


@pytest.mark.parametrize("others", ["all", "named"])
def test_a_release_whose_services_are_gone_is_made_again_with_others(others: str, tmp_path: Path) -> None:
    async def talk() -> None:
        a, b = Remote("a"), Remote("b")
        async with serving(a, b), coordinating(tmp_path) as here:
            gone, left = await here.register(a, b)
            id = await here.release(services=[gone])
            await here.until(id, "staged")
            await here.good("DELETE", f"/task-services/{gone}")
            path = f"/releases/{id}/rerun"
            status, answer = await here.ask("POST", path)

            assert (status, f"went to {gone}, which is not there" in answer["detail"]) == (409, True)
            again = await here.good("POST", path, {"services": None if others == "all" else [left]})
            assert [task["service_name"] for task in again["tasks"]] == ["b"]

    asyncio.run(talk())


def test_whether_a_release_is_major_is_said_before_it_is_published(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a")
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            await here.until(id, "staged")
            path = f"/releases/{id}"
            assert (await here.good("PATCH", path, {"is_major": True}))["is_major"] is True
            remote.answers["get_status"] = ["publishing"]
            await here.good("POST", f"{path}/publish")
            await here.until(id, "publishing")
            status, answer = await here.ask("PATCH", path, {"is_major": False, "name": "N"})
            assert (status, "can be said until it is published" in answer["detail"]) == (409, True)
            assert (await here.good("PATCH", path, {"is_major": True, "name": "M"}))["name"] == "M"
            del remote.answers["get_status"]

            assert (await here.until(id, "published"))["version"] == "1.0.0"
            assert (await here.ask("PATCH", path, {"is_major": False}))[0] == 409

    asyncio.run(talk())
