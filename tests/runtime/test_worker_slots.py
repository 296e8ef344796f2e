"""Who waits for work, who has looked for it, and that neither is remembered for ever."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from penstock import Engine
from penstock.flow.model.run_input import Done
from penstock.runtime.dispatch import backlog, dispatch
from penstock.runtime.dispatch.dispatch import Reservations
from penstock.runtime.dispatch.gate import Report
from penstock.runtime.dispatch.worker_slots import WorkerSlot
from penstock.store.open import open_store
from penstock.store.protocol import Store
from penstock.store.rows.change import Change, Committed
from penstock.store.rows.rows import ClaimRequest, Leased
from tests.simloop import SimLoop, run_simulated
from tests.waiting import pass_time, until

FLOW = {
    "penstock": 1,
    "name": "f",
    "defaults": {"task_list": "list-1"},
    "steps": {"s": {"task": "far.do"}},
}


def _wish(number: int) -> ClaimRequest:
    return ClaimRequest(worker=f"w{number}", task_lists=(f"list-{number}",), tasks=None, limit=1)


def test_a_worker_that_polls_in_vain_and_goes_leaves_no_slot() -> None:
    async def main() -> int:
        async with Engine("memory:") as engine:
            gate = (await engine.running()).node.dispatch
            for number in range(20):
                await gate.claim(_wish(number), timedelta(seconds=0.001))
            return sum(slot.worker.startswith("w") for slot in gate._slots.values())

    assert asyncio.run(main()) == 0


def test_a_worker_that_goes_off_with_work_leaves_no_slot_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "ABSENCE_TIMEOUT", timedelta(seconds=0.05))

    async def main() -> int:
        async with Engine(f"{tmp_path}/p.db") as engine, asyncio.timeout(10):
            gate = (await engine.running()).node.dispatch
            await engine.publish(FLOW)
            claiming = asyncio.create_task(gate.claim(_wish(1), timedelta(seconds=9)))
            while not any(slot.sitting and slot.worker == "w1" for slot in gate._slots.values()):
                await asyncio.sleep(0)
            await engine.start("f")
            given = await claiming
            await until(lambda: all(slot.worker != "w1" for slot in gate._slots.values()), "no slot of w1")
            return len(given)

    assert asyncio.run(main()) == 1


def test_workers_that_looked_are_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "MAX_WORKERS", 10)

    async def main() -> int:
        async with Engine("memory:") as engine:
            gate = (await engine.running()).node.dispatch
            for number in range(30):
                await gate.claim(_wish(number), timedelta(0))
            return len(gate._backlog._looked)

    assert asyncio.run(main()) <= 11


@pytest.mark.parametrize("heartbeat", ["1s", "60s"])
def test_work_for_a_worker_that_is_at_another_node_by_now_soon_goes_to_others(heartbeat: str) -> None:
    flow = {
        "penstock": 1,
        "name": "f",
        "defaults": {"timeouts": {"heartbeat": heartbeat}},
        "steps": {"a": {"task": "far.a"}, "b": {"task": "far.b", "after": "a"}},
    }

    async def main(loop: SimLoop) -> tuple[str, int, float]:
        async with Engine(
            "memory:", tasks={}, store=await open_store("memory:", clock=_Clock(loop))
        ) as engine:
            gate = (await engine.running()).node.dispatch
            await engine.publish(flow)
            claiming = asyncio.create_task(gate.claim(_asks("gone"), timedelta(seconds=9)))
            await pass_time(0.1)
            await engine.start("f")
            [first] = await claiming
            await gate.report([Report(first.lease, Done(output=None))])
            began = loop.time()
            [second] = await gate.claim(_asks("other"), timedelta(seconds=9))
            return second.attempt.step, second.attempt.attempt, loop.time() - began

    step, attempt, waited = run_simulated(main)
    assert (step, attempt) == ("b", 1)
    assert waited <= 1.5


def _asks(worker: str) -> ClaimRequest:
    return ClaimRequest(worker=worker, task_lists=("default",), tasks=None, limit=4)


class _Clock:
    """The time of a loop."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._loop.time())


