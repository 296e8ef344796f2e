"""What is due is taken in hand once, and not more than can be decided."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.flow.model.run_input import RunTimedOut
from penstock.runtime.codec.messages import StartChild, encode_message
from penstock.runtime.decisions.decision import Request
from penstock.runtime.node.clock import StoreClock
from penstock.runtime.node.timers import MAX_IN_PROGRESS, Timers
from penstock.store.rows.change import Message
from penstock.store.rows.rows import Due, DueTask, DueTimer, Lease

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BODY = encode_message(RunTimedOut())
CHILD = encode_message(StartChild("run 1", "w", None, None, True))


class Store:
    """Hands the same timers out at every look, as to a node that is too slow."""

    def __init__(self, timers: int) -> None:
        self.timers = [DueTimer(number, f"run {number}", BODY, NOW) for number in range(timers)]
        self.tasks: list[DueTask] = []
        self.messages: list[Message] = []
        self.looks = 0
        self.gone: list[int] = []

    async def due(self, limit: int, timeout: timedelta, gone: Sequence[int]) -> Due:
        self.looks += 1
        self.gone += gone
        return Due(self.timers, self.tasks, self.messages, None, NOW)


def ringing(store: Any) -> tuple[Timers, list[Request]]:
    submitted: list[Request] = []
    clock, poll = StoreClock(NOW, lambda: 0.0), timedelta(seconds=60)
    return Timers(store, clock, poll, submitted.append, lambda *_: None), submitted


def test_what_is_handed_out_again_before_it_is_decided_is_not_submitted_again() -> None:
    async def main() -> None:
        ring, submitted = ringing(Store(3))
        await ring.run_once()
        await ring.run_once()
        assert [request.rung for request in submitted] == [0, 1, 2]

        submitted[1].tell("superseded")
        await ring.run_once()
        assert [request.rung for request in submitted] == [0, 1, 2, 1]

    asyncio.run(main())


def test_messages_for_runs_that_are_gone_are_deleted_at_the_next_look() -> None:
    async def main() -> None:
        store = Store(0)
        ring, _ = ringing(store)
        ring.discard([7])
        await ring.run_once()
        await ring.run_once()
        assert (store.gone, store.looks) == ([7], 2)

    asyncio.run(main())


def test_no_more_is_taken_while_too_much_is_in_hand() -> None:
    async def main() -> None:
        store = Store(MAX_IN_PROGRESS)
        ring, submitted = ringing(store)
        task = asyncio.create_task(ring.run())
        while not submitted:
            await asyncio.sleep(0)
        for _ in range(50):
            await asyncio.sleep(0)
        assert (store.looks, len(submitted)) == (1, MAX_IN_PROGRESS)

        for request in submitted[: MAX_IN_PROGRESS // 2]:
            request.tell("accepted")
        while store.looks < 2:
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(asyncio.wait_for(main(), 10))


def test_an_attempt_that_is_overdue_is_known_by_its_lease() -> None:
    request = Request("r", RunTimedOut(), lease=Lease("r", 1, -1, 1, 1), overdue=True)

    assert request.from_store
    assert not Request("r", RunTimedOut(), lease=Lease("r", 1, -1, 1, 1)).from_store


def test_what_cannot_be_taken_is_left_alone_and_the_others_are_taken() -> None:
    async def main() -> None:
        store = Store(4)
        store.timers[0] = DueTimer(0, "run 0", b"?", NOW)
        store.timers[1] = DueTimer(1, "run 1", CHILD, NOW)
        store.tasks = [DueTask(None, "lost"), DueTask(Lease("r", 1, -1, 1, 1), "lost")]  # type: ignore[arg-type]
        store.messages = [Message(1, "run 5", b"?"), Message(2, "run 6", CHILD), Message(3, "run 7", BODY)]
        ring, submitted = ringing(store)

        def begin_child(message: int, run: str, wish: StartChild) -> None:
            raise TypeError("no")

        ring.begin_child = begin_child
        await ring.run_once()
        assert [request.run for request in submitted] == ["run 2", "run 3", "r", "run 7"]

    asyncio.run(main())
