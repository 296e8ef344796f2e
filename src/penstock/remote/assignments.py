"""Converts assignments, offers and lines between the wire and a worker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from penstock.flow.model.offer import Offer
from penstock.flow.model.plan import Attempt
from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run import Header, Origin, RunId
from penstock.flow.model.tags import NO_TAGS, Tag
from penstock.kernel.marking import Taken, Token
from penstock.runtime.dispatch.gate import Assignment
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import Lease, LogLine
from penstock.workers.wire import Given, Left, Line, Offered

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def assignment_of(given: Given) -> Assignment:
    """Work from far away, as if it came from this process. The lease is a name for it here, and no more."""
    firing = int(given.id[len(given.run.id) + 1 :].partition(".")[0])
    index = WHOLE if given.index is None else given.index
    # Tells two leases of one attempt apart: the real fence is inside the text, which is opaque here.
    fence = hash(given.lease)
    lease = Lease(given.run.id, firing, index, given.attempt, fence)
    return Assignment(lease, _attempt(given, firing), given.expires, given.deadline)


def _attempt(given: Given, firing: int) -> Attempt:
    run = given.run
    return Attempt(
        run=Header(id=RunId(run.id), workflow=run.workflow, version=run.version, subject=run.subject),
        firing=firing,
        index=given.index,
        step=given.step,
        task=given.task,
        attempt=given.attempt,
        params=given.params,
        data=given.data,
        tags={name: Tag(value, 0) for name, value in given.tags.items()} if given.tags else NO_TAGS,
        taken=Taken((_tokens(given.events, given.input),)),
        timeouts=_timeouts(given.timeouts),
        task_list=given.task_list,
        priority=0,
        ports=("done", "failed"),
    )


def _tokens(events: dict[str, Any], input: dict[str, Any]) -> tuple[Token, ...]:
    """Such that `events` and `input` of a context are these: of tokens with one name, the last one counts."""
    name = next(iter(events), "START")
    steps = [Token(0, name, Origin(data, NO_TAGS, _LONG_AGO, step)) for step, data in input.items()]
    return (*steps, *[Token(0, event, Origin(data, NO_TAGS, _LONG_AGO)) for event, data in events.items()])


def _timeouts(left: Left) -> Timeouts:
    heartbeat = timedelta(seconds=left.heartbeat)
    return Timeouts(None, _span(left.start_to_close), _span(left.schedule_to_close), heartbeat)


def _span(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def offered(offer: Offer) -> Offered:
    return Offered(**{name: getattr(offer, name) for name in Offered.__struct_fields__})


class _Body(msgspec.Struct):
    at: datetime
    step: str
    index: int | None
    attempt: int
    level: Any
    text: str


def said_of(line: LogLine) -> tuple[Line, tuple[str, str, int | None, int]]:
    """A line that a worker keeps, as it is sent; and by whom: run, step, index and attempt."""
    body = _decode(line.body)
    return Line(body.text, body.level, body.at), (line.run, body.step, body.index, body.attempt)


_decode = msgspec.json.Decoder(_Body).decode
