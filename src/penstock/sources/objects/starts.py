"""Starts runs about objects: one run for each started workflow that matches, however often it is reported."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from penstock.expression import EvaluationError
from penstock.flow.errors import PenstockError
from penstock.objects.context import Event, context_of, is_own, scope_of, subject_of
from penstock.objects.object_filter import Matching
from penstock.objects.protocol import Object
from penstock.objects.stores import StoreCounts, Stores
from penstock.runtime.commands.commands import Commands
from penstock.runtime.errors import Conflict, IdempotencyMismatch, Invalid, NotFound
from penstock.runtime.node.flow_cache import FlowCache
from penstock.sources.dead_letters import add_dead_notice, add_dead_start
from penstock.sources.errors import SourceStopped
from penstock.sources.triggers.trigger import Start, Trigger
from penstock.store.errors import StoreError
from penstock.store.protocol import InboundEvents, Runs, RunViews
from penstock.store.rows.rows import Filter

KIND = "object"
Outcome = Literal["started", "duplicate", "ignored", "refused"]

log = logging.getLogger("penstock.objects")


class ObjectSource(Struct, frozen=True):
    """The source of a started workflow, of kind `object`."""

    workflow: str
    matching: Matching


class StartRows(InboundEvents, Runs, RunViews, Protocol):
    """Runs about objects, and the starts that failed."""


class ObjectStarts:
    """Starts runs about objects; if there is a `max_running`, those of a reader wait for capacity."""

    def __init__(
        self,
        store: StartRows,
        flows: FlowCache,
        commands: Commands,
        stores: Stores,
        trigger: Trigger | None = None,
    ) -> None:
        self._store, self._flows, self._commands = store, flows, commands
        self._stores, self._trigger = stores, trigger
        self._turn = asyncio.Lock()
        self._known: dict[str, tuple[int, ObjectSource | None]] = {}

    async def sources(self, store: str) -> list[ObjectSource]:
        """Those that are started and about this store."""
        found = []
        for state in await self._flows.states():
            if state.started:
                source = await self._source(state.name, state.latest)
                if source is not None and source.matching.store == store:
                    found.append(source)
        return found

    async def _source(self, workflow: str, version: int) -> ObjectSource | None:
        known = self._known.get(workflow)
        if known is None or known[0] != version:
            says = (await self._flows.get(workflow, version)).definition.source
            made = None
            if says is not None and says.kind == "object":
                made = ObjectSource(workflow, Matching(says.options))
            known = self._known[workflow] = version, made
        return known[1]

    async def knows(self, workflow: str, start_key: str) -> bool:
        """Whether a run was started by that key."""
        return await self._store.start_key(workflow, start_key) is not None

    async def has_run_about(self, workflow: str, bucket: str, key: str) -> bool:
        """Whether there is a run about an object of that name."""
        about = Filter(workflow=workflow, subject=subject_of(bucket, key), limit=1)
        return bool(await self._store.runs(about))

    async def dead_letter(self, store: str, record: Any, error: PenstockError) -> str:
        """Keep what a store told and nobody can read; in which words. Raises StoreError."""
        return await add_dead_notice(self._store, store, record, error, await self._store.now())

    async def start(
        self,
        source: ObjectSource,
        found: Object,
        event: Event,
        transport: Mapping[str, Any],
        key: str,
        undescribed: PenstockError | None = None,
    ) -> Outcome:
        """A run of the workflow, where it wants the object. Raises StoreError, SourceStopped: ask again.

        `undescribed`: why the store does not describe the object; the start is set aside.
        """
        context = context_of(found, event, transport)
        counts = self._stores.store_counts[source.matching.store]
        start = Start(
            key=key.removeprefix(f"{KIND}:"),
            subject=subject_of(found.bucket, found.key),
            input=context,
            tags=found.tags,
        )
        if undescribed is not None:
            return await self._dead_letter(source, found.key, start, undescribed)
        own = is_own(found, source.workflow)
        if own or not wanted(source.matching, found, context, counts, source.workflow):
            return "ignored"
        try:
            duplicate = await self._once(source.workflow, start)
        except SourceStopped:
            raise
        except IdempotencyMismatch:  # told again, and the object has changed meanwhile
            return "duplicate"
        except (Invalid, NotFound, Conflict) as error:
            return await self._dead_letter(source, found.key, start, error)
        return "duplicate" if duplicate else "started"

    async def _dead_letter(
        self, source: ObjectSource, key: str, start: Start, error: PenstockError
    ) -> Outcome:
        """Store a failed start as a dead letter, once, however often it is reported. Raises StoreError."""
        refused(self._stores.store_counts[source.matching.store], source.workflow, key, error)
        now = await self._store.now()
        await add_dead_start(self._store, source.workflow, KIND, start, error, now)
        return "refused"

    async def _once(self, workflow: str, start: Start) -> bool:
        """Whether the key had made a run before; now there is one."""
        if self._trigger is None or self._trigger.flow.definition.max_running is None:
            _, duplicate = await start.begin(self._commands, workflow, KIND)
        else:
            async with self._turn:  # one by one: else all would find the same room
                _, duplicate = await self._trigger.start(start)
        return duplicate


def wanted(
    matching: Matching, found: Object, context: Mapping[str, Any], counts: StoreCounts, workflow: str
) -> bool:
    """Whether an object matches a source. One that lacks what `where` reads does not match, and this is reported."""
    if not matching.named(found.key):
        return False
    try:
        return matching.holds(scope_of(context, found.tags))
    except EvaluationError as error:
        counts.error = f"`where` of '{workflow}' has no value for {found.key[:200]}: {error}"
        return False


def refused(counts: StoreCounts, workflow: str, what: str, error: PenstockError) -> None:
    """Tell people of a run that cannot be made: to try again would not help, and must not hold the others."""
    counts.error = f"no run of '{workflow}' was started for {what[:200]}: {error}"
    log.warning("%s", counts.error)


async def counted(
    counts: StoreCounts, trigger: Trigger, start: Start, done: object, keep: bool = True
) -> Outcome:
    """Handle the outcome of a start; a rejected one is set aside if it must be kept.

    Raises what another try may mend: StoreError, and what nobody expects.
    """
    if isinstance(done, tuple):
        outcome: Outcome = "duplicate" if done[1] else "started"
    elif isinstance(done, PenstockError) and not isinstance(done, StoreError):
        refused(counts, trigger.workflow, start.subject or "", done)
        if keep:
            kind = trigger.target.kind
            await add_dead_start(trigger.node.store, trigger.workflow, kind, start, done, trigger.now())
        outcome = "refused"
    else:
        assert isinstance(done, Exception), "a start is done, or says why not"
        raise done
    counts.note(outcome)
    return outcome
