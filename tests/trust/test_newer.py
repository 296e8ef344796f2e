"""C12, C13: what a later release wrote is left alone and told, holds nobody else up, and goes on when that is back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from penstock import Engine
from penstock.flow.errors import PenstockError
from penstock.flow.model.problems import DefinitionError
from penstock.store.open import is_shared
from tests.trust.beside import Beside, beside
from tests.waiting import until

LATER = "d93a4be5"
"""Bytes that this release cannot read."""

ODD = """
penstock: 1
name: NAME
external: [paid]
steps:
  rest: {task: wait, with: {for: 300ms}}
  ship: {task: echo, after: [rest, paid]}
"""
PLAIN = (
    "penstock: 1\nname: plain\nsteps:\n  a: {task: wait, with: {for: 50ms}}\n  b: {task: echo, after: a}\n"
)
NEXT = "penstock: 2\nname: strange\nstages:\n  rest: {do: wait}\n"
"""A definition in a language that this release does not know."""


def echo() -> int:
    return 1


class Later:
    """A later release, which writes rows of its own kind and goes away for a while."""

    def __init__(self, rows: Beside, shared: bool) -> None:
        self._rows = rows
        self._bytes = f"'\\x{LATER}'::bytea" if shared else f"x'{LATER}'"
        self._mail = ("", "", "now()") if shared else ("id, ", "1, ", "0")

    async def write(self, head: str, mail: str) -> None:
        """Another head of one run, a definition in another language, and timers and mail of a third run."""
        sql = self._rows.sql
        await sql("CREATE TABLE test_run AS SELECT id, head FROM run")
        await sql("CREATE TABLE test_version AS SELECT workflow, definition FROM version")
        await sql("CREATE TABLE test_timer AS SELECT id, body FROM timer")
        await sql(f"UPDATE run SET head = {self._bytes} WHERE id = '{head}'")
        await sql(f"UPDATE version SET definition = '{NEXT}' WHERE workflow = 'strange'")
        await sql(f"UPDATE timer SET body = {self._bytes} WHERE run = '{mail}'")
        name, id, now = self._mail
        await sql(
            f"INSERT INTO message ({name}run, body, ready_at) VALUES ({id}'{mail}', {self._bytes}, {now})"
        )

    async def read(self) -> None:
        """It is there again, and understands: here, by what this release can read."""
        sql = self._rows.sql
        for table, key, column in (
            ("run", "id", "head"),
            ("version", "workflow", "definition"),
            ("timer", "id", "body"),
        ):
            await sql(
                f"UPDATE {table} SET {column} = (SELECT {column} FROM test_{table} t WHERE t.{key} = {table}.{key}) "
                f"WHERE {key} IN (SELECT {key} FROM test_{table})"
            )
        await sql("DELETE FROM message")

    async def left(self) -> list[list[tuple[Any, ...]]]:
        """What lies in the store of its runs; when something is handed out next does not count."""
        asked = (
            "SELECT * FROM run WHERE workflow <> 'plain' ORDER BY id",
            "SELECT * FROM history WHERE run IN (SELECT id FROM test_run) ORDER BY run, seq",
            "SELECT id, run, due, body FROM timer ORDER BY id",
            "SELECT id, run, body FROM message ORDER BY id",
            "SELECT * FROM version WHERE workflow <> 'plain' ORDER BY workflow",
        )
        return [await self._rows.fetch(statement) for statement in asked]


async def refusals(engine: Engine, runs: Sequence[str]) -> list[str]:
    """What somebody is told who asks for these runs, or does something to them."""
    told = []
    for run in runs:
        for act in (engine.show, engine.cancel, engine.pause):
            with pytest.raises(PenstockError) as raised:
                await act(run)
            told.append(raised.value.code)
    return told


async def begin(url: str) -> list[str]:
    """Three runs, two of which a later release is to write on."""
    async with Engine(url, tasks={}, work=False, grace=0) as engine:
        for name in ("odd", "strange"):
            await engine.publish(ODD.replace("NAME", name))
        await engine.publish(PLAIN)
        return [await engine.start(name) for name in ("odd", "strange", "odd")]


async def go_on(url: str, runs: Sequence[str]) -> list[str]:
    """How the runs end that can be read again."""
    async with Engine(url, tasks={"echo": echo}, grace=0) as engine:
        for run in runs:
            await engine.emit("paid", run=run)
        ends = [str((await engine.wait(run, 30))["status"]) for run in runs]
        assert await (await engine.running()).store.check() == []
        return ends


def test_c12_what_a_later_release_wrote_is_left_alone_and_told_and_goes_on_later(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "penstock")

    async def meet(later: Later, runs: Sequence[str]) -> None:
        before = await later.left()
        async with Engine(url, tasks={"echo": echo}, grace=0) as engine:
            plain = [await engine.start("plain") for _ in range(5)]
            assert [(await engine.wait(run, 30))["status"] for run in plain] == ["succeeded"] * 5
            await until(lambda: len({record.name for record in caplog.records}) == 2, "a try of what is due")
            assert await refusals(engine, runs[:2]) == ["unreadable_run"] * 6
            with pytest.raises(DefinitionError, match="This Penstock reads format 1"):
                await engine.start("strange")
            assert len(await engine.runs()) == 8
        assert await later.left() == before

    async def main() -> list[str]:
        runs = await begin(url)
        async with beside(url) as rows:
            later = Later(rows, is_shared(url))
            await later.write(runs[0], runs[2])
            await meet(later, runs)
            await later.read()
        return await go_on(url, runs)

    assert asyncio.run(main()) == ["succeeded"] * 3
    told = "\n".join(record.getMessage() for record in caplog.records)
    assert told.count("left alone") >= 3
