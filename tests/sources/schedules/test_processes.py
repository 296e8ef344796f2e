"""Real processes: of two servers one is killed, and every tick has its run; the commands say what there is."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from penstock import Engine
from penstock.sources.triggers.lease import trigger_name
from tests.cli.command import Said, penstock, write
from tests.cli.serving import serving
from tests.cli.test_front import base_of
from tests.databases import new_database
from tests.postgres_server import PostgresServer
from tests.waiting import until

SECONDS = """\
penstock: 1
name: seconds
source: {kind: schedule, every: 1s, overrun: start, catch_up: all}
steps:
  a: {task: set, with: {x: 1}}
"""
NIGHTLY = """\
penstock: 1
name: nightly
source: {kind: schedule, cron: "0 2 * * *"}
steps:
  a: {task: set, with: {x: 1}}
"""


async def ticks_of(engine: Engine, least: int) -> list[str]:
    """The ticks that have made a run, in order, once there are so many."""
    runs = await until(
        lambda: engine.runs(sort="oldest", limit=1000),
        f"{least} ticks",
        60,
        so=lambda runs: len(runs) >= least,
    )
    return [run["subject"] for run in runs]


async def holder(engine: Engine) -> int:
    """The process that feeds."""
    (row,) = await (await engine.running()).store.tokens(trigger_name("seconds"), "", 1)
    return int((row.owner or ":0:").split(":")[1])


@pytest.mark.long(
    "test_with_nodes_that_die_every_tick_makes_one_run",
    "test_a_node_that_is_killed_is_followed_within_a_quarter_of_a_minute",
)
def test_of_two_servers_one_is_killed_and_every_tick_has_one_run(
    server: PostgresServer, tmp_path: Path
) -> None:
    url = new_database(server)

    async def main() -> list[str]:
        async with Engine(url, tasks={}, work=False, feed=False) as engine:
            await engine.publish(SECONDS, start=True)
            with serving("server", "--db", url, cwd=tmp_path), serving("server", "--db", url, cwd=tmp_path):
                await ticks_of(engine, 3)
                first = await holder(engine)
                os.kill(first, signal.SIGKILL)
                there = len(await ticks_of(engine, 3))
                found = await ticks_of(engine, there + 8)
                assert await holder(engine) != first
                return found

    found = asyncio.run(main())

    moments = [datetime.fromisoformat(tick) for tick in found]
    assert moments == [moments[0] + n * timedelta(seconds=1) for n in range(len(moments))]


def test_schedules_and_backfills_on_the_command_line(tmp_path: Path) -> None:
    write(tmp_path, "nightly.yaml", NIGHTLY)
    with serving("up", cwd=tmp_path) as up:
        base = base_of(up)

        def ask(*words: object) -> Said:
            return penstock(*words, "--server", base)

        ask("publish", tmp_path / "nightly.yaml")
        listed = ask("schedules", "--json").json
        ticks = ask("schedules", "--cron", "0 2 * * *", "--json").json
        wrong = ask("schedules", "--cron", "0 25 * * *")
        counted = ask("backfill", "nightly", "--from", "2026-01-01", "--to", "2026-01-03", "--dry-run")
        begun = ask("backfill", "nightly", "--from", "2026-01-01", "--to", "2026-01-03", "--json").json
        half = ask("backfill", "nightly", "--from", "2026-01-01")

    assert [(each["workflow"], each["state"], each["next"]) for each in listed] == [
        ("nightly", "stopped", [])
    ]
    assert (ticks["schedule"], len(ticks["next"])) == ("at 02:00 every day", 5)
    assert (wrong.code, "`25` is no hour (0 to 23)" in wrong.err) == (2, True)
    assert counted.out.startswith("3 ticks from ") and "where they are not there yet" in counted.out
    assert begun["count"] == 3
    assert (half.code, "needs --from and --to" in half.err) == (2, True)
