"""Searches: on each tick all objects of a store are listed, and each match starts a run, once a tick.

How far a search has come is kept after every page, so that it goes on there, wherever it is taken up again.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.values.schedule import next_tick
from penstock.objects.context import context_of, listed_object, subject_of
from penstock.objects.errors import ObjectGone, ObjectRefused
from penstock.objects.folder import FolderStore
from penstock.objects.object_filter import Matching
from penstock.objects.protocol import Listed, Object, ObjectStore
from penstock.objects.stores import StoreCounts, Stores
from penstock.runtime.node.flow_cache import FlowCache
from penstock.sources.objects.starts import counted, wanted
from penstock.sources.schedules.rules import MISSED_AFTER, due_tick, rules_of
from penstock.sources.schedules.ticks import tick_text
from penstock.sources.triggers.lease import read_record, read_state, trigger_name
from penstock.sources.triggers.trigger import Means, SourceReader, Start, Trigger, TriggerTarget
from penstock.store.protocol import Tokens

KIND = "search"
MAX_CONCURRENT = 100
"""Objects that are requested, and runs that are started, at a time."""

MAX_REFUSED = 1_000
"""Starts that one search sets aside where they are refused; the next one finds all of them again."""


class Progress(Struct, frozen=True, kw_only=True):
    """The progress of a workflow's searches: the last finished tick, and the active one."""

    asks: str  # a digest of the query: another query starts over
    last: datetime
    tick: datetime | None = None
    after: str = ""
    looked: int = 0
    started: int = 0
    refused: int = 0
    done: dict[str, Any] | None = None  # the search before


def reader_of(target: TriggerTarget, means: Means) -> SourceReader:
    """The reader of a source of kind `search`. Raises UnknownStore."""
    assert target.source is not None, "only sources are of kind `search`"
    matching = Matching(target.source.options)
    means.stores.address(matching.store)
    return Searcher(matching, means.stores)


