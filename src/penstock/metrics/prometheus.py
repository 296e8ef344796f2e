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

from penstock.flow.compile.compile import BOXES
from penstock.flow.model.run_input import Done, Failed, Reported
from penstock.metrics.catalogue import MEASURES
from penstock.runtime.decisions.decision import Decision
from penstock.runtime.node.node import Node
from penstock.store.errors import StoreError
from penstock.store.rows.outbox import OutboxRow
from penstock.store.rows.rows import QueueRow, Worker

MAX_LABEL_VALUES = 500
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


class LabelCounts(Protocol):
    """What hooks count."""

    @property
    def taken(self) -> Mapping[str, int]: ...

    @property
    def refused(self) -> Mapping[str, int]: ...


class TriggerCounts(Protocol):
    """What feeders count, by the kind of source."""

    @property
    def held(self) -> Mapping[str, int]: ...

    @property
    def started(self) -> Mapping[str, int]: ...

    @property
    def failures(self) -> Mapping[str, int]: ...


class Metrics:
    """All that one process shows: `counts` of its worker, `hooks` of its hooks, `trigger_counts` of its triggers."""

    def __init__(
        self,
        node: Node,
        *,
        counts: Mapping[str, int] | None = None,
        hooks: LabelCounts | None = None,
        trigger_counts: TriggerCounts | None = None,
    ) -> None:
        self.node, self.hooks, self.triggers = node, hooks, trigger_counts
        self.counts = {} if counts is None else counts
        self.registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self.registry)
        self._run_seconds = self._histogram("penstock_run_seconds", _RUN)
        self._commit_seconds = self._histogram("penstock_commit_seconds", _COMMIT)
        self._commit_size = self._histogram("penstock_commit_runs", _SIZE)
        self._http_seconds = self._histogram("penstock_http_request_seconds", _HTTP)
        self._started: Counter[tuple[str, ...]] = Counter()
        self._ended: Counter[tuple[str, ...]] = Counter()
        self._attempts: Counter[tuple[str, ...]] = Counter()
        self._requests: Counter[tuple[str, ...]] = Counter()
        self._took = {OTHER: self._run_seconds.labels(OTHER)}  # by workflow, at hand
        self._answered: dict[str, Histogram] = {}  # by route, at hand
        self._queues: list[QueueRow] = []
        self._workers: list[Worker] = []
        self._outbox: list[OutboxRow] = []
        self._up = False
        self._now: datetime | None = None
        self.registry.register(self)
        node.advancer.observe(self.settled, self.wrote)

    def _histogram(self, name: str, buckets: Sequence[float]) -> Histogram:
        said = MEASURES[name]
        return Histogram(name, said.about, said.labels, buckets=buckets, registry=self.registry)

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
            run_input = request.input
            if answer == "accepted" and isinstance(run_input, Reported):
                self._attempts[workflow, _OUTCOMES.get(type(run_input.outcome), "timed_out")] += 1

    def wrote(self, changes: int, seconds: float) -> None:
        """A commit is through."""
        self._commit_size.observe(changes)
        self._commit_seconds.observe(seconds)

    def called(self, call: Served | None, method: str, status: int, seconds: float) -> None:
        """A request was answered; by its template, for addresses have no end."""
        route = "unknown" if call is None else call.path
        self._requests[method if call is not None else "any", route, str(status)] += 1
        took = self._answered.get(route)
        if took is None:
            took = self._answered[route] = self._http_seconds.labels(route)
        took.observe(seconds)

    def _named(self, workflow: str) -> str:
        if workflow not in self._took:
            if len(self._took) > MAX_LABEL_VALUES:
                return OTHER
            self._took[workflow] = self._run_seconds.labels(workflow)
        return workflow

    # -- showing -------------------------------------------------------------------------------------------

    async def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """The text that Prometheus reads, and its media type. A database that is away costs only what is in it."""
        try:
            self._queues, self._workers = await self.node.store.queues(), await self.node.store.workers()
            self._outbox, self._up = await self.node.store.outbox(), True
        except StoreError:
            self._queues, self._workers, self._outbox, self._up = [], [], [], False
        self._now = self.node.clock.now()
        encode, media = choose_encoder(accept)
        return encode(self.registry), media

    def collect(self) -> Iterable[Metric]:
        """What is counted elsewhere, read now: the registry asks at each look."""
        yield from self._of_runs()
        yield from self._of_work()
        yield from self._of_database()
        if self.hooks is not None:
            yield _metric("penstock_hooks", _labelled(self.hooks.taken))
            yield _metric("penstock_hooks_refused", _labelled(self.hooks.refused))
        if self.triggers is not None:
            yield _metric("penstock_feeders", _labelled(self.triggers.held))
            yield _metric("penstock_fed", _labelled(self.triggers.started))
            yield _metric("penstock_feeder_failures", _labelled(self.triggers.failures))
        yield _metric("penstock_http_requests", self._requests)

    def _of_runs(self) -> Iterable[Metric]:
        yield _metric("penstock_runs_started", self._started)
        yield _metric("penstock_runs_ended", self._ended)
        yield _metric("penstock_attempts", self._attempts)
        yield _metric("penstock_calls", self.node.calls.counts())
        yield _metric("penstock_duplicates", self.node.commands.duplicates)

    def _of_work(self) -> Iterable[Metric]:
        dispatch, timers = self.node.dispatch, self.node.timers
        yield _metric("penstock_tasks_handed", dispatch.handed)
        yield _metric("penstock_tasks_leased", dispatch.leased)
        yield _metric("penstock_reports_late", dispatch.rejected)
        yield _metric("penstock_reports_repeated", dispatch.repeated)
        yield _metric("penstock_timers_rung", timers.rung)
        yield _metric("penstock_attempts_overdue", timers.timed_out)
        yield _metric("penstock_attempts_lost", timers.lost)
        counts = {name.removeprefix("worker."): n for name, n in self.counts.items()}
        yield _metric("penstock_worker", _labelled(counts))
        yield from _of_queues(self._queues, self._now)
        yield from _of_outbox(self._outbox, self._now)
        workers = [worker for worker in self._workers if worker.task_lists != (BOXES,)]
        yield _metric("penstock_workers", len(workers))
        yield _metric("penstock_worker_room", sum(worker.concurrency for worker in workers))

    def _of_database(self) -> Iterable[Metric]:
        advancer = self.node.advancer
        yield _metric("penstock_store_up", int(self._up))
        yield _metric("penstock_decisions", advancer.decided)
        yield _metric("penstock_decisions_stale", advancer.stale)
        yield _metric("penstock_commits", advancer.batches)
        failures = {name: pulse.failures for name, pulse in self.node.loop_health.items()}
        yield _metric("penstock_loop_failures", _labelled(failures))


