"""Outside events on their way into runs: named, or found by a key, also before it is known."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from penstock.flow.model.plan import Answer
from penstock.flow.model.run_input import Outside
from penstock.runtime.commands.validation import (
    checked_event,
    plain_event,
    validate_keys,
    validate_text_maps,
    validate_texts,
)
from penstock.runtime.decisions.limits import validate_room
from penstock.runtime.decisions.pending_events import keep, seen_by_key
from penstock.runtime.errors import Invalid, NotFound, UndeclaredEvent
from penstock.runtime.node.clock import StoreClock
from penstock.runtime.node.flow_cache import FlowCache
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.protocol import InboundEvents
from penstock.store.rows.change import Seen

Look = Callable[[str], Awaitable[CachedRun]]


class EventDelivery:
    """The part of the intake that takes events."""

    _store: InboundEvents
    _flows: FlowCache
    _clock: StoreClock
    duplicates: int
    look: Look
    ask: Callable[..., Awaitable[Answer]]

    async def emit(self, run: str, event: Outside) -> Answer:
        """Fire an outside event into a run. Raises UnknownRun, UndeclaredEvent, InvalidEvent, BadPayload, SlotFull."""
        validate_texts(event=event.event)
        validate_keys(id=event.id)
        seen = None if event.id is None else Seen(run, event.id)
        live = await self.look(run)
        event = checked_event(live.flow, event)
        return self._counted(await self._event(live, event, seen))

    async def emit_by_key(
        self,
        key: Mapping[str, Any],
        event: Outside,
        source: str | None = None,
        sees: Callable[[str], bool] | None = None,
    ) -> Answer:
        """Fire an outside event into the run that has the key; one that comes too early is kept for it.

        Its id is unique within `source`: who calls, or the hook that is called. Who does not see every workflow must
        see that of the run, so that none may come later. Raises NotFound, UndeclaredEvent, InvalidEvent.
        """
        validate_keys(event=event.event, id=event.id)
        validate_text_maps(key=key)
        named = dict(key)
        if not named:
            raise Invalid("an event needs at least one key, such as {'et_job': '123'}, to find its run")
        event = plain_event(event)
        seen = seen_by_key(event, self._clock.now(), source)
        run = await self._store.find(list(named.items()))
        if sees is not None and (run is None or not sees((await self.look(run)).flow.name)):
            raise NotFound("no run that you may know of has this key")
        if run is None:
            if event.workflow is None:  # or else whoever brings it has seen that it is taken there
                await self._validate_declared(event.event)
            run = await self._store.keep(keep(named, event, self._clock.now(), source))
        if run is None:
            return "accepted"
        if run == "":
            return self._counted("duplicate")
        if seen is not None and (await self._store.seen([seen]))[0]:
            return self._counted("duplicate")
        live = await self.look(run)
        return self._counted(await self._event(live, checked_event(live.flow, event), seen))

    async def _validate_declared(self, event: str) -> None:
        """What no workflow takes is not kept: no run will ever ask for it. Raises UndeclaredEvent."""
        known: set[str] = set()
        for state in await self._flows.states():
            known |= (await self._flows.get(state.name, state.latest)).outside.keys()
            if event in known:
                return
        raise UndeclaredEvent(None, event, sorted(known))

    async def _event(self, live: CachedRun, event: Outside, seen: Seen | None) -> Answer:
        self._flows.managers.validate(live.flow.name)
        if seen is not None and (await self._store.seen([seen]))[0]:
            return "duplicate"
        validate_room(live.flow, live.snapshot, event)
        return await self.ask(live.snapshot.run.id, event, seen=seen)

    def _counted(self, answer: Answer) -> Answer:
        self.duplicates += answer == "duplicate"
        return answer
