"""A watched folder starts a run for each file that is written whole, once, whatever happens to the node."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.objects.folder import FolderStore
from penstock.sources.objects.folder import FolderReader
from penstock.sources.objects.folder_seen import SeenFiles
from penstock.sources.triggers.lease import read_record, trigger_name
from penstock.sources.triggers.trigger import Trigger
from tests.databases import new_database
from tests.durable.conftest import Place
from tests.objects.places import FolderPlace, clock_goes_on
from tests.objects.telling import PICS, TASKS
from tests.postgres_server import PostgresServer
from tests.sources.feeding.feeders import until_there
from tests.waiting import until

QUIET = 0.2
"""Seconds; where a test needs a file not to be quiet yet, on a busy machine too, it sets more."""
CLOCKS = 1.0
"""Seconds: what the clocks of a busy machine and of its database may seem to differ by, as long as an answer takes."""
WAIT = 50
"""Milliseconds until it is looked whether files are quiet."""


@pytest.fixture
def here(tmp_path: Path) -> Place:
    """For what only the folder decides: one store is as good as another."""
    return Place(str(tmp_path / "penstock.db"))


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place(str(tmp_path / "penstock.db"))
    server: PostgresServer = request.getfixturevalue("server")
    return Place(new_database(server))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderPlace:
    monkeypatch.setattr("penstock.sources.objects.folder.QUIET_SECONDS", QUIET)
    monkeypatch.setattr("penstock.sources.objects.folder.CLOCK_SLACK", 0.0)
    monkeypatch.setattr("penstock.sources.objects.folder_watch.IDLE_TIMEOUT", WAIT)
    return FolderPlace(tmp_path / "pics")


def play(place: Place, folder: FolderPlace, main: Any) -> Any:
    return place.run(main, TASKS, stores={"pics": folder.url})


async def watched(engine: Engine, stopped: bool = False) -> None:
    """Until the folder is watched, or is known not to be."""
    store = (await engine.running()).store

    async def known() -> bool:
        rows = await store.tokens(trigger_name("pics"), "", 1)
        record = read_record(rows[0]) if rows else None
        return record is not None and record.state is not None and record.stopped == stopped

    await until(known, "the folder not to be watched" if stopped else "the folder to be watched")


async def noticed(engine: Engine, count: int = 1) -> None:
    """Until so many files are looked at and not told yet."""
    counts = (await engine.running()).means.stores.store_counts
    await until(lambda: counts["pics"].counts["pending"] >= count, f"{count} files to be noticed", pause=0.01)


async def told(engine: Engine, count: int) -> list[tuple[str, str]]:
    """Event and key of every run, once there are so many."""
    await until_there(engine, count)
    runs = await engine.runs(sort="oldest", limit=1000)
    inputs = [(await engine.show(run["id"]))["input"] for run in runs]
    return [(each["event"], each["key"]) for each in inputs]


def test_each_file_starts_one_run_with_what_is_known_of_it(place: Place, folder: FolderPlace) -> None:
    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("in/a b.png", b"four")
        await until_there(engine, 1)
        [run] = await engine.runs()
        return await engine.wait(run["id"], 20)

    run = play(place, folder, main)
    told = run["input"]
    assert (run["status"], run["subject"], told["bucket"], told["key"]) == (
        "succeeded",
        "pics/in/a b.png",
        "pics",
        "in/a b.png",
    )
    assert (told["size"], told["event"], told["version"], told["metadata"]) == (4, "created", None, {})
    assert told["system"]["content_type"] == "image/png"


def test_what_was_there_before_starts_nothing(place: Place, folder: FolderPlace) -> None:
    folder.put("old.png")

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("new.png")
        return await told(engine, 1)

    assert play(place, folder, main) == [("created", "new.png")]


def test_a_file_that_is_still_written_waits(
    here: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = 0.6
    monkeypatch.setattr("penstock.sources.objects.folder.QUIET_SECONDS", quiet)

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        with (folder.path / "slow.bin").open("wb") as file:
            for _ in range(8):
                file.write(b"x")
                file.flush()
                await asyncio.sleep(quiet / 4)  # what writes it is slow
            assert await engine.runs() == []
        await until_there(engine, 1)
        [run] = await engine.runs()
        return (await engine.show(run["id"]))["input"]["size"]

    assert play(here, folder, main) == 8


def test_what_came_and_went_while_no_node_ran_is_told(place: Place, folder: FolderPlace) -> None:
    async def first(engine: Engine) -> None:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("a.png")
        await until_there(engine, 1)

    async def second(engine: Engine) -> Any:
        return await told(engine, 4)

    play(place, folder, first)
    folder.put("b/c.png")
    folder.put("d.png")
    folder.delete("a.png")
    assert sorted(play(place, folder, second)) == [
        ("created", "a.png"),
        ("created", "b/c.png"),
        ("created", "d.png"),
        ("deleted", "a.png"),
    ]


def test_a_stopped_source_starts_nothing_and_later_only_what_is_new(
    place: Place, folder: FolderPlace
) -> None:
    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("before.png")
        await until_there(engine, 1)
        await engine.stop_source("pics")
        await watched(engine, stopped=True)
        folder.put("meanwhile.png")
        await asyncio.sleep(CLOCKS)  # closer to the start, it may be new by the clock of the database
        await engine.start_source("pics")
        await watched(engine)
        folder.put("after.png")
        return await told(engine, 2)

    assert play(place, folder, main) == [("created", "before.png"), ("created", "after.png")]


def test_a_file_that_is_replaced_starts_again_and_its_tags_do_not(here: Place, folder: FolderPlace) -> None:
    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("a.png", b"1")
        await until_there(engine, 1)
        await FolderStore("pics", str(folder.path)).put_tags("a.png", {"mime": "image/png"})
        folder.put("a.png", b"22")
        folder.put("b.png", b"22")
        return await told(engine, 3)

    assert sorted(play(here, folder, main)) == [
        ("created", "a.png"),
        ("created", "a.png"),
        ("created", "b.png"),
    ]


def test_when_too_much_comes_at_once_the_folder_is_walked(
    here: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sources.objects.folder.OVERFLOW_THRESHOLD", 0)
    monkeypatch.setattr("penstock.sources.objects.folder.FolderReader._look", None)

    async def main(engine: Engine) -> Any:
        monkeypatch.setattr("penstock.sources.objects.folder.WALK_INTERVAL", 0.0)
        await engine.publish(PICS, start=True)
        await watched(engine)
        for number in range(300):
            folder.put(f"{number % 7}/{number}.png")
        return len(set(await told(engine, 300)))

    assert play(here, folder, main) == 300


def test_links_and_our_own_files_are_no_objects(here: Place, folder: FolderPlace, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hush")

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        (folder.path / "link.txt").symlink_to(secret)
        (folder.path / "out").symlink_to(tmp_path)
        (folder.path / ".penstock").mkdir(exist_ok=True)
        (folder.path / ".penstock" / "x.png").write_text("x")
        folder.put("last.png")
        return await told(engine, 1)

    assert play(here, folder, main) == [("created", "last.png")]


def test_a_file_that_is_moved_out_and_back_goes_and_comes_each_time(
    here: Place, folder: FolderPlace, tmp_path: Path
) -> None:
    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("in/a.png")
        await until_there(engine, 1)
        for count in (3, 5):
            (folder.path / "in").rename(tmp_path / "elsewhere")
            await until_there(engine, count - 1)
            (tmp_path / "elsewhere").rename(folder.path / "in")
            await until_there(engine, count)
        (folder.path / "in/a.png").rename(tmp_path / "a.png")  # so fast that nobody sees it gone
        (tmp_path / "a.png").rename(folder.path / "in/a.png")
        return await told(engine, 7)

    created, deleted = ("created", "in/a.png"), ("deleted", "in/a.png")
    assert play(here, folder, main) == [created, deleted, created, deleted, created, deleted, created]


def test_what_comes_before_anybody_listens_is_told(
    place: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = FolderReader._begin
    monkeypatch.setattr("penstock.sources.objects.folder.CLOCK_SLACK", 0.05)
    monkeypatch.setattr("penstock.sources.objects.folder.ASSUMED_AGE", 0.1)

    async def begun(feeder: FolderReader, feed: Trigger, seen: SeenFiles) -> None:
        await asyncio.sleep(0.4)  # it takes a while until somebody feeds it
        await begin(feeder, feed, seen)
        folder.put("late.png")

    monkeypatch.setattr("penstock.sources.objects.folder.FolderReader._begin", begun)

    async def main(engine: Engine) -> Any:
        folder.put("old.png")
        await asyncio.sleep(0.2)  # well before the source is started
        await engine.publish(PICS, start=True)
        folder.put("early.png")
        return await told(engine, 2)

    assert play(place, folder, main) == [("created", "early.png"), ("created", "late.png")]


def test_a_folder_that_another_takes_the_place_of_is_told_of_at_once(
    here: Place, folder: FolderPlace
) -> None:
    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("a.png")
        await until_there(engine, 1)
        folder.path.rename(folder.path.with_name("old"))
        folder.path.mkdir()
        folder.put("b.png")
        await until_there(engine, 3)
        folder.put("c.png")
        return await told(engine, 4)

    created = [("created", f"{name}.png") for name in "abc"]
    assert sorted(play(here, folder, main)) == [*created, ("deleted", "a.png")]


def test_files_are_told_in_the_order_in_which_they_came(here: Place, folder: FolderPlace) -> None:
    names = [f"{number * 37 % 40:02}.png" for number in range(40)]

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        await engine.pause_workflow("pics")
        for name in names:
            folder.put(name)
            await clock_goes_on()
        await until_there(engine, len(names))
        await engine.resume_workflow("pics")
        return [key for _, key in await told(engine, len(names))]

    assert play(here, folder, main) == names


def test_files_that_are_looked_at_together_are_told_in_their_order(
    here: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    etag = FolderReader._etag

    async def slow(feeder: FolderReader, key: str) -> str:
        await asyncio.sleep(1.5 * QUIET)  # longer than a file must be quiet
        return await etag(feeder, key)

    monkeypatch.setattr("penstock.sources.objects.folder.FolderReader._etag", slow)

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("zero.png")
        await until_there(engine, 1)  # all of the folder was walked through
        for name in ("second.png", "first.png"):  # looked at by their names
            folder.put(name)
            time.sleep(0.01)  # and nobody hears of the first alone
        return [key for _, key in await told(engine, 3)]

    assert play(here, folder, main) == ["zero.png", "second.png", "first.png"]


@pytest.mark.parametrize("patience", [5.0, 0.0])
def test_what_was_to_be_told_when_the_source_was_stopped_is_told_once(
    place: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    """Between the look at a file and its run the source may be stopped; the feeder hears of it only then."""
    monkeypatch.setattr(
        "penstock.sources.objects.folder.LAST_WALK_TIMEOUT", patience
    )  # also where nobody looks once more
    start_many = Trigger.start_many

    async def main(engine: Engine) -> Any:
        async def stopped_meanwhile(feed: Trigger, starts: Any, ready: bool = False) -> Any:
            monkeypatch.setattr(Trigger, "start_many", start_many)
            await engine.stop_source("pics")
            return await start_many(feed, starts, ready=ready)

        monkeypatch.setattr(Trigger, "start_many", stopped_meanwhile)
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("before.png")
        await watched(engine, stopped=True)
        folder.put("after.png")
        first = await told(engine, 1)
        await engine.start_source("pics")
        await watched(engine)
        folder.put("later.png")
        return first, await told(engine, 2)

    before = ("created", "before.png")
    assert play(place, folder, main) == ([before], [before, ("created", "later.png")])


def test_what_comes_after_a_stop_is_not_told_though_it_is_still_looked_for_what_came_before(
    place: Place, folder: FolderPlace
) -> None:
    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("before.png")
        await engine.stop_source("pics")
        await clock_goes_on()
        folder.put("after.png")
        await watched(engine, stopped=True)
        stopped = await told(engine, 1)
        await engine.start_source("pics")
        await watched(engine)
        folder.put("later.png")
        return stopped, await told(engine, 2)

    before = ("created", "before.png")
    assert play(place, folder, main) == ([before], [before, ("created", "later.png")])


def test_a_source_that_is_started_again_before_its_feeder_hears_of_the_stop_goes_on(
    server: PostgresServer, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node stops and starts it; whoever feeds it looks only now and then."""
    place, start_many = Place(new_database(server)), Trigger.start_many
    monkeypatch.setattr("penstock.sources.triggers.triggers.SHARED_POLL_INTERVAL", timedelta(seconds=30))

    async def main(engine: Engine) -> Any:
        async with Engine(place.url, tasks=TASKS, work=False) as other:

            async def stopped_meanwhile(feed: Trigger, starts: Any, ready: bool = False) -> Any:
                monkeypatch.setattr(Trigger, "start_many", start_many)
                await other.stop_source("pics")
                return await start_many(feed, starts, ready=ready)

            await engine.publish(PICS, start=True)
            await watched(engine)
            monkeypatch.setattr(Trigger, "start_many", stopped_meanwhile)
            folder.put("before.png")
            await until_there(engine, 1)
            await other.start_source("pics")
            await clock_goes_on()
            folder.put("later.png")
            return await told(engine, 2)

    assert play(place, folder, main) == [("created", "before.png"), ("created", "later.png")]


