"""A release that goes well: every service initializes, stages and publishes, and nobody before all are ready."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from penstock_release.library import _study
from penstock_release.new_release import new_release, new_task
from penstock_release.progress import Fold
from tests.release.conftest import STUDY, Client, coordinating, states
from tests.release.remote import SILENCE, Remote, serving

ID = re.compile(r" (RE|TA)_[0-9A-Z]{8}")
RELEASE = [
    "release, version 0.0.0 changed from waiting to initializing",
    "release, version 0.0.0 changed from initializing to running",
    "release, version 0.0.0 changed from running to staged",
    "release, version 0.0.0 changed from staged to publishing",
    "release, version 0.1.0 changed from publishing to published",
]
TASK = [
    "task changed from waiting to initialized",
    "task changed from initialized to running",
    "task changed from running to staged",
    "task changed from staged to publishing",
    "task changed from publishing to published",
]


def test_services_that_push_and_that_are_polled_publish_together(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        push, poll, both = Remote("push", polled=False), Remote("poll"), Remote("both")
        push.answers["get_status"] = [405]
        async with serving(push, poll, both), coordinating(tmp_path, url) as here:
            await here.register(push, poll, both)
            both.told = lambda task, state: _later(here, task, state)
            id = await here.release()

            task = (await push.until("start"))["task_id"]
            await here.good("PATCH", f"/tasks/{task}", {"state": "staged", "progress": 100})
            staged = await here.until(id, "staged")
            assert (staged["version"], set(states(staged).values())) == ("0.0.0", {"staged"})
            assert "publish" not in push.actions + poll.actions + both.actions

            assert await here.ask("POST", f"/releases/{id}/publish") == (200, {"message": "publishing"})
            await push.until("publish")
            await here.good("PATCH", f"/tasks/{task}", {"state": "published"})
            published = await here.until(id, "published")

            assert (published["version"], set(states(published).values())) == ("0.1.0", {"published"})
            assert all(each.actions == ["initialize", "start", "publish"] for each in (push, poll, both))
            told = await here.events(id)
            assert [ID.sub("", each) for each in told if each.startswith("release")] == RELEASE
            for task in staged["tasks"]:
                own = [each for each in told if each.startswith(f"task {task['kf_id']}")]
                assert [ID.sub("", each) for each in own] == TASK
            assert told.index(next(t for t in told if "to publishing" in t)) > max(
                n for n, each in enumerate(told) if "to staged" in each
            )

    asyncio.run(talk())


def test_what_happens_after_a_service_was_heard_is_told_after_it() -> None:
    """The service is heard at 10; what is read of the run afterwards may have happened before."""
    task = new_task("RE_1", {"kf_id": "TS_1", "name": "a", "url": "http://a"}, "05") | {"state": "staged"}
    release = new_release("RE_1", {"name": "R", "studies": []}, "0.0.0", "05", [task])
    fold = Fold(release | {"state": "publishing"}, [task | {"asked": True}], at="10")
    fold.hear([{"step": "publish", "index": 0, "progress": {"progress": 50}}])

    done = {"index": 0, "port": "done", "output": {"state": "published"}}
    fold.take([{"kind": "attempt", "seq": 1, "at": "09", "step": "publish", "data": done}])

    assert [(event["created_at"], ID.sub("", event["message"])) for event in fold.events] == [
        ("10", TASK[3]),
        ("10", TASK[4]),
    ]


async def _later(here: Client, task: str, state: str) -> None:
    """Report by itself what the answer says too."""
    await here.ask("PATCH", f"/tasks/{task}", {"state": state, "progress": None})


def test_start_is_sent_to_none_before_all_have_answered_initialize(tmp_path: Path) -> None:
    async def talk() -> None:
        quick, slow = Remote("quick"), Remote("slow", initialize=[SILENCE])
        async with serving(quick, slow), coordinating(tmp_path) as here:
            await here.register(quick, slow)
            id = await here.release()

            await slow.until("initialize")
            await here.until_task(await task_of(here, id, "quick"), "initialized")
            assert quick.actions == ["initialize"]
            del slow.answers["initialize"]
            assert slow.hold is not None
            slow.hold.set()

            await here.until(id, "staged")
            assert quick.actions == slow.actions == ["initialize", "start"]

    asyncio.run(talk())


async def task_of(here: Client, id: str, name: str) -> str:
    release = await here.good("GET", f"/releases/{id}")
    return str(next(task["kf_id"] for task in release["tasks"] if task["service_name"] == name))


def test_a_service_sees_what_one_of_the_original_sees(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote()
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            release = await here.until(id, "staged")

            task = release["tasks"][0]["kf_id"]
            known = {"task_id": task, "release_id": id}
            assert remote.log[0] == ("initialize", {"action": "initialize", **known, "studies": [STUDY]})
            assert remote.log[1] == ("start", {"action": "start", **known, "studies": [STUDY]})
            assert remote.log[2] == ("get_status", {"action": "get_status", **known})
            assert remote.headers[0]["User-Agent"].startswith("ReleaseCoordinator/")
            assert "Authorization" not in remote.headers[0]

    asyncio.run(talk())


@pytest.mark.parametrize("enabled", [True, False])
def test_without_services_a_release_is_staged_at_once(enabled: bool, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote()
        async with serving(remote), coordinating(tmp_path) as here:
            if not enabled:
                await here.register(remote, enabled=False)
            id = await here.release()
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")

            assert (await here.until(id, "published"))["version"] == "0.1.0"
            assert remote.log == []

    asyncio.run(talk())


def test_versions_follow_the_rules_and_are_unique(url: str, tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with coordinating(tmp_path, url) as here:
            ids = [await here.release(), await here.release(), await here.release(is_major=True)]
            found = [(await here.until(id, "staged"))["version"] for id in ids]
            for id in ids:
                await here.good("POST", f"/releases/{id}/publish")
                found.append((await here.until(id, "published"))["version"])
            found.append((await here.good("GET", f"/releases/{await here.release()}"))["version"])
            return found

    assert asyncio.run(talk()) == ["0.0.0", "0.0.1", "0.0.2", "0.1.0", "0.2.0", "1.0.0", "1.0.1"]


def test_publish_is_refused_before_all_is_staged_and_for_what_is_not_there(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote(polled=False)
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()
            await here.until(id, "running")

            status, answer = await here.ask("POST", f"/releases/{id}/publish")
            assert (status, "only a staged release" in answer["detail"]) == (409, True)
            assert await here.ask("POST", "/releases/RE_00000000/publish") == (404, {"detail": "Not found."})
            assert "publish" not in remote.actions

    asyncio.run(talk())


def test_a_release_is_made_again_with_the_same_fields(tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            id = await here.release(name="Mine", tags=["a"], is_major=True)
            await here.until(id, "staged")
            await here.good("DELETE", f"/releases/{id}")
            status, again = await here.ask("POST", f"/releases/{id}/rerun")

            assert status == 201
            assert (again["name"], again["tags"], again["is_major"]) == ("Mine", ["a"], True)
            assert (again["kf_id"] != id, again["version"]) == (True, "0.0.1")
            assert (await here.ask("POST", "/releases/RE_00000000/rerun"))[0] == 404

    asyncio.run(talk())


def test_published_studies_say_in_which_version(tmp_path: Path) -> None:
    async def talk() -> None:
        async with coordinating(tmp_path) as here:
            id = await here.release()
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")
            await here.until(id, "published")

            study = await here.good("GET", f"/studies/{STUDY}")
            assert (study["version"], study["last_pub_version"]) == ("0.1.0", "0.1.0")
            assert study["last_pub_date"] is not None

    asyncio.run(talk())


def test_a_release_of_as_many_studies_as_it_may_have_is_published(tmp_path: Path) -> None:
    async def talk() -> None:
        remotes = [Remote("a"), Remote("b")]
        async with serving(*remotes), coordinating(tmp_path) as here:
            await here.register(*remotes)
            documents, ids = here.coordinator.documents, [f"SD_{n:08}" for n in range(500)]
            studies = [_study({"kf_id": id}) for id in ids]
            assert await documents.change(insert=[(f"studies/{each['kf_id']}", each) for each in studies])
            id = await here.release(studies=ids)
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")

            version = (await here.until(id, "published", "failed"))["version"]
            assert {kept.data["version"] for kept in await documents.all("studies/")} == {version}

    asyncio.run(talk())
