"""Published workflows: versions, started and paused."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from penstock.store.protocol import Store
from penstock.store.rows.rows import Version, WorkflowState
from tests.store.builders import NOON, A, B, C, D, end, given, mail, new_run, publish, start
from tests.store.conftest import Clock


def state(name: str, latest: int, started: bool = True, paused: bool = False, **more: Any) -> WorkflowState:
    return WorkflowState(
        name=name, latest=latest, started=started, paused=paused, **{"started_at": NOON, **more}
    )


async def source_times(store: Store, workflow: str) -> tuple[datetime | None, datetime | None]:
    [found] = await store.workflows(workflow)
    return found.started_at, found.stopped_at


async def test_versions_count_from_one(store: Store, clock: Clock) -> None:
    first = await publish(store, "w", "text 🐙 'one'", b"\x00", "note", True)
    now = await clock.forward(5)
    second = await publish(store, "w", "two", b"\x00", None, True)

    common: dict[str, Any] = {"workflow": "w", "offers": b"\x00"}
    assert first == Version(version=1, definition="text 🐙 'one'", note="note", at=NOON, **common)
    assert second == Version(version=2, definition="two", note=None, at=now, **common)
    found = [await store.version("w", n) for n in (1, 2, None, 3, 0)]
    assert found == [first, second, second, None, None]
    assert await store.version("v", None) is None


async def test_the_same_text_with_the_same_offers_is_the_same_version(store: Store, clock: Clock) -> None:
    first = await publish(store, "w", "text", b"{}", "note", True)
    await clock.forward(5)

    again = await publish(store, "w", "text", b"{}", "another note", False)
    other_offers = await publish(store, "w", "text", b"[]", None, True)
    back = await publish(store, "w", "text", b"{}", None, True)

    assert again == first
    assert (other_offers.version, back.version) == (2, 3)


async def test_the_same_text_is_published_again_where_that_is_wanted(store: Store, clock: Clock) -> None:
    first = await publish(store, "w", "text", b"{}", "note", True)
    now = await clock.forward(5)

    again = await publish(store, "w", "text", b"{}", "again", True, again=True)

    assert again == Version(workflow="w", version=2, definition="text", offers=b"{}", note="again", at=now)
    assert [await store.version("w", n) for n in (1, None)] == [first, again]
    assert await publish(store, "w", "text", b"{}", None, True) == again


async def test_two_nodes_that_publish_at_once_make_versions_without_a_gap(store: Store, other: Store) -> None:
    texts = [f"text {n}" for n in range(8)]
    nodes = [store, other]

    made = await asyncio.gather(
        *(publish(nodes[n % 2], "w", text, b"", None, True) for n, text in enumerate(texts))
    )

    assert sorted(version.version for version in made) == list(range(1, 9))
    assert {version.definition for version in made} == set(texts)
    assert await store.workflows() == [state("w", 8)]


async def test_two_nodes_that_publish_the_same_at_once_make_one_version(store: Store, other: Store) -> None:
    made = await asyncio.gather(*(publish(node, "w", "same", b"", None, True) for node in (store, other) * 3))

    assert {version.version for version in made} == {1}


async def test_a_new_workflow_is_started_where_it_is_said_and_one_that_is_not_stays(store: Store) -> None:
    await publish(store, "b", "1", b"", None, False)
    await publish(store, "a", "1", b"", None, True)
    await publish(store, "b", "2", b"", None, True)
    await publish(store, "a", "2", b"", None, False)

    assert await store.workflows() == [state("a", 2, True), state("b", 2, False)]


async def test_a_workflow_is_started_and_stopped(store: Store) -> None:
    await publish(store, "w", "1", b"", None, False)

    assert await store.set_started("w", True) is True
    started = await store.workflows()
    assert await store.set_started("w", False) is True

    assert (started, await store.workflows()) == (
        [state("w", 1, True)],
        [state("w", 1, False, stopped_at=NOON)],
    )
    assert await store.set_started("v", True) is False


async def test_a_pause_is_posted_to_the_live_runs_of_the_workflow(store: Store, clock: Clock) -> None:
    for name in ("w", "v"):
        await publish(store, name, "1", b"", None, True)
    await given(
        store, start(A), start(B, new_run(workflow="v")), start(C), end(C, 1), start(D, status="waiting")
    )

    assert await store.set_paused("w", True, b"pause") is True
    await clock.forward(6)

    assert sorted(await mail(store), key=str) == [(A, b"pause"), (D, b"pause")]
    assert await store.workflows() == [state("v", 1), state("w", 1, paused=True)]


async def test_a_pause_of_the_installation_is_posted_to_every_live_run(store: Store, clock: Clock) -> None:
    await publish(store, "w", "1", b"", None, True)
    await given(store, start(A), start(B, new_run(workflow="v")), start(C), end(C, 1))

    assert await store.set_paused(None, True, b"pause") is True
    await clock.forward(6)

    assert sorted(await mail(store), key=str) == [(A, b"pause"), (B, b"pause")]
    assert await store.workflows() == [state("w", 1, halted=True)]


async def test_to_pause_what_is_paused_posts_nothing(store: Store, clock: Clock) -> None:
    await publish(store, "w", "1", b"", None, True)
    await given(store, start(A))

    answers = [await store.set_paused("w", paused, b"x") for paused in (False, True, True)]
    answers += [await store.set_paused(None, False, b"x")]
    await clock.forward(6)

    assert answers == [True, True, True, True]
    assert await mail(store) == [(A, b"x")]


async def test_a_resume_is_posted_like_a_pause(store: Store, clock: Clock) -> None:
    await publish(store, "w", "1", b"", None, True)
    await given(store, start(A))
    await store.set_paused("w", True, b"pause")

    await store.set_paused("w", False, b"resume")
    await clock.forward(6)

    assert await mail(store) == [(A, b"pause"), (A, b"resume")]
    assert await store.workflows() == [state("w", 1)]


async def test_an_unknown_workflow_cannot_be_paused(store: Store, clock: Clock) -> None:
    await given(store, start(A, new_run(workflow="ghost")))

    assert await store.set_paused("ghost", True, b"x") is False
    await clock.forward(6)
    assert await mail(store) == []
    assert await store.workflows() == []


async def test_a_pause_that_nobody_has_read_is_taken_back_by_its_resume(store: Store, clock: Clock) -> None:
    await publish(store, "w", "text", b"{}", None, True)
    await given(store, start(A, new_run(workflow="w")))
    await store.set_paused("w", True, b"pause", b"resume")
    await store.set_paused("w", False, b"resume", b"pause")
    await clock.forward(6)

    assert await mail(store) == [(A, b"resume")]


@pytest.mark.parametrize("workflow", ["w", None])
async def test_a_run_that_ended_before_it_read_a_pause_does_not_read_it_after_the_resume(
    workflow: str | None, store: Store, clock: Clock
) -> None:
    for name in ("w", "v"):
        await publish(store, name, "text", b"{}", None, True)
    await given(store, start(A), start(B, new_run(workflow="v")))
    await store.set_paused(workflow, True, b"pause", b"resume")
    await store.set_paused("v", True, b"pause")
    await given(store, end(A, 1))
    await store.set_paused(workflow, False, b"resume", b"pause")
    await clock.forward(6)

    assert await mail(store) == ([(B, b"pause")] if workflow else [(B, b"resume")])


async def test_it_is_kept_since_when_a_source_makes_runs(store: Store, clock: Clock) -> None:
    await publish(store, "w", "text", b"{}", None, True)
    first = (await source_times(store, "w"))[0]
    await clock.forward(5)
    await store.set_started("w", True)
    await store.set_started("w", False)
    unchanged = (await source_times(store, "w"))[0]
    now = await clock.forward(5)
    await store.set_started("w", True)

    assert (first, unchanged, (await source_times(store, "w"))[0]) == (NOON, NOON, now)
    assert await store.workflows("v") == []


async def test_it_is_kept_when_a_source_was_stopped(store: Store, clock: Clock) -> None:
    await publish(store, "w", "text", b"{}", None, True)
    never = (await source_times(store, "w"))[1]
    stopped = await clock.forward(5)
    await store.set_started("w", False)
    await clock.forward(5)
    await store.set_started("w", False)
    first = (await source_times(store, "w"))[1]
    await store.set_started("w", True)
    unchanged = (await source_times(store, "w"))[1]
    again = await clock.forward(5)
    await store.set_started("w", False)

    assert (never, first, unchanged, (await source_times(store, "w"))[1]) == (None, stopped, stopped, again)
    assert await store.workflows("v") == []
