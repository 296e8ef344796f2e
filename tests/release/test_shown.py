"""What is out is shown, whenever a service says so and whatever became of its release: it is never hidden."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.release.conftest import LIMIT, STUDY, Site, coordinating, states
from tests.release.remote import SILENCE, Remote, serving


async def staged(here: Site, *remotes: Remote) -> tuple[str, dict[str, str]]:
    """A release that these have staged; its id, and its tasks by the names of services."""
    await here.register(*remotes)
    id = await here.release()
    shown = await here.until(id, "staged")
    return id, {task["service_name"]: task["kf_id"] for task in shown["tasks"]}


@pytest.mark.parametrize("ended", ["canceled", "failed"])
def test_published_that_is_told_while_others_are_canceled_is_shown(ended: str, tmp_path: Path) -> None:
    """Its own task had ended already: that stays as it is, and is named."""

    async def talk() -> None:
        bad, quick, slow = Remote("bad"), Remote("quick"), Remote("slow", cancel=[SILENCE])
        async with serving(bad, quick, slow), coordinating(tmp_path) as here:
            id, tasks = await staged(here, bad, quick, slow)
            for each in (bad, quick, slow):
                each.answers["get_status"] = ["publishing"]
            task = tasks["quick" if ended == "canceled" else "bad"]
            await here.good("POST", f"/releases/{id}/publish")
            await here.until_task(tasks["bad"], "publishing")
            await here.good("PATCH", f"/tasks/{tasks['bad']}", {"state": "failed"})
            await here.until(id, "canceling")
            await here.until_task(task, ended)
            for _ in range(2):
                answer = await here.good("PATCH", f"/tasks/{task}", {"state": "published"})
                assert answer["state"] == ended
                shown = await here.good("GET", f"/releases/{id}")
                assert (shown["state"], shown["partly_published"]) == ("canceling", [task])
            assert slow.hold is not None
            slow.hold.set()

            assert (await here.until(id, "failed"))["partly_published"] == [task]
            await here.good("PATCH", f"/tasks/{task}", {"state": "published"})
            assert (await here.good("GET", f"/releases/{id}"))["partly_published"] == [task]
            told = f"task {task} reports published while it is {ended}: shown"
            assert (await here.events(id)).count(told) == 1

    asyncio.run(talk())


@pytest.mark.parametrize("looks", [True, False])
def test_published_that_is_told_while_publish_is_repeated_is_shown(looks: bool, tmp_path: Path) -> None:
    """The run waits for the next attempt, not for a report: what is kept counts, whoever looks at the end first."""

    async def talk() -> None:
        bad, broken = Remote("bad"), Remote("broken")
        rarely: dict[str, Any] = {} if looks else {"look_every": timedelta(hours=1)}
        async with serving(bad, broken), coordinating(tmp_path, **rarely) as here:
            id, tasks = await staged(here, bad, broken)
            bad.answers["get_status"] = ["publishing"]
            broken.answers.update(publish=[500], get_status=[500], cancel=[409])
            await here.good("POST", f"/releases/{id}/publish")
            async with asyncio.timeout(LIMIT):
                while not any("request to publish" in each for each in await here.events(id)):
                    await here.good("GET", f"/releases/{id}")
            await here.good("PATCH", f"/tasks/{tasks['broken']}", {"state": "published"})
            await here.good("PATCH", f"/tasks/{tasks['bad']}", {"state": "failed"})

            ended = await here.until(id, "failed")
            assert ended["partly_published"] == [tasks["broken"]]
            assert states(ended) == {"bad": "failed", "broken": "published"}

    asyncio.run(talk())


async def shown_as_out(here: Site, out: Remote, bad: Remote) -> tuple[str, dict[str, str]]:
    """A release that failed, of which one says afterwards that it has published."""
    id, tasks = await staged(here, bad, out)
    bad.answers["publish"] = [400]
    out.answers.update(get_status=["publishing"], cancel=[500])
    await here.good("POST", f"/releases/{id}/publish")
    await here.until(id, "failed")
    await here.good("PATCH", f"/tasks/{tasks['out']}", {"state": "published"})
    return id, tasks


def test_who_is_out_is_not_asked_to_publish_again_and_stays_shown(tmp_path: Path) -> None:
    async def talk() -> None:
        out, bad = Remote("out"), Remote("bad")
        async with serving(out, bad), coordinating(tmp_path) as here:
            id, tasks = await shown_as_out(here, out, bad)
            asked = out.actions
            await here.good("POST", f"/releases/{id}/publish")
            ended = await here.until(id, "failed")
            assert (ended["partly_published"], out.actions) == ([tasks["out"]], asked)
            assert states(ended) == {"out": "canceled", "bad": "failed"}  # it stays as it ended, and is named
            bad.answers.clear()
            await here.good("POST", f"/releases/{id}/publish")

            ended = await here.until(id, "published")
            assert (ended["partly_published"], out.actions) == ([], asked)

    asyncio.run(talk())


def test_where_all_are_out_the_release_is_published_and_nobody_is_asked(tmp_path: Path) -> None:
    async def talk() -> None:
        out, bad = Remote("out"), Remote("bad")
        async with serving(out, bad), coordinating(tmp_path) as here:
            id, tasks = await shown_as_out(here, out, bad)
            await here.good("PATCH", f"/tasks/{tasks['bad']}", {"state": "published"})
            asked = [*out.actions, *bad.actions]
            await here.good("POST", f"/releases/{id}/publish")

            ended = await here.good("GET", f"/releases/{id}")
            assert (ended["state"], ended["version"], ended["partly_published"]) == ("published", "0.1.0", [])
            assert set(states(ended).values()) == {"published"}
            assert [*out.actions, *bad.actions] == asked
            assert (await here.good("GET", f"/studies/{STUDY}"))["version"] == "0.1.0"

    asyncio.run(talk())


@pytest.mark.parametrize("refusal", [404, 409])
def test_one_that_cannot_stop_any_more_is_asked_whether_it_is_out(refusal: int, tmp_path: Path) -> None:
    """It published while another refused to: its answer came too late to be heard."""

    async def talk() -> None:
        bad, quick = Remote("bad"), Remote("quick")
        async with serving(bad, quick), coordinating(tmp_path) as here:
            id, tasks = await staged(here, bad, quick)
            bad.answers["publish"] = [400]
            quick.answers.update(publish=[SILENCE], get_status=["publishing", "published"], cancel=[refusal])
            await here.good("POST", f"/releases/{id}/publish")
            async with asyncio.timeout(LIMIT):
                await quick.until("publish")
                await here.until(id, "canceling")
            assert quick.hold is not None
            quick.hold.set()

            ended = await here.until(id, "failed")
            assert ended["partly_published"] == [tasks["quick"]]
            assert states(ended) == {"bad": "failed", "quick": "published"}
            assert [action for action, _ in quick.log][-2:] == ["cancel", "get_status"]

    asyncio.run(talk())


def test_what_is_changed_of_a_release_is_told_once(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a")
        async with serving(remote), coordinating(tmp_path) as here:
            id, _ = await staged(here, remote)
            for _ in range(2):
                await here.good(
                    "PATCH", f"/releases/{id}", {"name": "Spring", "author": "admin", "tags": ["x"]}
                )

            told = [each for each in await here.events(id) if "changed:" in each]
            assert told == [f"release {id} was changed: name, tags"]

    asyncio.run(talk())
