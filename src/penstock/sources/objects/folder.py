"""A watched folder: a file starts a run when it arrives and stops changing, and when it is deleted.

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
from penstock.objects.object_filter import Matching
from penstock.objects.protocol import Listed, Object
from penstock.objects.stores import StoreCounts
from penstock.sources.errors import SourceStopped
from penstock.sources.objects.folder_seen import SeenFiles, Telling, folder_digest
from penstock.sources.objects.folder_watch import FolderWatch
from penstock.sources.objects.starts import counted, wanted
from penstock.sources.triggers.trigger import Start, Trigger

QUIET_SECONDS = 1.0
"""Seconds without a change after which a file counts as written."""

WALK_INTERVAL = 60.0
LAST_WALK_TIMEOUT = 5.0
"""Seconds for a last walk of the folder when the source stops; reporting what it found needs the rest of the grace."""

OVERFLOW_THRESHOLD = 5_000
"""So many changes at once are a sign that some were lost."""

MAX_BATCH = 500
JUST_NOW = math.inf
CLOCK_SLACK = 0.05
"""Seconds by which a file may seem too early, because the clocks of file systems tick coarsely."""

ASSUMED_AGE = 1.0
"""Assumed age in seconds of a source whose start time is unknown."""


class FolderReader:
    """Feeds one workflow from one folder."""

    def __init__(self, store: FolderStore, matching: Matching, counts: StoreCounts) -> None:
        self._store, self._matching, self._counts = store, matching, counts
        self._pending: dict[str, tuple[str, float]] = {}  # key -> its state, and since when it is so
        self._went: set[str] = set()  # those that were surely deleted, even if they are back
        self._walked = 0.0

    async def run(self, trigger: Trigger) -> None:
        """Watch until told to stop. Raises ObjectStoreAway if the folder does not exist, SourceStopped."""
        await self._store.check()
        seen = SeenFiles(trigger.node.store, trigger.workflow, self._store.path)
        await seen.load()
        self._pending.clear()
        self._went.clear()
        trigger.finishing = False
        await self._begin(trigger, seen)
        with suppress(SourceStopped):  # discovered before a report, earlier than the notification
            await self._again(trigger, seen)
            await self._watch(trigger, seen)
            await seen.settle()
        await self._finish(trigger, seen)
        if not trigger.stopping.is_set():
            # Nobody knows it yet, and it may be started again meanwhile.
            raise SourceStopped(trigger.workflow)

    async def _begin(self, trigger: Trigger, seen: SeenFiles) -> None:
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
            since = begun.timestamp() - CLOCK_SLACK - (ASSUMED_AGE if anew and started is None else 0.0)
            until = 0.0
            if stopped and started and stopped < started and was.get("folder") == here["folder"]:
                until = (await trigger.by_our_clock(stopped))[1].timestamp()
            await self._skip(seen, until, since)
        if trigger.was_stopped or was != here:
            await trigger.save(here)

    async def _skip(self, seen: SeenFiles, until: float, since: float) -> None:
        """Mark files from between these times as seen, and deleted ones as deleted."""
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

    async def _watch(self, trigger: Trigger, seen: SeenFiles) -> None:
        from watchfiles import Change

        self._walked = -WALK_INTERVAL  # as soon as somebody listens: what came before would never be told
        watch = FolderWatch(self._store.path)
        try:
            await watch.refresh()
            while (changes := await watch.changes(trigger.stopping)) is not None:
                replaced = (Change.added, self._store.path) in changes
                if (
                    replaced
                    or len(changes) > OVERFLOW_THRESHOLD
                    or time.monotonic() - self._walked > WALK_INTERVAL
                ):
                    changes |= await watch.refresh()
                    await self._walk(seen)
                if 0 < len(changes) <= OVERFLOW_THRESHOLD:
                    went = {path for change, path in changes if change is Change.deleted}
                    await self._look(seen, {path for _, path in changes}, went)
                await self._settle(trigger, seen)
                await trigger.well()  # the folder exists and was walked
        finally:
            watch.close()

    async def _walk(self, seen: SeenFiles) -> None:
        """Hold all files against what was seen."""
        self._walked = time.monotonic()
        missing = set(seen.all_keys())
        async for page in self._store.pages():
            for each in page:
                missing.discard(each.key)
                self._note(seen, each.key, each.etag)
        for key in missing:
            self._note(seen, key, "")
        self._counts.tell_names(len(self._store.unreadable), self._store.why_unread())

    async def _look(self, seen: SeenFiles, paths: Collection[str], went: Collection[str]) -> None:
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

    async def _look_at(self, seen: SeenFiles, key: str, went: bool) -> None:
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

    def _note(self, seen: SeenFiles, key: str, etag: str) -> None:
        """How a file was found; an empty state means that it was deleted."""
        if key in self._went:
            return  # report that first
        if (seen.get(key) or "") == etag:
            self._pending.pop(key, None)
        elif self._pending.get(key, ("", 0.0))[0] != etag or key not in self._pending:
            self._pending[key] = etag, JUST_NOW

    # -- telling -------------------------------------------------------------------------------------------

    async def _settle(self, trigger: Trigger, seen: SeenFiles) -> None:
        """Start what has been quiet for long enough: what went, and then what came, in that order."""
        now = time.monotonic()
        until = now - QUIET_SECONDS
        for key, (etag, since) in self._pending.items():
            # One time for the whole walk: the order of the walk must not decide the order of reports.
            if since == JUST_NOW:
                self._pending[key] = etag, now
        due = [key for key, (etag, since) in self._pending.items() if since <= until or not etag]
        if not due:
            await seen.settle()
        else:
            times = await asyncio.to_thread(_came_at, self._store.path, due)
            order = {key: came if self._pending[key][0] else 0 for key, came in zip(due, times, strict=True)}
            due.sort(key=lambda key: (order[key], key))
        for first in range(0, len(due), MAX_BATCH):
            await self._tell(trigger, seen, due[first : first + MAX_BATCH])
        self._counts.counts["pending"] = len(self._pending)

    async def _tell(self, trigger: Trigger, seen: SeenFiles, keys: Sequence[str]) -> None:
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

    async def _found(self, key: str, seen: SeenFiles) -> tuple[Object, Event] | None:
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
        self, trigger: Trigger, tellings: Sequence[tuple[Telling, Object]], *, ready: bool = False
    ) -> None:
        """Raises whatever keeps runs from being made now."""
        starts = [
            start for each, found in tellings if (start := self._start_of(trigger, each, found)) is not None
        ]
        for start, done in zip(starts, await trigger.start_many(starts, ready=ready), strict=True):
            await counted(self._counts, trigger, start, done)

    def _start_of(self, trigger: Trigger, telling: Telling, found: Object) -> Start | None:
        event = telling.event
        self._counts.saw(event, found.key)
        context = context_of(found, event, {"name": f"folder:{event}"})
        subject, known = subject_of(found.bucket, found.key), event in self._matching.events
        if not known or not wanted(self._matching, found, context, self._counts, trigger.workflow):
            return None
        said = "\n".join((event, found.bucket, found.key, telling.etag, telling.word))
        return Start(
            key=blake2b(said.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest(),
            subject=subject,
            input=context,
            tags=found.tags,
        )

    async def _again(self, trigger: Trigger, seen: SeenFiles) -> None:
        """Resend interrupted notifications under their original id, because they may have arrived."""
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
        for first in range(0, len(unsure), MAX_BATCH):
            await self._start(trigger, unsure[first : first + MAX_BATCH])
        await seen.settle()

    async def _finish(self, trigger: Trigger, seen: SeenFiles) -> None:
        """What came before the source was stopped is told, though nobody had looked, or it was not quiet yet.

        What cannot be told now, because there is no room or no time, is told when the source is started again.
        """
        _, state = await trigger.node.flows.newest(trigger.workflow)
        if state.started:  # only this reader ends, and the next one finds what is not told
            return
        trigger.finishing = True
        for each in seen.unsure():
            self._pending.pop(each.key, None)
            self._went.discard(each.key)
        await self._look_back(trigger, seen)
        await self._again(trigger, seen)
        await self._settle(trigger, seen)
        until = time.monotonic() + 2 * QUIET_SECONDS
        while self._pending and time.monotonic() < until:
            await asyncio.sleep(QUIET_SECONDS / 10)
            await self._settle(trigger, seen)
        await seen.settle()

    async def _look_back(self, trigger: Trigger, seen: SeenFiles) -> None:
        """Notice what came before the source was stopped, nothing that came after, and what went: nobody knows when."""
        _, at = await trigger.source_times()
        _, stopped = await trigger.by_our_clock(at)
        latest = stopped.timestamp() * 1e9
        with suppress(TimeoutError):  # of a folder that is too large for it, what was noticed is told
            async with asyncio.timeout(LAST_WALK_TIMEOUT):
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
