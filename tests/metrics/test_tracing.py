"""Traces: one of a run, with a span a step and an attempt, below the caller's."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from penstock import Engine
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Header, RunId, Snapshot
from penstock.metrics import spans
from penstock.metrics.spans import Span, spans_of
from penstock.metrics.tracing import Tracing
from penstock.runtime.node.trace_ids import Origin, read_parent, span_id
from tests.metrics.watching import BROKEN, TASKS, TEXT

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def traced(text: str, labels: dict[str, str] | None = None) -> tuple[str, list[ReadableSpan], list[str]]:
    """The id of a run, its spans, and what its tasks were told of the trace."""
    exporter, told = InMemorySpanExporter(), []

    async def last(ctx: Any) -> None:
        told.append(ctx.traceparent)

    async def main() -> str:
        async with Engine("memory:", tasks={**TASKS, "last": last}) as engine:
            tracing = Tracing((await engine.running()).node, SimpleSpanProcessor(exporter))
            await engine.publish(text)
            run = await engine.start("broken" if text is BROKEN else "w", labels=labels)
            if text is TEXT:
                await engine.emit("go", run=run)
            await engine.wait(run, 10)
            await tracing.close()
            return run

    return asyncio.run(main()), list(exporter.get_finished_spans()), told


def test_a_run_is_a_trace_with_a_span_a_step_and_an_attempt() -> None:
    run, found, told = traced(TEXT)

    by_id = {span.context.span_id: span for span in found if span.context is not None}
    tree = sorted((span.name, by_id[span.parent.span_id].name if span.parent else None) for span in found)
    assert tree == [
        ("flaky", "w"),
        ("flaky attempt 1", "flaky"),
        ("flaky attempt 2", "flaky"),
        ("last", "w"),
        ("last attempt 1", "last"),
        ("w", None),
    ]
    assert {span.context.trace_id for span in found if span.context is not None} == {
        int(told[0].split("-")[1], 16)
    }
    assert by_id[int(told[0].split("-")[2], 16)].name == "last attempt 1"
    status = {span.name: span.status.status_code.name for span in found}
    assert (status["w"], status["flaky"], status["flaky attempt 1"], status["flaky attempt 2"]) == (
        "OK",
        "OK",
        "ERROR",
        "OK",
    )
    [whole] = [span for span in found if span.name == "w"]
    assert dict(whole.attributes or {}) == {
        "penstock.run": run,
        "penstock.workflow": "w",
        "penstock.version": 1,
        "penstock.status": "succeeded",
    }
    for span in found:
        assert whole.start_time is not None and whole.end_time is not None
        assert span.start_time is not None and span.end_time is not None
        assert whole.start_time <= span.start_time <= span.end_time <= whole.end_time


def test_a_run_that_fails_shows_it() -> None:
    _, found, _ = traced(BROKEN)

    assert {span.name: span.status.status_code.name for span in found} == {
        "broken": "ERROR",
        "bad": "ERROR",
        "bad attempt 1": "ERROR",
    }


def test_a_run_goes_below_the_span_of_its_caller() -> None:
    _, found, told = traced(TEXT, {"traceparent": PARENT})

    [whole] = [span for span in found if span.name == "w"]
    assert whole.context is not None and whole.parent is not None
    assert (whole.context.trace_id, whole.parent.span_id) == (
        0x4BF92F3577B34DA6A3CE929D0E0E4736,
        0x00F067AA0BA902B7,
    )
    assert told[0].startswith("00-4bf92f3577b34da6a3ce929d0e0e4736-")


def test_what_the_caller_does_not_sample_is_not_told() -> None:
    _, found, told = traced(TEXT, {"traceparent": PARENT[:-2] + "00"})

    assert (found, told[0][-3:]) == ([], "-00")


def test_a_parent_that_says_nothing_is_not_used() -> None:
    assert read_parent(PARENT) == Origin(0x4BF92F3577B34DA6A3CE929D0E0E4736, 0x00F067AA0BA902B7, True)
    bad = [
        None,
        "",
        PARENT.upper(),
        PARENT[:-1],
        PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32),
    ]
    assert [read_parent(each) for each in bad] == [None] * 5


# -- spans of a history ------------------------------------------------------------------------------------

T0 = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: int) -> datetime:
    return T0 + timedelta(seconds=seconds)


def ended(seconds: int) -> Snapshot:
    run = Header(id=RunId("r"), workflow="w")
    return Snapshot(run=run, started_at=T0, ended_at=at(seconds), status="canceled")


def test_elements_and_steps_that_were_withdrawn_have_their_spans() -> None:
    history = [
        Entry(1, at(0), "event", event="START"),
        Entry(2, at(1), "fired", "fan"),
        Entry(
            3, at(2), "attempt", "fan", attempt=1, data={"error": {}, "retry_at": at(4), "index": 1}, firing=2
        ),
        Entry(
            4, at(3), "attempt", "fan", attempt=1, data={"index": 0, "port": "done", "output": 1}, firing=2
        ),
        Entry(
            5, at(6), "attempt", "fan", attempt=2, data={"index": 1, "port": "done", "output": 1}, firing=2
        ),
        Entry(6, at(6), "ended", "fan", port="done", data=[1, 1], firing=2),
        Entry(7, at(7), "fired", "wait"),
        Entry(8, at(8), "withdrawn", "wait", data={"reason": "CANCEL"}, firing=7),
    ]

    _, *rest = spans_of(ended(9), history)

    def span(name: str, began: int, over: int, error: str | None = None) -> tuple[Any, ...]:
        return name, at(began), at(over), error

    assert [(each.name, each.began, each.ended, each.error) for each in rest] == [
        span("fan attempt 1", 1, 2, "failed"),
        span("fan attempt 1", 1, 3),
        span("fan attempt 2", 4, 6),
        span("fan", 1, 6),
        span("wait", 7, 8, "withdrawn"),
    ]
    assert len({each.id for each in rest}) == 5


def test_a_run_with_ever_more_steps_says_how_many_were_left_out(monkeypatch: Any) -> None:
    monkeypatch.setattr(spans, "MAX_SPANS", 2)
    history = [
        entry
        for n in range(5)
        for entry in (
            Entry(2 * n + 1, at(n), "fired", "s"),
            Entry(2 * n + 2, at(n), "ended", "s", port="done", firing=2 * n + 1),
        )
    ]

    whole, *rest = spans_of(ended(9), history)

    assert (len(rest), whole.attributes["penstock.spans_left_out"]) == (2, 3)
    assert rest[0] == Span(
        id=span_id("r", 1),
        parent=span_id("r"),
        name="s",
        began=at(0),
        ended=at(0),
        attributes={"penstock.run": "r", "penstock.step": "s", "penstock.port": "done"},
    )
