"""A fleet of Celery workers: tasks go to the real broker, results come from the result backend."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from penstock.flow.model.plan import Attempt
from penstock.flow.model.retry_policy import Backoff
from penstock.flow.model.run_input import TimedOut
from penstock.workers.bridges.celery_app import Call, call_of
from penstock.workers.bridges.celery_results import ENDED, Meta, outcome_of, progress_of, read_many
from penstock.workers.context import Context, LogSink
from penstock.workers.execute.fleet import ExecutorFactory, OnResult
from penstock.workers.execute.task_call import failure
from penstock.workers.execute.thread_pool import Ended, Landing
from penstock.workers.worker.work import NEVER, SHARE, Work

LOG = logging.getLogger("penstock.worker")
AGAIN = Backoff(initial=timedelta(seconds=0.1), max=timedelta(seconds=5), jitter=0.3)

SOONEST, LATEST = 0.02, 0.5
"""Seconds between two looks at results: a tenth of the time that the youngest task is under way."""

KILL_AFTER = 5.0
"""Seconds that a task has to end after SIGTERM, before SIGKILL."""

LATE = 5.0
"""Seconds after the deadline when Celery itself kills a task, where nobody is left to revoke it."""

ALIVE = 60.0
"""Seconds that a worker which has a task may be silent, where the step has no `heartbeat` time-out."""

REPLY = 1.0
"""Seconds that Celery workers have to say which tasks they have."""

TICK = 0.25
"""Seconds between two looks whether workers must be asked."""

FIRST = 1.0
"""Seconds after which workers are asked for a task for the first time."""

INSTALLATION = "penstock"


def celery_executor_factory(app: Any, installation: str = INSTALLATION) -> ExecutorFactory:
    """Tasks are sent by this Celery app; what it calls them begins with the name of the installation."""
    return partial(CeleryFleet, app, installation)


def task_id(installation: str, attempt: Attempt, number: int | None = None) -> str:
    """What Celery calls an attempt: always the same, so that it can be told whether it was sent."""
    return f"{installation}-{attempt.id}-{number or attempt.attempt}"


class Flight:
    """One attempt that Celery has."""

    __slots__ = ("alive", "id", "look_at", "said", "seen_at", "sent_at", "work")

    def __init__(self, id: str, work: Work, at: float) -> None:
        self.id, self.work, self.sent_at = id, work, at
        self.seen_at = NEVER  # when a worker said last that it has the task
        self.said: Any = None
        heartbeat = work.attempt.timeouts.heartbeat
        self.alive = ALIVE if heartbeat is None else heartbeat.total_seconds()
        self.looked(at, False)

    def looked(self, at: float, seen: bool) -> None:
        """Soon at first, then less and less often: most tasks are short, and most workers live."""
        self.look_at = at + min(self.alive / SHARE, max(FIRST, at - self.sent_at))
        if seen:
            self.seen_at = at


class CeleryFleet:
    """Any number of tasks in flight with three threads: one sends and revokes, one reads results, one looks after
    tasks whose worker may have died."""

    def __init__(
        self, app: Any, installation: str, ended: Ended, write: LogSink, on_progress: OnResult, limit: int
    ) -> None:
        self._app, self._installation, self._write, self._on_progress = app, installation, write, on_progress
        self._limit = limit
        self._landing = Landing(ended)
        self._unsent: deque[Work] = deque()
        self._revoke: deque[str] = deque()
        self._doomed: deque[tuple[float, str]] = deque()  # revoked: when they are killed
        self._flights: dict[str, Flight] = {}
        self._lock = threading.Lock()  # whether a work is void, and whether it was begun
        self._closed, self._orders, self._airborne = threading.Event(), threading.Event(), threading.Event()
        background_tasks = {"send": self._post, "read results": self._watch, "look after workers": self._look}
        self._threads = [
            threading.Thread(target=self._forever, args=each, name="penstock-celery", daemon=True)
            for each in background_tasks.items()
        ]
        for thread in self._threads:
            thread.start()

    # -- on the loop ---------------------------------------------------------------------------------------

    def begin(self, works: Iterable[Work]) -> None:
        for work in works:
            work.context = Context(work.attempt, self._write, self._on_progress)
            self._unsent.append(work)
        self._orders.set()

    def cancel(self, work: Work) -> None:
        with self._lock:
            work.void = True
            begun = work.begun
        if begun:
            id = task_id(self._installation, work.attempt)
            self._flights.pop(id, None)
            self._revoke.append(id)
            self._orders.set()

    def take_back(self) -> list[Work]:
        with self._lock:
            back = [work for work in self._unsent if not work.begun and not work.void]
            for work in back:
                work.void = True
        return back

    def at_workers(self) -> set[str]:
        """The tasks that a worker is known to have; of the others it cannot be told whether they are queued."""
        return {flight.id for flight in list(self._flights.values()) if flight.seen_at != NEVER}

    async def close(self, timeout: float = 1.0) -> None:
        """What was revoked is still told to Celery, where its broker answers in time."""
        self._closed.set()
        self._orders.set()
        self._airborne.set()
        until = time.monotonic() + timeout
        for thread in self._threads:
            await asyncio.to_thread(thread.join, max(0.0, until - time.monotonic()))

    # -- in threads ----------------------------------------------------------------------------------------

    def _forever(self, what: str, chore: Any) -> None:
        """Do a chore again and again; whatever Celery raises is tried again later."""
        failures = 0
        while not self._closed.is_set() or (chore == self._post and self._revoke and not failures):
            try:
                chore()
                failures = 0
            except Exception as error:
                failures += 1
                LOG.warning("the Celery bridge cannot %s now: %s", what, error)
                self._orders.set()
                self._closed.wait(AGAIN.delay(failures, what).total_seconds())

    def _post(self) -> None:
        """Wait for orders, and carry them out."""
        soon = self._doomed[0][0] - time.monotonic() if self._doomed else None
        self._orders.wait(None if soon is None else max(0.0, soon))
        self._orders.clear()
        self._withdraw()
        if not self._closed.is_set():
            self._send()

    def _withdraw(self) -> None:
        now = time.monotonic()
        doomed = [id for at, id in list(self._doomed) if at <= now]
        if doomed:
            self._app.control.revoke(doomed, terminate=True, signal="SIGKILL")
            for _ in doomed:
                self._doomed.popleft()
        ids = list(self._revoke)
        if ids:
            self._app.control.revoke(ids, terminate=True, signal="SIGTERM")
            self._doomed.extend((now + KILL_AFTER, id) for id in ids)
            for _ in ids:
                self._revoke.popleft()

    def _send(self) -> None:
        works = list(self._unsent)
        known = self._known([work for work in works if not work.void])
        for work in works:
            self._send_one(work, known)
            self._unsent.popleft()  # only now: an error leaves it first in the queue

    def _known(self, works: list[Work]) -> dict[str, Meta]:
        """What there is of these attempts and of those before; one before that still runs is revoked."""
        attempts = [work.attempt for work in works]
        before = [
            task_id(self._installation, each, each.attempt - 1) for each in attempts if each.attempt > 1
        ]
        known = read_many(self._app, [*(task_id(self._installation, each) for each in attempts), *before])
        left = [id for id in before if id not in known or known[id]["status"] not in ENDED]
        if left:
            self._app.control.revoke(left, terminate=True, signal="SIGTERM")
        return known

    def _send_one(self, work: Work, known: dict[str, Meta]) -> None:
        from kombu.exceptions import OperationalError

        with self._lock:
            if work.void:
                return
            work.begun = True
        id = task_id(self._installation, work.attempt)
        try:
            call = call_of(self._app, work.attempt)
            if id not in known:  # else it was sent before, and somebody began it
                self._apply(call, id, work)
        except Exception as error:
            if isinstance(error, OperationalError | OSError):  # of the broker, not of the task
                with self._lock:
                    work.begun = False
                raise
            self._landing.tell(work, failure(error))
            return
        with self._lock:
            if not work.void:
                self._flights[id] = Flight(id, work, time.monotonic())
        self._airborne.set()

    def _apply(self, call: Call, id: str, work: Work) -> None:
        attempt = work.attempt
        about = {"run": attempt.run.id, "step": attempt.step, "attempt": attempt.attempt}
        about["idempotency_key"] = attempt.id
        options: dict[str, Any] = {"task_id": id, "ignore_result": False, "headers": {"penstock": about}}
        if call.queue is not None:
            options["queue"] = call.queue
        task = self._app.tasks.get(call.name)
        if work.deadline is not None:
            options["expires"] = work.deadline
            limit = attempt.timeouts.start_to_close
            own = None if task is None else task.time_limit
            if limit is not None:
                left = limit.total_seconds() + LATE
                options["time_limit"] = left if own is None else min(own, left)
        if task is None:
            self._app.send_task(call.name, call.args, call.kwargs, **options)
        else:
            task.apply_async(call.args, call.kwargs, **options)

    def _watch(self) -> None:
        """Read the results of all tasks in flight once."""
        flights = dict(self._flights)
        if not flights:
            self._airborne.wait()
            self._airborne.clear()
            return
        for id, meta in read_many(self._app, list(flights)).items():
            self._hear(flights[id], meta)
        youngest = max(flight.sent_at for flight in flights.values())
        age = time.monotonic() - youngest
        self._closed.wait(min(LATEST, max(SOONEST, age / 10)))

    def _hear(self, flight: Flight, meta: Meta) -> None:
        outcome = outcome_of(meta, self._limit)
        if outcome is not None:
            self._land(flight, outcome)
            return
        if meta["status"] == "RETRY":
            # Celery tries it again by itself: until then, no worker has it.
            flight.seen_at = NEVER
        said = progress_of(meta)
        if said is not None and said != flight.said and flight.work.context is not None:
            flight.said = said
            flight.work.context.heartbeat(said)

    def _land(self, flight: Flight, outcome: Any) -> None:
        if self._flights.pop(flight.id, None) is not None:
            self._landing.tell(flight.work, outcome)

    def _look(self) -> None:
        """Ask all workers which of the tasks in flight they have; one that had it and is silent has died."""
        now = time.monotonic()
        due = [flight for flight in list(self._flights.values()) if flight.look_at <= now]
        if not due:
            self._closed.wait(TICK)
            return
        try:
            inspect = self._app.control.inspect(timeout=REPLY)
            answers = inspect.query_task(*(flight.id for flight in due)) or {}
        except Exception:
            # Whether it is alive cannot be asked now: that is no sign of its death.
            answers = {None: [flight.id for flight in due if flight.seen_at != NEVER]}
            raise
        finally:
            has = {id for had in answers.values() for id in had}
            for flight in due:
                flight.looked(now, flight.id in has)
        for flight in due:
            if now - flight.seen_at > flight.alive:
                self._lost(flight)

    def _lost(self, flight: Flight) -> None:
        meta = read_many(self._app, [flight.id]).get(flight.id)
        if meta is not None:
            self._hear(flight, meta)
        if flight.seen_at == NEVER or flight.id not in self._flights:
            return
        message = f"no Celery worker has the task now, and none reported how it ended in {flight.alive:g}s"
        LOG.warning("task %s of run %s is lost: %s", flight.work.attempt.task, flight.work.lease.run, message)
        self._land(flight, TimedOut("lost", message))
