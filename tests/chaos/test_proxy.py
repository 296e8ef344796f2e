"""The line that is tampered with does what it says, and nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from tests.chaos.proxy import Proxy


@asynccontextmanager
async def line() -> AsyncIterator[tuple[Proxy, asyncio.StreamReader, asyncio.StreamWriter, list[bytes]]]:
    """A server that answers each line with the same in capitals, and a line to it; what it got is listed."""
    got: list[bytes] = []
    serving: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.readline():
                got.append(data)
                writer.write(data.upper())
            writer.write(b"BYE\n")
        await closed(writer)

    server = await asyncio.start_server(
        lambda *both: serving.append(asyncio.create_task(serve(*both))), "127.0.0.1", 0
    )
    async with server:
        async with Proxy(server.sockets[0].getsockname()[:2]) as proxy:
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            yield proxy, reader, writer, got
            await closed(writer)
        await asyncio.gather(*serving)


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await test()

    asyncio.run(bounded())


def test_what_is_sent_arrives_and_so_does_the_answer() -> None:
    async def test() -> None:
        async with line() as (_, reader, writer, got):
            writer.write(b"one\n")
            assert (await reader.readline(), got) == (b"ONE\n", [b"one\n"])

    run(test)


def test_an_answer_that_is_lost_was_given() -> None:
    async def test() -> None:
        async with line() as (proxy, reader, writer, got):
            proxy.lose_answer(b"two")
            writer.write(b"one\n")
            assert await reader.readline() == b"ONE\n"
            writer.write(b"two\n")
            with pytest.raises(ConnectionError):
                await reader.readline()
                raise ConnectionResetError  # an end is as good as a reset
            assert (got, proxy.lost) == ([b"one\n", b"two\n"], 1)

    run(test)


def test_what_is_held_arrives_when_it_goes_on() -> None:
    async def test() -> None:
        async with line() as (proxy, reader, writer, got):
            proxy.hold()
            writer.write(b"one\n")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.shield(answer := asyncio.create_task(reader.readline())), 0.2)
            assert got == []
            proxy.go_on()
            assert await answer == b"ONE\n"

    run(test)


@pytest.mark.parametrize("direction", ["there", "back"])
def test_a_delay_takes_its_time(direction: str) -> None:
    async def test() -> None:
        async with line() as (proxy, reader, writer, _):
            proxy.delay[direction] = 0.2  # type: ignore[index]
            began = time.monotonic()
            writer.write(b"one\n")
            assert await reader.readline() == b"ONE\n"
            assert time.monotonic() - began >= 0.19

    run(test)


def test_half_a_line_still_brings_the_answer() -> None:
    async def test() -> None:
        async with line() as (proxy, reader, writer, _):
            writer.write(b"one\n")
            assert await reader.readline() == b"ONE\n"
            proxy.half_close()
            assert await reader.readline() == b"BYE\n"

    run(test)


def test_a_line_that_is_pointed_elsewhere_breaks_and_a_new_one_goes_there() -> None:
    async def test() -> None:
        async with line() as (proxy, reader, writer, got), line() as (other, _, _, elsewhere):
            writer.write(b"one\n")
            await reader.readline()
            proxy.point_to(other.target)
            with pytest.raises(ConnectionError):
                await reader.readline()
                raise ConnectionResetError  # an end is as good as a reset
            again, there = await asyncio.open_connection("127.0.0.1", proxy.port)
            there.write(b"two\n")
            assert await again.readline() == b"TWO\n"
            await closed(there)
            assert (got, elsewhere) == ([b"one\n"], [b"two\n"])

    run(test)
