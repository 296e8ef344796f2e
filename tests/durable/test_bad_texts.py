"""Texts that are too long or cannot be kept, and numbers that are too large: told the same way on every store."""

from __future__ import annotations

import asyncio
import random
import re
import string
from collections.abc import Sequence
from typing import Any

import pytest

from penstock import Engine, Out
from penstock.runtime.errors import Invalid, UnknownRun, UnknownVersion
from penstock.store.errors import StoreError
from penstock.store.open import open_store
from penstock.store.rows.change import Change, Committed
from tests.durable.conftest import VIRTUAL, Place

WIDE = "".join(map(chr, range(0x4E00, 0x4E00 + 400)))
"""Of three bytes each in UTF-8, and hardly to be compressed."""


def noise(length: int) -> str:
    """A text that no database can make shorter."""
    return "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=length))


async def echo() -> str:
    return "yes"


async def keyed(name: str, value: str) -> Out:
    return Out(correlate={name: value})


TASKS = {"echo": echo, "keyed": keyed}
WAITING = "penstock: 1\nname: w\nexternal: [go]\nsteps:\n  a: {task: echo, after: go}\n"
KEYED = """
penstock: 1
name: k
external: [{name: go, optional: true}]
steps:
  a: {task: keyed, with: {name: '${data.n}', value: '${data.v}'}}
"""
SERIAL = """
penstock: 1
name: s
steps:
  a: {task: echo}
  b: {task: echo, after: a, serialize: data.k}
"""
EMITTING = """
penstock: 1
name: e
steps:
  a: {task: emit, with: {event: go, key: {job: '${data.v}'}}}
"""


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"subject": noise(1_001)}, "`subject` has 1,001 characters, 1,000 at most"),
        ({"subject": WIDE * 2}, "`subject` has 2,400 bytes in UTF-8, 2,000 at most"),
        ({"idempotency_key": noise(513)}, "`idempotency_key` has 513 characters, 512 at most"),
        ({"labels": {"team": noise(513)}}, "`labels`: that of 'team' has 513 characters, 512 at most"),
        ({"labels": {noise(513): "x"}}, "a name in `labels` has 513 characters, 512 at most"),
    ],
)
@VIRTUAL
def test_a_start_with_a_text_that_is_too_long_says_which(
    place: Place, wrong: dict[str, Any], sentence: str
) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITING)
        with pytest.raises(Invalid, match=re.escape(sentence)):
            await engine.start("w", **wrong)
        assert await engine.runs(workflow="w") == []

    place.run(main, TASKS)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"id": noise(513)}, "`id` has 513 characters, 512 at most"),
        ({"event": noise(129)}, "`event` has 129 characters, 128 at most"),
        ({"key": {"job": WIDE}}, "`key`: that of 'job' has 1,200 bytes in UTF-8, 1,024 at most"),
        ({"key": {noise(9_000): "1"}}, "a name in `key` has 9,000 characters, 512 at most"),
    ],
)
@VIRTUAL
def test_an_event_with_a_text_that_is_too_long_says_which(
    place: Place, wrong: dict[str, Any], sentence: str
) -> None:
    async def main(engine: Engine) -> None:
        with pytest.raises(Invalid, match=re.escape(sentence)):
            await engine.emit(**{"event": "go", "key": {"job": "1"}, **wrong})

    place.run(main, TASKS)


def test_the_longest_texts_are_kept(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(KEYED)
        await engine.publish(SERIAL)
        key, wide = noise(512), WIDE[:340]
        for text in (key, wide):
            how: dict[str, Any] = {"labels": {text: text}, "idempotency_key": text, "subject": text}
            run = await engine.start("k", input={"n": text, "v": text}, **how)
            assert (await engine.wait(run, 30))["status"] == "succeeded"
            assert await engine.emit("go", key={text: text}, id=text) == "accepted"
        run = await engine.start("s", input={"k": key[:510]}, subject=noise(1_000))
        assert (await engine.wait(run, 30))["status"] == "succeeded"

    place.run(main, TASKS)


@pytest.mark.parametrize(
    ("workflow", "input", "kind", "sentence"),
    [
        (
            KEYED,
            {"n": "job", "v": noise(9_000)},
            "too_large",
            "a value in `correlate` of step 'a' has 9,000 char",
        ),
        (KEYED, {"n": noise(9_000), "v": "1"}, "too_large", "a name in `correlate` of step 'a' has 9,000"),
        (SERIAL, {"k": noise(9_000)}, "too_large", "the `serialize` key of step 'b' has 9,002 characters"),
        (EMITTING, {"v": noise(9_000)}, "expression", "`key`: that of 'job' has 9,000 characters"),
    ],
)
@VIRTUAL
def test_a_key_of_a_step_that_is_too_long_fails_it(
    place: Place, workflow: str, input: dict[str, Any], kind: str, sentence: str
) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow)
        [known] = await engine.workflows()
        run = await engine.wait(await engine.start(known["name"], input=input), 30)
        assert (run["status"], run["error"]["kind"]) == ("failed", kind)
        assert sentence in run["error"]["message"]

    place.run(main, TASKS)


def test_a_run_that_can_never_be_written_fails_with_the_reason() -> None:
    async def main() -> None:
        store: Any = await open_store("memory:")
        write = store.commit

        async def commit(changes: Sequence[Change]) -> Committed:
            if any(change.ended and change.status != "failed" for change in changes):
                raise StoreError("the row is too wide")
            result: Committed = await write(changes)
            return result

        store.commit = commit
        async with Engine(store=store, tasks=TASKS) as engine:
            await engine.publish("penstock: 1\nname: w\nsteps:\n  a: {task: echo}\n")
            id = await engine.start("w")
            run = await engine.wait(id, 30)
            assert (run["status"], run["error"]["message"]) == (
                "failed",
                "the database refuses what follows: the row is too wide",
            )
            [incident] = (await engine.incidents())["items"]
            assert (incident["run"], incident["kind"]) == (id, "failed")

    asyncio.run(main())


@pytest.mark.parametrize("bad", ["a\0", "\ud800"])
def test_what_no_database_keeps_is_not_found_in_it(place: Place, bad: str) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITING)
        for ask in (engine.show, engine.why, engine.history, engine.cancel, engine.wait):
            with pytest.raises(UnknownRun):
                await ask(bad)
        with pytest.raises(UnknownRun):
            await engine.emit("go", run=bad)
        for filter in ({"subject": bad}, {"q": bad}, {"label": ("a", bad)}, {"workflows": (bad,)}):
            for listed in (engine.runs, engine.counts, engine.list_runs):
                with pytest.raises(Invalid, match="cannot be kept"):
                    await listed(**filter)

    place.run(main, TASKS)


def test_a_version_beyond_all_numbers_is_not_there(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITING)
        for version in (2**40, 2**70, 0, -1):
            with pytest.raises(UnknownVersion):
                await engine.start("w", version=version)
            assert await engine.runs(version=version) == []
        with pytest.raises(Invalid, match="`version` must be a whole number, not 'x'"):
            await engine.start("w", version="x")  # type: ignore[arg-type]

    place.run(main, TASKS)
