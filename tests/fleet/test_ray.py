"""Tasks on a real Ray cluster of two nodes: placed, stopped, and done again when their node dies."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

from penstock import Engine
from penstock.testing.scripted_gate import ScriptedGate
from penstock.workers.bridges.ray import KILL_AFTER, RayCluster
from penstock.workers.bridges.ray_node import _hear_interrupts
from penstock.workers.worker.task_loader import load_tasks
from tests import waiting
from tests.cli.command import write
from tests.cli.serving import serving, shown, started
from tests.fleet.conftest import ROOT, Nodes
from tests.fleet.test_celery import play, until
from tests.waiting import within
from tests.workers.test_worker_rules import PLAIN
from tests.workers.working import reported, working

SOURCE = str(ROOT / "tests/fleet/ray_tasks.py")


def engine_on(cluster: RayCluster) -> Engine:
    tasks = {**load_tasks([SOURCE]), **load_tasks([PLAIN])}
    return Engine(tasks=tasks, fleet=cluster.fleet_for([SOURCE, PLAIN]))


async def ended(cluster: RayCluster, step: dict[str, Any]) -> dict[str, Any]:
    async with engine_on(cluster) as engine:
        await engine.publish({"penstock": 1, "name": "one", "steps": {"step": step}})
        return await engine.wait(await engine.start("one"), 30)


def test_a_task_runs_where_its_resources_are(cluster: RayCluster, nodes: Nodes) -> None:
    nodes.add_far()

    run = play(ended(cluster, {"task": "where"}))

    output = run["steps"]["step"]["output"]
    assert output["has"] == {"CPU": 0.5, "memory": 64 * 2**20, "far": 1.0}
    assert output["node"] != cluster.ray.get_runtime_context().get_node_id()


def test_a_failure_tells_type_message_and_traceback(cluster: RayCluster) -> None:
    run = play(ended(cluster, {"task": "break", "with": {"message": "no disk"}, "retries": 0}))

    error = run["steps"]["step"]["error"]
    assert (error["kind"], error["message"]) == ("error", "RuntimeError: no disk")
    assert "raise RuntimeError(message)" in error["detail"]["traceback"]


def test_a_task_whose_process_dies_is_lost(cluster: RayCluster) -> None:
    run = play(ended(cluster, {"task": "process.kill", "timeout_retries": []}))

    error = run["steps"]["step"]["error"]
    assert (error["kind"], error["message"][:37]) == ("lost", "Ray lost the task: WorkerCrashedError")


def test_a_task_whose_node_is_killed_is_lost_and_done_on_another(
    cluster: RayCluster, nodes: Nodes, tmp_path: Path
) -> None:
    go, names = tmp_path / "go", ("one", "two")
    steps = {
        name: {
            "task": "hold_slot",
            "with": {"begun": str(tmp_path / name), "go": str(go)},
            "timeout_retries": [1],
        }
        for name in names
    }
    nodes.add_far()

    async def main() -> tuple[dict[str, Any], list[Any], list[str]]:
        async with engine_on(cluster) as engine:
            await engine.publish({"penstock": 1, "name": "both", "steps": steps})
            run = await engine.start("both")
            for name in names:
                await until(tmp_path / name)
            nodes.kill_far()
            await waiting.until(lambda: engine.history(run), "the loss of a task", 60, so=errors_in)
            go.touch()
            view = await engine.wait(run, 30)
            return view, await engine.history(run), [line["text"] for line in await engine.logs(run)]

    view, history, lines = play(main())

    assert (view["status"], errors_in(history)) == ("succeeded", ["lost"])
    assert sorted(view["steps"][name]["output"] for name in names) == [1, 2]
    assert lines[-1] == "attempt 2"


def errors_in(history: list[Any]) -> list[str]:
    """What ended attempts that were tried again."""
    return [entry["data"]["error"]["kind"] for entry in history if entry["kind"] == "attempt"]


def test_a_task_that_does_not_listen_is_interrupted(cluster: RayCluster, tmp_path: Path) -> None:
    for attempt in range(TRIES):
        begun, seen = tmp_path / f"begun-{attempt}", tmp_path / f"seen-{attempt}"
        play(stopped(cluster, "interrupted", begun, {"seen": str(seen)}, until_or(seen, 2 * KILL_AFTER)))
        if seen.exists():
            return

    raise AssertionError(f"none of {TRIES} tasks was interrupted")


TRIES = 8
"""Ray loses an interrupt now and then on a busy machine; the process of such a task is killed instead."""


async def until_or(path: Path, seconds: float) -> None:
    """Until the file is there, or so long."""
    await within(seconds, path.exists)


def test_a_task_that_cannot_be_interrupted_is_killed_even_if_ray_drops_the_first_kill(
    cluster: RayCluster, tmp_path: Path
) -> None:
    begun, lock = tmp_path / "begun", tmp_path / "lock"
    forgetful = copy(cluster)
    forgetful.ray = Forgetful(cluster.ray)

    play(stopped(forgetful, "deaf", begun, {"lock": str(lock)}, until_free(lock)))

    assert forgetful.ray.dropped


class Forgetful:
    """Ray, but for the first kill, which it drops as it does while an interrupt is on its way."""

    def __init__(self, ray: Any) -> None:
        self.ray, self.dropped = ray, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ray, name)

    def cancel(self, ref: Any, *, force: bool) -> None:
        if force and not self.dropped:
            self.dropped = True
        else:
            self.ray.cancel(ref, force=force)


async def stopped(cluster: RayCluster, task: str, begun: Path, given: dict[str, str], then: Any) -> None:
    """A task begins, is no longer wanted, and something follows."""
    gate = ScriptedGate()
    more = {"fleet": cluster.fleet_for([SOURCE])}
    async with working(gate, load_tasks([SOURCE]), **more) as worker:
        run = gate.give(task, {"begun": str(begun), **given})
        await until(begun)
        worker.nudge(run, [(1, -1)])
        await then
        assert await reported(gate, gate.give("touch", {"path": str(begun)}))
        assert run not in gate.outcomes()


async def until_free(lock: Path) -> None:
    held = os.open(lock, os.O_RDWR)

    def taken() -> bool:
        with suppress(BlockingIOError):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    try:
        await waiting.until(taken, "the end of all that hold the lock", 60)
    finally:
        os.close(held)


def test_penstock_worker_runs_its_tasks_on_a_cluster(nodes: Nodes, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    flow = write(
        tmp_path,
        "hello.yaml",
        f"penstock: 1\nname: hello\nsteps:\n  one: {{task: touch, with: {{path: {mark}}}}}\n",
    )
    db = str(tmp_path / "runs.db")
    run = started(db, flow)

    options = ("--tasks", SOURCE, "--executor", "ray", "--ray-address", nodes.address)
    with serving("worker", "--db", db, *options, cwd=tmp_path) as worker:
        asyncio.run(asyncio.wait_for(until(mark), 30))
        assert worker.stop().code == 0

    assert shown(db, run)["steps"]["one"]["output"] == "touched"


def test_a_process_that_a_shell_began_in_its_background_hears_interrupts() -> None:
    """Such a process ignores SIGINT, by which Ray interrupts."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _hear_interrupts()

        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
