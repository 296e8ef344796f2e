"""A service that tells what cannot be then: it fails the release, and all who may be at work are told to stop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.release.conftest import ONE_STORE, Site, coordinating, states
from tests.release.remote import DROP, SILENCE, Remote, serving
from tests.waiting import until


async def begun(here: Site, *remotes: Remote) -> tuple[str, dict[str, str]]:
    """A release of these services: its id, and the tasks by the names of services."""
    await here.register(*remotes)
    id = await here.release()
    shown = await here.good("GET", f"/releases/{id}")
    return id, {task["service_name"]: task["kf_id"] for task in shown["tasks"]}


async def failed_for(here: Site, id: str, task: str, said: str) -> None:
    """Wait until a release of `one` and `two` has failed, for what `one` said."""
    ended = await here.until(id, "failed", "canceled", "published")

    assert (ended["state"], states(ended)) == ("failed", {"one": "failed", "two": "canceled"})
    found = (await here.good("GET", f"/events?release={id}&limit=100"))["results"]
    reason = f"task {task} {said}: the release fails"
    assert [each["event_type"] for each in found if each["message"] == reason] == ["error"]


@pytest.mark.parametrize("word", ["running", "staged", "published"])
@ONE_STORE
def test_a_word_before_initialize_was_answered_fails_the_release(word: str, url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        one, two = Remote("one", initialize=[SILENCE]), Remote("two")
        async with serving(one, two), coordinating(tmp_path, url) as here:
            id, tasks = await begun(here, one, two)
            await asyncio.gather(one.until("initialize"), two.until("initialize"))
            answer = await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": word})
            assert one.hold is not None
            one.hold.set()

            assert answer["state"] == "failed"
            await failed_for(here, id, tasks["one"], f"reports {word} while it is waiting")
            assert (one.actions, two.actions) == (["initialize", "cancel"], ["initialize", "cancel"])

    asyncio.run(talk())


@ONE_STORE
def test_staged_before_anybody_was_asked_to_start_fails_the_release(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        one, two = Remote("one"), Remote("two", initialize=[SILENCE])
        async with serving(one, two), coordinating(tmp_path, url) as here:
            id, tasks = await begun(here, one, two)
            await here.until_task(tasks["one"], "initialized")
            await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": "staged"})
            assert two.hold is not None
            two.hold.set()

            await failed_for(here, id, tasks["one"], "reports staged while it is initialized")
            assert (one.actions, two.actions) == (["initialize", "cancel"], ["initialize", "cancel"])

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("was", "word"), [("staged", "running"), ("staged", "pending"), ("running", "pending")]
)
@ONE_STORE
def test_a_service_that_flips_back_fails_the_release(was: str, word: str, url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        one, two = Remote("one", polled=was == "staged"), Remote("two", polled=False)
        async with serving(one, two), coordinating(tmp_path, url) as here:
            id, tasks = await begun(here, one, two)
            await here.until_task(tasks["one"], was)
            await here.until_task(tasks["two"], "running")
            await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": word})

            shown = "initialized" if word == "pending" else word
            await failed_for(here, id, tasks["one"], f"reports {shown} while it is {was}")
            assert (one.actions[-1], two.actions[-1]) == ("cancel", "cancel")

    asyncio.run(talk())


@ONE_STORE
def test_a_service_that_flips_back_while_all_are_staged_fails_the_release(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        one, two = Remote("one"), Remote("two")
        async with serving(one, two), coordinating(tmp_path, url) as here:
            id, tasks = await begun(here, one, two)
            await here.until(id, "staged")
            await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": "running", "progress": 40})

            await failed_for(here, id, tasks["one"], "reports running while it is staged")
            assert await here.ask("POST", f"/releases/{id}/publish") == (
                409,
                {"detail": f"Release {id} is failed: only a staged release can be published."},
            )
            assert (one.actions[-1], two.actions[-1]) == ("cancel", "cancel")

    asyncio.run(talk())


@ONE_STORE
def test_the_same_word_again_changes_nothing(url: str, tmp_path: Path) -> None:
    async def talk() -> list[Any]:
        one = Remote("one", polled=False)
        async with serving(one), coordinating(tmp_path, url) as here:
            id, tasks = await begun(here, one)
            await here.until_task(tasks["one"], "running")
            path = f"/tasks/{tasks['one']}"
            said = [await here.good("PATCH", path, {"state": "running"}) for _ in range(2)]
            one.states[tasks["one"]] = "staged"
            said += [await here.good("PATCH", path, {"state": "staged"}) for _ in range(2)]
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")
            await here.until_task(tasks["one"], "publishing")
            said.append(await here.good("PATCH", path, {"state": "staged"}))
            said.append(await here.good("PATCH", path, {"state": "published"}))
            await here.until(id, "published")
            said.append(await here.good("PATCH", path, {"state": "running"}))
            return [each["state"] for each in said]

    assert asyncio.run(talk()) == [
        *("running", "running", "staged", "staged", "publishing", "published", "published")
    ]


@pytest.mark.parametrize(("word", "ends"), [("failed", "failed"), ("cancelled", "canceled")])
@ONE_STORE
def test_a_service_that_falls_while_the_release_waits_to_be_published_is_noticed(
    word: str, ends: str, url: str, tmp_path: Path
) -> None:
    async def talk() -> None:
        one, two = Remote("one"), Remote("two")
        async with serving(one, two), coordinating(tmp_path, url) as here:
            id, tasks = await begun(here, one, two)
            await here.until(id, "staged")
            one.states[tasks["one"]] = word
            ended = await here.until(id, "failed", "canceled", "published")

            assert (ended["state"], states(ended)) == (ends, {"one": ends, "two": "canceled"})
            assert ("cancel" in one.actions, two.actions[-1]) == (False, "cancel")

    asyncio.run(talk())


@pytest.mark.parametrize("answer", ["pending", 404])
@ONE_STORE
def test_a_service_that_has_lost_what_it_staged_is_noticed(answer: Any, url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        one, two = Remote("one"), Remote("two")
        async with serving(one, two), coordinating(tmp_path, url) as here:
            id, _ = await begun(here, one, two)
            await here.until(id, "staged")
            one.answers["get_status"] = ["pending", "staged", answer]
            ended = await here.until(id, "failed", "canceled", "published")

            assert (ended["state"], states(ended)) == ("failed", {"one": "failed", "two": "canceled"})
            assert (one.actions[-1], two.actions[-1]) == ("cancel", "cancel")

    asyncio.run(talk())


@pytest.mark.parametrize("answer", [503, DROP])
def test_a_service_that_does_not_answer_while_it_is_staged_is_waited_for(answer: Any, tmp_path: Path) -> None:
    async def talk() -> None:
        one = Remote("one", polled=True)
        async with serving(one), coordinating(tmp_path) as here:
            id, _ = await begun(here, one)
            await here.until(id, "staged")
            one.answers["get_status"] = [answer]
            asked = len(one.log)
            await until(lambda: len(one.log) >= asked + 6, "six requests")
            shown = (await here.good("GET", f"/releases/{id}"))["state"]
            del one.answers["get_status"]
            await here.good("POST", f"/releases/{id}/publish")

            assert shown == "staged"
            await here.until(id, "published")

    asyncio.run(talk())


def test_who_is_not_asked_any_more_can_be_published(tmp_path: Path) -> None:
    """One that only reports is not asked either while it waits, and `publish` waits for nobody."""

    async def talk() -> None:
        one = Remote("one", polled=False, get_status=[405])
        async with serving(one), coordinating(tmp_path) as here:
            id, tasks = await begun(here, one)
            await here.until_told(id, "the service of task")
            asked = len(one.log)
            await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": "staged"})
            await until(lambda: len(one.log) >= asked + 3, "three requests")
            await here.good("POST", f"/releases/{id}/publish")
            await one.until("publish")
            await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": "published"})

            await here.until(id, "published")

    asyncio.run(talk())
