"""Drafts: kept beside the versions, changed only by who has seen what it changes."""

from __future__ import annotations

import asyncio
from typing import Any

from penstock.store.protocol import Store
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft, NewVersion, VersionLine, etag_of
from penstock.store.rows.rows import RunCount, RunsByWorkflow
from tests.store.builders import NOON, A, B, C, end, given, new_run, publish, start
from tests.store.conftest import Clock


def new(definition: str, title: str | None = None, author: str = "ann") -> NewDraft:
    return NewDraft(definition=definition, title=title, author=author)


def row(definition: str, title: str | None = None, author: str = "ann") -> DraftRow:
    return DraftRow(workflow="w", definition=definition, title=title, author=author, at=NOON)


async def test_a_draft_is_what_was_saved_last(store: Store, clock: Clock) -> None:
    first = await store.save_draft("w", new("one 🐙", title="One"))
    later = await clock.forward(5)
    second = await store.save_draft("w", new("two", author="bob"))

    made = DraftRow(workflow="w", definition="two", title=None, author="bob", at=later)
    assert (first, second) == (NOON, later)
    assert (await store.draft("w"), await store.draft("v")) == (made, None)


async def test_a_draft_that_is_not_what_was_seen_stays(store: Store) -> None:
    one = row("one")
    await store.save_draft("w", new("one"))

    refused = [
        await store.save_draft("w", new("two"), [etag_of("other")]),
        await store.save_draft("w", new("two"), [etag_of(None)]),
        await store.save_draft("w", None, [etag_of("other")]),
    ]

    assert (refused, await store.draft("w")) == ([None, None, None], one)
    assert await store.save_draft("w", new("two"), [etag_of("other"), etag_of("one")]) == NOON
    assert await store.draft("w") == row("two")


async def test_without_a_draft_the_newest_version_is_what_was_seen(store: Store) -> None:
    await publish(store, "w", "old", b"", None, True)
    await publish(store, "w", "published", b"", None, True)

    assert await store.save_draft("w", new("mine"), [etag_of("old")]) is None
    assert await store.save_draft("w", None, [etag_of("old")]) is None
    assert await store.save_draft("w", new("mine"), [etag_of("published")]) == NOON
    assert await store.draft("w") == row("mine")


async def test_only_what_is_not_there_can_be_expected_not_to_be_there(store: Store) -> None:
    answers = [await store.save_draft("w", new(text), [etag_of(None)]) for text in ("one", "two")]

    assert (answers, await store.draft("w")) == ([NOON, None], row("one"))


async def test_of_many_who_saw_the_same_draft_one_changes_it(store: Store, other: Store) -> None:
    await store.save_draft("w", new("seen"))
    texts = [f"text {n}" for n in range(8)]

    made = await asyncio.gather(
        *((store, other)[n % 2].save_draft("w", new(text), [etag_of("seen")]) for n, text in enumerate(texts))
    )

    [saved] = [text for text, at in zip(texts, made, strict=True) if at is not None]
    assert await store.draft("w") == row(saved)


async def test_a_draft_that_was_discarded_is_gone_and_may_be_discarded_again(store: Store) -> None:
    await store.save_draft("w", new("one"))

    answers = [await store.save_draft("w", None), await store.save_draft("w", None)]

    assert (answers, await store.draft("w")) == ([NOON, NOON], None)


async def test_a_list_says_which_drafts_are_not_published(store: Store) -> None:
    await publish(store, "same", "text", b"", None, True)
    await publish(store, "other", "old", b"", None, True)
    for name in ("same", "other", "new"):
        await store.save_draft(name, new("text", name.title()))

    def line(name: str, changed: bool) -> DraftLine:
        return DraftLine(workflow=name, title=name.title(), author="ann", at=NOON, changed=changed)

    assert await store.drafts() == [line("new", True), line("other", True), line("same", False)]


async def test_versions_are_listed_newest_first_page_by_page(store: Store) -> None:
    for n in (1, 2, 3):
        await publish(store, "w", f"text {n}", b"", f"note {n}", True)
    await publish(store, "v", "text", b"", None, True)

    pages = [await store.versions("w", before, 2) for before in (None, 2, 1)]

    line = [VersionLine(version=n, note=f"note {n}", at=NOON) for n in (1, 2, 3)]
    assert pages == [[line[2], line[1]], [line[0]], []]
    assert await store.versions("x", None, 2) == []


async def test_runs_are_counted_by_workflow_and_status(store: Store) -> None:
    await given(store, start(A), end(A, 1), start(B, status="waiting"), start(C, new_run(workflow="v")))

    assert set(await store.counts(RunsByWorkflow(("w", "v", "x")))) == {
        RunCount("w", "succeeded", 1),
        RunCount("w", "waiting", 1),
        RunCount("v", "running", 1),
    }
    assert await store.counts(RunsByWorkflow(("x",))) == []


def version_of(text: str, **more: Any) -> NewVersion:
    return NewVersion(
        workflow="w", definition=text, offers=b"", note=None, **{"start": False, "draft": True} | more
    )


async def test_a_draft_is_published_whole_or_not_at_all(store: Store) -> None:
    await store.save_draft("w", new("one"))

    refused = await store.publish(version_of("one", restart=True), [etag_of("other")])
    assert (refused, await store.version("w", None), (await store.drafts())[0].workflow) == (None, None, "w")

    made = await store.publish(version_of("one", restart=True), [etag_of("one")])
    [state] = await store.workflows()
    assert made is not None
    assert (made.version, made.definition, state.started, await store.drafts()) == (1, "one", True, [])


async def test_a_draft_that_is_not_what_is_published_stays(store: Store) -> None:
    await store.save_draft("w", new("mine"))

    made = await store.publish(version_of("other"))

    [state] = await store.workflows()
    assert made is not None
    assert (made.version, state.started) == (1, False)
    assert await store.draft("w") == row("mine")


async def test_of_many_who_publish_over_what_they_saw_one_does(store: Store, other: Store) -> None:
    await publish(store, "w", "seen", b"", None, True)

    made = await asyncio.gather(
        *((store, other)[n % 2].publish(version_of(f"{n}"), [etag_of("seen")]) for n in range(6))
    )

    assert sum(each is not None for each in made) == 1
    assert [line.version for line in await store.versions("w", None, 10)] == [2, 1]
