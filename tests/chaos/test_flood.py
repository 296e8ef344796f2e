"""Somebody asks for twenty times what they may: the rest is refused before it is taken, and nobody else suffers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.access.rate_limits import TOKEN_RATE
from penstock.remote.engine import RemoteEngine
from penstock.store.open import open_store
from tests.chaos.alone import TOKEN, Alone
from tests.chaos.checking import read_runs
from tests.chaos.figures import Record, tell
from tests.chaos.judging import most_succeeded
from tests.chaos.nemesis import LEAST, SCALE

pytestmark = pytest.mark.long(
    "tests/trust/test_refusing.py::test_c14_what_was_acknowledged_is_there_and_what_was_refused_is_not"
)

TIMES = 2 * SCALE
BURST, PAUSE = 0.2, 1.0
"""Seconds that a flood lasts, and that there is none."""
LINES = 400
"""Connections: each sends its next request without waiting for an answer."""
OFFERED = int(20 * TOKEN_RATE.per_second * BURST)
"""Requests in a flood, sent without waiting for answers."""
DROP = (
    "penstock: 1\nname: drop\nparams: {type: object}\nsteps:\n  drop: {task: set, with: {x: 1}, emits: OK}\n"
)
"""What is flooded: it needs no worker, whose work would only be waited for."""
MOST_MEMORY = 200 << 20
"""Bytes that the server may need more than at its start."""


class Flood:
    """Who does not wait: what was answered, by status, and what was acknowledged."""

    def __init__(self, alone: Alone, token: str) -> None:
        self._alone, self._token = alone, token
        self.statuses: Counter[int] = Counter()
        self.acknowledged: dict[int, str] = {}
        self.wrong: list[str] = []
        self.memory = 0
        self._number = 0

    async def burst(self) -> None:
        each = OFFERED // LINES
        async with asyncio.TaskGroup() as group:
            for _ in range(LINES):
                group.create_task(self._line(range(self._number, self._number + each)))
                self._number += each

    async def _line(self, numbers: range) -> None:
        """All requests of one connection at an even pace, and all answers."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._alone.port)
        sending = asyncio.create_task(self._send(writer, numbers))
        try:
            for number in numbers:
                await self._read(reader, number)
        finally:
            await sending
            writer.close()

    async def _send(self, writer: asyncio.StreamWriter, numbers: range) -> None:
        for number in numbers:
            writer.write(self._request(number))
            await asyncio.sleep(BURST / len(numbers))  # the pace of the flood

    def _request(self, number: int) -> bytes:
        body = json.dumps({"input": {"number": number}, "idempotency_key": f"flood-{number}"}).encode()
        head = f"POST /api/workflows/drop/runs HTTP/1.1\r\nHost: 127.0.0.1:{self._alone.port}\r\n"
        head += f"Authorization: Bearer {self._token}\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    async def _read(self, reader: asyncio.StreamReader, number: int) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = json.loads(await reader.readexactly(int(fields["content-length"])))
        status = int(head.split()[1])
        self.statuses[status] += 1
        self.memory = max(self.memory, self._alone.member.memory)
        if status == 201:
            self.acknowledged[number] = body["id"]
        elif "retry-after" not in fields or int(fields["retry-after"]) < 1:
            self.wrong.append(f"number {number}: {status} does not say when to come again")


async def flooding(alone: Alone, floods: list[Flood]) -> dict[str, Any]:
    """Again and again; the figures."""
    engine = RemoteEngine(alone.url, TOKEN)
    await engine.publish("drop", DROP)
    made = await engine.connection.post("/api/access", {"name": "flood", "role": "operator"})
    await engine.connection.close()
    flood, before = Flood(alone, made["token"]), alone.member.memory
    floods.append(flood)
    for _ in range(TIMES):
        await asyncio.sleep(PAUSE)  # the floods come apart
        await flood.burst()
    return {
        "floods": TIMES,
        "requests of floods": flood.statuses.total(),
        "of these taken": flood.statuses[201],
        "of these refused with 429 or 503": flood.statuses[429] + flood.statuses[503],
        "memory at the most, MiB more than before": (flood.memory - before) >> 20,
    }


async def otherwise(alone: Alone, flood: Flood) -> list[str]:
    """C14: what was acknowledged is there and has ended, and nothing else of the flood is."""
    store = await open_store(alone.db)
    try:
        runs = await read_runs(store, "drop")
    finally:
        await store.close()
    stored = {ran.number: (id, ran.snapshot.status) for id, ran in runs.items()}
    told = {number: (id, "succeeded") for number, id in flood.acknowledged.items()}
    return [
        f"number {number}: told {told.get(number)}, stored {stored.get(number)}"
        for number in told.keys() | stored.keys()
        if told.get(number) != stored.get(number)
    ]


def test_a_flood_is_refused_before_it_is_taken_and_nobody_else_suffers(
    tmp_path: Path, record_property: Record
) -> None:
    alone, floods = Alone(tmp_path, tmp_path, token=TOKEN), list[Flood]()

    figures, wrong = asyncio.run(alone.under_load(0.1, lambda: flooding(alone, floods)))

    [flood] = floods
    wrong |= {"flood": flood.wrong, "stored otherwise": asyncio.run(otherwise(alone, flood))}
    figures["runs verified"] += len(flood.acknowledged)
    tell(record_property, "a flood", figures)
    assert wrong == {name: [] for name in wrong}
    assert figures["floods"] >= LEAST
    assert flood.statuses.keys() <= {201, 429, 503}
    assert figures["requests of floods"] == TIMES * OFFERED
    assert min(figures["of these refused with 429 or 503"], figures["of these taken"]) > 0
    assert most_succeeded(figures)
    assert (figures["memory at the most, MiB more than before"] << 20) < MOST_MEMORY
