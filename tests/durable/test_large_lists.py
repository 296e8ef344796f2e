"""Lists whose items are large: nobody who looks at them has more of them in memory than a few."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from penstock import Engine
from penstock.engine import approvals
from penstock.runtime.queries.history import MAX_PAGE_BYTES, MAX_PAYLOADS_PER_READ
from tests.durable.conftest import Place
from tests.waiting import until

TEXTS = [str(number % 10) * 200_000 for number in range(30)]
ASK = {"task": "approval", "with": {"text": "${ data.text }"}}

Fetch = Callable[[str | None], Awaitable[dict[str, Any]]]


async def pages_of(fetch: Fetch) -> list[list[Any]]:
    """What each page has as data."""
    pages, cursor = [], None
    while True:
        page = await fetch(cursor)
        pages.append([item["data"] for item in page["items"]])
        cursor = page["next"]
        if cursor is None:
            return pages


def assert_short(pages: Sequence[Sequence[str]], texts: Sequence[str]) -> None:
    assert [text for page in pages for text in page] == list(texts)
    assert 1 < max(map(len, pages)) <= MAX_PAGE_BYTES // 200_000


def test_tokens_that_are_large_are_read_in_short_pages(place: Place) -> None:
    async def main(engine: Engine) -> None:
        for number, text in enumerate(TEXTS):
            await engine.edit_tokens(insert=[{"name": f"/custom/t/{number:02}", "data": text}])

        pages = await pages_of(lambda cursor: engine.tokens("/custom/t", limit=200, cursor=cursor))
        assert_short(pages, TEXTS)
        few = await engine.tokens("/custom/t", limit=3)
        assert [len(few["items"]), few["next"] is None] == [3, False]

    place.run(main)


def test_tokens_of_runs_with_large_outputs_are_read_in_short_pages(place: Place) -> None:
    names = [f"s{number:02}" for number in range(30)]

    async def main(engine: Engine) -> None:
        steps = {name: {"task": "set", "with": {"value": "${ data.text }"}} for name in names}
        await engine.publish({"penstock": 1, "name": "wide", "steps": steps})
        run = await engine.start("wide", input={"text": TEXTS[1]})
        await engine.wait(run, 30)

        prefix = f"/history/wide/{run}/steps/"
        pages = await pages_of(lambda cursor: engine.tokens(prefix, limit=200, cursor=cursor))
        assert_short([[data["output"]["value"] for data in page] for page in pages], [TEXTS[1]] * 30)

    place.run(main)


def test_events_that_nobody_took_are_read_in_short_pages_where_they_are_large(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(
            {
                "penstock": 1,
                "name": "one",
                "external": ["more"],
                "steps": {"a": {"task": "set", "after": "more"}},
            }
        )
        for text in TEXTS:
            await engine.emit("more", text, key={"job": "1"})

        pages, after, more = [], 0, True
        while more:
            items, more = await engine.undelivered_page(after=after, limit=200)
            after = items[-1]["id"]
            pages.append([each["data"] for each in items])
        assert_short(pages, TEXTS)
        shown = await pages_of(lambda cursor: engine.incidents(limit=200, cursor=cursor))
        assert [text for page in shown for text in page] == TEXTS
        assert max(map(len, shown)) <= MAX_PAYLOADS_PER_READ

    place.run(main)


def test_failed_runs_are_read_a_few_at_a_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is read whole, with all that it carries."""

    async def main(engine: Engine) -> None:
        step = {"task": "set", "with": {"value": "${ data.nothing }"}}
        await engine.publish({"penstock": 1, "name": "bad", "steps": {"a": step}})
        runs = [await engine.start("bad") for _ in range(40)]
        for run in runs:
            await engine.wait(run, 20)
        memory, asked = (await engine.running()).node.run_cache, []
        fetch = memory.fetch

        async def counted(ids: Sequence[str], remember: bool = False) -> Any:
            asked.append(len(ids))
            return await fetch(ids, remember)

        monkeypatch.setattr(memory, "fetch", counted)
        found = await engine.incidents(limit=200)
        assert {each["run"] for each in found["items"]} == set(runs)
        assert max(asked) <= MAX_PAYLOADS_PER_READ

    place.run(main)


async def until_asked(engine: Engine, count: int) -> None:
    await until(
        lambda: engine.approvals(limit=100), f"{count} questions", so=lambda asked: len(asked) >= count
    )


def test_approvals_that_are_large_or_not_wanted_are_read_in_short_pages(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approvals, "MAX_APPROVALS_PER_READ", 10)
    monkeypatch.setattr(approvals, "MAX_APPROVALS_READ", 30)

    async def main(engine: Engine) -> None:
        for name in ("one", "other"):
            await engine.publish({"penstock": 1, "name": name, "steps": {"ask": ASK}})
        last = await engine.start("other", input={"text": "last"})
        await until_asked(engine, 1)
        for text in TEXTS + ["short"] * 10:
            await engine.start("one", input={"text": text})
        await until_asked(engine, 41)

        pages, before, first = [], None, True
        while first or before is not None:
            items, before = await engine.approvals_page(limit=200, before=before)
            pages.append([each["text"] for each in items])
            first = False
        assert sorted(text for page in pages for text in page) == sorted([*TEXTS, *["short"] * 10, "last"])
        assert max(sum(map(len, page)) for page in pages) <= MAX_PAGE_BYTES
        rare = await engine.approvals_page(workflow="other", limit=1)
        assert rare[0] == [] and rare[1] is not None, "no more are looked at than a call may"
        assert [each["run"] for each in await engine.approvals(workflow="other")] == [last]

    place.run(main)
