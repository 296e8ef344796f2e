"""C13, C14: what a database cannot do is told once and as it is, and the node goes on."""

from __future__ import annotations

import asyncio
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import msgspec

from penstock import Engine
from tests.chaos.alone import shimmed
from tests.chaos.shimmed import Shim
from tests.cli.command import ROOT, penstock, write
from tests.cli.serving import GREETER, HELLO, Serving, serving
from tests.cli.test_front import base_of
from tests.waiting import until

PATIENCE = 20.0
"""Seconds after which an answer counts as none: a node that hangs never answers."""


def ask(url: str, body: object | None = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def rename_timing(url: str) -> None:
    """Break the schema as nobody expects it: what is read of a run's attempts does not exist any more."""
    rename = "ALTER TABLE timing RENAME TO gone"
    if url.startswith("postgresql"):
        asyncio.run(_run_on_postgres(url, rename))
    else:
        db = apsw.Connection(url)
        db.execute(rename)
        db.close()


async def _run_on_postgres(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()


def test_c13_a_read_that_the_database_rejects_is_one_problem_and_the_node_goes_on(
    url: str, tmp_path: Path
) -> None:
    (tmp_path / "flows").mkdir()
    write(tmp_path, "flows/hello.yaml", HELLO)
    write(tmp_path, "flows/hello.py", GREETER)
    with serving("up", "--workflows", "flows", "--port", 0, "--db", url, cwd=tmp_path) as up:
        base = base_of(up)
        _, run = ask(f"{base}/api/workflows/hello/runs", {})
        up.until("greeted")
        up.until("greeted")
        assert up.stop().code == 0
    rename_timing(url)

    with serving("up", "--port", 0, "--db", url, cwd=tmp_path) as up:
        base = base_of(up)
        status, problem = ask(f"{base}/api/runs/{run['id']}/history")
        alive = [ask(f"{base}{path}")[0] for path in ("/health", "/ready", "/api/workflows")]
        stopped = up.stop()

    assert (status, problem["code"], problem["status"]) == (500, "store_refused", 500)
    assert "timing" in problem["detail"] and problem["request_id"]
    assert alive == [200, 200, 200]
    assert stopped.code == 0
    assert stopped.err.count(f"request {problem['request_id']} failed") == 1


@contextmanager
def on_a_shimmed_disk(folder: Path) -> Iterator[tuple[Serving, Path]]:
    """A server whose disk can be made to fail through the file."""
    control = folder / "shim.json"
    control.write_bytes(msgspec.json.encode(Shim()))
    path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    python, *args = shimmed("up", "--port", 0, "--db", "own.db")
    with serving(*args, cwd=folder, program=Path(python), CHAOS_SHIM=str(control), PYTHONPATH=path) as up:
        yield up, control


def test_c14_after_a_commit_that_failed_nobody_is_told_that_nothing_was_changed(tmp_path: Path) -> None:
    write(tmp_path, "hello.yaml", HELLO)
    with on_a_shimmed_disk(tmp_path) as (up, control):
        base = base_of(up)
        assert penstock("publish", tmp_path / "hello.yaml", "--server", base).code == 0
        ask(f"{base}/api/workflows/hello/runs", {"idempotency_key": "before"})
        control.write_bytes(msgspec.json.encode(Shim(failing=True)))
        status, problem = ask(f"{base}/api/workflows/hello/runs", {"idempotency_key": "doubtful"})
        looked, failing = ask(f"{base}/api/runs")
        up.process.kill()  # what the log of the database holds counts after this
        up.end()

    with serving("up", "--port", 0, "--db", "own.db", cwd=tmp_path) as up:
        base = base_of(up)
        again = ask(f"{base}/api/workflows/hello/runs", {"idempotency_key": "doubtful"})
        runs = ask(f"{base}/api/runs")[1]["items"]
        up.stop()

    assert (status, problem["code"]) == (503, "outcome_unknown")
    assert "nothing was changed" not in problem["detail"]
    assert "repeat it with the same idempotency key" in problem["detail"]
    assert (looked, failing["code"]) == (503, "store_failing")
    assert again[0] in (200, 201)
    assert len(runs) == 2


def started(base: str, key: str) -> str:
    """The run of a key, once the file is reopened: that is tried twice a second."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        status, said = ask(f"{base}/api/workflows/hello/runs", {"idempotency_key": key})
        if status in (200, 201):
            return str(said["id"])
        time.sleep(0.1)  # it is another process: nothing tells when it tries
    raise AssertionError(said)


def test_c14_once_the_disk_works_again_so_does_the_node_without_a_restart(tmp_path: Path) -> None:
    write(tmp_path, "hello.yaml", HELLO)
    with on_a_shimmed_disk(tmp_path) as (up, control):
        base = base_of(up)
        assert penstock("publish", tmp_path / "hello.yaml", "--server", base).code == 0
        control.write_bytes(msgspec.json.encode(Shim(failing=True)))
        refused = ask(f"{base}/api/workflows/hello/runs", {"idempotency_key": "one"})[1]["code"]
        control.write_bytes(msgspec.json.encode(Shim()))
        once = [started(base, "one") for _ in range(2)]
        runs = [run["id"] for run in ask(f"{base}/api/runs")[1]["items"]]
        ready = ask(f"{base}/ready")[0]
        stopped = up.stop()

    assert refused == "outcome_unknown"
    assert once == [runs[0]] * 2
    assert (len(runs), ready, stopped.code) == (1, 200, 0)


def test_c14_after_a_publish_in_doubt_calls_and_lists_go_by_what_is_stored(tmp_path: Path) -> None:
    def versioned(number: int) -> dict[str, Any]:
        steps = {"a": {"task": "set"}}
        return {"definition": {"penstock": 1, "name": "v", "steps": steps, "result": str(number)}}

    with on_a_shimmed_disk(tmp_path) as (up, control):
        base = base_of(up)
        ask(f"{base}/api/workflows/v/publish", versioned(1))
        before = ask(f"{base}/api/workflows/v/call", {})[1]["result"]
        control.write_bytes(msgspec.json.encode(Shim(failing=True)))
        refused = ask(f"{base}/api/workflows/v/publish", versioned(2))[1]["code"]
        control.write_bytes(msgspec.json.encode(Shim()))
        once_ready(base)
        newest = ask(f"{base}/api/workflows/v/versions")[1]["items"][0]["version"]
        called = ask(f"{base}/api/workflows/v/call", {})[1]["result"]
        [listed] = ask(f"{base}/api/workflows")[1]["items"]

    assert (before, refused) == (1, "outcome_unknown")
    assert (called, listed["published_version"]) == (newest, newest)


def once_ready(base: str) -> None:
    end = time.monotonic() + PATIENCE
    while ask(f"{base}/ready")[0] != 200:
        assert time.monotonic() < end
        time.sleep(0.1)  # it is another process: nothing tells when it tries


def test_c14_a_pause_whose_caller_went_away_is_shown_once_it_is_stored(tmp_path: Path) -> None:
    path = str(tmp_path / "own.db")

    async def main() -> None:
        async with Engine(path) as engine:

            async def shown_as_paused() -> bool:
                return bool((await engine.workflows())[0]["paused"])

            await engine.publish({"penstock": 1, "name": "h", "steps": {"a": {"task": "set"}}})
            await engine.workflows()
            pausing = asyncio.create_task(engine.pause_workflow("h"))
            await asyncio.sleep(0)  # so that it begins
            pausing.cancel()
            await asyncio.wait([pausing])
            await until(shown_as_paused, "the pause to be shown", 10)

    asyncio.run(main())
