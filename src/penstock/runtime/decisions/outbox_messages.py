"""Messages about what a decision did: CloudEvents for the outbox, whose ids are the run and the entry."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from penstock.expression import EvaluationError, Expression, compile_expression
from penstock.flow.compile.compile import NOTICE_SCOPE, place_of
from penstock.flow.decisions.scope import run_variable
from penstock.flow.model.definition import Notice
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Snapshot
from penstock.flow.model.tags import visible
from penstock.flow.views.run_view import failure_view, time_text
from penstock.runtime.commands.validation import plain_payload
from penstock.runtime.errors import BadPayload
from penstock.store.rows.outbox import OutboxMessage


def outbox_messages_of(
    notices: tuple[Notice, ...], history: list[Entry], snapshot: Snapshot
) -> tuple[OutboxMessage, ...]:
    """The messages about these entries of a run, in order; each entry at most once to each topic."""
    found: dict[tuple[int, str, str], OutboxMessage] = {}
    for entry in history:
        for notice in notices:
            if not _tells(notice, entry):
                continue
            bus, topic = place_of(notice)
            if (entry.seq, bus, topic) not in found:
                body = msgspec.json.encode(_cloud_event(notice, entry, snapshot))
                found[entry.seq, bus, topic] = OutboxMessage(bus, topic, body)
    return tuple(found.values())


def _tells(notice: Notice, entry: Entry) -> bool:
    if entry.kind == "event":
        return notice.events is not None and entry.event in notice.events
    if entry.kind != "run_ended":
        return False
    if notice.statuses is None:
        return notice.events is None
    return entry.data["status"] in notice.statuses


def _cloud_event(notice: Notice, entry: Entry, snapshot: Snapshot) -> dict[str, Any]:
    run, ended = snapshot.run, entry.kind == "run_ended"
    status = entry.data["status"] if ended else "running"
    return {
        "specversion": "1.0",
        "id": f"{run.id}/{entry.seq}",
        "source": f"/workflows/{run.workflow}",
        "type": f"penstock.run.{status}" if ended else "penstock.event",
        "subject": run.subject or run.id,
        "time": time_text(entry.at),
        "workflow": run.workflow,
        "run": run.id,
        **({"status": status} if ended else {"event": entry.event}),
        "datacontenttype": "application/json",
        **dict(_data(notice, entry, snapshot, status)),
    }


def _data(notice: Notice, entry: Entry, snapshot: Snapshot, status: str) -> Iterator[tuple[str, Any]]:
    """What the message says; where that cannot be worked out, why: it must not hold up the run."""
    ended = entry.kind == "run_ended"
    result, error = (snapshot.result, failure_view(snapshot.error)) if ended else (None, None)
    if notice.data is None:
        yield "data", {"status": status, "result": result, "error": error} if ended else entry.data
        return
    at = time_text(entry.at)
    scope = {
        "run": run_variable(snapshot.run),
        "data": snapshot.data,
        "tags": visible(snapshot.tags),
        "event": None if ended else {"name": entry.event, "data": entry.data, "at": at, "id": entry.id},
        "status": status,
        "result": result,
        "error": error,
    }
    try:
        yield "data", plain_payload(_compiled(notice.data)(scope), "what it comes to")
    except (EvaluationError, BadPayload) as wrong:
        yield "data", None
        yield "dataerror", f"`data` of `notify` cannot be worked out: {wrong}"


@lru_cache(maxsize=1024)
def _compiled(source: str) -> Expression:
    return compile_expression(source, NOTICE_SCOPE)
