"""Histories with large payloads: nobody who looks at them has more of them in memory than a few."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from penstock import Engine
from penstock.flow.decisions.fork import Forking
from penstock.flow.model.plan import Entry
from penstock.runtime.commands import repair
from penstock.runtime.queries import history
from penstock.runtime.queries.history import read_history
from tests.durable.conftest import Place

PILE = {
    "penstock": 1,
    "name": "pile",
    "external": [{"name": "more", "many": True}, "never"],
    "endless": True,
    "steps": {"take": {"task": "set", "after": ["more", "never"]}},
}


def test_a_history_of_large_entries_is_read_in_short_pages(place: Place) -> None:
    """Of a thousand of them each viewer would have a quarter of a gigabyte read and sent at once."""

    async def main(engine: Engine) -> None:
        await engine.publish(PILE)
        run = await engine.start("pile")
        sent = [str(number) * 100_000 for number in range(9)] * 5
        for text in sent:
            await engine.emit("more", text, run=run)

        pages, after, more = [], 0, True
        while more:
            items, more = await engine.history_page(run, after=after, limit=1000)
            after = items[-1]["seq"]
            pages.append([each["data"] for each in items if each["event"] == "more"])
        few, left = await engine.history_page(run, limit=3)

        assert [text for page in pages for text in page] == sent
        assert max(sum(map(len, page)) for page in pages) <= history.MAX_PAGE_BYTES
        assert [len(few), left] == [3, True]
        assert [each["data"] for each in await engine.history(run) if each["event"] == "more"] == sent

    place.run(main)


def test_who_looks_on_has_no_more_than_a_short_page_of_large_entries_read(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(PILE)
        run = await engine.start("pile")
        for number in range(40):
            await engine.emit("more", str(number).rjust(100_000), run=run)
        fetched.clear()

        async for item in engine.following.run(run):
            if item is not None and item["event"] == "more":
                break

        assert 0 < len(fetched) <= history.MAX_PAGE_BYTES // 100_000 + history.MAX_PAYLOADS_PER_READ

    async def fetching(store: Any, run: str, digests: Sequence[bytes]) -> Any:
        fetched.extend(digests)
        return await fetch(store, run, digests)

    fetched: list[bytes] = []
    fetch = history._fetched
    monkeypatch.setattr(history, "_fetched", fetching)
    place.run(main)


ROUND = """
penstock: 1
name: round
steps:
  count: {task: set, after: "START | again", with: {n: "${ has(data.n) ? data.n + 1 : 1 }"}, emits: counted}
  more: {task: decide, after: counted, with: {if: data.n < 40}, emits: {then: again, else: enough}}
  last: {task: set, after: enough, with: {last: true}, emits: OK}
"""


def test_a_rerun_goes_through_the_history_entry_by_entry_and_one_after_the_other(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run that went round for months it would hold the server, and take its memory."""
    seen: Counter[str] = Counter()

    class Counting(Forking):
        def take(self, entry: Entry) -> None:
            super().take(entry)
            seen["kept"] = max(seen["kept"], len(self._replay.taken))

    async def reading(*asked: Any) -> AsyncIterator[Entry]:
        seen["open"] += 1
        async for entry in read_history(*asked):
            seen["most open"] = max(seen["most open"], seen["open"])
            await asyncio.sleep(0)
            yield entry
        seen["open"] -= 1

    async def main(engine: Engine) -> None:
        await engine.publish(ROUND)
        run = await engine.start("round")
        first = await engine.wait(run)
        again = await asyncio.gather(*(engine.rerun(run, start_at="last") for _ in range(3)))
        found = [await engine.wait(each) for each in again]

        assert [each["data"] for each in (first, *found)] == [{"n": 40, "last": True}] * 4
        assert [each["steps"]["count"]["firings"] for each in found] == [0] * 3
        assert (seen["most open"], seen["kept"]) == (1, 1)

    monkeypatch.setattr(repair, "read_history", reading)
    monkeypatch.setattr(repair, "Forking", Counting)
    place.run(main)
