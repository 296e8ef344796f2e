"""A folder that is watched: a file that came and does not change any more starts a run, and so does one that went.

Watching alone loses events: while no node runs, when too many come at once, in folders that have just been made. So
the folder is also walked, at the beginning and now and then, and held against what was seen.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from penstock.flow.views.run_view import time_text
from penstock.objects.context import Event, context_of, subject_of
from penstock.objects.errors import ObjectGone, ObjectRefused
from penstock.objects.folder import METADATA_FOLDER, FolderStore
from penstock.objects.matching import Matching
from penstock.objects.protocol import Listed, Object
from penstock.objects.stores import StoreCounts
from penstock.sources.errors import SourceStopped
from penstock.sources.objects.folder_seen import Seen, Telling, folder_digest
from penstock.sources.objects.folder_watch import FolderWatch
from penstock.sources.objects.starts import counted, wanted
from penstock.sources.triggers.trigger import Start, Trigger

QUIET = 1.0
"""Seconds without a change after which a file counts as written."""

WALK_EVERY = 60.0
LAST_WALK = 5.0
"""Seconds for a look at the whole folder when the source is stopped: to tell what it found needs some of the grace."""

MANY = 5_000
"""So many changes at once are taken as a sign that some were lost."""

BATCH = 500
JUST_NOW = math.inf
SLACK = 0.05
"""Seconds by which a file may seem to have come too early: the clock of file systems goes in steps."""

UNKNOWN = 1.0
"""How many seconds ago a source was started of which nobody knows when."""


class FolderReader:
    """Feeds one workflow from one folder."""

    def __init__(self, store: FolderStore, matching: Matching, tally: StoreCounts) -> None:
        self._store, self._matching, self._tally = store, matching, tally
        self._pending: dict[str, tuple[str, float]] = {}  # key -> its state, and since when it is so
        self._went: set[str] = set()  # those that were gone for sure: also where they are back
        self._walked = 0.0

    async def run(self, trigger: Trigger) -> None:
        """Watch until it is to stop. Raises ObjectStoreAway where the folder is not there, SourceStopped."""
        await self._store.check()
        seen = Seen(trigger.node.store, trigger.workflow, self._store.path)
        await seen.load()
        self._pending.clear()
        self._went.clear()
        trigger.finishing = False
        await self._begin(trigger, seen)
        with suppress(SourceStopped):  # found out when something was about to be told, before anybody said so
            await self._again(trigger, seen)
            await self._watch(trigger, seen)
            await seen.settle()
        await self._finish(trigger, seen)
        if not trigger.stopping.is_set():
            # Nobody knows it yet, and it may be started again meanwhile.
            raise SourceStopped(trigger.workflow)

    async def _begin(self, trigger: Trigger, seen: Seen) -> None:
        """A source that is started for the first time, or again, is about what comes from then on.

        And about what came before it was stopped and nobody has told: there may have been no time for it, or nobody.
        """
        started, stopped = await trigger.source_times()
        here = {"folder": folder_digest(self._store.path), "since": time_text(started)}
        was: dict[str, Any] = trigger.state if isinstance(trigger.state, dict) else {}
        anew = trigger.was_stopped or not was or was.get("since", here["since"]) != here["since"]
        if anew or was.get("folder") != here["folder"]:
            # Not since now, where it is known: it may take a while until somebody feeds it.
            begun, _ = await trigger.by_our_clock(started if anew else None)
            since = begun.timestamp() - SLACK - (UNKNOWN if anew and started is None else 0.0)
            until = 0.0
            if stopped and started and stopped < started and was.get("folder") == here["folder"]:
                until = (await trigger.by_our_clock(stopped))[1].timestamp()
            await self._skip(seen, until, since)
        if trigger.was_stopped or was != here:
            await trigger.save(here)

    async def _skip(self, seen: Seen, until: float, since: float) -> None:
        """Take what came after the one time and before the other as seen, and what is gone as gone."""
        there: dict[str, str | None] = dict.fromkeys(seen.all_keys())
        async for each, came in self._dated():
            if until * 1e9 < came < since * 1e9:
                there[each.key] = each.etag
            else:
                there.pop(each.key, None)
        for telling in seen.unsure():
            there.pop(telling.key, None)
        await seen.skip(there)

    async def _dated(self) -> AsyncIterator[tuple[Listed, int]]:
        """All files, and when they came."""
        async for page in self._store.pages():
            times = await asyncio.to_thread(_came_at, self._store.path, [each.key for each in page])
            for each in zip(page, times, strict=True):
                yield each

    # -- looking -------------------------------------------------------------------------------------------

    async def _watch(self, trigger: Trigger, seen: Seen) -> None:
        from watchfiles import Change

        self._walked = -WALK_EVERY  # as soon as somebody listens: what came before would never be told
        watch = FolderWatch(self._store.path)
        try:
            await watch.refresh()
            while (changes := await watch.changes(trigger.stopping)) is not None:
                replaced = (Change.added, self._store.path) in changes
                if replaced or len(changes) > MANY or time.monotonic() - self._walked > WALK_EVERY:
                    changes |= await watch.refresh()
                    await self._walk(seen)
                if 0 < len(changes) <= MANY:
                    went = {path for change, path in changes if change is Change.deleted}
                    await self._look(seen, {path for _, path in changes}, went)
                await self._settle(trigger, seen)
                await trigger.well()  # it is there, and was looked through
        finally:
            watch.close()

    async def _walk(self, seen: Seen) -> None:
        """Hold all files against what was seen."""
        self._walked = time.monotonic()
        missing = set(seen.all_keys())
        async for page in self._store.pages():
            for each in page:
                missing.discard(each.key)
                self._note(seen, each.key, each.etag)
        for key in missing:
            self._note(seen, key, "")
        self._tally.tell_names(len(self._store.unreadable), self._store.why_unread())

    async def _look(self, seen: Seen, paths: Collection[str], went: Collection[str]) -> None:
        for path in sorted(paths):
            key = os.path.relpath(path, self._store.path)
            if key == "." or key.split("/")[0] == METADATA_FOLDER:
                continue
            if os.path.isdir(path) and not os.path.islink(path):
                async for page in self._store.pages(f"{key}/"):
                    for each in page:
                        self._note(seen, each.key, each.etag)
            else:
                await self._look_at(seen, key, path in went)

    async def _look_at(self, seen: Seen, key: str, went: bool) -> None:
        try:
            etag = await self._etag(key)
        except ObjectRefused:
            return  # in a closed folder, where it may still be
        if etag and went and etag == seen.get(key):
            self._gone(key)  # and back, before anybody looked
        elif etag:
            self._note(seen, key, etag)
        elif seen.get(key) is not None:
            self._gone(key)
        else:
            self._pending.pop(key, None)
            # What is not known as a file may have been a folder, and went with all that was in it.
            for each in [each for each in seen.all_keys() if each.startswith(f"{key}/")]:
                self._gone(each)

    async def _etag(self, key: str) -> str:
        try:
            return (await self._store.head(key)).etag
        except ObjectGone:
            return ""

    def _gone(self, key: str) -> None:
        self._went.add(key)
        self._pending[key] = "", JUST_NOW

    def _note(self, seen: Seen, key: str, etag: str) -> None:
        """How a file was found; an empty state is that of one that is gone."""
        if key in self._went:
            return  # that is told first
        if (seen.get(key) or "") == etag:
            self._pending.pop(key, None)
        elif self._pending.get(key, ("", 0.0))[0] != etag or key not in self._pending:
            self._pending[key] = etag, JUST_NOW

    # -- telling -------------------------------------------------------------------------------------------

    async def _settle(self, trigger: Trigger, seen: Seen) -> None:
        """Start what has been quiet for long enough: what went, and then what came, in that order."""
        now = time.monotonic()
        until = now - QUIET
        for key, (etag, since) in self._pending.items():
            # One time for all of a look: what was looked at first must not be told first.
            if since == JUST_NOW:
                self._pending[key] = etag, now
        due = [key for key, (etag, since) in self._pending.items() if since <= until or not etag]
        if not due:
            await seen.settle()
        else:
            times = await asyncio.to_thread(_came_at, self._store.path, due)
            order = {key: came if self._pending[key][0] else 0 for key, came in zip(due, times, strict=True)}
            due.sort(key=lambda key: (order[key], key))
        for first in range(0, len(due), BATCH):
            await self._tell(trigger, seen, due[first : first + BATCH])
        self._tally.counts["pending"] = len(self._pending)

    async def _tell(self, trigger: Trigger, seen: Seen, keys: Sequence[str]) -> None:
        await trigger.ready()  # before it is written down: what came after a stop is told by nobody
        found: dict[str, tuple[Object, Event]] = {}
        for key in keys:
            if (each := await self._found(key, seen)) is not None:
                found[key] = each
        tellings = await seen.intend((key, event, each.etag) for key, (each, event) in found.items())
        await self._start(trigger, [(each, found[each.key][0]) for each in tellings], ready=True)
        for key in found:
            del self._pending[key]
            if key in self._went:
                self._went.discard(key)
                with suppress(ObjectRefused):
                    self._note(seen, key, await self._etag(key))

    async def _found(self, key: str, seen: Seen) -> tuple[Object, Event] | None:
        """The file and what it did; None: it changed again."""
        etag, _ = self._pending[key]
        try:
            found = None if key in self._went else await self._store.head(key)
        except ObjectGone:
            found = None
        except ObjectRefused:
            # In a closed folder, where it may still be; a walk finds it when that is open.
            del self._pending[key]
            return None
        if found is None:
            known = seen.get(key)
            if known is None:
                del self._pending[key]  # it came and went unseen
                self._went.discard(key)
                return None
            return self._absent(key, known), "deleted"
        if found.etag != etag:
            self._note(seen, key, found.etag)
            return None
        return found, "created"

    def _absent(self, key: str, etag: str, **system: Any) -> Object:
        system["store"] = self._store.name
        return Object(bucket=self._store.bucket, key=key, size=None, etag=etag, system=system)

    async def _start(
        self, trigger: Trigger, told: Sequence[tuple[Telling, Object]], *, ready: bool = False
    ) -> None:
        """Raises whatever keeps runs from being made now."""
        starts = [
            start for each, found in told if (start := self._start_of(trigger, each, found)) is not None
        ]
        for start, done in zip(starts, await trigger.start_many(starts, ready=ready), strict=True):
            await counted(self._tally, trigger, start, done)

    def _start_of(self, trigger: Trigger, telling: Telling, found: Object) -> Start | None:
        event = telling.event
        self._tally.saw(event, found.key)
        context = context_of(found, event, {"name": f"folder:{event}"})
        subject, known = subject_of(found.bucket, found.key), event in self._matching.events
        if not known or not wanted(self._matching, found, context, self._tally, trigger.workflow):
            return None
        said = "\n".join((event, found.bucket, found.key, telling.etag, telling.word))
        return Start(
            key=blake2b(said.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest(),
            subject=subject,
            input=context,
            tags=found.tags,
        )

    async def _again(self, trigger: Trigger, seen: Seen) -> None:
        """Tell under the same word what somebody was telling when he stopped: it may have been told."""
        unsure: list[tuple[Telling, Object]] = []
        for each in seen.unsure():
            try:
                there = await self._store.head(each.key)
            except (ObjectGone, ObjectRefused):
                there = None
            gone = {"gone": True} if each.event == "created" else {}
            if there is None or there.etag != each.etag or not gone:
                there = self._absent(each.key, each.etag, **gone)
            unsure.append((each, there))
        for first in range(0, len(unsure), BATCH):
            await self._start(trigger, unsure[first : first + BATCH])
        await seen.settle()

    async def _finish(self, trigger: Trigger, seen: Seen) -> None:
        """What came before the source was stopped is told, though nobody had looked, or it was not quiet yet.

        What cannot be told now, because there is no room or no time, is told when the source is started again.
        """
        _, state = await trigger.node.flows.newest(trigger.workflow)
        if state.started:  # only this feeder ends, and the next one finds what is not told
            return
        trigger.finishing = True
        for each in seen.unsure():
            self._pending.pop(each.key, None)
            self._went.discard(each.key)
        await self._look_back(trigger, seen)
        await self._again(trigger, seen)
        await self._settle(trigger, seen)
        until = time.monotonic() + 2 * QUIET
        while self._pending and time.monotonic() < until:
            await asyncio.sleep(QUIET / 10)
            await self._settle(trigger, seen)
        await seen.settle()

    async def _look_back(self, trigger: Trigger, seen: Seen) -> None:
        """Notice what came before the source was stopped, nothing that came after, and what went: nobody knows when."""
        _, at = await trigger.source_times()
        _, stopped = await trigger.by_our_clock(at)
        latest = stopped.timestamp() * 1e9
        with suppress(TimeoutError):  # of a folder that is too large for it, what was noticed is told
            async with asyncio.timeout(LAST_WALK):
                missing = set(seen.all_keys())
                async for each, came in self._dated():
                    missing.discard(each.key)
                    if came <= latest:
                        self._note(seen, each.key, each.etag)
                for key in missing:
                    self._note(seen, key, "")
        times = await asyncio.to_thread(_came_at, self._store.path, list(self._pending))
        for key, came in zip(list(self._pending), times, strict=True):
            if came > latest:
                self._pending.pop(key)
                self._went.discard(key)


def _came_at(path: str, keys: Sequence[str]) -> list[int]:
    """When files were written, or came, in nanoseconds: moving one in changes no time but this. Of what is gone: 0."""
    times = []
    for key in keys:
        try:
            times.append(os.lstat(os.path.join(path, key)).st_ctime_ns)
        except OSError:
            times.append(0)
    return times
