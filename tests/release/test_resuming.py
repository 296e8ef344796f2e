"""A release that is partly published is shown as that, and goes on once, however often and at once it is asked to."""

from __future__ import annotations

import asyncio
from functools import partial
from operator import lt
from pathlib import Path
from typing import Any

import pytest

from tests.release.conftest import LIMIT, ONE_STORE, Site, coordinating, states
from tests.release.remote import Remote, serving
from tests.waiting import until


async def partly(here: Site, good: Remote, bad: Remote) -> tuple[str, dict[str, str]]:
    """A release that only one of two has published; its id, and the tasks by the names of services."""
    await here.register(good, bad)
    id = await here.release()
    shown = await here.until(id, "staged")
    tasks = {task["service_name"]: task["kf_id"] for task in shown["tasks"]}
    bad.answers["get_status"] = ["publishing"]
    await here.good("POST", f"/releases/{id}/publish")
    await here.until_task(tasks["good"], "published")
    bad.answers["get_status"] = ["failed"]
    ended = await here.until(id, "failed")
    assert ended["partly_published"] == [tasks["good"]]
    return id, tasks


def test_many_who_ask_at_once_let_it_go_on_once(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad")
        async with serving(good, bad), coordinating(tmp_path, url) as here:
            id, _ = await partly(here, good, bad)
            bad.answers.clear()
            path = f"/releases/{id}/publish"
            answers = await asyncio.gather(*(here.ask("POST", path) for _ in range(5)))

            assert {status for status, _ in answers} == {200}
            ended = await here.until(id, "published", "failed")
            assert (ended["state"], ended["partly_published"]) == ("published", [])
            assert (good.actions.count("publish"), bad.actions.count("publish")) == (1, 2)

    asyncio.run(talk())


def test_a_failure_that_is_reported_again_after_it_went_on_counts_again(tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad")
        async with serving(good, bad), coordinating(tmp_path) as here:
            id, _ = await partly(here, good, bad)
            bad.answers.clear()
            bad.answers.update(publish=[503])
            for _ in range(2):
                asked = bad.actions.count("publish")
                await here.good("POST", f"/releases/{id}/publish")
                await until(
                    lambda: bad.actions.count("publish"), "another `publish`", LIMIT, so=partial(lt, asked)
                )
                task = bad.log[-1][1]["task_id"]
                await here.good("PATCH", f"/tasks/{task}", {"state": "failed"})

                ended = await here.until(id, "failed")
                assert states(ended) == {"good": "published", "bad": "failed"}

    asyncio.run(talk())


def test_one_that_was_canceled_when_some_had_published_goes_on_too(tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad")
        async with serving(good, bad), coordinating(tmp_path) as here:
            await here.register(good, bad)
            id = await here.release()
            tasks = {t["service_name"]: t["kf_id"] for t in (await here.until(id, "staged"))["tasks"]}
            bad.answers["get_status"] = ["publishing"]
            await here.good("POST", f"/releases/{id}/publish")
            await here.until_task(tasks["good"], "published")
            await here.good("DELETE", f"/releases/{id}")
            ended = await here.until(id, "canceled")
            assert ended["partly_published"] == [tasks["good"]]
            bad.answers.clear()
            await here.good("POST", f"/releases/{id}/publish")

            assert states(await here.until(id, "published")) == {"good": "published", "bad": "published"}

    asyncio.run(talk())


@pytest.mark.parametrize("how", ["answers", "reports"])
@ONE_STORE
def test_who_has_published_before_it_could_stop_is_shown(how: str, url: str, tmp_path: Path) -> None:
    """It published before it was asked for its state, and another refused to: that is partly published."""

    async def talk() -> None:
        bad, quick = Remote("bad"), Remote("quick")
        async with serving(bad, quick), coordinating(tmp_path, url) as here:
            await here.register(bad, quick)
            id = await here.release()
            tasks = {t["service_name"]: t["kf_id"] for t in (await here.until(id, "staged"))["tasks"]}
            bad.answers["publish"] = [400]
            quick.answers.update(get_status=["publishing"])
            told: Any = {"state": "published"} if how == "answers" else 500
            quick.answers["cancel"] = [told]
            await here.good("POST", f"/releases/{id}/publish")
            ended = await here.until(id, "failed", "canceled")
            if how == "reports":
                assert (ended["state"], ended["partly_published"]) == ("failed", [])
                answer = await here.good("PATCH", f"/tasks/{tasks['quick']}", {"state": "published"})
                assert answer["state"] == "canceled"  # no late report moves a task out of its end
                ended = await here.good("GET", f"/releases/{id}")

            assert (ended["state"], ended["partly_published"]) == ("failed", [tasks["quick"]])
            assert states(ended)["quick"] == ("published" if how == "answers" else "canceled")
            bad.answers.clear()
            quick.answers.clear()
            quick.states[tasks["quick"]] = "published"
            await here.good("POST", f"/releases/{id}/publish")
            assert (await here.until(id, "published", "failed"))["state"] == "published"

    asyncio.run(talk())


def test_a_release_that_should_go_on_goes_on_after_a_crash(url: str, tmp_path: Path) -> None:
    """What was asked is written before anything is done: whoever looks next begins it."""

    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad")
        async with serving(good, bad):
            async with coordinating(tmp_path, url) as here:
                id, tasks = await partly(here, good, bad)
                bad.answers.clear()
                releases = here.coordinator.releases
                assert await releases._resume(await releases.whole(id), 1)  # and here it dies
            async with coordinating(tmp_path, url) as here:
                assert states(await here.until(id, "published")) == {"good": "published", "bad": "published"}
                assert await here.coordinator.documents.all("live/") == []
                assert good.actions.count("publish") == 1
                assert tasks.keys() == {"good", "bad"}

    asyncio.run(talk())
