"""Traces by OpenTelemetry, an extra: a run that has ended is read from its history and handed to an exporter.

Nothing is kept while a run is under way, so that a crash or another node costs no span, and a run that nobody
traces costs nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from penstock.flow.model.run import Snapshot
from penstock.metrics.spans import MAX_SPANS, Span, spans_of
from penstock.runtime.decisions.decision import Decision
from penstock.runtime.node.node import Node
from penstock.runtime.node.trace_ids import Origin, origin_of
from penstock.runtime.queries.history import read_history

MAX_CONCURRENT = 4
ENTRIES = 4 * MAX_SPANS
WAITING = 1000
"""Runs that wait to be told; when more end at once, those after are left out and counted."""

log = logging.getLogger("penstock.tracing")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SCOPE = InstrumentationScope("penstock")


class Tracing:
    """Tells each run that ends on this node to a span processor, such as a BatchSpanProcessor with an exporter."""

    def __init__(self, node: Node, processor: SpanProcessor, service: str = "penstock") -> None:
        self._node, self._processor = node, processor
        self._resource = Resource.create({"service.name": service})
        self._telling: set[asyncio.Task[None]] = set()
        self._capacity = asyncio.Semaphore(MAX_CONCURRENT)
        self.left_out = 0
        node.advancer.observe(self.settled)

    def settled(self, decisions: Sequence[Decision]) -> None:
        """Decisions are durable."""
        for decision in decisions:
            self._note(decision)

    def _note(self, decision: Decision) -> None:
        if decision.change is None or not decision.change.over:
            return
        snapshot = decision.plan.snapshot
        origin = origin_of(snapshot.run)
        if not origin.sampled:
            return
        if len(self._telling) >= WAITING:
            self.left_out += 1
            return
        task = asyncio.ensure_future(self._tell(snapshot, origin))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self, snapshot: Snapshot, origin: Origin) -> None:
        run = snapshot.run.id
        async with self._capacity:
            try:
                history = [entry async for entry in read_history(self._node.store, run, 0, ENTRIES)]
                for span in spans_of(snapshot, history):
                    self._processor.on_end(self._readable(span, origin))
            except Exception as error:  # a trace that is lost must not cost a run
                log.warning("the trace of run %s was not told: %s", run, error)

    async def close(self) -> None:
        """Tell what has ended, and let the processor finish."""
        if self._telling:
            await asyncio.wait(list(self._telling), timeout=5)
        await asyncio.to_thread(self._processor.shutdown)

    def _readable(self, span: Span, origin: Origin) -> ReadableSpan:
        parent = origin.parent if span.parent is None else span.parent
        return ReadableSpan(
            name=span.name,
            context=_context(origin, span.id),
            parent=_context(origin, parent, remote=span.parent is None) if parent else None,
            resource=self._resource,
            attributes=span.attributes,
            kind=SpanKind.INTERNAL,
            status=Status(StatusCode.OK if span.error is None else StatusCode.ERROR, span.error),
            start_time=_nanoseconds(span.began),
            end_time=_nanoseconds(max(span.began, span.ended)),
            instrumentation_scope=_SCOPE,
        )


def _context(origin: Origin, span: int, remote: bool = False) -> SpanContext:
    return SpanContext(origin.trace, span, remote, TraceFlags(TraceFlags.SAMPLED))


def _nanoseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000
