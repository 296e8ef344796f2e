"""A fleet on Ray: each attempt is a Ray task, placed by the resources that its Penstock task needs."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from penstock.flow.model.run_input import Outcome, TimedOut
from penstock.workers.bridges.ray_node import WAIT, Mailbox, run_attempt
from penstock.workers.context import Context, LogSink
from penstock.workers.execute.fleet import CannotOpen, ExecutorFactory, OnResult
from penstock.workers.execute.frames import Ended as EndedFrame
from penstock.workers.execute.frames import Run, heard, packed, unpacked_up
from penstock.workers.execute.task_call import failure
from penstock.workers.execute.thread_pool import Ended, Landing
from penstock.workers.resources import Resources
from penstock.workers.worker.task_loader import is_file
from penstock.workers.worker.work import Work

LOG = logging.getLogger("penstock.worker")

INTERRUPT_AFTER = 1.0
"""Seconds that a task which listens has to end by itself, before it is interrupted."""

KILL_AFTER = 5.0
"""Seconds that an interrupted task has to clean up, before its process is killed."""

LINES = 2.0
"""Seconds that the end of a task waits for its last lines."""

LISTENERS = 10_000
"""Attempts that may ask the mailbox at a time."""


class RayCluster:
    """A connection to a cluster, or to one that is started here."""

    def __init__(self, address: str | None = None) -> None:
        """Connect. Raises CannotOpen."""
        self.ray = _ray()
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a Ray of our own calls nobody
        try:
            self.ray.init(address, log_to_driver=False, configure_logging=False)
        except Exception as error:
            where = f"at '{address}'" if address else "or started here"
            raise CannotOpen(f"Ray cannot be reached {where}: {str(error).strip()}") from error

    def fleet_for(self, sources: Sequence[str]) -> ExecutorFactory:
        """The tasks of these modules and files run on the cluster; each node must have them."""
        # Other nodes read the same files, and know nothing of the folder we are in.
        return partial(
            RayFleet,
            self.ray,
            tuple(str(Path(each).resolve()) if is_file(each) else each for each in sources),
        )

    def close(self) -> None:
        self.ray.shutdown()

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Flight:
    """One attempt that Ray has."""

    __slots__ = ("heard", "key", "outcome", "ref", "said", "work")

    def __init__(self, key: str, work: Work) -> None:
        self.key, self.work = key, work
        self.ref: Any = None
        self.heard = 0
        self.said = -1  # how many frames there were, once it has ended
        self.outcome: Outcome | None = None


class RayFleet:
    """Begins attempts as Ray tasks. What Ray has not placed yet counts as begun: its queue is not ours."""

    def __init__(
        self,
        ray: Any,
        sources: tuple[str, ...],
        ended: Ended,
        write: LogSink,
        on_progress: OnResult,
        limit: int,
    ) -> None:
        self._ray, self._sources = ray, sources
        self._write, self._on_progress, self._limit = write, on_progress, limit
        self._loop = asyncio.get_running_loop()
        self._landing = Landing(ended)
        self._flights: dict[str, Flight] = {}
        self._leaving: dict[str, Any] = {}
        self._mailbox = _mailbox(self._ray)
        self._remote = self._ray.remote(run_attempt)
        self._hearing = self._loop.create_task(self._hear())

    # -- on the loop ---------------------------------------------------------------------------------------

    def begin(self, works: Iterable[Work]) -> None:
        for work in works:
            key = _key(work)
            flight = self._flights[key] = Flight(key, work)
            work.begun, work.context = True, Context(work.attempt, self._write, self._on_progress)
            try:
                flight.ref = self._launch(flight)
            except Exception as error:
                self._land(flight, failure(error))
                continue
            flight.ref.future().add_done_callback(partial(self._ended, flight))

    def _launch(self, flight: Flight) -> Any:
        work = flight.work
        needs = _options(work.task.resources)
        remote = self._remote.options(name=work.attempt.task, max_retries=0, **needs)
        body = packed(Run(0, work.attempt, self._limit))
        return remote.remote(self._mailbox, flight.key, self._sources, body)

    def cancel(self, work: Work) -> None:
        """Tell it, interrupt it, and kill its process where it does not end."""
        work.void = True
        flight = self._flights.pop(_key(work), None)
        if flight is None:
            return
        self._leaving[flight.key] = flight.ref
        if work.task.takes_context:
            asked = self._mailbox.stop.remote(flight.key).future()
            asked.add_done_callback(partial(self._on_loop, self._interrupt_soon, flight.key))
        else:
            self._interrupt(flight.key)

    def _interrupt_soon(self, key: str, listening: Future[bool]) -> None:
        listens = not listening.cancelled() and listening.exception() is None and listening.result()
        if listens:
            self._loop.call_later(INTERRUPT_AFTER, self._interrupt, key)
        else:
            self._interrupt(key)

    def _interrupt(self, key: str) -> None:
        if key in self._leaving:
            self._stop(key)
            # Again: an interrupt that comes while Ray is about to begin the task is lost.
            self._loop.call_later(KILL_AFTER / 2, self._stop, key)
            self._loop.call_later(KILL_AFTER, self._kill, key)

    def _stop(self, key: str, force: bool = False) -> None:
        ref = self._leaving.get(key)
        if ref is not None:
            try:
                self._ray.cancel(ref, force=force)
            except Exception as error:
                # A cluster that is gone has stopped its tasks with it.
                LOG.warning("a Ray task cannot be stopped: %s", error)

    def _kill(self, key: str) -> None:
        """Until it has ended: Ray drops a kill that comes while an interrupt is on its way."""
        if key in self._leaving:
            self._stop(key, force=True)
            self._loop.call_later(KILL_AFTER, self._kill, key)

    def take_back(self) -> list[Work]:
        return []

    async def close(self, timeout: float = 1.0) -> None:
        until = self._loop.time() + timeout
        while self._leaving and self._loop.time() < until:
            await asyncio.sleep(0.02)
        for key in list(self._leaving):
            self._stop(key, force=True)
        self._leaving.clear()
        self._hearing.cancel()
        await asyncio.gather(self._hearing, return_exceptions=True)
        self._ray.kill(self._mailbox)

    async def _hear(self) -> None:
        """Lines and progress of all attempts, as they come."""
        while True:
            try:
                said = await self._mailbox.hear.remote(WAIT)
            except Exception as error:
                LOG.warning("what tasks say cannot be heard now: %s", error)
                await asyncio.sleep(1.0)
                continue
            for key, frames in said.items():
                if (flight := self._flights.get(key)) is not None:
                    self._take(flight, frames)

    def _take(self, flight: Flight, frames: list[bytes]) -> None:
        for body in frames:
            heard(unpacked_up(body), flight.work.attempt, flight.work.context, self._write)
        flight.heard += len(frames)
        self._land_if_heard(flight)

    def _land_if_heard(self, flight: Flight) -> None:
        if flight.outcome is not None and flight.heard >= flight.said:
            self._land(flight, flight.outcome)

    def _land(self, flight: Flight, outcome: Outcome) -> None:
        if self._flights.pop(flight.key, None) is not None:
            self._landing.tell(flight.work, outcome)

    # -- in threads of Ray ---------------------------------------------------------------------------------

    def _ended(self, flight: Flight, future: Future[tuple[bytes, int]]) -> None:
        self._on_loop(self._arrived, flight, *_outcome(self._ray, flight.work, future))

    def _arrived(self, flight: Flight, outcome: Outcome, said: int) -> None:
        self._leaving.pop(flight.key, None)
        if flight.work.task.takes_context:
            self._mailbox.forget.remote(flight.key)
        if flight.key not in self._flights:
            return
        flight.outcome, flight.said = outcome, said
        self._land_if_heard(flight)
        if flight.key in self._flights:  # its lines are on the way
            self._loop.call_later(LINES, self._land, flight, outcome)

    def _on_loop(self, call: Any, *values: Any) -> None:
        # A loop that was closed meanwhile has nobody who waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, *values)


def _key(work: Work) -> str:
    lease = work.lease
    return f"{lease.run}.{lease.firing}.{lease.index}.{lease.attempt}.{lease.fence}"


def _outcome(ray: Any, work: Work, future: Future[tuple[bytes, int]]) -> tuple[Outcome, int]:
    """How a Ray task ended, and how many frames it said."""
    error = future.exception()
    if error is None:
        body, said = future.result()
        frame = unpacked_up(body)
        assert isinstance(frame, EndedFrame)
        ended = frame.done or frame.failed
        assert ended is not None
        return ended, said
    if isinstance(error, ray.exceptions.RayTaskError):
        return failure(error.cause if isinstance(error.cause, Exception) else error), 0
    if isinstance(error, ray.exceptions.TaskCancelledError):
        return failure(asyncio.CancelledError("its Ray task was cancelled")), 0
    message = f"Ray lost the task: {type(error).__name__}: {str(error).strip().splitlines()[0]}"
    if not work.void:
        LOG.warning("task %s of run %s is lost: %s", work.attempt.task, work.lease.run, message)
    return TimedOut("lost", message[:2000]), 0


def _options(needs: Resources) -> dict[str, Any]:
    options: dict[str, Any] = {"num_cpus": needs.cpus, "num_gpus": needs.gpus}
    if needs.memory is not None:
        options["memory"] = needs.memory
    if needs.others:
        options["resources"] = needs.others
    return options


def _mailbox(ray: Any) -> Any:
    """The mailbox, on the worker's own node where that can be: another one that dies must not take it along."""
    options: dict[str, Any] = {"num_cpus": 0, "max_concurrency": LISTENERS, "max_restarts": -1}
    options["scheduling_strategy"] = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=False
    )
    return ray.remote(Mailbox).options(**options).remote()


def _ray() -> Any:
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.util.scheduling_strategies")
    except ModuleNotFoundError:
        raise CannotOpen("Ray is not installed here: install penstock[ray]") from None
    return ray
