"""Seeded faults: which points of the way to a store or a gate fail, how often, and what was seen to happen.

A point is *active* for a seed with one chance, and an active one *strikes* with another: so each seed has its own few
troubles, and some seed has any two of them together. Each point draws from its own chance: what strikes at one does
not depend on how often another is reached, so that a failing seed can be shrunk fault by fault.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from random import Random
from typing import Any, TypeVar, cast

from penstock.runtime.dispatch.gate import Gate
from penstock.store.errors import OutcomeUnknown, StoreAway, StoreFull
from penstock.store.protocol import Store
from tests.simloop import Gone, Process, current_process

T = TypeVar("T")
Strike = tuple[str, int]
"""A point and the how-manieth time it was reached."""


class Faults:
    """The faults of one seed. Those in `spared` do not strike, though chance says so."""

    def __init__(
        self, seed: int, active: float = 0.25, strikes: float = 0.25, spared: Iterable[Strike] = ()
    ) -> None:
        self.seed, self.on = seed, True
        self.reached: Counter[str] = Counter()
        self.struck: list[Strike] = []
        self.seen: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()  # over wires: answered and failed
        self._active, self._strikes = active, strikes
        self._spared = frozenset(spared)
        self._chances: dict[str, Random] = {}
        self._is_active: dict[str, bool] = {}

    def strikes(self, point: str, chance: float | None = None) -> bool:
        """Whether the fault happens here and now. `chance` stands in for the usual one of an active point."""
        self.reached[point] += 1
        random = self._chances.get(point) or self._chance(point)
        if not self._is_active[point] or random.random() >= (self._strikes if chance is None else chance):
            return False
        strike = (point, self.reached[point])
        if not self.on or strike in self._spared:
            return False
        self.struck.append(strike)
        return True

    def between(self, point: str, least: float, most: float) -> float:
        """A number of the point's own chance."""
        return self._chance(f"{point} amount").uniform(least, most)

    def sometimes(self, name: str, when: bool = True) -> None:
        """Something rare happened: over all seeds it must happen at least once."""
        self.seen[name] += when

    def stop(self) -> None:
        """No more faults: what is left must come to its end."""
        self.on = False

    def _chance(self, point: str) -> Random:
        random = self._chances.get(point)
        if random is None:
            random = self._chances[point] = Random(f"{self.seed}:{point}")
            self._is_active[point] = random.random() < self._active
        return random


class RunGroups:
    """What happened over many seeds."""

    def __init__(self) -> None:
        self.seeds = 0
        self.reached: Counter[str] = Counter()
        self.struck: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    def add(self, faults: Faults) -> None:
        self.seeds += 1
        self.reached += faults.reached
        self.struck.update(point for point, _ in faults.struck)
        self.seen += faults.seen
        self.calls += faults.calls

    def never(self, rare: Iterable[str]) -> list[str]:
        """What should have happened sometimes and did not: the simulation says nothing about it."""
        return [name for name in rare if not self.seen[name] and not self.struck[name]]


def shrink(strikes: Iterable[Strike], fails: Callable[[frozenset[Strike]], bool]) -> list[Strike]:
    """The few strikes that are enough: `fails` says whether it still fails when the given ones are spared."""
    left, spared = list(dict.fromkeys(strikes)), frozenset[Strike]()
    size = len(left)
    while size:
        at = 0
        while at < len(left):
            without = spared | frozenset(left[at : at + size])
            if fails(without):
                spared, left = without, left[:at] + left[at + size :]
            else:
                at += size
        size //= 2
    return left


class Watch:
    """Told of each call at the moment when it is done, at the other end of the wire. This one does not listen."""

    def asked(self, verb: str, args: tuple[Any, ...]) -> None:
        """The call has arrived."""

    def answered(self, verb: str, args: tuple[Any, ...], answer: Any) -> None:
        """The call is done, whether or not its answer gets back."""


