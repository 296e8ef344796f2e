"""Outside events that find their run by a key: each is taken once, or listed with the reason."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import RunId
from penstock.flow.model.run_input import Outside
from penstock.runtime.errors import InvalidEvent, UndeclaredEvent
from penstock.runtime.inmemory.engine import InMemoryEngine
from penstock.runtime.node.clock import VirtualClock
from penstock.workers.task import Out
from tests.flow.driver import flow_of
from tests.runtime.test_inmemory import host_with, status

KEY = {"job": "7"}


def waiting_flow(external: str) -> Flow:
    return flow_of(
        "make: {task: make, after: begin}\nuse: {task: use, after: e | g}", f"external: {external}"
    )


def correlating() -> tuple[InMemoryEngine, VirtualClock]:
    """Runs that ask for the key when `begin` comes, and note the events that they take."""
    return host_with(make=lambda: Out(correlate=KEY), use=lambda ctx: ctx.events)


def begun(host: InMemoryEngine, external: str = "") -> RunId:
    events = external or "{name: e, many: true}, {name: g, many: true}"
    run = host.start(waiting_flow(f"[begin, {events}]"))
    host.emit(run, Outside(event="begin"))
    return run


def taken(host: InMemoryEngine, run: RunId) -> list[tuple[str | None, Any]]:
    entries = host.run_of(run).history
    return [(each.event, each.data) for each in entries if each.kind == "event" and each.event in ("e", "g")]


def reasons(host: InMemoryEngine) -> list[tuple[str, str]]:
    return [(kept.event.event, kept.reason) for kept in host.undelivered()]


def test_a_key_stays_with_the_live_run_that_had_it_first() -> None:
    host, clock = correlating()
    first, second = begun(host), begun(host)

    host.emit_by_key(KEY, Outside(event="e", data=1))

    assert (taken(host, first), taken(host, second)) == ([("e", 1)], [])
    assert [(each.run, each.key, each.holder, each.at) for each in host.refused_keys()] == [
        (second, ("job", "7"), first, clock.now())
    ]
    assert status(host, second) == "waiting"


def test_a_key_is_free_again_when_its_run_has_ended() -> None:
    host, _ = correlating()
    first = begun(host)
    host.cancel(first)
    second = begun(host)

    host.emit_by_key(KEY, Outside(event="e", data=1))

    assert (taken(host, second), host.refused_keys()) == ([("e", 1)], ())


def test_an_event_that_came_early_and_does_not_fit_stays_listed_with_the_reason() -> None:
    host, _ = correlating()
    host.emit_by_key(KEY, Outside(event="e", data="three"))
    host.emit_by_key(KEY, Outside(event="x"))
    host.emit_by_key(KEY, Outside(event="e", data=3))
    assert reasons(host) == [(name, "no live run has its key") for name in ("e", "x", "e")]

    run = begun(host, "{name: e, many: true, schema: {type: integer}}, {name: g}")

    assert taken(host, run) == [("e", 3)]
    assert reasons(host) == [
        ("e", 'the data of event \'e\' does not fit its schema: "three" is not of type "integer"'),
        ("x", "'w' takes no event 'x' from outside: it takes begin, e, g; list it under `external`"),
    ]


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ("e", "the data of event 'e' does not fit its schema: {} is not of type \"integer\""),
        ("x", "'w' takes no event 'x' from outside: it takes begin, e, g; list it under `external`"),
    ],
)
def test_an_event_of_a_step_that_does_not_fit_harms_neither_run(event: str, reason: str) -> None:
    host, _ = correlating()
    run = begun(host, "{name: e, many: true, schema: {type: integer}}, {name: g}")

    sender = host.start(
        flow_of(f"s: {{task: emit, with: {{event: {event}, key: {{job: '7'}}, data: {{}}}}}}")
    )

    assert (status(host, sender), status(host, run), taken(host, run)) == ("succeeded", "waiting", [])
    assert reasons(host) == [(event, reason)]


def test_whoever_sends_by_key_is_told_at_once_what_does_not_fit() -> None:
    host, _ = correlating()
    begun(host, "{name: e, many: true, schema: {type: integer}}, {name: g}")

    with pytest.raises(InvalidEvent):
        host.emit_by_key(KEY, Outside(event="e", data="three", id="1"))
    with pytest.raises(UndeclaredEvent):
        host.emit_by_key(KEY, Outside(event="x", id="1"))

    assert (host.undelivered(), host.emit_by_key(KEY, Outside(event="e", data=3, id="1"))) == ((), "accepted")


@pytest.mark.parametrize("early", [True, False])
def test_an_id_is_unique_within_its_event(early: bool) -> None:
    host, _ = correlating()
    run = None if early else begun(host)
    events = [Outside(event=name, data=name, id="1", set={"last": name}) for name in ("e", "g", "e", "g")]

    answers = [host.emit_by_key(KEY, event) for event in events]
    run = run or begun(host)

    assert answers == ["accepted", "accepted", "duplicate", "duplicate"]
    assert (taken(host, run), host.undelivered()) == ([("e", "e"), ("g", "g")], ())


def test_an_id_of_a_named_run_is_not_mistaken_for_that_of_another_event() -> None:
    host, _ = correlating()
    run = begun(host)
    host.emit(run, Outside(event="e", id="1", set={"x": 1}))

    assert host.emit_by_key(KEY, Outside(event="e", id="1")) == "duplicate"
    assert host.emit_by_key(KEY, Outside(event="g", id="1")) == "accepted"


def test_an_id_is_a_repeat_also_after_its_run_has_ended_for_seven_days() -> None:
    host, clock = correlating()
    run = begun(host)
    event = Outside(event="e", id="1")
    host.emit_by_key(KEY, event)
    host.cancel(run)

    clock.advance(timedelta(days=7))
    assert (host.emit_by_key(KEY, event), host.undelivered()) == ("duplicate", ())
    clock.advance(timedelta(seconds=1))
    assert (host.emit_by_key(KEY, event), len(host.undelivered())) == ("accepted", 1)


def test_what_is_undelivered_is_dropped_after_seven_days() -> None:
    host, clock = correlating()
    host.emit_by_key(KEY, Outside(event="e", data=1))
    clock.advance(timedelta(days=4))
    host.emit_by_key({"job": "7", "other": "8"}, Outside(event="e", data=2))
    clock.advance(timedelta(days=4))

    assert [kept.event.data for kept in host.undelivered()] == [2]
    assert taken(host, begun(host)) == [("e", 2)]
