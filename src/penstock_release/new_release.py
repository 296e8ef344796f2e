"""Releases, tasks and events as they are kept when they are new, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock_release.documents import Put
from penstock_release.ids import TASK, new_id


def event_name(event: Mapping[str, Any]) -> str:
    """Where an event is kept: those of one release lie together, in order."""
    return f"events/{event['release'] or '-'}/{event['number']:08}/{event['kf_id']}"


def new_release(
    id: str, fields: Mapping[str, Any], version: str, made: str, tasks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """A release that has not begun."""
    return {
        "kf_id": id,
        "name": fields["name"],
        "description": fields.get("description") or "",
        "state": "waiting",
        "studies": list(fields["studies"]),
        "begun_with": list(fields["studies"]),
        "tasks": [task["kf_id"] for task in tasks],
        "version": version,
        "created_at": made,
        "tags": list(fields.get("tags") or []),
        "author": fields.get("author") or "admin",
        "is_major": bool(fields.get("is_major", False)),
        "partly_published": [],
        "run": None,
        "seq": 0,
        "told": 0,
        "round": [task["kf_id"] for task in tasks],
        "replaced": [],
        "resumed": 0,
        **blank_outcome(),
        "services": fields.get("services"),
        "states": [{"state": "waiting", "at": made}],
    }


def blank_outcome() -> dict[str, Any]:
    """What came of the tasks of a release, before anything did."""
    return {"out": {}, "canceling": [], "late": [], "ignored": []}


def task_documents(release: str, tasks: Sequence[Mapping[str, Any]]) -> list[Put]:
    """New tasks as they are kept, each with the way from it to its release."""
    own: list[Put] = [(f"tasks/{release}/{task['kf_id']}", dict(task)) for task in tasks]
    return own + [(f"task-of/{task['kf_id']}", {"release": release}) for task in tasks]


def new_task(release: str, service: Mapping[str, Any], made: str) -> dict[str, Any]:
    """The part of a service in a release."""
    return {
        "kf_id": new_id(TASK),
        "state": "waiting",
        "progress": 0,
        "release": release,
        "task_service": service["kf_id"],
        "service_name": service["name"],
        "url": service["url"],
        "created_at": made,
        "asked": False,
        "report": None,
        "states": [{"state": "waiting", "at": made}],
    }


def tasks_at(url: str) -> str:
    """Where a service takes its tasks."""
    return f"{url.rstrip('/')}/tasks"


def next_task(task: Mapping[str, Any], made: str) -> dict[str, Any]:
    """Another task for the service of one that has ended."""
    service = {"kf_id": task["task_service"], "name": task["service_name"], "url": task["url"]}
    return new_task(task["release"], service, made)
