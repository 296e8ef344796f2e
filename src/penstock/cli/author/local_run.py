"""One run here, in memory: in real time with threads, or on a clock that jumps."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import RunId, Snapshot
from penstock.runtime.errors import RunEnded
from penstock.runtime.inmemory.engine import InMemoryEngine, InMemoryRun
from penstock.runtime.inmemory.play import play_out
from penstock.runtime.node.clock import LoopClock, VirtualClock
from penstock.runtime.node.ids import new_run_id
from penstock.workers.context import Context, LogSink
from penstock.workers.execute.event_loop import LoopExecutor
from penstock.workers.execute.inline import InlineExecutor
from penstock.workers.task import Out, Task, make_task

LOOK_EVERY = 0.1
"""Seconds between two looks at a run, for showing it."""


class Played(Struct, frozen=True):
    """A run that came to rest, or was interrupted."""

    run: InMemoryRun
    interrupted: bool = False


Begin = Callable[[InMemoryEngine], RunId]
Follower = Callable[[InMemoryRun], None]
"""Shows a run while it goes on."""


def stub(flow: Flow, name: str) -> Task:
    """A task that does nothing: it ends on `done`, or on the first port that is no failure, with null."""

    def nothing(ctx: Context, **params: Any) -> Out:
        ports = [port for port in flow.steps[ctx.step].ports if port != "failed"]
        return Out(port="done" if "done" in ports or not ports else ports[0])

    return make_task(nothing, name)


def log_to(say: Callable[[str], None]) -> LogSink:
    """Says what tasks write with `ctx.log`, each line with its step."""

    def write(attempt: Attempt, level: str, text: str) -> None:
        item = "" if attempt.index is None else f"[{attempt.index}]"
        loud = "" if level == "info" else f"{level}: "
        say(f"{attempt.step}{item}: {loud}{text}")

    return write


def play_fast(
    tasks: Mapping[str, Task], begin: Begin, follow: Follower, say: Callable[[str], None]
) -> Played:
    """Run on a virtual clock: tasks one after the other, waits and backoffs pass at once."""
    clock, executor = VirtualClock(datetime.now(UTC)), InlineExecutor(tasks, log=log_to(say))
    host = InMemoryEngine(clock, executor, new_run_id)

    def look() -> bool:
        follow(run)
        return False

    try:
        with redirect_stdout(sys.stderr):  # what tasks print must not end up between the lines of the answer
            run = host.run_of(begin(host))
            play_out(host, clock, run.snapshot.run.id, stop=look)
            follow(run)
    finally:
        executor.close()
    return Played(run)


def play_real(
    tasks: Mapping[str, Task], begin: Begin, follow: Follower, say: Callable[[str], None]
) -> Played:
    """Run in real time; Ctrl-C cancels the run with its clean-up, a second one quits."""
    with redirect_stdout(sys.stderr):
        return asyncio.run(_play_real(tasks, begin, follow, say))


async def _play_real(
    tasks: Mapping[str, Task], begin: Begin, follow: Follower, say: Callable[[str], None]
) -> Played:
    loop = asyncio.get_running_loop()
    executor = LoopExecutor(loop, tasks, log=log_to(say))
    host = InMemoryEngine(LoopClock(loop), executor, new_run_id)
    rest = _Rest(host, executor, say)
    loop.set_exception_handler(rest.broke)
    try:
        with rest.interruptible(loop):
            run = host.run_of(begin(host))
            run.watchers.append(rest.look)
            rest.run = run.snapshot.run.id
            rest.look(run.snapshot)
            while not await rest.reached(LOOK_EVERY):
                follow(run)
            follow(run)
    finally:
        executor.close()
    return Played(run, rest.interrupts > 0)


class _Rest:
    """When a run in real time is over: at rest, interrupted twice, or broken."""

    def __init__(self, host: InMemoryEngine, executor: LoopExecutor, say: Callable[[str], None]) -> None:
        self.host, self.executor = host, executor
        self.say = say
        self.run: RunId | None = None
        self.interrupts = 0
        self.error: BaseException | None = None
        self.over = asyncio.Event()

    def look(self, snapshot: Snapshot) -> None:
        waits = snapshot.status == "waiting" and not self.executor.busy  # a stand-in may still answer
        if snapshot.ended or waits or snapshot.status == "stalled":
            self.over.set()

    async def reached(self, seconds: float) -> bool:
        """Wait a while; True: it is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.over.wait(), seconds)
        if self.error is not None:
            raise self.error
        return self.over.is_set()

    def broke(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An error in a callback would else be printed, and the run hang for ever."""
        self.error = context.get("exception") or RuntimeError(str(context.get("message")))
        self.over.set()

    @contextmanager
    def interruptible(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        try:
            loop.add_signal_handler(signal.SIGINT, self.interrupt)
        except (NotImplementedError, RuntimeError, ValueError):
            # No signals here (Windows, or not the main thread): Ctrl-C stays a plain KeyboardInterrupt.
            yield
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def interrupt(self) -> None:
        self.interrupts += 1
        if self.run is None or self.interrupts > 1:
            self.over.set()
            return
        self.say("canceling the run; Ctrl-C again quits at once")
        try:
            self.host.cancel(self.run)
        except RunEnded:
            self.over.set()
