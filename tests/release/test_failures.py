"""Bad days: whatever a service does, the release comes to its end, and everyone who should be told is told."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.release.conftest import LIMIT, ONE_STORE, Site, coordinating, states
from tests.release.remote import DROP, SILENCE, Answer, Remote, serving
from tests.waiting import nothing_happens, until

SHORT = timedelta(milliseconds=1500)  # long enough for who answers at once on a busy machine


async def begun(here: Site, *remotes: Remote) -> str:
    await here.register(*remotes)
    return await here.release()


def on_disk(folder: Path) -> str:
    """For what a service decides: one store is as good as another."""
    return str(folder / "penstock.db")


async def task_of(here: Site, id: str, name: str) -> str:
    release = await here.good("GET", f"/releases/{id}")
    return str(next(task["kf_id"] for task in release["tasks"] if task["service_name"] == name))


@pytest.mark.parametrize("answer", [503, 201, DROP, SILENCE])
def test_who_does_not_answer_initialize_with_200_is_rejected(answer: Answer, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad", initialize=[answer])
        async with (
            serving(good, bad),
            coordinating(tmp_path, on_disk(tmp_path), request_timeout=SHORT) as here,
        ):
            id = await begun(here, good, bad)
            ended = await here.until(id, "failed", "staged", "canceled")

            assert (ended["state"], states(ended)) == ("failed", {"good": "canceled", "bad": "rejected"})
            told = (
                [] if answer == 503 else ["cancel"]
            )  # who refuses has nothing to stop; who is not heard may have
            assert (good.actions, bad.actions) == (["initialize", "cancel"], ["initialize", *told])
            assert any("request to initialize task failed" in told for told in await here.events(id))

    asyncio.run(talk())


@pytest.mark.parametrize("answer", [400, DROP, "pending", {"state": "failed"}])
def test_who_does_not_start_fails_the_release(answer: Answer, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good", polled=False), Remote("bad", start=[answer])
        async with (
            serving(good, bad),
            coordinating(tmp_path, on_disk(tmp_path), request_timeout=SHORT) as here,
        ):
            id = await begun(here, good, bad)
            ended = await here.until(id, "failed", "staged", "canceled")

            assert (ended["state"], states(ended)) == ("failed", {"good": "canceled", "bad": "failed"})
            assert good.actions[-1] == "cancel"
            assert ("cancel" in bad.actions) is (answer != {"state": "failed"})

    asyncio.run(talk())


@pytest.mark.parametrize("answer", [500, DROP, SILENCE, "failed"])
def test_who_cannot_tell_its_state_fails_the_release(answer: Answer, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good", polled=False), Remote("bad", get_status=["running", answer])
        async with (
            serving(good, bad),
            coordinating(tmp_path, on_disk(tmp_path), request_timeout=SHORT) as here,
        ):
            id = await begun(here, good, bad)
            ended = await here.until(id, "failed", "staged", "canceled")

            assert (ended["state"], states(ended)) == ("failed", {"good": "canceled", "bad": "failed"})
            assert good.actions == ["initialize", "start", "cancel"]

    asyncio.run(talk())


@pytest.mark.parametrize("spelling", ["canceled", "cancelled", "Cancelled"])
def test_a_service_that_gives_up_cancels_the_release(spelling: str, tmp_path: Path) -> None:
    async def talk() -> None:
        good, other = Remote("good", polled=False), Remote("other", get_status=[spelling])
        async with serving(good, other), coordinating(tmp_path) as here:
            id = await begun(here, good, other)
            ended = await here.until(id, "failed", "staged", "canceled")

            assert (ended["state"], set(states(ended).values())) == ("canceled", {"canceled"})
            assert good.actions[-1] == "cancel"

    asyncio.run(talk())


@pytest.mark.parametrize("state", ["running", "staged"])
@ONE_STORE
def test_a_user_cancels_a_release(state: str, url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remotes = Remote("a", polled=state == "staged"), Remote("b")
        async with serving(*remotes), coordinating(tmp_path, url) as here:
            id = await begun(here, *remotes)
            await here.until(id, state)
            status, shown = await here.ask("DELETE", f"/releases/{id}")
            assert (status, shown["state"] in ("canceling", "canceled")) == (200, True)
            ended = await here.until(id, "canceled")

            assert set(states(ended).values()) == {"canceled"}
            assert all(remote.actions[-1] == "cancel" for remote in remotes)
            told = await here.events(id)
            assert [t for t in told if t.startswith("release")][-2:] == [
                f"release {id}, version 0.0.0 changed from {state} to canceling",
                f"release {id}, version 0.0.0 changed from canceling to canceled",
            ]
            assert (await here.good("DELETE", f"/releases/{id}"))["state"] == "canceled"

    asyncio.run(talk())


def test_cancel_is_sent_only_when_the_outstanding_request_is_answered(tmp_path: Path) -> None:
    async def talk() -> None:
        slow = Remote("slow", start=[SILENCE])
        async with serving(slow), coordinating(tmp_path, request_timeout=timedelta(seconds=10)) as here:
            id = await begun(here, slow)
            await slow.until("start")
            await here.good("DELETE", f"/releases/{id}")
            await asyncio.wait_for(never_asked(slow, "cancel"), 2)
            assert slow.hold is not None
            slow.hold.set()

            assert (await here.until(id, "canceled"))["state"] == "canceled"
            assert slow.actions == ["initialize", "start", "cancel"]

    async def never_asked(remote: Remote, action: str) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(remote.until(action), 0.5)

    asyncio.run(talk())


@pytest.mark.parametrize("answer", [500, DROP, {"state": "banana"}])
def test_whatever_is_answered_to_cancel_the_task_is_canceled(answer: Answer, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", polled=False, cancel=[answer])
        async with serving(remote), coordinating(tmp_path) as here:
            id = await begun(here, remote)
            await here.until(id, "running")
            await here.good("DELETE", f"/releases/{id}")

            assert states(await here.until(id, "canceled")) == {"a": "canceled"}

    asyncio.run(talk())


def test_staging_that_takes_too_long_is_canceled(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        slow, quick = Remote("slow", polled=False), Remote("quick")
        async with serving(slow, quick), coordinating(tmp_path, url, task_timeout=SHORT) as here:
            id = await begun(here, slow, quick)
            ended = await here.until(id, "canceled", "failed")

            assert (ended["state"], set(states(ended).values())) == ("canceled", {"canceled"})
            assert slow.actions[-1] == quick.actions[-1] == "cancel"
            late = f"task {await task_of(here, id, 'slow')} ran out of time: slow did not stage in time"
            assert late in await here.events(id)

    asyncio.run(talk())


def test_a_staged_release_waits_for_as_long_as_its_user_does(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote()
        async with serving(remote), coordinating(tmp_path, task_timeout=SHORT, timeout=SHORT) as here:
            id = await begun(here, remote)
            await here.until(id, "staged")
            await nothing_happens(1.5 * SHORT.total_seconds())  # longer than any time-out

            assert (await here.good("GET", f"/releases/{id}"))["state"] == "staged"

    asyncio.run(talk())


async def staged(here: Site, *remotes: Remote) -> str:
    id = await begun(here, *remotes)
    await here.until(id, "staged")
    await here.good("POST", f"/releases/{id}/publish")
    return id


@pytest.mark.parametrize("answers", [[500, "publishing"], [DROP, "publishing"]])
@ONE_STORE
def test_publish_is_repeated_until_it_is_answered(answers: list[Any], url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad", publish=answers)
        async with serving(good, bad), coordinating(tmp_path, url) as here:
            id = await staged(here, good, bad)

            assert (await here.until(id, "published", "failed"))["state"] == "published"
            assert good.actions == ["initialize", "start", "publish"]
            assert "cancel" not in bad.actions

    asyncio.run(talk())


def test_publish_that_a_service_accepted_and_lost_is_sent_again(tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad")
        async with serving(good, bad), coordinating(tmp_path) as here:
            id = await begun(here, good, bad)
            await here.until(id, "staged")
            bad.answers = {"publish": ["publishing"], "get_status": ["staged"]}
            await here.good("POST", f"/releases/{id}/publish")
            await until(lambda: bad.actions.count("publish") >= 2, "a second `publish`", LIMIT)
            bad.answers = {}

            assert (await here.until(id, "published", "failed"))["state"] == "published"
            assert (good.actions[-1], bad.actions[-1]) == ("publish", "publish")

    asyncio.run(talk())


@pytest.mark.parametrize("first", ["publishing", DROP])
def test_publish_that_is_refused_as_it_was_taken_before_fails_no_release(
    first: Answer, tmp_path: Path
) -> None:
    async def talk() -> None:
        good, slow = Remote("good"), Remote("slow")
        async with serving(good, slow), coordinating(tmp_path) as here:
            id = await begun(here, good, slow)
            await here.until(id, "staged")
            slow.answers = {"publish": [first, 409], "get_status": ["staged"]}  # it is in its queue
            await here.good("POST", f"/releases/{id}/publish")
            await here.until_told(id, f"task {await task_of(here, id, 'slow')} is asked for its state again")
            slow.answers["get_status"] = ["publishing", "published"]

            assert (await here.until(id, "published", "failed"))["state"] == "published"
            assert slow.actions.count("publish") > 1

    asyncio.run(talk())


def test_a_service_that_published_before_its_answer_was_lost_is_not_asked_twice(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", publish=[DROP])
        async with serving(remote), coordinating(tmp_path) as here:
            id = await begun(here, remote)
            task = (await here.until(id, "staged"))["tasks"][0]["kf_id"]
            remote.states[task] = "published"  # it does the work, and the answer is lost
            await here.good("POST", f"/releases/{id}/publish")

            assert (await here.until(id, "published"))["state"] == "published"
            assert remote.actions.count("publish") == 1

    asyncio.run(talk())


def test_a_failure_in_publishing_is_shown_as_partly_published_and_goes_on(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad", publish=["publishing"])
        bad.polled = True
        async with serving(good, bad), coordinating(tmp_path, url) as here:
            id = await begun(here, good, bad)
            await here.until(id, "staged")
            bad.answers["get_status"] = ["publishing"]
            await here.good("POST", f"/releases/{id}/publish")
            done = await task_of(here, id, "good")
            await here.until_task(done, "published")
            bad.answers["get_status"] = ["failed"]

            ended = await here.until(id, "failed")
            assert states(ended) == {"good": "published", "bad": "failed"}
            assert ended["partly_published"] == [done]
            assert "cancel" not in good.actions
            assert ended["version"] == "0.0.0"

            bad.answers.clear()
            assert await here.ask("POST", f"/releases/{id}/publish") == (200, {"message": "publishing"})
            again = await here.until(id, "published")
            assert (set(states(again).values()), again["partly_published"]) == ({"published"}, [])
            assert (again["version"], good.actions.count("publish")) == ("0.1.0", 1)

    asyncio.run(talk())


def test_publishing_that_takes_too_long_fails_and_can_go_on(tmp_path: Path) -> None:
    async def talk() -> None:
        good, slow = Remote("good"), Remote("slow")
        async with serving(good, slow), coordinating(tmp_path, task_timeout=timedelta(seconds=2)) as here:
            id = await begun(here, good, slow)
            await here.until(id, "staged")
            slow.polled = False
            await here.good("POST", f"/releases/{id}/publish")
            ended = await here.until(id, "failed", "canceled")

            assert (ended["state"], states(ended)) == ("failed", {"good": "published", "slow": "failed"})
            assert (slow.actions[-1], "cancel" in good.actions) == ("cancel", False)
            assert any("ran out of time: slow did not publish in time" in t for t in await here.events(id))

            slow.polled = True
            await here.good("POST", f"/releases/{id}/publish")
            assert (await here.until(id, "published", "failed"))["state"] == "published"

    asyncio.run(talk())


def test_a_release_that_failed_before_anybody_published_cannot_be_published(tmp_path: Path) -> None:
    async def talk() -> None:
        bad = Remote("bad", initialize=[503])
        async with serving(bad), coordinating(tmp_path) as here:
            id = await begun(here, bad)
            await here.until(id, "failed")

            assert (await here.ask("POST", f"/releases/{id}/publish"))[0] == 409

    asyncio.run(talk())
