"""What every neighbour's program needs: its orders, its figures as lines of JSON, its child processes.

Python's own library only: each neighbour has an environment of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
_children: list[subprocess.Popen[bytes]] = []


class Orders:
    """What is to be measured, and where. `began` is when the program was launched, by `time.time()`.

    Without `runs`, `fans` or seconds to be `idle` that is not asked for. `parts` is for Penstock alone: the runs of W1
    are done in so many, with the floor before and after each. `long`: there is time for what takes long.
    """

    def __init__(self, text: str) -> None:
        asked = json.loads(text)
        self.began: float = asked["began"]
        self.store: str = asked.get("store", "")
        self.url: str = asked.get("url", "")
        self.folder = Path(asked["folder"])
        self.runs: int = asked["runs"]
        self.fans: list[int] = asked["fans"]
        self.singles: int = asked["singles"]
        self.idle: float = asked["idle"]
        self.parts: int = asked.get("parts", 1)
        self.long: bool = asked.get("long", True)
        self.wants: list[str] = asked.get("wants", [])

    def launched(self) -> None:
        """The first run has ended: how long that took, then what the programs cost while nothing happens."""
        if not self.idle:
            return
        emit("W4 first run", time.time() - self.began, "s")
        if _group():  # where the system tells
            processor, memory = resting(self.idle)
            emit("W4 processor", processor, "%")
            emit("W4 memory", memory, "MB")


def emit(work: str, value: float, unit: str, variant: str = "") -> None:
    """One figure, on a line."""
    print(json.dumps({"work": work, "variant": variant, "value": value, "unit": unit}), flush=True)


def tell(**facts: Any) -> None:
    """Facts that are no figure, such as versions."""
    print(json.dumps({"facts": facts}), flush=True)


@contextlib.contextmanager
def attempt(work: str, variant: str = "") -> Iterator[None]:
    """What goes wrong inside is a line, not an end."""
    try:
        yield
    except Exception as error:
        traceback.print_exc()
        said = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        print(json.dumps({"work": work, "variant": variant, "error": said}), flush=True)


def main(does: Callable[[Orders], None], *packages: str) -> None:
    """Do what the command line asks for; children end with us."""
    orders = Orders(sys.argv[1])
    with contextlib.suppress(Exception):
        tell(versions={name: version(name) for name in packages})
    try:
        with attempt("all"):
            does(orders)
    finally:
        end_children()
        sys.stdout.flush()
        if os.getpgrp() == os.getpid():  # as in a session: whatever our children started ends, too
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(0)  # libraries with threads of their own would have us wait for them


# -- timing ------------------------------------------------------------------------------------------------


def emit_latency(millis: Sequence[float], variant: str = "", work: str = "W3") -> None:
    """Median and 95th percentile, which fewer than twenty do not have."""
    ordered = sorted(millis)
    emit(f"{work} median", ordered[len(ordered) // 2], "ms", variant)
    if len(ordered) >= 20:
        emit(f"{work} p95", ordered[math.ceil(len(ordered) * 0.95) - 1], "ms", variant)


def one_by_one(does: Callable[[], Any], count: int, variant: str = "") -> None:
    """W3: single runs, one after the other, after one that does not count."""
    does()
    emit_latency([_millis(does) for _ in range(count)], variant)


def _millis(does: Callable[[], Any]) -> float:
    began = time.perf_counter()
    does()
    return (time.perf_counter() - began) * 1000


async def one_by_one_async(
    does: Callable[[], Coroutine[Any, Any, Any]], count: int, variant: str = ""
) -> None:
    """W3 of a client that is asynchronous."""
    await does()
    millis = []
    for _ in range(count):
        began = time.perf_counter()
        await does()
        millis.append((time.perf_counter() - began) * 1000)
    emit_latency(millis, variant)


def saturate(does: Callable[[], Any], runs: int, at_a_time: int, variant: str = "") -> None:
    """W1: runs a second with so many threads that each have one under way."""
    if not runs:
        return
    left = iter(range(runs))
    guard = threading.Lock()
    wrong: list[Exception] = []

    def work() -> None:
        while not wrong:
            with guard:
                if next(left, None) is None:
                    return
            try:
                does()
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(runs, at_a_time))]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]
    emit("W1", runs / (time.perf_counter() - began), "runs/s", variant)


async def saturate_async(
    does: Callable[[], Coroutine[Any, Any, Any]],
    runs: int,
    at_a_time: int,
    gather: Callable[..., Any],
    variant: str = "",
) -> None:
    """W1 of a client that is asynchronous; `gather` is asyncio's."""
    left = iter(range(runs))

    async def work() -> None:
        for _ in left:
            await does()

    began = time.perf_counter()
    await gather(*(work() for _ in range(min(runs, at_a_time))))
    emit("W1", runs / (time.perf_counter() - began), "runs/s", variant)


def fan(does: Callable[[int], Any], sizes: Sequence[int], variant: str = "") -> None:
    """W2: seconds of 1 → N → 1, after a small one that does not count."""
    if not sizes:
        return
    does(3)
    for size in sizes:
        emit(f"W2 {size}", _millis(lambda size=size: does(size)) / 1000, "s", variant)  # type: ignore[misc]


async def fan_async(
    does: Callable[[int], Coroutine[Any, Any, Any]], sizes: Sequence[int], variant: str = ""
) -> None:
    """W2 of a client that is asynchronous."""
    await does(3)
    for size in sizes:
        began = time.perf_counter()
        await does(size)
        emit(f"W2 {size}", time.perf_counter() - began, "s", variant)


# -- processes ---------------------------------------------------------------------------------------------


def spawn(command: Sequence[str], log: Path, **more: Any) -> subprocess.Popen[bytes]:
    """A server or a worker: it is in our process group, writes to a file, and ends when we do."""
    with log.open("ab") as file:
        child = subprocess.Popen(
            list(command), stdin=subprocess.DEVNULL, stdout=file, stderr=file, preexec_fn=_die_with_us, **more
        )
    _children.append(child)
    return child


def _die_with_us() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))


def end_children() -> None:
    for child in _children:
        child.kill()
    for child in _children:
        child.wait()
    _children.clear()


def free_port() -> int:
    """A port of the loopback that nobody has just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(ready: Callable[[], bool], seconds: float, what: str) -> None:
    """Look often until something is so. Raises TimeoutError; an error while looking means not yet."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(Exception):
            if ready():
                return
        time.sleep(0.02)
    raise TimeoutError(f"{what} did not come within {seconds:g} seconds")


def listens(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), 0.2):
        return True


# -- what the programs cost at rest ------------------------------------------------------------------------


def resting(seconds: float) -> tuple[float, float]:
    """Percent of one processor, and megabytes, of this process and all of its group."""
    before = sum(_processor(pid) for pid in _group())
    time.sleep(seconds)
    after = sum(_processor(pid) for pid in _group())
    return 100 * max(0.0, after - before) / seconds, sum(_memory(pid) for pid in _group())


def _group() -> list[int]:
    mine, found = os.getpgrp(), []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if os.getpgid(int(path.name)) == mine:
                found.append(int(path.name))
    return found


def _processor(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    try:
        lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return int(lines["VmRSS"].split()[0]) / 1024
    except (OSError, KeyError):
        return 0.0
