"""The ways in: what callers are told is so, also on a bad day."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Any

import pytest

from penstock import Engine, PenstockError
from penstock.runtime.errors import IdempotencyMismatch, Invalid
from penstock.store.errors import OutcomeUnknown, StoreAway
from penstock.store.open import open_store
from penstock.store.rows.change import Change, Committed
from tests.simloop import SimLoop, run_simulated

WORKFLOW = "penstock: 1\nname: w\nexternal: [go]\nsteps:\n  a: {task: echo, after: go}\n"

Commit = Callable[[Sequence[Change]], Awaitable[Committed]]


async def echo() -> str:
    return "yes"


def with_engine(main: Callable[[Engine, Any], Awaitable[None]]) -> None:
    """Let `main` have an engine with the workflow, and its store."""

    async def play(loop: SimLoop) -> None:
        store: Any = await open_store("memory:")
        async with Engine(store=store, tasks={"echo": echo}) as engine:
            await engine.publish(WORKFLOW)
            await main(engine, store)

    run_simulated(play)


def troubled(write: Commit, troubles: list[tuple[bool, bool]]) -> Commit:
    """A commit that is away as often as told: whether it was done, and whether that is known."""

    async def commit(changes: Sequence[Change]) -> Committed:
        if not troubles or not any(change.new is not None for change in changes):
            return await write(changes)
        done, unsure = troubles.pop(0)
        if done:
            await write(changes)
        raise (OutcomeUnknown if unsure else StoreAway)("the line is cut")

    return commit


@pytest.mark.parametrize(
    "troubles",
    [[(True, True)], [(False, True)], [(False, True), (True, True)], [(True, True), (False, False)]],
)
@pytest.mark.parametrize("key", [None, "k"])
def test_a_start_of_which_nobody_knows_makes_one_run(
    troubles: list[tuple[bool, bool]], key: str | None
) -> None:
    async def main(engine: Engine, store: Any) -> None:
        store.commit = troubled(store.commit, list(troubles))
        id = await engine.start("w", idempotency_key=key)
        assert [row["id"] for row in await engine.runs()] == [id]

    with_engine(main)


def test_a_start_that_stays_in_doubt_says_so() -> None:
    async def main(engine: Engine, store: Any) -> None:
        store.commit = troubled(store.commit, [(False, True), *[(False, False)] * 20])
        with pytest.raises(StoreAway, match="whether it was done is not known"):
            await engine.start("w")

    with_engine(main)


def test_a_start_that_was_not_done_is_told_at_once() -> None:
    async def main(engine: Engine, store: Any) -> None:
        store.commit = troubled(store.commit, [(False, False)])
        with pytest.raises(StoreAway, match="nothing was changed"):
            await engine.start("w")
        assert await engine.runs() == []

    with_engine(main)


def test_who_comes_after_the_end_is_told_that_the_engine_is_closed() -> None:
    async def main(engine: Engine, store: Any) -> None:
        node = engine._running.node  # type: ignore[union-attr]
        id = await engine.start("w")
        await node.kill()
        for late in (node.commands.start("w"), node.commands.cancel(id), node.commands.start("w")):
            with pytest.raises(PenstockError, match="this engine is closed"):
                await late

    with_engine(main)


def test_a_start_that_is_being_written_at_the_end_is_told_as_in_doubt() -> None:
    async def main(engine: Engine, store: Any) -> None:
        node = engine._running.node  # type: ignore[union-attr]
        writing = asyncio.Event()

        async def commit(changes: Sequence[Change]) -> Committed:
            writing.set()
            return await asyncio.Future[Committed]()

        store.commit = commit
        start = asyncio.ensure_future(node.commands.start("w"))
        await writing.wait()
        await node.kill()
        with pytest.raises(StoreAway, match="whether it was done is not known"):
            await start

    with_engine(main)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"labels": {"a": 1}}, "`labels` must be a map from texts to texts: that of 'a' is 1 (int)"),
        ({"labels": {1: "a"}}, "`labels` must be a map from texts to texts: 1 (int) is no text"),
        ({"labels": ["a"]}, "`labels` must be a map from texts to texts, not ['a'] (list)"),
        ({"tags": [1]}, "`tags` must be a map from names to values, not list"),
        ({"subject": 7}, "`subject` must be a text, not 7 (int)"),
        ({"idempotency_key": b"k"}, "`idempotency_key` must be a text, not b'k' (bytes)"),
        ({"workflow": 1}, "`workflow` must be a text, not 1 (int)"),
    ],
)
def test_a_start_with_what_is_no_text_says_so_and_changes_nothing(
    wrong: dict[str, Any], sentence: str
) -> None:
    async def main(engine: Engine, store: Any) -> None:
        with pytest.raises(PenstockError, match=re.escape(sentence)):
            await engine.start(**{"workflow": "w", **wrong})
        assert await engine.runs() == []

    with_engine(main)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"id": 1}, "`id` must be a text, not 1 (int)"),
        ({"event": 1}, "`event` must be a text, not 1 (int)"),
        ({"key": {"job": 1}}, "`key` must be a map from texts to texts: that of 'job' is 1 (int)"),
        ({"key": "job"}, "`key` must be a map from texts to texts, not 'job' (str)"),
    ],
)
def test_an_event_with_what_is_no_text_says_so_and_is_not_kept(wrong: dict[str, Any], sentence: str) -> None:
    async def main(engine: Engine, store: Any) -> None:
        with pytest.raises(Invalid, match=re.escape(sentence)):
            await engine.emit(**{"event": "go", "key": {"job": "1"}, **wrong})
        assert await engine.undelivered() == []

    with_engine(main)


OTHERS: list[dict[str, Any]] = [{"input": 2}, {"subject": "t"}, {"labels": {"a": "c"}}, {"version": 1}]


@pytest.mark.parametrize("other", OTHERS)
def test_a_key_stands_for_all_that_was_asked_when_it_was_first_used(other: dict[str, Any]) -> None:
    async def main(engine: Engine, store: Any) -> None:
        asked: dict[str, Any] = {"input": {"n": 1}, "subject": "s", "labels": {"a": "b"}}
        first = await engine.start("w", **asked, idempotency_key="k")
        await engine.publish(WORKFLOW.replace("echo", "echo, title: A"))
        assert await engine.start("w", **asked, idempotency_key="k") == first
        with pytest.raises(IdempotencyMismatch, match="another input, subject, version or other labels"):
            await engine.start("w", **asked | other, idempotency_key="k")
        assert len(await engine.runs()) == 1

    with_engine(main)


def test_a_key_of_which_only_the_input_was_written_down_still_counts() -> None:
    async def main(engine: Engine, store: Any) -> None:
        first = await engine.start("w", input={"n": 1}, subject="s", idempotency_key="k")
        digest = blake2b(b'{"n":1}', digest_size=16).digest()

        async def start_key(workflow: str, key: str) -> tuple[str, bytes]:
            return first, digest

        store.start_key = start_key
        assert await engine.start("w", input={"n": 1}, subject="s", idempotency_key="k") == first
        with pytest.raises(IdempotencyMismatch):
            await engine.start("w", input={"n": 2}, subject="s", idempotency_key="k")

    with_engine(main)


def test_a_start_uses_a_version_that_another_node_has_just_published() -> None:
    async def main(engine: Engine, store: Any) -> None:
        first = await engine.start("w")  # from now on this node believes in version 1
        other = Engine(store=store, tasks={"echo": echo}, work=False)
        await other.publish(WORKFLOW + "  b: {task: echo, after: a}\n")

        runs = [first, await engine.start("w"), await engine.start("w", idempotency_key="k")]
        named = await engine.start("w", version=1)

        versions = [(await engine.show(run))["version"] for run in (*runs, named)]
        assert versions == [1, 2, 2, 1]

    with_engine(main)


def test_a_start_is_held_by_a_pause_that_another_node_has_just_made() -> None:
    async def main(engine: Engine, store: Any) -> None:
        await engine.start("w")
        await Engine(store=store, tasks={"echo": echo}, work=False).pause_workflow("w")

        assert (await engine.show(await engine.start("w")))["status"] == "paused"

    with_engine(main)
