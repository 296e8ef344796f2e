"""The tasks of the worker rules as plain functions, and some that treat their process badly."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from penstock import Context, Fatal, task


def wait_for(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.005)  # a task in another process: a file ends it


@task
def echo(value: Any = None) -> Any:
    return value


@task
def fail(message: str) -> None:
    raise RuntimeError(message)


@task
def fail_for_good(message: str) -> None:
    raise Fatal(message)


@task
def hold(begun: str, go: str) -> str:
    Path(begun).touch()
    wait_for(go)
    return "held"


@task
def until_canceled(ctx: Context, begun: str, seen: str) -> None:
    Path(begun).touch()
    while not ctx.canceled:
        time.sleep(0.005)  # it works until it is canceled
    Path(seen).touch()


@task
def tell(ctx: Context, lines: list[str], progress: Any, go: str) -> str:
    for line in lines:
        ctx.log(line)
    ctx.heartbeat(progress)
    wait_for(go)
    return "told"


@task("process.exit")
def exit_at_once(code: int) -> None:
    os._exit(code)


@task("process.kill")
def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@task("process.deaf")
def deaf(begun: str, lock: str) -> None:
    """Does not look whether it is wanted, and starts a process that does not either; both hold the lock."""
    with open(lock, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        # It works until it is killed.
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=[held.fileno()])
        Path(begun).touch()
        while True:
            time.sleep(0.005)  # it works until it is killed


@task("process.print")
def print_aloud(ctx: Context) -> dict[str, Any]:
    print("standard output is not the pipe")
    sys.stdout.flush()
    return {
        "pid": os.getpid(),
        "stdin": sys.stdin.read(),
        "run": ctx.run["id"],
        "data": ctx.data,
        "events": ctx.events,
    }
