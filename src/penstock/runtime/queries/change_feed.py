"""The feed of changes: every run that changes, on any node, numbered, for its readers."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from secrets import token_hex

from msgspec import Struct

from penstock.runtime.decisions.decision import Decision
from penstock.runtime.node.background_tasks import is_set_within
from penstock.store.errors import StoreError
from penstock.store.rows.rows import RunState

MAX_REMEMBERED = 10_000
"""Changes that are kept: a reader that was absent for longer starts over."""
MAX_READ = 500
"""Changes that are read at once."""
HINT_INTERVAL = 0.25
"""Seconds between two hints to other nodes."""
MAX_RUNS_IN_HINT = 300
"""Runs that a hint names. If more changed, the hint only says that something changed."""
LINGER_TIMEOUT = 60.0
"""Seconds to keep following other nodes after the last reader left, because it may return."""

log = logging.getLogger("penstock.changes")

Look = Callable[[Sequence[str]], Awaitable[list[RunState]]]
Tell = Callable[[Sequence[str]], Awaitable[None]]


class Batch(Struct, frozen=True):
    """What a reader gets: changes, each with its number. `reset`: some before these were missed."""

    changes: list[tuple[int, RunState]]
    reset: bool = False


class Changes:
    """Remembers the last changes. `look` reads runs that other nodes changed, `tell` names ours to them."""

    def __init__(self, look: Look, tell: Tell) -> None:
        self._look, self._tell = look, tell
        self._recent: deque[RunState] = deque(maxlen=MAX_REMEMBERED)
        self._wakes: set[asyncio.Event] = set()
        self._wanted_until = 0.0
        self._missed = False  # something changed while nobody looked on
        self._fresh: dict[str, None] = {}
        self._stirred = asyncio.Event()
        self.epoch, self.count = token_hex(4), 0

    # -- what changed --------------------------------------------------------------------------------------

    def settled(self, decisions: Sequence[Decision]) -> None:
        """Runs changed here. This is on the path of every step: without readers, nothing is kept."""
        changed = [decision for decision in decisions if decision.change is not None]
        if not changed:
            return
        if self._wanted:
            for decision in changed:
                self._add(_state(decision))
        else:
            self._missed = True
        for decision in changed[: MAX_RUNS_IN_HINT + 1 - len(self._fresh)]:
            self._fresh[decision.live.snapshot.run.id] = None
        self._stirred.set()

    async def heard(self, runs: Sequence[str]) -> None:
        """Another node changed these runs; none: too many to name, or nobody knows which."""
        if not runs or not self._wanted:
            self._begin_anew()
            return
        try:
            found = await self._look(runs)
        except StoreError:
            self._begin_anew()
            return
        for state in found:
            self._add(state)

    async def tell_others(self) -> None:
        """Tell other nodes at intervals which runs changed here, without end."""
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            fresh, self._fresh = list(self._fresh), {}
            try:
                await self._tell(fresh if len(fresh) <= MAX_RUNS_IN_HINT else [])
            except Exception as error:
                log.debug("the other nodes were not told: %s", error)  # it is a hint
            await asyncio.sleep(HINT_INTERVAL)

    def _add(self, state: RunState) -> None:
        self._recent.append(state)
        self.count += 1
        for wake in self._wakes:
            wake.set()

    def _begin_anew(self) -> None:
        """Something was missed: current and returning readers are notified."""
        self._recent.clear()
        self.epoch = token_hex(4)
        for wake in self._wakes:
            wake.set()

    @property
    def _wanted(self) -> bool:
        return bool(self._wakes) or asyncio.get_running_loop().time() < self._wanted_until

    # -- who looks on --------------------------------------------------------------------------------------

    def reader(self, last: str | None = None) -> Reader:
        """A reader from now on, or from after the change with the id `last`. Close it."""
        if self._missed:
            self._missed = False
            self._begin_anew()
        wake = asyncio.Event()
        self._wakes.add(wake)
        return Reader(self, wake, last)

    def unsubscribe(self, wake: asyncio.Event) -> None:
        self._wakes.discard(wake)
        self._wanted_until = asyncio.get_running_loop().time() + LINGER_TIMEOUT

    def since(self, number: int) -> list[tuple[int, RunState]] | None:
        """Some of the changes after one; None if they are no longer kept."""
        missing = self.count - number
        if not 0 <= missing <= len(self._recent):
            return None
        take = min(missing, MAX_READ)
        return [(number + 1 + n, self._recent[n - missing]) for n in range(take)]


def _state(decision: Decision) -> RunState:
    snapshot = decision.plan.snapshot
    run = snapshot.run
    return RunState(run.id, run.workflow, snapshot.status, snapshot.seq, run.subject)


class Reader:
    """Reads changes in order, each once."""

    def __init__(self, changes: Changes, wake: asyncio.Event, last: str | None) -> None:
        self._changes, self._wake = changes, wake
        self._epoch, self._number = changes.epoch, changes.count
        if last is not None:
            epoch, _, number = last.rpartition("-")
            known = number.isascii() and number.isdigit() and len(number) < 19
            self._epoch, self._number = epoch, int(number) if known else -1

    @property
    def id(self) -> str:
        """That of the last change that was read."""
        return f"{self._epoch}-{self._number}"

    def id_of(self, number: int) -> str:
        return f"{self._epoch}-{number}"

    async def read(self, timeout: float) -> Batch | None:
        """The next changes, as soon as there are some; None: there were none for `timeout` seconds."""
        batch = self._next()
        if batch is None:
            await is_set_within(self._wake, timeout)
            batch = self._next()
        return batch

    def _next(self) -> Batch | None:
        self._wake.clear()
        changes = self._changes
        found = changes.since(self._number) if self._epoch == changes.epoch else None
        if found is None:
            self._epoch, self._number = changes.epoch, changes.count
            return Batch([], reset=True)
        if not found:
            return None
        self._number = found[-1][0]
        return Batch(found)

    def close(self) -> None:
        self._changes.unsubscribe(self._wake)
