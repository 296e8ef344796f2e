"""A search starts a run for each object that it finds, once a tick, and goes on where it was."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.objects.folder import FolderStore
from penstock.sources.objects.search import searches_of
from penstock.store.open import open_store
from tests.objects.places import FolderPlace, StorePlace
from tests.objects.telling import TASKS
from tests.sources.feeding.feeders import until_there
from tests.waiting import until

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Shifted:
    """A clock by which it is nearly noon when the test begins."""

    def __init__(self, before: float = 0.7) -> None:
        self._began, self._before = time.monotonic(), before

    def now(self) -> datetime:
        return NOON - timedelta(seconds=self._before) + timedelta(seconds=time.monotonic() - self._began)


def workflow(**says: Any) -> dict[str, Any]:
    source = {"kind": "search", "store": "pics", "cron": "0 12 * * *", **says}
    return {"penstock": 1, "name": "w", "source": source, "steps": {"look": {"task": "look", "emits": "OK"}}}


def play(
    kept: StorePlace,
    main: Callable[[Engine], Awaitable[Any]],
    db: str = "memory:",
    clock: Shifted | None = None,
) -> Any:
    async def bounded() -> Any:
        store = await open_store(db, clock=clock or Shifted())
        async with (
            asyncio.timeout(60),
            Engine(store=store, tasks=TASKS, stores={"pics": kept.url}) as engine,
        ):
            return await main(engine)

    return asyncio.run(bounded())


async def searched(engine: Engine, store: str = "pics") -> dict[str, Any]:
    """How the last search was, once one is done."""
    found = await until(
        lambda: search_of(engine, store),
        "a search that is done",
        60,
        so=lambda seen: seen.get("last") is not None,
    )
    return dict(found)


async def search_of(engine: Engine, store: str = "pics") -> Any:
    """How the search is."""
    running = await engine.running()
    [seen] = (await searches_of(running.store, running.node.flows)).get(store, [{}])
    return seen


async def keys_of(engine: Engine) -> list[str]:
    runs = await engine.runs(limit=1000)
    return sorted([(await engine.show(run["id"]))["input"]["key"] for run in runs])


def test_each_object_that_is_found_starts_a_run(kept: StorePlace) -> None:
    for key in ("in/a.png", "in/b.txt", "c.png"):
        kept.put(key, b"four")

    async def main(engine: Engine) -> Any:
        await engine.publish(workflow(prefix="in/", glob="**.png"), start=True)
        seen = await searched(engine)
        [run] = await engine.runs()
        return seen["last"], await engine.wait(run["id"], 20)

    last, run = play(kept, main)
    assert (last["tick"], last["looked"], last["started"]) == ("2026-01-31T12:00:00Z", 2, 1)
    told = run["input"]
    assert (run["subject"].endswith("/in/a.png"), told["key"], told["size"], told["event"]) == (
        True,
        "in/a.png",
        4,
        "found",
    )
    assert told["transport"] == {"name": "search", "tick": "2026-01-31T12:00:00Z"}


@pytest.mark.parametrize(
    ("where", "keys", "heads", "tags"),
    [
        ("object.size > 1 && object.key.startsWith('b')", ["big"], 1, 1),
        ("object.tags.kind == 'x'", ["tagged"], 3, 3),
        ("object.metadata.who == 'me'", ["described"], 4, 1),
        ("has(object.tags.kind) || object.metadata.size() > 0", ["described", "tagged"], 3, 3),
    ],
)
def test_the_condition_looks_no_further_than_it_must(
    where: str, keys: list[str], heads: int, tags: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, asked = FolderPlace(tmp_path / "pics"), []
    store, head = FolderStore("pics", str(folder.path)), FolderStore.head
    for key, content in (("big", b"22"), ("tagged", b"1"), ("described", b"1")):
        folder.put(key, content)
    asyncio.run(store.put_tags("tagged", {"kind": "x"}))
    asyncio.run(store.put_metadata(asyncio.run(store.head("described")), {"who": "me"}))

    async def counted(self: Any, key: str, version: Any = None, *, tags: bool = True) -> Any:
        asked.append(tags)
        return await head(self, key, version, tags=tags)

    async def main(engine: Engine) -> Any:
        monkeypatch.setattr(FolderStore, "head", counted)
        await engine.publish(workflow(where=where), start=True)
        await searched(engine)
        return await keys_of(engine)

    assert play(folder, main) == keys
    assert (len(asked), sum(asked)) == (heads, tags)


def test_a_search_goes_on_where_it_was_and_starts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.objects.folder.PAGE", 10)
    folder, db, clock = FolderPlace(tmp_path / "pics"), str(tmp_path / "penstock.db"), Shifted()
    for number in range(100):
        folder.put(f"{number:03}")
    pages = FolderStore.pages
    begun: list[str] = []

    async def breaking(self: Any, prefix: str = "", after: str = "") -> Any:
        begun.append(after)
        number = 0
        async for page in pages(self, prefix, after):
            number += 1
            if number > 4:
                raise OSError("the disk is gone")
            yield page

    monkeypatch.setattr(FolderStore, "pages", breaking)

    async def first(engine: Engine) -> Any:
        await engine.publish(workflow(), start=True)
        await until_there(engine, 40)

    async def second(engine: Engine) -> Any:
        last = (await searched(engine))["last"]
        return last["looked"], last["started"], await keys_of(engine)

    play(folder, first, db, clock)
    looked, started, keys = play(folder, second, db, clock)
    assert (looked, started) == (100, 100)
    assert keys == [f"{number:03}" for number in range(100)]
    assert begun[:2] == ["", "039"]


def test_what_a_search_cannot_start_is_set_aside_and_can_be_started_later(tmp_path: Path) -> None:
    folder = FolderPlace(tmp_path / "pics")
    for key in ("a.png", "b.png"):
        folder.put(key)
    picky = {**workflow(), "params": {"properties": {"key": {"const": "a.png"}}}}

    async def main(engine: Engine) -> None:
        await engine.publish(picky, start=True)
        seen = await searched(engine)
        assert (seen["last"]["started"], seen["last"]["refused"]) == (1, 1)
        [aside] = await engine.undelivered()
        assert aside["data"]["subject"] == "pics/b.png"
        await engine.publish(workflow())
        await engine.redeliver(aside["id"])
        assert await keys_of(engine) == ["a.png", "b.png"]

    play(folder, main)


def test_the_progress_of_a_search_is_seen_and_a_store_that_is_away_is_told(tmp_path: Path) -> None:
    folder = FolderPlace(tmp_path / "pics")
    folder.path.rmdir()

    async def main(engine: Engine) -> Any:
        await engine.publish(workflow(), start=True)
        seen = await until(
            lambda: search_of(engine), "the error of a search", so=lambda seen: seen.get("error")
        )
        folder.path.mkdir()
        folder.put("a")
        return seen, (await searched(engine))["last"]

    seen, last = play(folder, main)
    assert "no folder" in seen["error"]
    assert seen["under_way"] == {
        "tick": "2026-01-31T12:00:00Z",
        "looked": 0,
        "started": 0,
        "refused": 0,
        "after": "",
    }
    assert last["started"] == 1
