"""Of several nodes one publishes on a bus at a time, and another goes on: at once after a stop, soon after a crash."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

from penstock import Engine
from penstock.engine.background.outbox_publisher import Publishing
from penstock.topics.bus import Outgoing
from penstock.topics.buses import Buses
from tests.databases import new_database
from tests.postgres_server import PostgresServer
from tests.topics.engines import note, until
from tests.topics.test_buses import within
from tests.topics.test_topics_out import ENDS

SHORT = timedelta(seconds=4)


class Board:
    """A bus that writes down what is published, by whom."""

    def __init__(self) -> None:
        self.published: list[tuple[str, str]] = []

    def buses(self, who: str) -> Any:
        board = self

        class Pinned(Buses):
            def __getitem__(self, name: str) -> Any:
                return Pin(board, who)

        return Pinned({"main": "nats://127.0.0.1:1"})


class Pin:
    def __init__(self, board: Board, who: str) -> None:
        self.board, self.who = board, who

    async def publish(self, topic: str, message: Outgoing) -> None:
        await asyncio.sleep(0)
        self.board.published.append((self.who, message.id))


async def run_some(engine: Engine, count: int) -> list[str]:
    runs = [await engine.start("ends") for _ in range(count)]
    for run in runs:
        await engine.wait(run, 30)
    return list(runs)


async def emptied(engine: Engine) -> None:
    await until((await engine.running()).store.outbox, lambda rows: not rows)


def test_one_node_publishes_and_another_goes_on_at_once_after_a_stop(server: PostgresServer) -> None:
    url, board = new_database(server), Board()

    async def main() -> None:
        async with (
            Engine(url, tasks={"note": note}, feed=False) as one,
            Engine(url, tasks={}, feed=False) as two,
        ):
            await one.publish(ENDS.replace("TOPIC", "t"))
            first = Publishing((await one.running()).node, board.buses("first"), lease=SHORT)
            second = Publishing((await two.running()).node, board.buses("second"), lease=SHORT)
            loops = [asyncio.create_task(first.run()), asyncio.create_task(second.run())]
            await run_some(one, 20)
            await emptied(one)
            by = {who for who, _ in board.published}
            assert len(board.published) == 20 and len(by) == 1
            holder, loop = (first, loops[0]) if by == {"first"} else (second, loops[1])
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
            await holder.stop()
            await run_some(one, 5)
            await emptied(one)
            assert {who for who, _ in board.published[20:]} == {"first", "second"} - by
            for each in loops:
                each.cancel()
            await asyncio.gather(*loops, return_exceptions=True)

    within(60, main())
    assert set(Counter(id for _, id in board.published).values()) == {1}


def test_another_node_publishes_after_a_crash_once_the_lease_is_over(server: PostgresServer) -> None:
    url, board = new_database(server), Board()

    async def main() -> None:
        async with (
            Engine(url, tasks={"note": note}, feed=False) as one,
            Engine(url, tasks={}, feed=False) as two,
        ):
            await one.publish(ENDS.replace("TOPIC", "t"))
            crashed = Publishing((await one.running()).node, board.buses("crashed"), lease=SHORT)
            loop = asyncio.create_task(crashed.run())
            await run_some(one, 3)
            await emptied(one)
            loop.cancel()  # and nothing is given back
            await asyncio.gather(loop, return_exceptions=True)
            other = Publishing((await two.running()).node, board.buses("other"), lease=SHORT)
            loop = asyncio.create_task(other.run())
            await run_some(one, 3)
            await emptied(one)
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
            await other.stop()

    within(60, main())
    assert [who for who, _ in board.published] == ["crashed"] * 3 + ["other"] * 3