class Wire:
    """The way from one caller to a process that answers: slow, broken, or cut off for a while."""

    def __init__(self, name: str, faults: Faults, longest_cut: float = 30.0, slowest: float = 5.0) -> None:
        self.name, self.faults = name, faults
        self._longest_cut, self._slowest = longest_cut, slowest
        self._cut_until = 0.0

    async def ask(
        self,
        process: Process,
        verb: str,
        work: Callable[[], Coroutine[Any, Any, T]],
        writes: bool,
        withdraw: bool = False,
        repeats: bool = False,
    ) -> T:
        """What `work` answers. Raises StoreAway for whatever befalls the question or the answer.

        With `repeats` the question may arrive twice, as where a proxy sends it again.
        """
        try:
            answer = await self._ask(process, verb, work, writes, withdraw, repeats)
        except Exception:
            self.faults.calls["failed"] += 1
            raise
        self.faults.calls["answered"] += 1
        return answer

    async def _ask(
        self,
        process: Process,
        verb: str,
        work: Callable[[], Coroutine[Any, Any, T]],
        writes: bool,
        withdraw: bool,
        repeats: bool,
    ) -> T:
        point = f"{self.name}.{verb}"
        self._refuse_the_dead()
        await asyncio.sleep(self.faults.between(f"{self.name}.way", 0, 0.002))  # how long a message travels
        await self._cut()
        await self._slow(f"{point}.slow")
        if self.faults.strikes(f"{point}.refused"):
            raise StoreAway(f"{point} did not get through")
        if repeats and self.faults.strikes(f"{point}.twice"):
            await self._get(process, work, withdraw)
        answer = await self._get(process, work, withdraw)
        await self._slow(f"{point}.late")
        if self.faults.strikes(f"{point}.lost"):
            raise (OutcomeUnknown if writes else StoreAway)(f"the answer to {point} is lost")
        return answer

    async def _get(self, process: Process, work: Callable[[], Coroutine[Any, Any, T]], withdraw: bool) -> T:
        try:
            return await process.call(work, withdraw, at_hand=withdraw)
        except Gone as gone:
            raise OutcomeUnknown(str(gone)) from gone

    def _refuse_the_dead(self) -> None:
        caller = current_process()
        if caller is not None and not caller.alive:
            raise StoreAway("its caller is dead and only cleans up")

    async def _cut(self) -> None:
        loop = asyncio.get_running_loop()
        if self.faults.strikes(f"{self.name}.cut", 0.01):
            self._cut_until = loop.time() + self.faults.between(f"{self.name}.cut", 0.5, self._longest_cut)
        if self.faults.on and loop.time() < self._cut_until:
            raise StoreAway(f"{self.name} is cut off")

    async def _slow(self, point: str) -> None:
        if self.faults.strikes(point):
            await asyncio.sleep(self.faults.between(point, 0, self._slowest))  # the fault itself


class _Far:
    """Anything with async methods, at the other end of a wire. It has every method that the real one has."""

    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask

    def __getattr__(self, verb: str) -> Any:
        if verb.startswith("_"):
            raise AttributeError(verb)
        return partial(self._ask, verb)


READS = frozenset(
    {
        "load",
        "payloads",
        "pages",
        "now",
        "find",
        "seen",
        "version",
        "workflows",
        "runs",
        "count",
        "tasks",
        "queues",
        "workers",
        "undelivered",
        "refused",
        "logs",
        "start_key",
        "check",
        "facts",
        "outbox_messages",
        "outbox",
    }
)
"""Verbs of a store that change nothing: their answer cannot be in doubt."""

NOBODY = Watch()
_ONCE = frozenset({"listen", "close"})  # no faults: a bell has its own, and a closed store answers nobody


async def _watched(
    watch: Watch, far: object, verb: str, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    watch.asked(verb, args)
    answer = await getattr(far, verb)(*args, **options)
    watch.answered(verb, args, answer)
    return answer


def watched_gate(gate: Gate, watch: Watch) -> Gate:
    """The gate itself, with somebody who looks on."""
    return cast(Gate, _Far(lambda verb, *args, **options: _watched(watch, gate, verb, args, options)))


def faulty_store(store: Store, server: Process, faults: Faults, watch: Watch = NOBODY) -> Store:
    """The store as one node sees it. The calls themselves are done in `server`, whatever becomes of the node."""
    wire = Wire("store", faults)

    async def ask(verb: str, *args: Any, **options: Any) -> Any:
        async def work() -> Any:
            return await _watched(watch, store, verb, args, options)

        if verb in _ONCE:
            if verb == "listen" and faults.strikes("store.bell.deaf"):
                return await asyncio.sleep(args[0].total_seconds())  # hears nothing until its time-out
            return await server.call(work, withdraw=True)
        if verb not in READS and faults.strikes("store.full", 0.05):
            raise StoreFull("no space is left, as the test has it")
        return await wire.ask(server, verb, work, writes=verb not in READS)

    return cast(Store, _Far(ask))


def faulty_gate(
    pick: Callable[[], tuple[Process, Gate] | None], faults: Faults, watch: Watch = NOBODY
) -> Gate:
    """The gate as one worker sees it; each call goes to the node that `pick` names, None: there is none."""
    wire = Wire("gate", faults)

    async def ask(verb: str, *args: Any, **options: Any) -> Any:
        node = pick()
        if node is None:
            raise StoreAway("no node is there")
        process, gate = node

        async def work() -> Any:
            return await _watched(watch, gate, verb, args, options)

        return await wire.ask(
            process,
            verb,
            work,
            writes=True,
            withdraw=verb == "claim",
            repeats=verb in ("report", "heartbeat"),
        )

    return cast(Gate, _Far(ask))