def test_work_that_is_given_back_while_somebody_looks_is_not_missed(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with Engine(f"{tmp_path}/p.db", tasks={}) as engine:
            running = await engine.running()
            gate, store = running.node.dispatch, running.store
            await engine.publish({"penstock": 1, "name": "f", "steps": {"a": {"task": "far.a"}}})
            await engine.start("f")
            [first] = await gate.claim(_asks("one"), timedelta(seconds=1))
            gate._store = cast(Store, slow := _Slow(store))
            gate.look()
            claiming = asyncio.create_task(gate.claim(_asks("other"), timedelta(seconds=5)))
            await slow.looked.wait()
            await gate.release([first.lease])
            slow.told.set()
            async with asyncio.timeout(3):
                return [each.attempt.step for each in await claiming]

    assert asyncio.run(main()) == ["a"]


class _Slow:
    """A store whose answer to who looks for work comes a little late."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.looked, self.told = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def lease(self, wish: ClaimRequest) -> Any:
        found = await self._store.lease(wish)
        self.looked.set()
        await self.told.wait()
        return found


def test_work_that_one_worker_has_no_use_for_is_found_by_the_next(tmp_path: Path) -> None:

    def wish(worker: str, task: str) -> ClaimRequest:
        return ClaimRequest(worker=worker, task_lists=("list-1",), tasks=(task,), limit=1)

    async def main() -> list[int]:
        async with Engine(f"{tmp_path}/p.db") as engine, asyncio.timeout(10):
            gate = (await engine.running()).node.dispatch
            await engine.publish(FLOW)
            await gate.claim(wish("does it", "far.do"), timedelta(0))  # it has looked, and goes
            await engine.start("f")
            found = [await gate.claim(wish("does not", "far.other"), timedelta(0))]
            found.append(await gate.claim(wish("does it", "far.do"), timedelta(0)))
            return [len(each) for each in found]

    assert asyncio.run(main()) == [0, 1]


def test_work_that_is_made_while_a_worker_looks_is_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = ClaimRequest(worker="w", task_lists=("list-1",), tasks=None, limit=10)

    async def main() -> tuple[int, int]:
        async with Engine(f"{tmp_path}/p.db") as engine, asyncio.timeout(10):
            node = (await engine.running()).node
            gate, lease, made = node.dispatch, node.store.lease, asyncio.Event()
            await engine.publish(FLOW)
            claiming = asyncio.create_task(gate.claim(wish, timedelta(seconds=9)))
            while not any(slot.sitting and slot.worker == "w" for slot in gate._slots.values()):
                await asyncio.sleep(0)
            await engine.start("f")
            await claiming  # it went off with work, and is expected back

            async def slow(asked: ClaimRequest) -> list[Leased]:
                await made.wait()
                return await lease(asked)

            monkeypatch.setattr(node.store, "lease", slow)
            gate.note(["list-1"])
            claiming = asyncio.create_task(gate.claim(wish, timedelta(seconds=9)))
            await asyncio.sleep(0)
            await engine.start("f")
            made.set()
            return len(await claiming), gate.leased

    assert asyncio.run(main()) == (1, 0)


def test_a_worker_whose_room_is_promised_waits_though_there_is_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = ClaimRequest(worker="w", task_lists=("list-1",), tasks=None, limit=1)

    async def main() -> list[int]:
        async with Engine(f"{tmp_path}/p.db") as engine, asyncio.timeout(10):
            running, noted = await engine.running(), asyncio.Event()
            gate, commit = running.node.dispatch, running.store.commit

            async def commit_later(changes: Sequence[Change]) -> Committed:
                await noted.wait()  # otherwise a quick disk is done before anyone looks
                return await commit(changes)

            await engine.publish(FLOW)
            monkeypatch.setattr(running.store, "commit", commit_later)
            claiming = asyncio.create_task(gate.claim(wish, timedelta(seconds=9)))
            while not any(slot.sitting and slot.worker == "w" for slot in gate._slots.values()):
                await asyncio.sleep(0)
            starting = [asyncio.create_task(engine.start("f")) for _ in range(3)]
            while not any(slot.coming for slot in gate._slots.values()):
                await asyncio.sleep(0)
            gate.note(["list-1"])
            noted.set()
            await asyncio.gather(*starting)
            return [
                len(await claiming),
                *[len(await gate.claim(wish, timedelta(seconds=9))) for _ in range(2)],
            ]

    assert asyncio.run(main()) == [1, 1, 1]


def test_a_worker_of_this_process_is_given_what_it_has_room_for_at_that_moment(tmp_path: Path) -> None:
    """One that waits for more has told what room it had when it began to wait: by now it may have done all of it."""

    async def nothing() -> None:
        """At once."""

    chain = {
        "penstock": 1,
        "name": "c",
        "steps": {"a": {"task": "t"}, "b": {"task": "t", "after": ["a"]}, "c": {"task": "t", "after": ["b"]}},
    }

    async def main() -> tuple[int, int]:
        async with Engine(f"{tmp_path}/p.db", tasks={"t": nothing}, concurrency=40) as engine:
            await engine.publish(chain)
            gate = (await engine.running()).node.dispatch

            async def run() -> None:
                for _ in range(10):
                    await engine.wait(await engine.start("c"), 30)

            await asyncio.gather(*(run() for _ in range(40)))
            return gate.handed, gate.leased

    assert asyncio.run(main()) == (1_200, 0)


def test_a_worker_of_this_process_never_has_more_than_it_has_room_for(tmp_path: Path) -> None:
    most = under_way = 0

    async def slow() -> None:
        nonlocal most, under_way
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(random.random() / 100)  # the work of the task: others come meanwhile
        under_way -= 1

    chain = {"penstock": 1, "name": "c", "steps": {"a": {"task": "t"}, "b": {"task": "t", "after": ["a"]}}}

    async def main() -> int:
        async with Engine(f"{tmp_path}/p.db", tasks={"t": slow}, concurrency=7) as engine:
            await engine.publish(chain)
            runs = await asyncio.gather(*(engine.start("c") for _ in range(150)))
            for run in runs:
                await engine.wait(run, 30)
            gate = (await engine.running()).node.dispatch
            assert gate.handed and gate.leased, "work must come both ways for this to say something"
            return (await engine.counts())["succeeded"]

    assert asyncio.run(main()) == 150
    assert most <= 7


class _Seated:
    room, begun = 3, 0


def test_what_a_worker_took_and_has_not_begun_takes_room_like_what_it_has_in_hand() -> None:
    worker = _Seated()
    slot = WorkerSlot(("w", ("l",), None), worker)
    slot.sit(3)
    slot.coming = 2
    assert slot.spare() == 1
    slot.coming, slot.given = 0, cast(Any, ["one", "two"])
    assert slot.spare() == 1
    assert len(slot.take(3)) == 2
    assert slot.spare() == 1
    worker.room, worker.begun = 1, 2
    assert slot.spare() == 1
    worker.room = 3
    assert slot.spare() == 3
    slot.sit(3)
    assert slot.spare() == 3


class _Work:
    def __init__(self, task: str) -> None:
        self.task_list, self.task = "l", task


def test_all_kinds_of_work_share_the_room_of_a_slot_and_go_on_to_the_next() -> None:
    seen = backlog.Backlog()
    first, second = WorkerSlot(("one", ("l",), None)), WorkerSlot(("two", ("l",), ("a",)))
    for slot, room in ((first, 2), (second, 2)):
        slot.sit(room)
        seen.see(slot.key)
    reserving = Reservations([first, second], seen, lambda slots: None)
    got = [reserving.reserve(cast(Any, _Work(task))) for task in "abaaab"]

    assert got == [first, first, second, second, None, None]
    assert (first.coming, first.room, second.coming, second.room) == (2, 0, 2, 0)


def test_work_is_reserved_for_nobody_while_some_waits_in_the_list() -> None:
    seen, slot = backlog.Backlog(), WorkerSlot(("one", ("l",), None))
    slot.sit(2)
    seen.see(slot.key)
    seen.add(["l"])

    assert Reservations([slot], seen, lambda slots: None).reserve(cast(Any, _Work("a"))) is None
