"""Both stores against the reference model: whatever is asked in whatever order, they answer alike (ST1 to ST11)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from penstock.store.protocol import Store
from penstock.store.rows.change import Change, EndedTask, EventId, Part, PendingEvent, Post
from penstock.store.rows.rows import Filter, Heartbeat, Lease
from tests.store.builders import (
    A,
    B,
    C,
    change,
    end,
    lock,
    new_run,
    pending_event,
    plain_count,
    publish,
    seconds,
    start,
    task,
    unlock,
    wish,
)
from tests.store.model_views import Model
from tests.store.places import Hand, ModelPlace, Place, SqlitePlace

RUNS = (A, B, C)
KEYS = (("job", "1"), ("job", "2"))
LOCKS = {"one": 1, "two": 2}
IDS = tuple(EventId("hook", str(n)) for n in range(3))
LISTS = ("x", "y")
LIMITS = (None, None, 10, 40)
PATIENCE = timedelta(seconds=15)
DAYS = {name: timedelta(seconds=20) for name in ("succeeded", "failed", "canceled", "timed_out")}

Answer = TypeVar("Answer")
Pieces = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]


class Twin(NamedTuple):
    """A timer or message in the store, where it has another number than in the model."""

    run: str | None
    number: int


class Machine(RuleBasedStateMachine):
    """Asks the model and the store the same, and compares what can be seen of them."""

    place: Place
    runner: asyncio.Runner

    def __init__(self) -> None:
        super().__init__()
        self.known = ModelPlace()
        self.model: Model = self.known.model
        self.runner.run(self.place.begin())
        self.store: Store = self.place.store
        self.same(lambda store: publish(store, "w", "text", b"", None, True))
        self.bodies = 0
        self.timers: dict[int, Twin] = {}
        self.messages: dict[int, Twin] = {}
        self.leases: list[Lease] = []
        self.focus = "all"

    @initialize(focus=st.sampled_from(["tasks", "locks", "keys", "rows", "all"]))
    def look_at(self, focus: str) -> None:
        """Each example is about one thing, or about all: a little of everything meets too seldom."""
        self.focus = focus

    def both(self, ask: Callable[[Store], Awaitable[Answer]]) -> tuple[Answer, Answer]:
        async def asked() -> tuple[Answer, Answer]:
            return await ask(self.model), await ask(self.store)

        return self.runner.run(asked())

    def same(self, ask: Callable[[Store], Awaitable[Answer]]) -> Answer:
        wanted, got = self.both(ask)
        assert got == wanted
        return wanted

    def body(self) -> bytes:
        """A body that no other has: it tells a message from the others."""
        self.bodies += 1
        return b"body %d" % self.bodies

    # Changes

    @rule(data=st.data())
    def commit_one(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(RUNS))
        self.commit([self.any_change(data.draw, run, may_end=True)])

    @rule(data=st.data())
    def commit_some(self, data: st.DataObject) -> None:
        runs = data.draw(st.permutations(RUNS))[: data.draw(st.integers(2, 3))]
        self.commit([self.any_change(data.draw, run, may_end=n == 0) for n, run in enumerate(runs)])

    def any_change(self, draw: Draw, run: str, may_end: bool) -> Change:
        there = self.model.rows.runs.get(run)
        if there is None:
            key = (draw(st.sampled_from("kl")), b"d") if draw(st.booleans()) else None
            known = self.model.rows.paused
            halted = known[None] != (draw(st.integers(0, 9)) == 9)
            new = new_run(start_key=key, paused=(known["w"], halted))
            return start(run, new, **self.pieces(draw, run))
        base = there.revision + (1 if draw(st.integers(0, 11)) == 11 else 0)
        if may_end and draw(st.integers(0, 5)) == 5:
            return end(run, base, draw(st.sampled_from(sorted(DAYS))), self.model.clock())
        return change(run, base, **self.pieces(draw, run))

    def pieces(self, draw: Draw, run: str) -> Pieces:
        found: Pieces = {}
        for piece in draw(st.lists(st.sampled_from(PIECES[self.focus]), min_size=1, max_size=4, unique=True)):
            found |= piece(self, draw, run)
        return found

    def commit(self, changes: list[Change]) -> None:
        mine = self.runner.run(self.model.commit(changes))
        theirs = self.runner.run(self.store.commit([self.translated(one) for one in changes]))

        assert theirs.outcomes == mine.outcomes
        assert (theirs.now, theirs.fence) == (mine.now, mine.fence)
        assert [(one.run, one.body) for one in theirs.messages] == [
            (one.run, one.body) for one in mine.messages
        ]
        self.messages |= paired(mine.messages, theirs.messages)

    def translated(self, one: Change) -> Change:
        """The same change with the numbers of the store."""
        rung = tuple(self.timers[number].number for number in one.rung)
        return replace(one, rung=rung, read=tuple(self.messages[number].number for number in one.read))

    # Tasks

    @precondition(lambda self: self.focus in ("tasks", "all"))
    @rule(
        lists=st.lists(st.sampled_from(LISTS), min_size=1, unique=True),
        limit=st.integers(0, 3),
        tasks=st.sampled_from([None, None, ("t",), ("u",)]),
    )
    def lease(self, lists: list[str], limit: int, tasks: tuple[str, ...] | None) -> None:
        wanted = wish(limit, task_lists=tuple(lists), tasks=tasks)
        mine, theirs = self.both(lambda store: store.lease(wanted))
        assert [replace(got, expires=None) for got in theirs] == [replace(got, expires=None) for got in mine]
        self.leases += [got.lease for got in mine]

    @precondition(lambda self: self.focus in ("tasks", "all"))
    @rule(data=st.data(), progress=st.sampled_from([None, b"half"]))
    def renew(self, data: st.DataObject, progress: bytes | None) -> None:
        beats = [Heartbeat(lease, progress) for lease in self.some_leases(data.draw)]
        mine, theirs = self.both(lambda store: store.renew(beats))
        assert [(one.expires is None, one.deadline) for one in theirs] == [
            (one.expires is None, one.deadline) for one in mine
        ]

    @precondition(lambda self: self.focus in ("tasks", "all"))
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        leases = self.some_leases(data.draw)
        self.same(lambda store: store.release(leases))

    def some_leases(self, draw: Draw) -> list[Lease]:
        known = sorted({*self.leases, *(row.lease for row in self.model.rows.tasks.values())}, key=str)
        return list(draw(st.lists(st.sampled_from(known), max_size=3, unique=True))) if known else []

    # Time

    @rule(by=st.sampled_from([1, 5, 12, 30]))
    def tick(self, by: int) -> None:
        self.runner.run(self.known.move(seconds(by)))
        self.runner.run(self.place.move(seconds(by)))

    @rule()
    def due(self) -> None:
        mine, theirs = self.both(lambda store: store.due(1000, PATIENCE))

        self.timers |= paired(mine.timers, theirs.timers)
        self.messages |= paired(mine.messages, theirs.messages)
        assert set(theirs.tasks) == set(mine.tasks)
        assert mine.next is None or (theirs.next is not None and theirs.next <= mine.next)

    # Mail and upkeep

    @precondition(lambda self: self.focus in ("keys", "all"))
    @rule(data=st.data())
    def keep(self, data: st.DataObject) -> None:
        seen, until = data.draw(maybe_id(self)), self.model.clock() + seconds(50)
        event = pending_event(*data.draw(some_keys()), body=self.body(), until=until, seen=seen)
        self.same(lambda store: store.keep(event))

    @precondition(lambda self: self.focus in ("keys", "all"))
    @rule(data=st.data())
    def redeliver(self, data: st.DataObject) -> None:
        mine, theirs = self.both(lambda store: store.undelivered(0, 1000))
        if mine:
            body = data.draw(st.sampled_from([row.body for row in mine]))
            mine_id, their_id = (next(r.id for r in rows if r.body == body) for rows in (mine, theirs))
            assert self.runner.run(self.store.settle(their_id, deliver=True)) == self.runner.run(
                self.model.settle(mine_id, deliver=True)
            )

    @precondition(lambda self: self.focus in ("rows", "all"))
    @rule(data=st.data())
    def discard(self, data: st.DataObject) -> None:
        """Whether or not they are there."""
        some = (
            data.draw(st.lists(st.sampled_from(sorted(self.messages)), max_size=2)) if self.messages else []
        )
        self.runner.run(self.model.due(0, seconds(1), some))
        self.runner.run(self.store.due(0, seconds(1), [self.messages[number].number for number in some]))

    @precondition(lambda self: self.focus in ("keys", "rows", "all"))
    @rule()
    def retain(self) -> None:
        mine, theirs = self.both(lambda store: store.retain(DAYS, 1000, False))
        assert theirs.rows.get("run", 0) == mine.rows.get("run", 0)

    @precondition(lambda self: self.focus in ("rows", "all"))
    @rule(workflow=st.sampled_from([None, "w", "v"]), paused=st.booleans())
    def pause(self, workflow: str | None, paused: bool) -> None:
        self.bodies += 1
        self.same(lambda store: store.set_paused(workflow, paused, b"pause %d" % self.bodies))

    # What can be seen

    @invariant()
    def looks_the_same(self) -> None:
        mine, theirs = self.both(look)
        assert theirs == mine

    def teardown(self) -> None:
        """At the end of time all that was left comes to light."""
        self.same(look_closely)
        self.tick(10_000)
        self.due()
        self.runner.run(self.place.end())


async def look(store: Store) -> dict[str, Any]:
    loaded = await store.load(RUNS)
    return {
        "runs": [one and replace(one, parts=tuple(sorted(one.parts, key=str))) for one in loaded],
        "tasks": [await store.tasks(run) for run in RUNS],
        "queues": await store.queues(),
        "owners": [await store.find([key]) for key in KEYS],
        "refused": sorted(await store.refused(100)),
        "kept": [(row.body, row.at, row.until, set(row.keys)) for row in await store.undelivered(0, 100)],
        "seen": await store.seen(IDS),
    }


async def look_closely(store: Store) -> dict[str, Any]:
    """What changes only together with what `look` sees."""
    return {
        "rows": await store.runs(Filter()),
        "count": plain_count(await store.count(Filter())),
        "start keys": [await store.start_key("w", key) for key in "kl"],
        "pages": [await store.pages(run, 1, 2) for run in RUNS],
        "workflows": await store.workflows(),
        "payloads": await store.payloads([(run, b"d") for run in RUNS]),
    }


def paired(mine: list[Any], theirs: list[Any]) -> dict[int, Twin]:
    """The numbers of the same timers or messages in the model and in the store; they must be the same but for these."""
    mine, theirs = (
        sorted(things, key=lambda thing: (str(thing.run), thing.body)) for things in (mine, theirs)
    )
    assert [replace(thing, id=0) for thing in theirs] == [replace(thing, id=0) for thing in mine]
    return {one.id: Twin(other.run, other.id) for one, other in zip(mine, theirs, strict=True)}


# What a change is made of: each is drawn by itself, so that a failure shrinks to the pieces it needs.


def span(draw: Draw) -> timedelta | None:
    limit = draw(st.sampled_from(LIMITS))
    return None if limit is None else seconds(limit)


def new_tasks(machine: Machine, draw: Draw, run: str) -> Pieces:
    places = [(1, -1), (1, 0), (2, -1)]
    free = [place for place in places if (run, *place) not in machine.model.rows.tasks]
    made = [
        task(
            *place,
            attempt=draw(st.integers(1, 2)),
            task=draw(st.sampled_from("tu")),
            task_list=draw(st.sampled_from(LISTS)),
            priority=draw(st.integers(0, 1)),
            schedule_to_start=span(draw),
            start_to_close=span(draw),
            schedule_to_close=span(draw),
            heartbeat=seconds(20),
            **draw(st.sampled_from([{}, {}, {"worker": "amy"}, {"held": True}])),
        )
        for place in free[: draw(st.integers(1, 2))]
    ]
    return {"tasks": tuple(made)}


def ends(machine: Machine, draw: Draw, run: str) -> Pieces:
    known = [row.lease for row in machine.model.rows.tasks.values() if row.run == run]
    if not known:
        return {}
    lease = draw(st.sampled_from(known))
    fence = lease.fence + draw(st.sampled_from([0, 0, 0, 1, -1]))
    return {"ended": (EndedTask(lease.firing, lease.index, lease.attempt, fence),)}


def voids(machine: Machine, draw: Draw, run: str) -> Pieces:
    return {"void": (draw(st.sampled_from([(1, -1), (1, 0), (2, -1)])),)}


def holds(machine: Machine, draw: Draw, run: str) -> Pieces:
    return {"hold": True, "status": "paused"} if draw(st.booleans()) else {"hold": False}


def timers(machine: Machine, draw: Draw, run: str) -> Pieces:
    due = machine.model.clock() + seconds(draw(st.sampled_from([0, 3, 20])))
    return {"timers": ((due, machine.body()),)}


def rings(machine: Machine, draw: Draw, run: str) -> Pieces:
    return used(machine.timers, "rung", draw, run)


def reads(machine: Machine, draw: Draw, run: str) -> Pieces:
    return used(machine.messages, "read", draw, run)


def used(things: dict[int, Twin], name: str, draw: Draw, run: str) -> Pieces:
    """One that came to this run or to nobody, whether or not it was used up before."""
    own = sorted(number for number, twin in things.items() if twin.run in (None, run))
    return {name: (draw(st.sampled_from(own)),)} if own else {}


def posts(machine: Machine, draw: Draw, run: str) -> Pieces:
    return {"posts": (Post(draw(st.sampled_from([None, run, *RUNS])), machine.body()),)}


def unbegun(machine: Machine, draw: Draw, run: str) -> Pieces:
    return {"unbegun": (draw(st.sampled_from(RUNS)),)}


def locks(machine: Machine, draw: Draw, run: str) -> Pieces:
    key, firing = draw(st.sampled_from(sorted(LOCKS))), draw(st.integers(1, 2))
    queued = {(row.key, row.run, row.firing) for row in machine.model.rows.locks}
    if (key, run, firing) in queued:
        return {}
    return {"locks": (lock(key, firing, LOCKS[key], machine.body()),)}


def unlocks(machine: Machine, draw: Draw, run: str) -> Pieces:
    return {"unlocks": (unlock(draw(st.sampled_from(sorted(LOCKS))), draw(st.integers(1, 2))),)}


def keys(machine: Machine, draw: Draw, run: str) -> Pieces:
    return {"keys": tuple(draw(st.lists(st.sampled_from(KEYS), min_size=1, unique=True)))}


def leaves(machine: Machine, draw: Draw, run: str) -> Pieces:
    until = machine.model.clock() + seconds(50)
    event: PendingEvent = pending_event(
        *draw(some_keys()), body=machine.body(), until=until, seen=draw(maybe_id(machine))
    )
    return {"pending_events": (event,)}


def some_keys() -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.sampled_from(KEYS), max_size=2, unique=True)


def maybe_id(machine: Machine) -> st.SearchStrategy[EventId | None]:
    until = machine.model.clock() + seconds(40)
    return st.sampled_from([None, *(replace(id, until=until) for id in IDS)])


def ids(machine: Machine, draw: Draw, run: str) -> Pieces:
    until = draw(st.sampled_from([None, machine.model.clock() + seconds(40)]))
    return {"seen": (replace(draw(st.sampled_from(IDS)), until=until),)}


def states(machine: Machine, draw: Draw, run: str) -> Pieces:
    body = draw(st.sampled_from([None, b"\x00", b"part"]))
    return {"parts": (Part("e", 1, draw(st.integers(0, 1)), body),), "payloads": ((b"d", b"x"),)}


PIECES = {
    "tasks": (new_tasks, ends, voids, holds),
    "locks": (locks, unlocks),
    "keys": (keys, leaves, ids, reads),
    "rows": (timers, rings, posts, unbegun, reads, states, ids),
}
PIECES["all"] = tuple({piece: None for pieces in PIECES.values() for piece in pieces})


class MemoryPlace(SqlitePlace):
    """A new database in memory for every example."""

    def __init__(self) -> None:
        super().__init__("memory:")

    async def begin(self) -> None:
        self.hand = Hand()
        await super().begin()


@pytest.fixture(params=["model", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    match request.param:
        case "model":
            yield ModelPlace()
        case "sqlite":
            yield MemoryPlace()
        case _:
            yield request.getfixturevalue("database")


PHASES = [Phase.generate, Phase.shrink]
EXAMPLES = {"ModelPlace": 5, "MemoryPlace": 60, "PostgresPlace": 15}


def test_st1_to_st11_the_store_answers_like_the_model(place: Place, runner: asyncio.Runner) -> None:
    class Here(Machine):
        pass

    Here.place, Here.runner = place, runner
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=EXAMPLES[type(place).__name__],
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        ),
    )
