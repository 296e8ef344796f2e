"""A line between two processes that can be slow, hold, break, and lose the answer to what was done already."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from typing import Literal

SIZE = 1 << 16
AT_ONCE = struct.pack("ii", 1, 0)
Direction = Literal["there", "back"]
"""To the server, and from it."""


class Proxy:
    """Listens, and hands on to `target`, which may move. Use it with `async with`."""

    def __init__(self, target: tuple[str, int], listen: str = "127.0.0.1", port: int = 0) -> None:
        self.target, self.port = target, port
        self.delay: dict[Direction, float] = {"there": 0.0, "back": 0.0}
        self.lost = 0  # answers that never came, though the server gave them
        self._listen = listen
        self._lines: set[Line] = set()
        self._carrying: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._losing: Callable[[bytes], bool] | None = None
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._accept, self._listen, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        carrying = list(self._carrying)
        for task in carrying:
            task.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)

    # -- what can be done to it ----------------------------------------------------------------------------

    def hold(self) -> None:
        """Hand nothing on until `go_on`; nobody is told, and nothing is lost: a partition, as TCP sees it."""
        self._flowing.clear()

    def go_on(self) -> None:
        self._flowing.set()

    def cut(self) -> None:
        """Break all lines, at once and on both sides."""
        for line in list(self._lines):
            line.cut()

    async def break_off(self) -> None:
        """Break all lines, and wait until nothing of them is left."""
        carrying = list(self._carrying)
        self.cut()
        await asyncio.gather(*carrying, return_exceptions=True)

    def half_close(self) -> None:
        """Tell the server of each line that nothing more comes; what it answers still arrives."""
        for line in self._lines:
            line.half_close()

    def point_to(self, target: tuple[str, int]) -> None:
        """New lines go elsewhere; those that are open break."""
        self.target = target
        self.cut()

    def lose_answer(self, to: bytes) -> None:
        """The next request with these bytes is handed on and done, and its line is cut when the answer comes."""
        self._losing = lambda data: to in data

    # -- handing on ----------------------------------------------------------------------------------------

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(self, writer)
        self._lines.add(line)
        try:
            await line.carry(reader)
        finally:
            self._lines.discard(line)
            await line.close()

    async def flow(self, direction: Direction) -> None:
        """Wait as long as something under way in this direction takes."""
        if self.delay[direction]:
            await asyncio.sleep(self.delay[direction])  # the line is slow
        await self._flowing.wait()

    def loses(self, data: bytes) -> bool:
        """Whether the answer to this is to be lost; one is."""
        if self._losing is None or not self._losing(data):
            return False
        self._losing = None
        return True


class Line:
    """One connection and its other half."""

    def __init__(self, proxy: Proxy, near: asyncio.StreamWriter) -> None:
        self._proxy, self._near = proxy, near
        self._far: asyncio.StreamWriter | None = None
        self._losing = False

    async def carry(self, reader: asyncio.StreamReader) -> None:
        """Both ways, until one side is done with it."""
        with contextlib.suppress(OSError):
            await self._proxy.flow("there")
            back, self._far = await asyncio.open_connection(*self._proxy.target)
            ways = {
                asyncio.create_task(self._pump(reader, self._far, "there")),
                asyncio.create_task(self._pump(back, self._near, "back")),
            }
            try:
                await asyncio.wait(ways)
            finally:
                for way in ways:
                    way.cancel()

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, direction: Direction
    ) -> None:
        with contextlib.suppress(OSError, asyncio.CancelledError):
            while data := await source.read(SIZE):
                await self._proxy.flow(direction)
                if direction == "there":
                    self._losing = self._losing or self._proxy.loses(data)
                elif self._losing:
                    self._proxy.lost += 1
                    self.cut()
                    return
                sink.write(data)
                await sink.drain()
            if sink.can_write_eof():
                sink.write_eof()
            return
        self.cut()

    def half_close(self) -> None:
        if self._far is not None and self._far.can_write_eof():
            self._far.write_eof()

    async def close(self) -> None:
        """Cut it, and wait until nothing of it is left."""
        self.cut()
        for writer in (self._near, self._far):
            if writer is not None:
                with contextlib.suppress(OSError):
                    await writer.wait_closed()

    def cut(self) -> None:
        """Without a good-bye, and what is under way is lost: else the kernel would bring it even after a partition."""
        for writer in (self._near, self._far):
            if writer is not None and not writer.transport.is_closing():
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                writer.transport.abort()
