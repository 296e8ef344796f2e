"""A source whose store is not set up is shown as failing, and says what to do."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.sources.triggers.lease import trigger_name
from penstock.sources.triggers.trigger_list import all_records
from tests.objects.places import FolderPlace
from tests.objects.telling import PICS, TASKS
from tests.waiting import until

SEARCH = {"kind": "search", "store": "pics", "cron": "0 0 1 1 *"}
OBJECT = {"kind": "object", "store": "pics"}
AWAY = "s3://pics?endpoint=http://127.0.0.1:9&access_key=a&secret_key=b"


async def shown(engine: Engine, state: str) -> list[dict[str, Any]]:
    """The sources, once the first is so no more."""
    return await until(
        engine.schedules.sources,
        f"a source that is not {state}",
        so=lambda found: found and found[0]["state"] != state,
    )


async def in_error(engine: Engine) -> list[dict[str, Any]]:
    """The sources, once one has an error."""
    return await until(
        engine.schedules.sources,
        "the error of a source",
        so=lambda found: any(each["error"] for each in found),
    )


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
            await until(
                engine.schedules.sources,
                "a source that fails",
                so=lambda found: any(each["state"] == "failing" for each in found),
            )
        async with Engine(path, tasks=TASKS, stores=stores) as engine:
            return await shown(engine, "failing")

    [found] = asyncio.run(asyncio.wait_for(main(), 30))
    assert (found["error"], found["failures"], found["hint"]) == (None, 0, None)


def test_a_source_that_is_stopped_fails_no_more(tmp_path: Path) -> None:
    async def main() -> tuple[Any, Any]:
        path = str(tmp_path / "p.db")
        async with Engine(path, tasks=TASKS, stores={}) as engine:
            await engine.publish({**PICS, "source": OBJECT}, start=True)
            await in_error(engine)
            await engine.stop_source("pics")
            [at_once] = await engine.schedules.sources()
            store = (await engine.running()).store
            records = await until(
                lambda: all_records(store),
                "the end of the feed",
                so=lambda found: found[trigger_name("pics")].stopped,
            )
            return at_once["state"], records[trigger_name("pics")].error

    state, kept = asyncio.run(asyncio.wait_for(main(), 30))
    assert state != "failing"
    assert kept is None


def test_what_is_not_set_up_is_logged_in_one_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with Engine(str(tmp_path / "p.db"), tasks=TASKS, stores={}) as engine:
            await engine.publish({**PICS, "source": OBJECT}, start=True)
            await in_error(engine)

    asyncio.run(asyncio.wait_for(main(), 30))
    said = [each for each in caplog.records if each.name == "penstock.triggers"]
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
            return await in_error(engine)

    [shown] = asyncio.run(main())
    assert (shown["workflow"], shown["state"]) == ("pics", "failing")
    assert "there is no object store 'pic': did you mean 'pics'?" in shown["error"]
