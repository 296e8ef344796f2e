"""A source whose store is not set up is shown as failing, and says what to do."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.sources.feeding_lease import feed_name
from penstock.sources.feeding_listing import all_records
from tests.objects.places import FolderPlace
from tests.objects.telling import PICS, TASKS

SEARCH = {"kind": "search", "store": "pics", "cron": "0 0 1 1 *"}
OBJECT = {"kind": "object", "store": "pics"}
AWAY = "s3://pics?endpoint=http://127.0.0.1:9&access_key=a&secret_key=b"


async def shown(engine: Engine, state: str) -> list[dict[str, Any]]:
    """The sources, once the first is so no more."""
    while not (found := await engine.schedules.sources()) or found[0]["state"] == state:
        await asyncio.sleep(0.02)
    return list(found)


@pytest.mark.parametrize("source", [OBJECT, SEARCH])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_a_source_is_well_again_once_its_store_is_set_up(
    source: dict[str, Any], known: bool, kind: str, tmp_path: Path
) -> None:
    stores = {"pics": FolderPlace(tmp_path / "pics").url if kind == "folder" else AWAY}
    path = str(tmp_path / "p.db")

    async def main() -> list[dict[str, Any]]:
        async with Engine(path, tasks=TASKS, stores=stores if known else {}) as engine:
            await engine.publish({**PICS, "source": source}, start=True)
            if known and source is SEARCH:
                await shown(engine, "failing")
        async with Engine(path, tasks=TASKS, stores={}) as engine:
            while not [each for each in await engine.schedules.sources() if each["state"] == "failing"]:
                await asyncio.sleep(0.02)
        async with Engine(path, tasks=TASKS, stores=stores) as engine:
            return await shown(engine, "failing")

    [found] = asyncio.run(asyncio.wait_for(main(), 30))
    assert (found["error"], found["failures"], found["hint"]) == (None, 0, None)


def test_a_source_that_is_stopped_fails_no_more(tmp_path: Path) -> None:
    async def main() -> tuple[Any, Any]:
        path = str(tmp_path / "p.db")
        async with Engine(path, tasks=TASKS, stores={}) as engine:
            await engine.publish({**PICS, "source": OBJECT}, start=True)
            while not [each for each in await engine.schedules.sources() if each["error"]]:
                await asyncio.sleep(0.02)
            await engine.stop_source("pics")
            [at_once] = await engine.schedules.sources()
            store = (await engine.running()).store
            while not (kept := (await all_records(store))[feed_name("pics")]).stopped:
                await asyncio.sleep(0.02)
            return at_once["state"], kept.error

    state, kept = asyncio.run(asyncio.wait_for(main(), 30))
    assert state != "failing"
    assert kept is None


def test_what_is_not_set_up_is_logged_in_one_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with Engine(str(tmp_path / "p.db"), tasks=TASKS, stores={}) as engine:
            await engine.publish({**PICS, "source": OBJECT}, start=True)
            while not [each for each in await engine.schedules.sources() if each["error"]]:
                await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(main(), 30))
    said = [each for each in caplog.records if each.name == "penstock.feeding"]
    assert "there is no object store 'pics'" in said[0].getMessage()
    assert not said[0].exc_info


@pytest.mark.parametrize(
    "source",
    [{"kind": "object", "store": "pic"}, {"kind": "search", "store": "pic", "cron": "* * * * *"}],
)
def test_a_store_that_is_not_set_up_is_shown_as_an_error_of_the_source(
    source: dict[str, Any], tmp_path: Path
) -> None:
    folder = FolderPlace(tmp_path / "pics")

    async def main() -> Any:
        async with (
            asyncio.timeout(30),
            Engine(str(tmp_path / "p.db"), tasks=TASKS, stores={"pics": folder.url}) as engine,
        ):
            await engine.publish({**PICS, "source": source}, start=True)
            while not (found := [each for each in await engine.schedules.sources() if each["error"]]):
                await asyncio.sleep(0.02)
            return found

    [shown] = asyncio.run(main())
    assert (shown["workflow"], shown["state"]) == ("pics", "failing")
    assert "there is no object store 'pic': did you mean 'pics'?" in shown["error"]
