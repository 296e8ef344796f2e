"""Metrics for Prometheus: the counters that the parts keep anyway are read when somebody looks.

Only what a node does not count itself is counted here, by watching it: runs by workflow and end, attempts by
outcome, commits. Labels are few and bounded: workflows, task lists, routes; never runs, subjects or addresses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder

from penstock.flow.occurrence import Done, Failed, Reported
from penstock.runtime.deciding import Decision
from penstock.runtime.node import Node
from penstock.store.errors import StoreError
from penstock.store.rows import QueueRow, Worker

MOST = 500
"""Values that one label may have; what comes after is counted as `other`."""

OTHER = "other"

_RUN = (0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400)
_COMMIT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5)
_SIZE = (1, 2, 5, 10, 25, 50, 100, 250, 500)
_HTTP = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
Values = Mapping[Any, float]
"""By the values of the labels, a tuple of text."""

_OUTCOMES: dict[type, str] = {Done: "done", Failed: "failed"}


class Served(Protocol):
    """A call of the API, as far as it is counted."""

    @property
    def path(self) -> str: ...


class Tallies(Protocol):
    """What hooks count."""

    @property
    def taken(self) -> Mapping[str, int]: ...

    @property
    def refused(self) -> Mapping[str, int]: ...


class Metrics:
    """All that one process shows. `counts` are those of its worker, `hooks` those of its hooks."""

    def __init__(
        self, node: Node, *, counts: Mapping[str, int] | None = None, hooks: Tallies | None = None
    ) -> None:
        self.node, self.hooks = node, hooks
        self.counts = {} if counts is None else counts
        self.registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self.registry)
        own = self.registry
        self._run_seconds = Histogram(
            "penstock_run_seconds", "How long runs took.", ["workflow"], buckets=_RUN, registry=own
        )
        self._commit_seconds = Histogram(
            "penstock_commit_seconds", "How long a commit took.", buckets=_COMMIT, registry=own
        )
        self._commit_size = Histogram(
            "penstock_commit_runs", "How many runs one commit changed.", buckets=_SIZE, registry=own
        )
        self._http_seconds = Histogram(
            "penstock_http_request_seconds", "How long requests took.", ["route"], buckets=_HTTP, registry=own
        )
        self._started: Counter[tuple[str, ...]] = Counter()
        self._ended: Counter[tuple[str, ...]] = Counter()
        self._attempts: Counter[tuple[str, ...]] = Counter()
        self._requests: Counter[tuple[str, ...]] = Counter()
        self._took = {OTHER: self._run_seconds.labels(OTHER)}  # by workflow, at hand
        self._queues: list[QueueRow] = []
        self._workers: list[Worker] = []
        self._up = False
        self._now: datetime | None = None
        self.registry.register(_Reading(self))
        node.advancer.settled.append(self.settled)
        node.advancer.wrote = self.wrote

    # -- watching ------------------------------------------------------------------------------------------

    def settled(self, decisions: Sequence[Decision]) -> None:
        """Decisions are durable. On the way of every step: only counts."""
        for decision in decisions:
            self._count(decision)

    def _count(self, decision: Decision) -> None:
        change = decision.change
        if change is None:
            return
        workflow = self._named(decision.live.flow.name)
        if change.new is not None:
            self._started[workflow,] += 1
        if change.ended:
            self._count_attempts(workflow, decision)
        if change.over:
            snapshot = decision.plan.snapshot
            self._ended[workflow, snapshot.status] += 1
            if snapshot.started_at is not None and snapshot.ended_at is not None:
                took = (snapshot.ended_at - snapshot.started_at).total_seconds()
                self._took[workflow].observe(took)

    def _count_attempts(self, workflow: str, decision: Decision) -> None:
        for request, answer in zip(decision.requests, decision.answers, strict=False):
            occurrence = request.occurrence
            if answer == "accepted" and isinstance(occurrence, Reported):
                self._attempts[workflow, _OUTCOMES.get(type(occurrence.outcome), "timed_out")] += 1

    def wrote(self, changes: int, seconds: float) -> None:
        """A commit is through."""
        self._commit_size.observe(changes)
        self._commit_seconds.observe(seconds)

    def called(self, call: Served | None, method: str, status: int, seconds: float) -> None:
        """A request was answered; by its template, for addresses have no end."""
        route = "unknown" if call is None else call.path
        self._requests[method if call is not None else "any", route, str(status)] += 1
        self._http_seconds.labels(route).observe(seconds)

    def _named(self, workflow: str) -> str:
        if workflow not in self._took:
            if len(self._took) > MOST:
                return OTHER
            self._took[workflow] = self._run_seconds.labels(workflow)
        return workflow

    # -- showing -------------------------------------------------------------------------------------------

    async def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """The text that Prometheus reads, and its media type. A database that is away costs only what is in it."""
        try:
            self._queues, self._workers = await self.node.store.queues(), await self.node.store.workers()
            self._up = True
        except StoreError:
            self._queues, self._workers, self._up = [], [], False
        self._now = self.node.clock.now()
        encode, media = choose_encoder(accept)
        return encode(self.registry), media

    def families(self) -> Iterable[Metric]:
        """What is counted elsewhere, read now."""
        yield from self._of_runs()
        yield from self._of_work()
        yield from self._of_database()
        if self.hooks is not None:
            taken = {(answer,): n for answer, n in self.hooks.taken.items()}
            refused = {(reason,): n for reason, n in self.hooks.refused.items()}
            yield _counter("penstock_hooks", "Calls of hooks that were answered well.", ["answer"], taken)
            yield _counter(
                "penstock_hooks_refused", "Calls of hooks that were refused, by reason.", ["reason"], refused
            )
        labels = ["method", "route", "status"]
        yield _counter("penstock_http_requests", "Requests that were answered.", labels, self._requests)

    def _of_runs(self) -> Iterable[Metric]:
        intake = self.node.intake
        yield _counter("penstock_runs_started", "Runs that were started.", ["workflow"], self._started)
        yield _counter("penstock_runs_ended", "Runs that ended.", ["workflow", "status"], self._ended)
        yield _counter(
            "penstock_attempts", "Attempts that ended, by outcome.", ["workflow", "outcome"], self._attempts
        )
        yield _single("penstock_duplicates", "Starts and events that were repeats.", intake.duplicates)

    def _of_work(self) -> Iterable[Metric]:
        dispatch, ringing = self.node.dispatch, self.node.ringing
        yield _single("penstock_tasks_handed", "Tasks handed to whoever waited for them.", dispatch.handed)
        yield _single("penstock_tasks_leased", "Tasks taken from their lists.", dispatch.leased)
        yield _single("penstock_reports_late", "Reports of attempts that were over.", dispatch.rejected)
        yield _single("penstock_reports_repeated", "Reports that came before.", dispatch.repeated)
        yield _single("penstock_timers_rung", "Timers that fell due.", ringing.rung)
        yield _single("penstock_attempts_overdue", "Attempts that outlived a time-out.", ringing.timed_out)
        yield _single("penstock_attempts_lost", "Attempts whose worker vanished.", ringing.lost)
        counts = {(name.removeprefix("worker."),): n for name, n in self.counts.items()}
        yield _counter("penstock_worker", "What the worker of this process did.", ["what"], counts)
        yield from _of_queues(self._queues, self._now)
        yield _gauge("penstock_workers", "Workers that are there.", [], {(): len(self._workers)})
        room = sum(worker.concurrency for worker in self._workers)
        yield _gauge("penstock_worker_room", "Tasks that they can do at a time.", [], {(): room})

    def _of_database(self) -> Iterable[Metric]:
        advancer = self.node.advancer
        yield _gauge("penstock_store_up", "Whether the database answers.", [], {(): int(self._up)})
        yield _single("penstock_decisions", "Decisions about runs.", advancer.decided)
        yield _single(
            "penstock_decisions_stale", "Decisions that were too late and made anew.", advancer.stale
        )
        yield _single("penstock_commits", "Commits of decisions.", advancer.batches)
        failures = {(name,): pulse.failures for name, pulse in self.node.pulses.items()}
        yield _counter(
            "penstock_loop_failures", "How often a loop failed and began anew.", ["loop"], failures
        )


class _Reading:
    """What the registry asks at each look."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics.families()


