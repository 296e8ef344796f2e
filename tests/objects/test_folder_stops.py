"""What a watched folder tells around a stop of its source: what came before, once, and nothing that came after."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from penstock import Engine
from penstock.sources.triggers.trigger import Trigger
from penstock.store.sqlite.store import SqliteStore
from tests.databases import new_database
from tests.durable.conftest import Place
from tests.objects.places import FolderPlace, clock_goes_on, clock_goes_on_sync
from tests.objects.telling import PICS, TASKS
from tests.objects.test_folder_watch import QUIET, folder, here, place, play, told, watched
from tests.postgres_server import PostgresServer
from tests.sources.feeding.feeders import until_there

__all__ = ["folder", "here", "place"]


def created(*names: str) -> list[tuple[str, str]]:
    return [("created", name) for name in names]


@pytest.mark.parametrize("gap", [0.0, 0.03])
def test_a_source_that_is_stopped_and_started_at_once_loses_nothing(
    place: Place, folder: FolderPlace, gap: float
) -> None:
    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("before.png")
        await clock_goes_on()
        await engine.stop_source("pics")
        await asyncio.sleep(gap)  # whether its feeder has heard of the stop or not
        await engine.start_source("pics")
        await clock_goes_on()
        folder.put("later.png")
        return sorted(await told(engine, 2))

    assert play(place, folder, main) == created("before.png", "later.png")


def test_a_file_that_goes_just_before_a_stop_is_told(place: Place, folder: FolderPlace) -> None:
    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("a.png")
        await until_there(engine, 1)
        await asyncio.sleep(QUIET)  # nothing else is reported meanwhile
        folder.delete("a.png")
        await engine.stop_source("pics")
        await watched(engine, stopped=True)
        return await told(engine, 2)

    assert play(place, folder, main) == [("created", "a.png"), ("deleted", "a.png")]


@pytest.mark.parametrize("grace", [10.0, 0.2])
def test_what_there_was_no_time_for_is_told_when_the_source_is_started_again(
    here: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch, grace: float
) -> None:
    """Whether its feeder came to an end or was ended."""
    monkeypatch.setattr("penstock.sources.triggers.triggers.STOP_TIMEOUT", grace)
    start_many = Trigger.start_many

    async def slow(feed: Trigger, starts: Any, ready: bool = False) -> Any:
        if feed.finishing and starts:
            await asyncio.sleep(5 * QUIET)  # longer than it is waited for what is not quiet
        return await start_many(feed, starts, ready=ready)

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        monkeypatch.setattr(Trigger, "start_many", slow)
        folder.put("a.png")
        await asyncio.sleep(0.8 * QUIET)  # the second is not quiet when the first is
        folder.put("b.png")
        await engine.stop_source("pics")
        await watched(engine, stopped=True)
        monkeypatch.setattr(Trigger, "start_many", start_many)
        await engine.start_source("pics")
        return sorted(await told(engine, 2))

    assert play(here, folder, main) == created("a.png", "b.png")


def test_what_comes_while_others_wait_for_room_is_told_though_the_source_is_stopped_again(
    here: Place, folder: FolderPlace
) -> None:
    flow = {**PICS, "max_running": 1, "steps": {"look": {"task": "slow", "emits": "OK"}}}
    gate = asyncio.Event()

    async def slow() -> None:
        await gate.wait()

    async def main(engine: Engine) -> Any:
        await engine.publish(flow, start=True)
        await watched(engine)
        folder.put("1.png")
        await until_there(engine, 1)
        folder.put("2.png")
        await clock_goes_on()
        await engine.stop_source("pics")
        await watched(engine, stopped=True)
        folder.put("never.png")
        await clock_goes_on()
        await engine.start_source("pics")
        await watched(engine)
        folder.put("3.png")
        await clock_goes_on()
        await engine.stop_source("pics")
        await watched(engine, stopped=True)
        gate.set()
        await engine.start_source("pics")
        return sorted(key for _, key in await told(engine, 3))

    found = here.run(main, {"slow": slow}, stores={"pics": folder.url})
    assert found == ["1.png", "2.png", "3.png"]


def test_what_came_before_a_source_was_stopped_while_no_node_ran_is_told_when_it_is_started(
    place: Place, folder: FolderPlace
) -> None:
    async def first(engine: Engine) -> None:
        await engine.publish(PICS, start=True)
        await watched(engine)

    async def between(engine: Engine) -> None:
        await engine.stop_source("pics")

    async def second(engine: Engine) -> Any:
        await engine.start_source("pics")
        return await told(engine, 1)

    play(place, folder, first)
    folder.put("before.png")
    clock_goes_on_sync()
    place.run(between, {}, work=False)
    clock_goes_on_sync()
    folder.put("after.png")
    clock_goes_on_sync()
    assert play(place, folder, second) == created("before.png")


def test_what_was_in_a_folder_that_was_away_at_the_stop_is_told_when_the_source_is_started(
    here: Place, folder: FolderPlace
) -> None:
    away = folder.path.with_name("away")

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("a.png")
        os.rename(folder.path, away)
        await engine.stop_source("pics")
        await watched(engine, stopped=True)
        os.rename(away, folder.path)
        await engine.start_source("pics")
        return await told(engine, 1)

    assert play(here, folder, main) == created("a.png")


def test_what_comes_after_a_stop_of_which_the_feeder_has_not_heard_is_not_told(
    server: PostgresServer, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node stops it, and this one looks only now and then: by then the file is quiet."""
    place = Place(new_database(server))
    monkeypatch.setattr(
        "penstock.sources.triggers.triggers.SHARED_POLL_INTERVAL", timedelta(seconds=5 * QUIET)
    )

    async def main(engine: Engine) -> Any:
        async with Engine(place.url, tasks=TASKS, work=False, stores={"pics": folder.url}) as other:
            await engine.publish(PICS, start=True)
            await watched(engine)
            await other.stop_source("pics")
            await clock_goes_on()
            folder.put("after.png")
            await watched(engine, stopped=True)
            await other.start_source("pics")
            await watched(engine)
            folder.put("later.png")
            return await told(engine, 1)

    assert play(place, folder, main) == created("later.png")


@pytest.mark.parametrize("hours", [-1, 1])
def test_the_clock_of_the_store_need_not_be_that_of_the_files(
    tmp_path: Any, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    def shifted(asked: Callable[..., Any]) -> Callable[..., Any]:
        async def later(*them: Any) -> Any:
            found = await asked(*them)
            if isinstance(found, datetime):
                return found + timedelta(hours=hours)
            return tuple(None if at is None else at + timedelta(hours=hours) for at in found)

        return later

    for owner, name in ((SqliteStore, "now"), (Trigger, "source_times")):
        monkeypatch.setattr(owner, name, shifted(getattr(owner, name)))

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("before.png")
        await clock_goes_on()
        await engine.stop_source("pics")
        await clock_goes_on()
        folder.put("after.png")
        await watched(engine, stopped=True)
        return await told(engine, 1)

    folder.put("old.png")
    clock_goes_on_sync()
    assert play(Place(str(tmp_path / "penstock.db")), folder, main) == created("before.png")
