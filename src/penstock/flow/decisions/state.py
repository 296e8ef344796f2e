"""A run being decided about: the working copy inside one `advance`, and the plan that it becomes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from penstock.flow.compile.compile import Flow, FlowStep
from penstock.flow.model.plan import (
    Acquire,
    Answer,
    Attempt,
    Emission,
    Entry,
    EntryKind,
    Plan,
    Release,
    Timer,
)
from penstock.flow.model.run import (
    ENDED,
    Aside,
    Element,
    ElementKey,
    Ending,
    Failure,
    Firing,
    Result,
    Snapshot,
    Status,
)
from penstock.flow.model.tags import TagChange
from penstock.kernel.firing import MutableMarking


class DecisionState:
    """Mutable, private to one decision. Each module of `flow` changes it by its own rules."""

    __slots__ = (
        *(name for name in Snapshot.__struct_fields__ if name not in ("run", "marking", "revision")),
        "acquires",
        "answers",
        "attempts",
        "marking",
        "correlations",
        "emissions",
        "ended",
        "flow",
        "history",
        "inline",
        "now",
        "releases",
        "timers",
        "touched",
        "unfinished",
        "was",
        "withdrawn",
    )

    def __init__(self, flow: Flow, snapshot: Snapshot, now: datetime) -> None:
        self.flow, self.was, self.now = flow, snapshot, now
        self.seq = snapshot.seq
        self.marking = MutableMarking(flow.wiring, snapshot.marking)
        self.status: Status = snapshot.status
        self.ending: Ending | None = snapshot.ending
        self.paused = snapshot.paused
        self.ended = snapshot.status in ENDED
        self.data = snapshot.data
        self.tags = snapshot.tags
        self.result = snapshot.result
        self.error: Failure | None = snapshot.error
        self.ok = snapshot.ok
        self.put_off = snapshot.put_off
        self.started_at = snapshot.started_at
        self.ended_at = snapshot.ended_at
        self.firings = snapshot.firings
        self.elements = snapshot.elements
        self.results = snapshot.results
        self.steps = snapshot.steps
        self.failed, self.halted, self.reused = snapshot.failed, snapshot.halted, snapshot.reused
        self.came, self.seen = snapshot.came, snapshot.seen
        self.keys = snapshot.keys
        self.disabled = snapshot.disabled
        self.aside: tuple[Aside, ...] = snapshot.aside
        self.epoch, self.agenda = snapshot.epoch, snapshot.agenda
        self.history: list[Entry] = []
        self.answers: list[Answer] = []
        self.attempts: list[Attempt] = []
        # Tuples, for most decisions have none of these and an empty tuple costs nothing.
        self.withdrawn: tuple[ElementKey, ...] = ()
        self.timers: tuple[Timer, ...] = ()
        self.acquires: tuple[Acquire, ...] = ()
        self.releases: tuple[Release, ...] = ()
        self.correlations: tuple[tuple[str, str], ...] = ()
        self.emissions: tuple[Emission, ...] = ()
        self.touched: list[ElementKey] = []  # elements of an `each` that changed: they are kept apart
        self.inline, self.unfinished = 0, False

    def record(
        self,
        kind: EntryKind,
        step: str | None = None,
        event: str | None = None,
        port: str | None = None,
        attempt: int | None = None,
        data: Any = None,
        firing: int | None = None,
        id: str | None = None,
        tags: TagChange | None = None,
    ) -> int:
        """Append one entry to the history; its number."""
        self.seq = number = self.seq + 1
        if tags is not None:
            id = tags.mark()
        self.history.append(
            Entry(
                seq=number,
                at=self.now,
                kind=kind,
                step=step,
                event=event,
                port=port,
                attempt=attempt,
                data=data,
                firing=firing,
                id=id,
                tags=tags,
            )
        )
        return number

    def keep_element(self, element: Element) -> None:
        """The element as it is now."""
        key = element.firing, element.index
        self.elements = self.elements.set(key, element)
        if element.index is not None:
            self.touched.append(key)

    def drop_element(self, key: ElementKey) -> None:
        self.elements = self.elements.delete(key)
        if key[1] is not None:
            self.touched.append(key)

    def keep_result(self, firing: int, index: int, result: Result) -> None:
        """What an element of an `each` came to."""
        self.results = self.results.set((firing, index), result)
        self.touched.append((firing, index))

    def drop_result(self, firing: int, index: int) -> None:
        self.results = self.results.delete((firing, index))
        self.touched.append((firing, index))

    def step_of(self, firing: Firing | Element) -> FlowStep:
        return self.flow.steps[firing.step]

    @property
    def open(self) -> bool:
        """Whether steps may begin: the run has not ended, and no pause holds it (a clean-up is not held)."""
        return not self.ended and (not self.paused or self.ending is not None)

    def plan(self) -> Plan:
        """What was decided, as a value."""
        if self.withdrawn:
            self._drop_void_attempts()
        return Plan(
            base=self.was.revision,
            snapshot=self._snapshot(),
            history=self.history,
            answers=self.answers,
            attempts=self.attempts,
            withdrawn=self.withdrawn,
            timers=self.timers,
            acquires=self.acquires,
            releases=self.releases,
            correlations=self.correlations,
            emissions=self.emissions,
            unfinished=self.unfinished,
            touched=self.touched,
        )

    def _drop_void_attempts(self) -> None:
        """An attempt made and withdrawn in one decision must not reach a worker."""
        self.attempts = [
            each
            for each in self.attempts
            if (element := self.elements.get((each.firing, each.index))) is not None
            and element.state in ("running", "parked")
            and element.attempt == each.attempt
        ]

    def _changed(self) -> bool:
        """Whether anything follows that the history does not tell; what comes too late leaves the run as it is."""
        was = self.was
        return (
            self.elements is not was.elements
            or self.status != was.status
            or self.agenda != was.agenda
            or self.paused != was.paused
        )

    def _snapshot(self) -> Snapshot:
        if not self.history and not self._changed():
            return self.was
        return replace(
            self.was,
            seq=self.seq,
            status=self.status,
            ending=self.ending,
            paused=self.paused,
            started_at=self.started_at,
            ended_at=self.ended_at,
            data=self.data,
            tags=self.tags,
            result=self.result,
            error=self.error,
            ok=self.ok,
            put_off=self.put_off,
            marking=self.marking.marking(),
            firings=self.firings,
            elements=self.elements,
            results=self.results,
            steps=self.steps,
            failed=self.failed,
            halted=self.halted,
            reused=self.reused,
            came=self.came,
            seen=self.seen,
            keys=self.keys,
            disabled=self.disabled,
            aside=self.aside,
            epoch=self.epoch,
            agenda=self.agenda,
            revision=self.was.revision + 1,
        )
