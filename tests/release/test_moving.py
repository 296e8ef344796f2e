"""A service that moves, or is removed, while it takes part in a release: it is called where it is then."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.release.conftest import Site, coordinating
from tests.release.remote import Remote, serving


async def moved(here: Site, service: str, old: Remote, new: Remote) -> None:
    """The service with its tasks is elsewhere; the old place would still answer."""
    new.states, old.log = dict(old.states), []
    await here.good("PATCH", f"/task-services/{service}", {"url": new.base})


@pytest.mark.parametrize("state", ["running", "staged", "publishing"])
def test_a_service_is_called_where_it_is_now(state: str, tmp_path: Path) -> None:
    async def talk() -> None:
        old, new = Remote("old", polled=state == "staged"), Remote("new")
        async with serving(old, new), coordinating(tmp_path) as here:
            [service] = await here.register(old)
            id = await here.release()
            if state == "publishing":
                old.polled = True
                await here.until(id, "staged")
                old.polled = False
                await here.good("POST", f"/releases/{id}/publish")
                await old.until("publish")
            await here.until(id, state)
            await moved(here, service, old, new)
            if state != "publishing":
                await here.until(id, "staged")
                await here.good("POST", f"/releases/{id}/publish")

            assert (await here.until(id, "published", "failed"))["state"] == "published"
            assert old.actions == []

    asyncio.run(talk())


def test_the_rest_of_a_release_goes_to_where_its_services_are_now(tmp_path: Path) -> None:
    async def talk() -> None:
        good, old, new = Remote("good"), Remote("old"), Remote("new")
        async with serving(good, old, new), coordinating(tmp_path) as here:
            _, service = await here.register(good, old)
            id = await here.release()
            await here.until(id, "staged")
            old.answers["get_status"] = ["publishing"]
            await here.good("POST", f"/releases/{id}/publish")
            shown = await here.good("GET", f"/releases/{id}")
            await here.until_task(
                next(task["kf_id"] for task in shown["tasks"] if task["service_name"] == "good"), "published"
            )
            old.answers["get_status"] = ["failed"]
            await here.until(id, "failed")
            await moved(here, service, old, new)
            await here.good("POST", f"/releases/{id}/publish")

            assert (await here.until(id, "published", "canceled"))["state"] == "published"
            assert (old.log, new.actions) == ([], ["initialize", "start", "publish"])

    asyncio.run(talk())


def test_a_service_that_was_removed_is_called_where_it_was_last(tmp_path: Path) -> None:
    async def talk() -> None:
        old, new = Remote("old"), Remote("new")
        async with serving(old, new), coordinating(tmp_path) as here:
            [service] = await here.register(old)
            id = await here.release()
            await here.until(id, "staged")
            await moved(here, service, old, new)
            await here.good("DELETE", f"/task-services/{service}")
            await here.good("POST", f"/releases/{id}/publish")

            assert (await here.until(id, "published", "failed"))["state"] == "published"
            # It may still be asked how it is: that was under way when it moved.
            assert (old.actions, new.actions) == ([], ["publish"])

    asyncio.run(talk())