def _of_queues(queues: Iterable[QueueRow], now: datetime | None) -> Iterable[Metric]:
    rows = list(queues)[:MOST]
    for name, said in (
        ("ready", "wait for a worker"),
        ("held", "are held by a pause"),
        ("leased", "are under way"),
    ):
        found = {(row.task_list,): float(getattr(row, name)) for row in rows}
        yield _gauge(f"penstock_queue_{name}", f"Tasks that {said}.", ["task_list"], found)
    ages = {
        (row.task_list,): max(0.0, (now - row.oldest).total_seconds()) if now and row.oldest else 0.0
        for row in rows
    }
    yield _gauge("penstock_queue_oldest_seconds", "How long the oldest has waited.", ["task_list"], ages)


def _counter(name: str, said: str, labels: list[str], values: Values) -> Metric:
    family = CounterMetricFamily(name, said, labels=labels)
    for each, value in list(values.items()):
        family.add_metric(list(each), value)
    return family


def _single(name: str, said: str, value: int) -> Metric:
    return _counter(name, said, [], {(): value})


def _gauge(name: str, said: str, labels: list[str], values: Values) -> Metric:
    family = GaugeMetricFamily(name, said, labels=labels)
    for each, value in values.items():
        family.add_metric(list(each), value)
    return family