class Searcher:
    """Searches one store for one workflow. A tick during an active search is skipped."""

    def __init__(self, matching: Matching, stores: Stores) -> None:
        self._matching, self._stores = matching, stores

    async def run(self, trigger: Trigger) -> None:
        store, rules = await self._stores.get(self._matching.store), rules_of(trigger.flow.definition)
        progress = await self._begin(trigger)
        if progress.tick is None:
            await trigger.well()  # what went wrong before was not this search
        while not trigger.stopping.is_set():
            if progress.tick is None:
                tick = due_tick(rules, progress.last, trigger.now())
                if tick is None:
                    coming = next_tick(rules.schedule, trigger.now())
                    if coming is None or not await trigger.until(coming):
                        return
                    continue
                progress = replace(progress, tick=tick, after="", looked=0, started=0, refused=0)
                await trigger.save(progress)
            progress = await self._search(trigger, store, progress)

    async def _begin(self, trigger: Trigger) -> Progress:
        asks = blake2b(msgspec.json.encode(trigger.source, order="sorted"), digest_size=8).hexdigest()
        progress = read_state(trigger.state, Progress)
        # What lies ahead was kept while the clock was wrong: nothing would be searched until that time.
        ahead = progress is not None and progress.last > trigger.now() + MISSED_AFTER
        if progress is None or progress.asks != asks or trigger.was_stopped or ahead:
            done = None if progress is None else progress.done
            progress = Progress(asks=asks, last=trigger.now(), done=done)
            await trigger.save(progress)
        return progress

    async def _search(self, trigger: Trigger, store: ObjectStore, progress: Progress) -> Progress:
        """Continue a search, page by page, to its end or until the trigger must stop."""
        async for page in store.pages(self._matching.prefix, progress.after):
            for first in range(0, len(page), MAX_CONCURRENT):
                progress = await self._tell(trigger, store, progress, page[first : first + MAX_CONCURRENT])
            await trigger.save(progress)
            if trigger.stopping.is_set():
                return progress
        if isinstance(store, FolderStore) and not self._matching.prefix:
            self._counts.tell_names(len(store.unreadable), store.why_unread())
        done = {**_under_way(progress), "ended_at": tick_text(trigger.now())}
        progress = replace(progress, last=progress.tick or progress.last, tick=None, after="", done=done)
        await trigger.save(progress)
        return progress

    async def _tell(
        self, trigger: Trigger, store: ObjectStore, progress: Progress, page: list[Listed]
    ) -> Progress:
        assert progress.tick is not None, "only a search that has begun can continue"
        tick = tick_text(progress.tick)
        likely = [each for each in page if self._likely(trigger, store, each, tick)]
        found = await asyncio.gather(*(self._wanted(trigger, store, each, tick) for each in likely))
        starts = [_start(each, tick) for each in found if isinstance(each, Object)]
        done: list[tuple[Start, object]] = list(zip(starts, await trigger.start_many(starts), strict=True))
        for listed, why in zip(likely, found, strict=True):
            if isinstance(why, ObjectRefused):
                done.append((_start(listed_object(store.name, store.bucket, listed), tick), why))
        refused = 0
        for start, each in done:
            keep = progress.refused + refused < MAX_REFUSED
            refused += await counted(self._counts, trigger, start, each, keep) == "refused"
        return replace(
            progress,
            after=page[-1].key,
            looked=progress.looked + len(page),
            started=progress.started + len(done) - refused,
            refused=progress.refused + refused,
        )

    def _likely(self, trigger: Trigger, store: ObjectStore, each: Listed, tick: str) -> bool:
        """Whether an object may match, judged by its entry in the listing."""
        if not self._matching.named(each.key):
            return False
        if self._matching.wants_head or not self._matching.asks:
            return True
        found = listed_object(store.name, store.bucket, each)
        return wanted(self._matching, found, _context(found, tick), self._counts, trigger.workflow)

    async def _wanted(
        self, trigger: Trigger, store: ObjectStore, each: Listed, tick: str
    ) -> Object | ObjectRefused | None:
        """The object where it is wanted, asked for only as far as the condition looks; or why it is not described."""
        matching = self._matching
        try:
            if not matching.wants_head:
                return await store.head(each.key)
            found = await store.head(each.key, tags=matching.wants_tags)
            if not wanted(matching, found, _context(found, tick), self._counts, trigger.workflow):
                return None
            return found if matching.wants_tags else await store.head(each.key)
        except ObjectGone:
            return None
        except ObjectRefused as error:
            return error

    @property
    def _counts(self) -> StoreCounts:
        return self._stores.store_counts[self._matching.store]


def _context(found: Object, tick: str) -> dict[str, Any]:
    return context_of(found, "found", {"name": KIND, "tick": tick})


def _start(found: Object, tick: str) -> Start:
    which = blake2b(f"{found.bucket}\n{found.key}".encode(), digest_size=16).hexdigest()
    return Start(
        key=f"{tick}:{which}",
        subject=subject_of(found.bucket, found.key),
        input=_context(found, tick),
        tags=found.tags,
    )


async def searches_of(tokens: Tokens, flows: FlowCache) -> dict[str, list[dict[str, Any]]]:
    """How far every search is, by store: for people."""
    found: dict[str, list[dict[str, Any]]] = {}
    for state in await flows.states():
        source = (await flows.get(state.name, state.latest)).definition.source
        if source is None or source.kind != KIND:
            continue
        rows = await tokens.tokens(trigger_name(state.name), "", 1)
        record = read_record(rows[0]) if rows else None
        progress = None if record is None else read_state(record.state, Progress)
        found.setdefault(source.options["store"], []).append(
            {
                "workflow": state.name,
                "started": state.started,
                "under_way": None
                if progress is None or progress.tick is None
                else {**_under_way(progress), "after": progress.after},
                "last": None if progress is None else progress.done,
                "error": None if record is None else record.error,
            }
        )
    return found


def _under_way(progress: Progress) -> dict[str, Any]:
    assert progress.tick is not None, "only a search that has begun can be active"
    return {
        "tick": tick_text(progress.tick),
        "looked": progress.looked,
        "started": progress.started,
        "refused": progress.refused,
    }
