"""Reports of services: through the state machine, each at its time, and never out of an end state."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock_release import releases
from penstock_release.shared_calls import Shared
from tests.release.conftest import ONE_STORE, Site, coordinating, states
from tests.release.remote import SILENCE, Remote, serving


async def running(here: Site, *remotes: Remote) -> tuple[str, dict[str, str]]:
    """A release whose services work: its id, and the tasks by the names of services."""
    await here.register(*remotes)
    id = await here.release()
    for remote in remotes:
        await remote.until("start")
    shown = await here.good("GET", f"/releases/{id}")
    return id, {task["service_name"]: task["kf_id"] for task in shown["tasks"]}


@pytest.mark.parametrize(("state", "ends"), [("failed", "failed"), ("cancelled", "canceled")])
@pytest.mark.parametrize("when", ["running", "staged"])
@ONE_STORE
def test_a_report_of_failure_or_cancel_ends_the_release(
    state: str, ends: str, when: str, url: str, tmp_path: Path
) -> None:
    async def talk() -> None:
        one, two = Remote("one", polled=when == "staged"), Remote("two", polled=when == "staged")
        async with serving(one, two), coordinating(tmp_path, url) as here:
            id, tasks = await running(here, one, two)
            await here.until(id, when)
            await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": state})
            ended = await here.until(id, "failed", "canceled")

            assert (ended["state"], states(ended)) == (ends, {"one": ends, "two": "canceled"})
            assert (two.actions[-1], "cancel" in one.actions) == ("cancel", False)

    asyncio.run(talk())


@pytest.mark.parametrize("late", ["staged", "failed"])
@ONE_STORE
def test_a_late_report_changes_nothing_and_is_recorded(late: str, url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("one", polled=False)
        async with serving(remote), coordinating(tmp_path, url) as here:
            id, tasks = await running(here, remote)
            await here.good("DELETE", f"/releases/{id}")
            await here.until(id, "canceled")
            status, answer = await here.ask("PATCH", f"/tasks/{tasks['one']}", {"state": late, "progress": 7})

            assert (status, answer["state"]) == (200, "canceled")
            assert (await here.good("GET", f"/releases/{id}"))["state"] == "canceled"
            told = (await here.good("GET", f"/events?release={id}"))["results"][0]
            assert (told["event_type"], f"reports {late} while it is canceled" in told["message"]) == (
                "warning",
                True,
            )

    asyncio.run(talk())


def test_what_is_kept_of_late_reports_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "REMEMBERED", 2)

    async def talk() -> None:
        remote = Remote("one", polled=False)
        async with serving(remote), coordinating(tmp_path) as here:
            id, tasks = await running(here, remote)
            await here.good("DELETE", f"/releases/{id}")
            await here.until(id, "canceled")
            for late in ("running", "staged", "failed", "failed"):
                await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": late})

            kept = (await here.coordinator.releases.whole(id)).release.data["ignored"]
            assert [message.split()[3] for message in kept] == ["staged", "failed"]
            assert sum("is canceled: ignored" in told for told in await here.events(id)) == 3

    asyncio.run(talk())


def test_a_report_that_comes_before_the_answer_to_start_counts(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("one", polled=False, start=[SILENCE], get_status=[501])
        async with serving(remote), coordinating(tmp_path) as here:
            id, tasks = await running(here, remote)
            await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": "staged"})
            assert remote.hold is not None
            remote.hold.set()

            assert (await here.until(id, "staged"))["state"] == "staged"

    asyncio.run(talk())


def test_published_cannot_be_reported_before_it_was_asked_for(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("one")
        async with serving(remote), coordinating(tmp_path) as here:
            id, tasks = await running(here, remote)
            await here.until(id, "staged")
            answer = await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": "published"})

            assert answer["state"] == "staged"
            assert (await here.good("GET", f"/releases/{id}"))["state"] == "staged"

    asyncio.run(talk())


def test_progress_may_be_a_number_a_text_or_nothing(tmp_path: Path) -> None:
    said = [40, "50%", "60", None, 250, 12.5]

    async def talk() -> list[int]:
        remote = Remote("one", polled=False)
        async with serving(remote), coordinating(tmp_path) as here:
            _, tasks = await running(here, remote)
            path = f"/tasks/{tasks['one']}"
            told = [await here.good("PATCH", path, {"state": "running", "progress": each}) for each in said]
            return [each["progress"] for each in told]

    assert asyncio.run(talk()) == [40, 50, 60, 60, 100, 12]


def test_a_report_that_cannot_be_is_refused_field_by_field(tmp_path: Path) -> None:
    cases: list[tuple[Any, Any]] = [
        ({"state": "banana"}, {"state": ['"banana" is not a valid choice.']}),
        ({"state": 7}, {"state": ['"7" is not a valid choice.']}),
        ({"progress": "much"}, {"progress": ["A valid integer is required."]}),
        ([], {"non_field_errors": ["Invalid data. Expected a dictionary."]}),
    ]

    async def talk() -> None:
        remote = Remote("one", polled=False)
        async with serving(remote), coordinating(tmp_path) as here:
            _, tasks = await running(here, remote)
            for body, answer in cases:
                assert await here.ask("PATCH", f"/tasks/{tasks['one']}", body) == (400, answer)
            assert await here.ask("PATCH", "/tasks/TA_00000000", {}) == (404, {"detail": "Not found."})
            assert (await here.ask("DELETE", f"/tasks/{tasks['one']}"))[0] == 405

    asyncio.run(talk())


@pytest.mark.parametrize(("open_reports", "status"), [(False, 401), (True, 200)])
def test_reports_need_no_sign_in_only_where_the_operator_says_so(
    open_reports: bool, status: int, tmp_path: Path
) -> None:
    async def talk() -> None:
        remote = Remote("one", polled=False)
        async with serving(remote), coordinating(tmp_path, open_reports=open_reports) as here:
            id, tasks = await running(here, remote)
            path = f"/tasks/{tasks['one']}"

            assert (await here.ask("PATCH", path, {"progress": 1}, token=None))[0] == status
            assert (await here.ask("GET", path, token=None))[0] == status
            assert (await here.ask("GET", f"/releases/{id}", token=None))[0] == status
            assert (await here.ask("GET", "/releases", token=None))[0] == 401

    asyncio.run(talk())


def test_what_anybody_may_report_is_short(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("one", polled=False)
        async with serving(remote), coordinating(tmp_path, open_reports=True) as here:
            _, tasks = await running(here, remote)
            large = {"progress": 1, "note": "x" * 20_000}

            assert (await here.ask("PATCH", f"/tasks/{tasks['one']}", large, token=None))[0] == 413

    asyncio.run(talk())


def test_a_report_leaves_the_release_to_whoever_looks_next(tmp_path: Path) -> None:
    """Reports of hundreds that each rewrote the release would wait for each other."""

    async def talk() -> None:
        remote = Remote("one", polled=False)
        async with serving(remote), coordinating(tmp_path, look_every=timedelta(hours=1)) as here:
            id, tasks = await running(here, remote)
            await remote.until("get_status")
            await here.until_task(tasks["one"], "running")
            before = await here.coordinator.documents.get(f"releases/{id}")
            answer = await here.good("PATCH", f"/tasks/{tasks['one']}", {"state": "staged"})

            assert (answer["state"], answer["progress"]) == ("staged", 100)
            assert await here.coordinator.documents.get(f"releases/{id}") == before
            assert (await here.good("GET", f"/releases/{id}"))["state"] == "staged"

    asyncio.run(talk())


def test_many_who_look_at_once_share_a_look_that_began_after_they_asked() -> None:
    begun: list[str] = []

    async def talk() -> set[int]:
        shared: Shared[int] = Shared()
        open_ = asyncio.Event()

        async def look(key: str) -> int:
            begun.append(key)
            number = len(begun)
            await open_.wait()
            return number

        first = asyncio.ensure_future(shared.ask("a", look))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        others = [asyncio.ensure_future(shared.ask("a", look)) for _ in range(100)]
        await asyncio.sleep(0)
        open_.set()
        return {await first, *await asyncio.gather(*others)}

    assert (asyncio.run(talk()), begun) == ({1, 2}, ["a", "a"])


def test_a_report_that_an_answer_has_overtaken_is_not_late(tmp_path: Path) -> None:
    """It was kept until the run would wait for it, and its service was asked in the meantime."""

    async def talk() -> None:
        async with serving(remote := Remote("a")), coordinating(tmp_path) as here:
            id, _ = await running(here, remote)
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")
            await here.until(id, "published")
            [task] = (await here.coordinator.releases.whole(id)).tasks
            await here.coordinator.documents.change(update=[(task, {**task.data, "report": "staged"})])
            whole = await here.coordinator.releases.whole(id)
            await here.coordinator.reports.deliver(whole, whole.tasks[0])

            assert not [told for told in await here.events(id) if "ignored" in told]
            assert (await here.coordinator.releases.whole(id)).tasks[0].data["report"] is None

    asyncio.run(talk())
