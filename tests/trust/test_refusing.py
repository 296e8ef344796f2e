"""C14: who asks too much, or while the database cannot, is refused before anything was promised; what was is there."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from functools import partial
from operator import le
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from penstock.access.rate_limits import Limiter, Rate
from penstock.store.errors import StoreFull
from penstock.store.open import is_shared
from penstock.store.rows.rows import Filter
from tests.api.conftest import Client
from tests.durable.test_bad_days import limit_pages
from tests.trust.beside import BesideServer, beside
from tests.trust.standing import ADMIN, node
from tests.waiting import until

ASKED, AT_ONCE = 200, 10
RATE = Rate(0.1, 100, "a hundred, and then hardly any")
DROP = (
    "penstock: 1\nname: drop\nparams: {type: object}\nsteps:\n  drop: {task: set, with: {x: 1}, emits: OK}\n"
)


class Told(Struct):
    """What callers were told: by number the run, and which answers were odd."""

    runs: dict[int, str] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)  # with a 429: it was not even looked at
    statuses: Counter[int] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)


async def ask(client: Client, headers: dict[str, str], number: int, told: Told) -> None:
    body = {"subject": str(number), "input": {"fill": "x" * 2_000}, "idempotency_key": str(number)}
    answer = await client.post("/api/workflows/drop/runs", body, headers=dict(headers))
    told.statuses[answer.status] += 1
    if answer.status in (200, 201):
        told.runs[number] = answer.json["id"]
    elif answer.status == 503 and answer.json["code"] == "outcome_unknown":
        return  # it may have been done: whoever asks again under the same key learns it
    elif answer.status not in (429, 503) or int(answer.headers.get("retry-after", "0")) < 1:
        told.odd.append(f"number {number}: {answer.status} {answer.text}")
    elif answer.status == 429:
        told.refused.add(number)


async def flood(client: Client, headers: dict[str, str], told: Told) -> None:
    """Many callers, none of whom waits or asks again."""

    async def one(numbers: range) -> None:
        for number in numbers:
            await ask(client, headers, number, told)

    async with asyncio.TaskGroup() as group:
        for first in range(AT_ONCE):
            group.create_task(one(range(first, ASKED, AT_ONCE)))


async def trouble(client: Client, url: str, told: Told) -> None:
    """The database is not there for a moment, or has no room, three times while they ask."""
    store: Any = (await client.engine.running()).store
    for answers in (15, 35, 55):
        await until(told.statuses.total, f"{answers} answers", so=partial(le, answers), pause=0.005)
        if is_shared(url):
            async with beside(url) as rows:
                assert isinstance(rows, BesideServer)
                await rows.end_others()
        else:
            await room(store, 0)
            await asyncio.sleep(0.1)  # there is no room for so long
            await room(store, 1_000_000)


async def room(store: Any, pages: int) -> None:
    """How much a SQLite file may still grow."""
    while True:
        with suppress(StoreFull):  # it shares its transaction with what has no room
            await limit_pages(store, pages)
            return


async def stored(client: Client) -> dict[int, str]:
    """Number → run, of all that are there."""
    rows = await (await client.engine.running()).store.runs(Filter(limit=1_000_000))
    assert len({row.subject for row in rows}) == len(rows), "a number is there twice"
    return {int(row.subject or -1): row.id for row in rows}


def test_c14_what_was_acknowledged_is_there_and_what_was_refused_is_not(url: str, tmp_path: Path) -> None:
    async def main() -> tuple[Told, dict[int, str], Told, dict[int, str]]:
        async with node(url, tmp_path, open=False) as client:
            await client.engine.publish(DROP)
            made = await client.post("/api/access", {"name": "f", "role": "operator"}, headers=dict(ADMIN))
            headers = {"authorization": f"Bearer {made.json['token']}"}
            client.service.limiters.tokens = Limiter(RATE)
            first, again = Told(), Told()
            await asyncio.gather(flood(client, headers, first), trouble(client, url, first))
            after = await stored(client)
            client.service.limiters.tokens = Limiter(Rate(1e6, 1e6, "any"))
            await flood(client, headers, again)
            return first, after, again, await stored(client)

    first, after, again, end = asyncio.run(main())

    assert (first.odd, again.odd) == ([], [])
    sure = (
        {201, 429} if is_shared(url) else {201, 429, 503}
    )  # a start whose connection ended may be tried again
    assert sure <= first.statuses.keys() <= {201, 429, 503}, first.statuses
    assert first.runs.items() <= after.items(), "what was acknowledged is there"
    assert not first.refused & after.keys(), "what was refused is not"
    assert again.runs == end, "who asks again gets a run, and the one that there is"
    assert len(end) == ASKED
