"""Load: some connections that ask the same thing again and again. `python -m ... ADDRESS`, requests as lines of JSON.

Bare sockets: a client library would cost more than the server that is measured.
"""

from __future__ import annotations

import asyncio
import sys
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from penstock.engine import event_loop

ERRORS = 5


class Ask(Struct, kw_only=True):
    """What is asked, by how many at once, for how long."""

    method: str
    path: str
    body: str | None = None
    connections: int = 32
    seconds: float = 3.0


class Heard(Struct, kw_only=True):
    """Good answers a second, milliseconds to each (sorted), and what was wrong with the others."""

    per_s: float
    latency: list[float]
    wrong: list[str]

    def at(self, share: float) -> float:
        return self.latency[min(len(self.latency) - 1, int(len(self.latency) * share))]


class Line(asyncio.Protocol):
    """One connection: the next request goes out when the answer before has come."""

    def __init__(self, request: bytes, until: float, over: asyncio.Event) -> None:
        self._request, self._until, self._over = request, until, over
        self._buffer = b""
        self._sent = 0.0
        self.latency: list[float] = []
        self.wrong: list[str] = []

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._sent = perf_counter()
        if self._sent >= self._until:
            self._transport.close()
        else:
            self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        size = _length(self._buffer[:head])
        if len(self._buffer) < head + 4 + size:
            return
        if self._buffer[9:10] == b"2":
            self.latency.append((perf_counter() - self._sent) * 1000)
        else:
            self.wrong.append(self._buffer[: head + 4 + size].decode("latin-1"))
        self._buffer = b""
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if perf_counter() < self._until:
            self.wrong.append(f"the line broke: {error}")
        self._over.set()


def _length(head: bytes) -> int:
    lower = head.lower()
    at = lower.find(b"content-length:")
    return int(lower[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0


async def ask(base: str, what: Ask) -> Heard:
    """Ask for as long as it says."""
    parts = urlsplit(base)
    body = (what.body or "").encode()
    head = f"{what.method} {what.path} HTTP/1.1\r\nhost: {parts.netloc}\r\n"
    if what.body is not None:
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
    request, event_loop = head.encode() + b"\r\n" + body, asyncio.get_running_loop()
    began = perf_counter()
    lines = []
    for _ in range(what.connections):
        over = asyncio.Event()
        _, line = await event_loop.create_connection(
            lambda over=over: Line(request, began + what.seconds, over),  # type: ignore[misc]
            parts.hostname or "",
            parts.port or 80,
        )
        lines.append((line, over))
    for _, over in lines:
        await over.wait()
    latency = sorted(each for line, _ in lines for each in line.latency)
    wrong = [text for line, _ in lines for text in line.wrong][:ERRORS]
    return Heard(per_s=len(latency) / (perf_counter() - began), latency=latency, wrong=wrong)


async def serve(base: str) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        heard = await ask(base, msgspec.json.decode(line, type=Ask))
        print(msgspec.json.encode(heard).decode(), flush=True)


if __name__ == "__main__":
    event_loop.run(serve(sys.argv[1]))
