"""Releases as they were kept: what an earlier version did not write yet is as if nothing of it had happened.

One that is damaged is told as that, by name, and nothing is done with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock_release.documents import Document
from penstock_release.errors import conflict
from penstock_release.new_release import blank_outcome

RELEASE: Mapping[str, type] = {
    **dict.fromkeys(("kf_id", "name", "description", "state", "version", "created_at", "author"), str),
    **dict.fromkeys(
        ("studies", "begun_with", "tasks", "tags", "partly_published", "round", "replaced"), list
    ),
    **dict.fromkeys(("canceling", "late", "ignored"), list),
    **dict.fromkeys(("seq", "told", "resumed", "is_major"), int),
    "out": dict,
}
TASK: Mapping[str, type] = {
    **dict.fromkeys(("kf_id", "state", "release", "task_service", "service_name", "url", "created_at"), str),
    "progress": int,
}


def filled(document: Document) -> Document:
    """The release with all its fields. Raises Refused where it is damaged."""
    data = {**_defaults(document.data), "run": None, **document.data}
    _validate_default(document.name, data, RELEASE)
    return Document(document.name, document.version, data)


def filled_task(document: Document, release: Mapping[str, Any]) -> Document:
    """A task of this release with all its fields. Raises Refused where it is damaged."""
    _validate_default(document.name, document.data, TASK)
    return Document(document.name, document.version, {"asked": release.get("asked", False), **document.data})


def _validate_default(name: str, data: Mapping[str, Any], kinds: Mapping[str, type]) -> None:
    wrong = [field for field, kind in kinds.items() if not isinstance(data.get(field), kind)]
    if wrong:
        raise conflict(
            f"What is kept of {name} is damaged ({', '.join(wrong)}), so it cannot be shown or changed: other "
            f"releases continue; restore it from a backup, under /custom/penstock-release/{name}."
        )


def _defaults(release: Mapping[str, Any]) -> dict[str, Any]:
    been = [each.get("state") for each in release.get("states") or () if isinstance(each, Mapping)]
    return {
        "partly_published": [],
        "begun_with": release.get("studies"),
        "round": release.get("tasks"),
        "replaced": [],
        "resumed": 0,
        "asked": "publishing" in (*been, release.get("state")),
        **blank_outcome(),
        "workflow": None,
    }
