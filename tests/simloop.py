"""An event loop without a world: time is a number, chance is seeded, and processes can be killed and stopped.

Any asyncio code runs on it unchanged. What is ready runs in a seeded random order, so that every seed is another
interleaving, and one seed is always the same one. When nothing is ready, time jumps to the next timer.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from random import Random
from threading import get_ident
from typing import Any, Literal, TypeVar
from weakref import WeakSet

T = TypeVar("T")
Order = Literal["shuffled", "fifo"]

MOST_STEPS = 5_000_000
_AT_A_TIME = 100  # callbacks before anybody looks whether the loop is to stop for another reason
_LAST_STEPS = 20_000  # for what is left to clean up when a simulation is over


class SimulationError(Exception):
    """The simulation cannot go on."""


class Deadlock(SimulationError):
    """Everything waits, and nothing is left that could end the waiting."""


class TooManySteps(SimulationError):
    """The simulation goes on and on: something spins."""


class Crashed(SimulationError):
    """A callback raised, or a task failed and nobody asked for its result."""


class Gone(SimulationError):
    """The process that was called is dead, or died before it answered."""


class Process:
    """Code that lives and dies together: what is started inside it, however indirectly, is part of it.

    A killed process runs no more, not even its `finally`. A paused one runs nothing until it is resumed; what fell
    due meanwhile then comes all at once.
    """

    def __init__(self, loop: SimLoop, name: str) -> None:
        self.loop, self.name = loop, name
        self.alive, self.paused = True, False
        self.tasks: WeakSet[asyncio.Task[Any]] = WeakSet()
        self._aside: list[asyncio.Handle] = []
        self._kept: list[asyncio.Task[Any]] = []
        self.lines: dict[Callable[[], object], None] = {}  # how those who serve it learn that it died
        self._answers: dict[asyncio.Future[Any], None] = {}  # in order: a set would answer in any

    def __repr__(self) -> str:
        return f"<process {self.name}>"

    def spawn(self, work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        """Start a task inside the process."""
        context = copy_context()
        context.run(_process.set, self)
        return self.loop.create_task(work, name=name or self.name, context=context)

    async def call(
        self, work: Callable[[], Coroutine[Any, Any, T]], withdraw: bool = False, at_hand: bool = False
    ) -> T:
        """Ask the process from outside, as over a wire. Raises Gone, and whatever `work` raises.

        A caller that is cancelled leaves the work behind; with `withdraw` the work is cancelled too. With
        `at_hand` an answer that came before the cancelling is given all the same.
        """
        if not self.alive:
            raise Gone(f"{self.name} is not there")
        answer: asyncio.Future[T] = self.loop.create_future()
        self._answers[answer] = None
        task = self.spawn(self._serve(work, answer), f"call of {self.name}")
        caller = _process.get() if withdraw else None
        if caller is not None:
            caller.lines[task.cancel] = None
        try:
            return await answer
        except asyncio.CancelledError:
            if not at_hand or self.loop.burying or not answer.done() or answer.cancelled():
                raise
            return answer.result()
        finally:
            self._answers.pop(answer, None)
            if withdraw:
                task.cancel()
            if caller is not None:
                caller.lines.pop(task.cancel, None)

    async def _serve(self, work: Callable[[], Coroutine[Any, Any, T]], answer: asyncio.Future[T]) -> None:
        try:
            result = await work()
        except Exception as error:
            _fail(answer, error)
        else:
            if not answer.done():
                answer.set_result(result)

    def kill(self) -> None:
        """Nothing of it runs any more; who waits for its answer hears that it is gone."""
        self.alive = False
        self._kept = list(self.tasks)  # to the end: to collect a task that waits would run its `finally`
        for answer in self._answers:
            _fail(answer, Gone(f"{self.name} died"))
        self._answers.clear()
        for hang_up in self.lines:
            hang_up()
        self.lines.clear()

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False
        if self.alive:
            self.let_go()

    def holds_back(self, handle: asyncio.Handle) -> bool:
        """Whether the callback must not run now; it is kept then."""
        if self.alive and not self.paused:
            return False
        self._aside.append(handle)
        return True

    def let_go(self) -> None:
        """What was held back is ready."""
        self.loop.ready_again(self._aside)
        self._aside = []


_process: ContextVar[Process | None] = ContextVar("process", default=None)


def current_process() -> Process | None:
    """The process whose code runs now; None: the simulation itself."""
    return _process.get()


def _fail(answer: asyncio.Future[Any], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
        answer.exception()  # its caller may be dead: nobody has to ask for it


class SimLoop(asyncio.BaseEventLoop):
    """A loop on virtual time. One thread, no sockets, executors run inline."""

    _ready: deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]
    _timer_cancelled_count: int
    _stopping: bool
    _thread_id: int | None

    def __init__(self, seed: int = 0, order: Order = "shuffled", most_steps: int = MOST_STEPS) -> None:
        super().__init__()
        self.steps, self.seed, self.most_steps = 0, seed, most_steps
        self._chance = Random(seed) if order == "shuffled" else None
        self._time = 0.0
        self._failure: BaseException | None = None
        self.burying = False
        self._processes: list[Process] = []

    def time(self) -> float:
        return self._time

    def process(self, name: str) -> Process:
        """A new process, without anything in it."""
        self._processes.append(Process(self, name))
        return self._processes[-1]

    def fingerprint(self) -> tuple[int, float, int]:
        """The same for two runs exactly if (but for bad luck) they took the same steps at the same times."""
        return self.steps, self._time, hash(self._chance.getstate()) if self._chance else 0

    def create_task(
        self, coro: Any, *, name: object = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        task = super().create_task(coro, name=name, context=context)
        process = _process.get() if context is None else context.get(_process)
        if process is not None:
            process.tasks.add(task)
        return task

    def ready_again(self, handles: list[asyncio.Handle]) -> None:
        self._ready.extend(handles)

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """Run it here and now: a thread would bring another order at every run."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """The first failure ends the simulation, but for those of the dead."""
        error = context.get("exception")
        task = context.get("future") or context.get("task")
        of_the_dead = any(not process.alive and task in process.tasks for process in self._processes)
        if error is not None and self._failure is None and not of_the_dead:
            self._failure = error

    def _write_to_self(self) -> None:
        if self._thread_id not in (None, get_ident()):
            raise SimulationError(
                "another thread called into the simulation: it would be different at every run"
            )

    def _run_once(self) -> None:
        """Some callbacks, one after the other: of all that is ready, each time whichever chance takes."""
        for _ in range(_AT_A_TIME):
            self._run_one()
            if self._stopping:
                return

    def _run_one(self) -> None:
        timers = self._scheduled
        if not self._ready or (timers and timers[0]._when <= self._time):  # type: ignore[attr-defined]
            self._collect_due()
            if not self._ready:
                return
        handle = self._take()
        if handle._cancelled:
            return
        process: Process | None = handle._context.get(_process)  # type: ignore[attr-defined]
        if process is not None and not self.burying and process.holds_back(handle):
            return
        self.steps += 1
        handle._run()
        if self._failure is not None and not self.burying:
            error, self._failure = self._failure, None
            raise Crashed(f"seed {self.seed}, after {self._time:.3f} s: {error!r}") from error
        if self.steps > self.most_steps:
            raise TooManySteps(f"seed {self.seed}: more than {self.most_steps:,} steps; {self._pending()}")

    def _take(self) -> asyncio.Handle:
        ready = self._ready
        if self._chance is None or len(ready) == 1:
            return ready.popleft()
        at = int(self._chance.random() * len(ready))
        ready[at], ready[-1] = ready[-1], ready[at]
        return ready.pop()

    def _collect_due(self) -> None:
        """Move timers whose time has come to what is ready; where nothing is ready, the next time comes now."""
        timers = self._scheduled
        while timers and timers[0].cancelled():
            self._drop_timer()
        if not self._ready and not self._stopping:
            if not timers:
                raise Deadlock(
                    f"seed {self.seed}, after {self._time:.3f} s: everything waits; {self._pending()}"
                )
            self._time = max(self._time, timers[0].when())
        while timers and timers[0].when() <= self._time:
            self._ready.append(self._drop_timer())

    def _drop_timer(self) -> asyncio.TimerHandle:
        timer = heapq.heappop(self._scheduled)
        if timer.cancelled():
            self._timer_cancelled_count -= 1
        timer._scheduled = False  # type: ignore[attr-defined]
        return timer

    def _pending(self) -> str:
        lines = sorted(_where(task) for task in asyncio.all_tasks(self) if not task.done())
        return f"{len(lines)} {'task waits' if len(lines) == 1 else 'tasks wait'}:\n" + "\n".join(lines[:50])

    def bury(self) -> None:
        """Cancel all that is left, dead or alive, and let it clean up; what that raises does not matter."""
        self.burying = True
        self.most_steps = self.steps + _LAST_STEPS
        for process in self._processes:
            process.let_go()
        tasks = sorted(
            (task for task in asyncio.all_tasks(self) if not task.done()), key=asyncio.Task.get_name
        )
        for task in tasks:
            task.cancel()
        if tasks:
            try:
                self.run_until_complete(asyncio.wait(tasks))
            except SimulationError:
                for task in tasks:
                    task._log_destroy_pending = False  # type: ignore[attr-defined]


def _where(task: asyncio.Task[Any]) -> str:
    stack = task.get_stack(limit=1)
    place = f"{stack[0].f_code.co_filename}:{stack[0].f_lineno}" if stack else "?"
    return f"  {task.get_name()}: {getattr(task.get_coro(), '__qualname__', '?')} at {place}"


def run_simulated(
    main: Callable[[SimLoop], Coroutine[Any, Any, T]],
    seed: int = 0,
    order: Order = "shuffled",
    most_steps: int = MOST_STEPS,
) -> T:
    """What `main` comes to, in no time. Raises Deadlock, TooManySteps, Crashed, and whatever `main` raises."""
    loop = SimLoop(seed, order, most_steps)
    try:
        return loop.run_until_complete(main(loop))
    finally:
        loop.bury()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
