"""Rows as people and programs read them: the JSON of lists."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from penstock.flow.model.run import STATUSES
from penstock.flow.model.run_input import Outside
from penstock.flow.views.run_view import time_text
from penstock.runtime.codec.decoder import CorruptRecord
from penstock.runtime.codec.messages import decode_message
from penstock.store.rows.rows import PendingEventRow, QueueRow, RunRow, Worker


def row_view(row: RunRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "workflow": row.workflow,
        "version": row.version,
        "subject": row.subject,
        "status": row.status,
        "labels": row.labels,
        "parent": row.parent,
        "waiting_for": row.waiting_for,
        "started_at": time_text(row.started_at),
        "ended_at": time_text(row.ended_at),
    }


def count_view(counts: dict[str, int]) -> dict[str, int]:
    """Every status, those without a run too."""
    return {status: counts.get(status, 0) for status in STATUSES}


def undelivered_view(row: PendingEventRow) -> dict[str, Any]:
    try:
        event = decode_message(row.body)
    except CorruptRecord:
        event = Outside(event=row.event)
    assert isinstance(event, Outside)
    return {
        "id": row.id,
        "event": row.event,
        "key": dict(row.keys),
        "data": event.data,
        "set": event.set,
        "event_id": event.id,
        "at": time_text(row.at),
        "until": time_text(row.until),
        "reason": row.reason,
    }


def refused_view(row: tuple[str, str, str, str]) -> dict[str, Any]:
    name, value, run, holder = row
    return {"run": run, "key": {name: value}, "holder": holder}


def queue_view(row: QueueRow) -> dict[str, Any]:
    return {
        "task_list": row.task_list,
        "ready": row.ready,
        "held": row.held,
        "running": row.leased,
        "oldest": time_text(row.oldest),
    }


def worker_view(row: Worker) -> dict[str, Any]:
    times = {"started_at": time_text(row.started_at), "seen_at": time_text(row.seen_at)}
    return {**asdict(row), "task_lists": list(row.task_lists), "tasks": list(row.tasks), **times}
