"""A real store tells, by its own notifications: every object is one run, through pauses, edits, stops and kills."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path
from typing import Any

from penstock import Context, Engine
from tests.api.conftest import Client
from tests.cli.serving import serving
from tests.objects.servers import JuiceFS
from tests.objects.telling import PICS, TOKEN, talk_to
from tests.waiting import until, until_sync

WORKFLOW = """\
penstock: 1
name: pics
source: {kind: object, store: pics, prefix: in/}
steps:
  look: {task: look, emits: OK}
"""
LOOKER = """\
from penstock import task


@task
def look(ctx):
    return ctx.run["subject"]
"""


async def count_until(client: Client, name: str, number: int) -> None:
    """Until this process has counted so many notifications of that fate."""
    counts = client.service.stores.store_counts["pics"].counts
    await until(lambda: counts[name], f"{number} that are {name}", 60, so=lambda found: found >= number)


def test_pause_keeps_events_resume_drains_them_in_order_and_versions_hold(
    telling: JuiceFS, tmp_path: Path
) -> None:
    bucket, done = telling.telling("pics"), []

    async def look(ctx: Context) -> None:
        done.append((ctx.run["version"], ctx.run["subject"]))

    def puts(prefix: str, number: int) -> None:
        for each in range(number):
            telling.put(bucket, f"{prefix}/{each:03}")

    async def talk(client: Client) -> Any:
        engine = client.engine
        await engine.publish(PICS, start=True)
        await engine.pause_workflow("pics")
        await asyncio.to_thread(puts, "first", 100)
        await count_until(client, "started", 100)
        assert done == []
        await engine.publish(PICS)
        await asyncio.to_thread(puts, "second", 1)
        await count_until(client, "started", 101)
        arrived = [run["subject"] for run in await engine.runs(sort="oldest", limit=200)]
        await engine.resume_workflow("pics")
        await ended(engine, 101)
        await engine.stop_source("pics")
        before = client.service.stores.store_counts["pics"].counts["ignored"]
        await asyncio.to_thread(puts, "third", 5)
        await count_until(client, "ignored", before + 5)
        return arrived, (await engine.counts())["succeeded"]

    stores = {"pics": telling.address(bucket, hook_token=TOKEN)}
    arrived, succeeded = talk_to(talk, tmp_path, stores, port=telling.hook_port, tasks={"look": look})
    assert [subject for _, subject in done] == arrived
    assert [version for version, _ in done] == [1] * 100 + [2]
    assert sorted(arrived) == [f"pics/first/{each:03}" for each in range(100)] + ["pics/second/000"]
    assert succeeded == 101


async def ended(engine: Engine, number: int) -> None:
    await until(
        engine.counts, f"the end of {number} runs", 60, so=lambda counts: counts.get("succeeded", 0) >= number
    )


def test_500_puts_during_a_kill_of_the_node_are_500_runs(telling: JuiceFS, tmp_path: Path) -> None:
    bucket, port = telling.telling("pics"), telling.hook_port
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "pics.yaml").write_text(WORKFLOW)
    (tmp_path / "flows" / "pics.py").write_text(LOOKER)
    up = [
        "up",
        "--port",
        port,
        "--workflows",
        tmp_path / "flows",
        "--store",
        f"pics={telling.address(bucket, hook_token=TOKEN)}",
    ]
    puts = [f"in/{number:03}.png" for number in range(500)]
    putting = threading.Thread(target=lambda: [telling.put(bucket, key) for key in puts])

    with serving(*up, cwd=tmp_path) as node:
        putting.start()
        until_sync(lambda: begun(tmp_path), "a hundred runs", 60, so=lambda count: count >= 100)
        os.killpg(node.process.pid, signal.SIGKILL)
    assert begun(tmp_path) < 500
    with serving(*up, cwd=tmp_path):
        putting.join()
        until_sync(lambda: begun(tmp_path), "all runs", 60, so=lambda count: count >= 500)

    with Engine.sync(str(tmp_path / "penstock.db"), tasks={}, work=False, feed=False) as engine:
        subjects = [run["subject"] for run in engine.runs(workflow="pics", limit=1000)]
    assert sorted(subjects) == [f"pics/{key}" for key in puts]


def begun(folder: Path) -> int:
    """How many runs the database has, whoever serves it."""
    import sqlite3

    if not (folder / "penstock.db").exists():
        return 0
    with sqlite3.connect(f"file:{folder / 'penstock.db'}?mode=ro", uri=True, timeout=10) as database:
        found: int = database.execute("SELECT count(*) FROM run").fetchone()[0]
    database.close()
    return found
