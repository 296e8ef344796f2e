"""Tasks for a Ray cluster: some say where they are, some do not want to end."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Any

from penstock import Context, task


@task(resources={"cpus": 0.5, "memory": "64MiB", "far": 1})
def where() -> dict[str, Any]:
    import ray

    context: Any = ray.get_runtime_context()
    return {"node": context.get_node_id(), "has": context.get_assigned_resources()}


@task(resources={"cpus": 0.5, "slot": 1})
def hold_slot(ctx: Context, begun: str, go: str) -> int:
    """One at a time on each node."""
    ctx.log("attempt %d", ctx.attempt)
    Path(begun).touch()
    while not Path(go).exists():
        time.sleep(0.01)  # a task in another process: a file ends it
    return ctx.attempt


@task
def interrupted(begun: str, seen: str) -> None:
    """Knows nothing of its context."""
    try:
        Path(begun).touch()  # inside: it may be interrupted at once
        while True:
            time.sleep(0.01)  # it works until it is interrupted
    finally:
        Path(seen).touch()


@task
def deaf(begun: str, lock: str) -> None:
    """Does not even let itself be interrupted; has the lock as long as its process lives."""
    held = os.open(lock, os.O_CREAT | os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    Path(begun).touch()
    while True:
        try:
            time.sleep(0.01)  # it works until it is killed
        except KeyboardInterrupt:
            continue


@task
def touch(path: str) -> str:
    Path(path).touch()
    return "touched"


@task("break")
def break_down(message: str) -> None:
    raise RuntimeError(message)