def test_what_had_no_room_when_the_source_was_stopped_is_told_when_it_is_started_again(
    place: Place, folder: FolderPlace
) -> None:
    """And nothing of it twice."""
    flow = {**PICS, "max_running": 1, "steps": {"look": {"task": "slow", "emits": "OK"}}}
    gate = asyncio.Event()

    async def slow() -> None:
        await gate.wait()

    async def main(engine: Engine) -> Any:
        await engine.publish(flow, start=True)
        await watched(engine)
        folder.put("1.png")
        await until_there(engine, 1)
        for name in ("2.png", "3.png"):
            folder.put(name)
        await noticed(engine, 2)
        folder.put("4.png")
        await engine.stop_source("pics")
        await watched(engine, stopped=True)
        first = await told(engine, 1)
        gate.set()
        await engine.start_source("pics")
        return [key for _, key in first], sorted(key for _, key in await told(engine, 4))

    found = place.run(main, {"slow": slow}, stores={"pics": folder.url})
    assert found == (["1.png"], ["1.png", "2.png", "3.png", "4.png"])


def test_of_a_folder_that_takes_too_long_to_look_through_what_was_noticed_is_told_after_a_stop(
    here: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sources.objects.folder.LAST_WALK_TIMEOUT", 0.1)

    monkeypatch.setattr("penstock.sources.objects.folder.QUIET_SECONDS", 0.5)

    async def never(feeder: FolderReader) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield None

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        monkeypatch.setattr(FolderReader, "_dated", never)
        folder.put("before.png")
        await noticed(engine)
        await engine.stop_source("pics")
        await watched(engine, stopped=True)
        return await told(engine, 1)

    assert play(here, folder, main) == [("created", "before.png")]


def test_a_node_that_ends_leaves_what_is_not_quiet_yet_to_the_next(
    place: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source goes on: nobody has to wait for it."""
    monkeypatch.setattr("penstock.sources.objects.folder.QUIET_SECONDS", 60.0)

    async def first(engine: Engine) -> None:
        await engine.publish(PICS, start=True)
        await watched(engine)
        folder.put("a.png")
        await noticed(engine)

    async def between(engine: Engine) -> Any:
        return await engine.runs()

    async def second(engine: Engine) -> Any:
        return await told(engine, 1)

    play(place, folder, first)
    assert place.run(between, {}, work=False) == []
    monkeypatch.setattr("penstock.sources.objects.folder.QUIET_SECONDS", QUIET)
    assert play(place, folder, second) == [("created", "a.png")]


def test_what_was_being_told_when_the_node_died_is_told_once(
    place: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle, alive = SeenFiles.settle, True

    async def dying(seen: SeenFiles) -> None:
        if alive:
            await settle(seen)

    async def first(engine: Engine) -> Any:
        nonlocal alive
        await engine.publish(PICS, start=True)
        await watched(engine)
        alive = False
        monkeypatch.setattr(SeenFiles, "settle", dying)
        folder.put("a.png")
        return await told(engine, 1)

    async def second(engine: Engine) -> Any:
        nonlocal alive
        alive = True
        folder.put("b.png")
        return await told(engine, 2)

    assert play(place, folder, first) == [("created", "a.png")]
    assert play(place, folder, second) == [("created", "a.png"), ("created", "b.png")]


def test_a_name_that_is_no_text_starts_nothing_and_is_told(
    here: Place, folder: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sources.objects.folder.WALK_INTERVAL", 0.0)
    odd = os.fsencode(folder.path) + b"/caf\xe9.png"

    async def main(engine: Engine) -> Any:
        await engine.publish(PICS, start=True)
        await watched(engine)
        Path(os.fsdecode(odd)).write_bytes(b"x")
        folder.put("good.png")
        names = await told(engine, 1)
        stores = (await engine.running()).means.stores
        [shown] = await until(stores.look, "an error of the store", so=lambda found: found[0]["error"])
        os.unlink(odd)
        await until(stores.look, "no error of the store", so=lambda found: not found[0]["error"])
        return names, shown["error"], shown["counts"]["unreadable"]

    names, error, count = play(here, folder, main)
    assert (names, count) == ([("created", "good.png")], 1)
    assert "such as 'caf\\xe9.png': no UTF-8" in error