def _of_queues(queues: Iterable[QueueRow], now: datetime | None) -> Iterable[Metric]:
    rows = list(queues)[:MAX_LABEL_VALUES]
    for name in ("ready", "held", "leased"):
        found = {(row.task_list,): float(getattr(row, name)) for row in rows}
        yield _metric(f"penstock_queue_{name}", found)
    ages = {
        (row.task_list,): max(0.0, (now - row.oldest).total_seconds()) if now and row.oldest else 0.0
        for row in rows
    }
    yield _metric("penstock_queue_oldest_seconds", ages)


def _of_outbox(rows: Iterable[OutboxRow], now: datetime | None) -> Iterable[Metric]:
    """How far what is published lags behind, by bus."""
    waiting: dict[tuple[str], float] = {}
    oldest: dict[tuple[str], float] = {}
    for row in rows:
        waiting[row.bus,] = waiting.get((row.bus,), 0.0) + row.waiting
        age = 0.0 if now is None else max(0.0, (now - row.oldest).total_seconds())
        oldest[row.bus,] = max(age, oldest.get((row.bus,), 0.0))
    yield _metric("penstock_outbox_waiting", waiting)
    yield _metric("penstock_outbox_oldest_seconds", oldest)


def _labelled(counts: Mapping[str, int]) -> Values:
    """The values of a metric that has one label."""
    return {(label,): number for label, number in counts.items()}


def _metric(name: str, values: Values | int) -> Metric:
    """One of the catalogue; a number is the value of a metric without labels."""
    said = MEASURES[name]
    kind = CounterMetricFamily if said.kind == "counter" else GaugeMetricFamily
    family = kind(name, said.about, labels=said.labels)
    for labels, value in ({(): values} if isinstance(values, int) else dict(values)).items():
        family.add_metric(list(labels), value)
    return family
