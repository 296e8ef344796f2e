"""Every node ensures that each started workflow whose source needs a reader has one, on one node.

A source is read while its workflow is started; if it is paused, runs are made and held. A new version has a new
reader. Each kind of source that needs one has a line in TRIGGER_FACTORIES; `trigger` has the protocol of readers.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from importlib import import_module

from penstock.flow.errors import PenstockError
from penstock.runtime.errors import UnknownWorkflow
from penstock.runtime.node.background_tasks import is_set_within
from penstock.runtime.node.node import Node
from penstock.sources.earlier_versions import Earlier
from penstock.sources.errors import SourceStopped
from penstock.sources.triggers.lease import (
    LEASE_DURATION,
    Lost,
    NodeLease,
    TriggerLease,
    mark_well,
    trigger_of,
)
from penstock.sources.triggers.trigger import (
    BACKFILLS,
    Factory,
    Means,
    SourceReader,
    Trigger,
    TriggerTarget,
)
from penstock.sources.triggers.trigger_list import trigger_rows
from penstock.store.errors import StoreError
from penstock.store.rows.rows import WorkflowState

__all__ = ["TRIGGER_FACTORIES", "Means", "Triggers"]

TRIGGER_FACTORIES: dict[str, Factory | str] = {
    "topic": "penstock.sources.topic:reader_of",
    "object": "penstock.sources.objects.triggers:reader_of",
    "schedule": "penstock.sources.schedules.ticks:reader_of",
    "backfill": "penstock.sources.schedules.backfill:reader_of",
    "search": "penstock.sources.objects.search:reader_of",
}
"""By the kind of source: the factory of its reader, or the place to import it from when needed."""

TOPIC = "topic"
"""The kind of feed that brings outside events."""

SHARED_POLL_INTERVAL = timedelta(seconds=2)
EXCLUSIVE_POLL_INTERVAL = timedelta(seconds=60)
"""How often a node that owns its store exclusively polls it as a safeguard."""

MAX_BACKFILLS = 1000
"""Backfills that are seen to at a time."""

STOP_TIMEOUT = 10.0
"""Seconds that a trigger has to finish its current work."""

MIN_DELAY, MAX_DELAY = 1.0, 60.0
"""Seconds between two starts of a failing reader."""

log = logging.getLogger("penstock.triggers")


class _HeldTrigger:
    """A running trigger."""

    def __init__(self, trigger: Trigger, reader: SourceReader) -> None:
        self.trigger, self.reader = trigger, reader
        self.task: asyncio.Task[None] | None = None
        self.stop_by: float | None = None

    def stop(self, now: float) -> None:
        """Ask it to stop; where it was asked long ago, end it."""
        if self.stop_by is None:
            self.stop_by = now + STOP_TIMEOUT
            self.trigger.stopping.set()
        elif now >= self.stop_by:
            self.end()

    def end(self) -> None:
        if self.task is not None:
            self.task.cancel()


class _Later:
    """A reader that is created when it runs, because its dependencies did not exist before."""

    def __init__(self, factory: Factory | str) -> None:
        self._factory = factory

    def make(self, target: TriggerTarget, means: Means) -> SourceReader | None:
        """Raises whatever is wrong with it."""
        return load_factory(self._factory)(target, means)

    async def run(self, trigger: Trigger) -> None:
        reader = self.make(trigger.target, trigger.means)
        await (trigger.well() if reader is None else reader.run(trigger))


class Triggers:
    """The readers of one node. `run` it on a loop, `stop` it before the node. `failures` counts, by kind."""

    def __init__(
        self,
        node: Node,
        means: Means | None = None,
        readers: Mapping[str, Factory | str] | None = None,
        lease: timedelta = LEASE_DURATION,
    ) -> None:
        self.node, self.means = node, means or Means()
        self.node_lease = NodeLease(node.store, node.clock.now, shared=node.shared, lease=lease)
        self.failures: Counter[str] = Counter()
        self._started: Counter[str] = Counter()
        self._factories = dict(TRIGGER_FACTORIES if readers is None else readers)
        self._lease = lease
        self._targets = TriggerTargets(node, self._factories)
        self._fed: dict[str, _HeldTrigger] = {}
        self._marked: set[str] = set()  # stopped, and noted in the store
        self._unfed: set[str] = set()  # fed by others, and noted in the store
        self._wake = asyncio.Event()
        self._renewed = -1e9
        node.flows.observe(self._wake.set)

    @property
    def held(self) -> dict[str, int]:
        """How many readers run here, by kind."""
        return dict(Counter(fed.trigger.target.kind for fed in self._fed.values()))

    @property
    def started(self) -> Counter[str]:
        """How many runs the readers of this node have made, by kind."""
        counted = self._started.copy()
        for fed in self._fed.values():
            counted[fed.trigger.target.kind] += fed.trigger.started
        return counted

    def look(self) -> None:
        """There may be a trigger to start."""
        self._wake.set()

    async def run(self) -> None:
        """Keep all triggers running, without end."""
        while True:
            self._wake.clear()
            await is_set_within(self._wake, await self.run_once())

    async def run_once(self) -> float:
        """Start wanted triggers and stop others; the seconds until the next check."""
        if not self.node_lease.alive:
            self._end_all()  # the store was unavailable for too long: another node may hold them by now
        wanted = await self._targets.all()
        if wanted or self._fed:
            await self._renew()
        now = asyncio.get_running_loop().time()
        for name, fed in self._fed.items():
            target = wanted.get(name)
            if target is None or target.flow.version != fed.trigger.flow.version:
                fed.stop(now)
        await self._mark_stopped(wanted)
        for target in await self._free([target for name, target in wanted.items() if name not in self._fed]):
            await self._begin(target)
            await self._renew()
        if any(fed.stop_by is not None for fed in self._fed.values()):
            return 1.0
        return (SHARED_POLL_INTERVAL if self.node.shared else EXCLUSIVE_POLL_INTERVAL).total_seconds()

    async def stop(self) -> None:
        """Let every reader finish its current work, and release all triggers: other nodes take over at once."""
        tasks = [fed.task for fed in self._fed.values() if fed.task is not None]
        for fed in self._fed.values():
            fed.trigger.stopping.set()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=STOP_TIMEOUT)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await self.node_lease.release()
        except StoreError as error:
            log.warning("others take over only in %g s: %s", self._lease.total_seconds(), error)

    async def _renew(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._renewed < self._lease.total_seconds() / 4 and self.node_lease.alive:
            return
        try:
            await self.node_lease.renew()
        except Lost:
            self._end_all()
            await self.node_lease.renew()
        self._renewed = now

    async def _mark_stopped(self, wanted: Collection[str]) -> None:
        """Record which sources are stopped: when started again, they begin afresh and make up for nothing."""
        self._marked.difference_update(wanted)
        for name in self._targets.stopped - self._marked:
            if name not in self._fed and await mark_well(self.node.store, name, stopped=True):
                self._marked.add(name)

    def _end_all(self) -> None:
        for fed in self._fed.values():
            fed.end()

    async def _free(self, targets: Sequence[TriggerTarget]) -> list[TriggerTarget]:
        """Those that no other node holds, looked at together: there may be a thousand, and every node asks."""
        if not targets:
            return []
        owners = {row.name: row.owner for row in await trigger_rows(self.node.store)}
        gone: dict[str | None, bool] = {None: True, self.node_lease.owner: True}
        for owner in {owners.get(target.name) for target in targets} - gone.keys():
            gone[owner] = await self.node_lease.expire(owner or "")
        return [target for target in targets if gone[owners.get(target.name)]]

    async def _begin(self, target: TriggerTarget) -> None:
        later = _Later(self._factories[target.kind])
        try:
            reader = later.make(target, self.means)
        except Exception:
            reader = later  # the reason appears with the failures of triggers
        if reader is None:
            if target.name not in self._unfed and await mark_well(self.node.store, target.name):
                self._unfed.add(target.name)
            return
        self._unfed.discard(target.name)
        lease = await TriggerLease.take(self.node.store, self.node_lease, target.name, target.kind)
        if lease is None:
            return
        fed = _HeldTrigger(Trigger(target, self.node, lease, self.node_lease, self.means), reader)
        self._fed[target.name] = fed
        fed.task = asyncio.create_task(self._keep(fed, lease), name=f"reader {target.name}")

    async def _keep(self, fed: _HeldTrigger, lease: TriggerLease) -> None:
        """Run one reader until it is stopped, whatever it raises; then release its trigger."""
        try:
            while not fed.trigger.stopping.is_set():
                await self._try(fed)
            await lease.give_back()
        except Lost as error:
            log.info("%s", error)
        except StoreError as error:
            log.warning("the source of '%s' is not released yet: %s", fed.trigger.workflow, error)
        except asyncio.CancelledError:
            if self.node_lease.alive:
                with suppress(Lost, StoreError):
                    await lease.give_back()
            raise
        finally:
            self._started[fed.trigger.target.kind] += fed.trigger.started
            self._fed.pop(fed.trigger.target.name, None)
            self._wake.set()

    async def _try(self, fed: _HeldTrigger) -> None:
        trigger = fed.trigger
        try:
            await fed.reader.run(trigger)
        except Lost:
            raise
        except SourceStopped:
            await trigger.rest(MIN_DELAY)  # it is about to be stopped
            return
        except Exception as error:
            self.failures[trigger.target.kind] += 1
            wait = MIN_DELAY
            if isinstance(error, StoreError):
                log.warning("the source of '%s' waits: %s", trigger.workflow, error)
            else:
                plain = isinstance(error, PenstockError)  # it says all: how we came there helps nobody
                why, trace = (f": {error}", None) if plain else ("", error)
                log.warning(
                    "the source of '%s' failed and is begun again%s", trigger.workflow, why, exc_info=trace
                )
                wait = min(MIN_DELAY * 2 ** min(await trigger.fail(error) - 1, 10), MAX_DELAY)
            await trigger.rest(wait)
            return
        if trigger.target.by_hand:
            trigger.stopping.set()  # done; somebody may ask for the next
        await trigger.stopping.wait()  # there is no more


class TriggerTargets:
    """What is to be fed, by the newest version: a source while its workflow is started, outside events always.

    Of earlier versions: outside events that the newest does not take, while runs that may wait for them are under way.
    """

    def __init__(self, node: Node, kinds: Collection[str]) -> None:
        self._node, self._kinds = node, kinds
        self._known: dict[str, tuple[int, tuple[TriggerTarget, ...]]] = {}
        self.stopped: set[str] = set()
        self._earlier = Earlier(node.flows, node.store, TOPIC)

    async def all(self) -> dict[str, TriggerTarget]:
        """By the names of their tokens; `stopped` has those of sources that are not to be fed now."""
        found: dict[str, TriggerTarget] = {}
        stopped: set[str] = set()
        for state in await self._node.flows.states():
            for target in await self._of(state):
                if state.started or target.source is None:
                    found[target.name] = target
                else:
                    stopped.add(target.name)
        self.stopped = stopped
        if TOPIC in self._kinds:
            found |= {target.name: target for target in await self._left(found)}
        if "backfill" in self._kinds:
            for row in await self._node.store.tokens(BACKFILLS, "", MAX_BACKFILLS):
                workflow = row.name.removeprefix(BACKFILLS)[:-1]
                try:
                    flow, _ = await self._node.flows.newest(workflow)
                except UnknownWorkflow:
                    log.warning("there is a backfill of '%s', and no such workflow", workflow)
                    continue
                target = TriggerTarget(
                    flow=flow, kind="backfill", source=flow.definition.source, by_hand=True
                )
                found[target.name] = target
        return found

    async def _left(self, found: Collection[str]) -> list[TriggerTarget]:
        """What was fed once, is not among those, and still may be waited for."""
        states = {state.name: state for state in await self._node.flows.states()}
        targets = []
        for row in await trigger_rows(self._node.store):
            workflow, _, event = trigger_of(row.name)
            if row.name in found or event is None or workflow not in states:
                continue
            if (taking := await self._earlier.taking(states[workflow], event)) is not None:
                targets.append(TriggerTarget(flow=taking[0], kind=TOPIC, external=taking[1]))
        return targets

    async def _of(self, state: WorkflowState) -> tuple[TriggerTarget, ...]:
        """One workflow that cannot be read must not hold the others."""
        known = self._known.get(state.name)
        if known is None or known[0] != state.latest:
            targets: tuple[TriggerTarget, ...] = ()
            try:
                targets = await self._read(state.name, state.latest)
            except StoreError:
                raise
            except Exception:
                log.exception("version %d of '%s' cannot be read", state.latest, state.name)
            known = self._known[state.name] = state.latest, targets
        return known[1]

    async def _read(self, workflow: str, version: int) -> tuple[TriggerTarget, ...]:
        row = await self._node.store.version(workflow, version)
        if row is None or not ("\\" in row.definition or any(kind in row.definition for kind in self._kinds)):
            return ()  # nothing is compiled only to find out that it is not fed
        flow = await self._node.flows.get(workflow, version)
        definition, targets = flow.definition, []
        if definition.source is not None and definition.source.kind in self._kinds:
            targets.append(TriggerTarget(flow=flow, kind=definition.source.kind, source=definition.source))
        for each in definition.external or ():
            if each.from_ is not None and each.from_.kind in self._kinds:
                targets.append(TriggerTarget(flow=flow, kind=each.from_.kind, external=each))
        return tuple(targets)


def load_factory(found: Factory | str) -> Factory:
    """The factory of readers; one that is only named is imported now."""
    if not isinstance(found, str):
        return found
    module, _, name = found.partition(":")
    factory: Factory = getattr(import_module(module), name)
    return factory
