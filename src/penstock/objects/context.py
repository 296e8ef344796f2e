"""The context of an object: what a run about it gets as its input, and what conditions may look at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Literal

from penstock.objects.protocol import Listed, Object, moment_text

Event = Literal["created", "deleted", "found"]

MARK = "penstock-update"
"""The metadata by which what `update` made of an object is known."""

SKEW = timedelta(minutes=15)
"""How far the clocks of a store and of ours may be apart; those of S3 take no calls beyond that."""

WRITING, SLOWEST = timedelta(minutes=2), 10_000_000
"""How long a store may take for a copy, and the bytes of it a second: what is written later is not ours."""

MAX_SUBJECT = 1_000
_PARTS = re.compile(r"[0-9a-f]{32}-[0-9]+")
"""The etag of what was put in parts."""


def context_of(found: Object, event: Event, transport: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a run about an object."""
    return {
        "bucket": found.bucket,
        "key": found.key,
        "version": found.version,
        "size": found.size,
        "etag": found.etag,
        "metadata": {name: value for name, value in found.metadata.items() if name != MARK},
        "system": dict(found.system),
        "transport": dict(transport),
        "event": event,
    }


def scope_of(context: Mapping[str, Any], tags: Mapping[str, str]) -> dict[str, Any]:
    """What a `where` sees: the context by its parts, and all of it as `object`."""
    whole = {**context, "tags": dict(tags)}
    return {**whole, "object": whole}


def listed_object(store: str, bucket: str, each: Listed) -> Object:
    """What a listing alone says of an object."""
    system: dict[str, Any] = {"store": store, "last_modified": moment_text(each.modified)}
    if each.storage_class is not None:
        system["storage_class"] = each.storage_class
    return Object(bucket=bucket, key=each.key, size=each.size, etag=each.etag, system=system)


def subject_of(bucket: str, key: str) -> str:
    """`bucket/key`, cut where it is longer than a subject may be."""
    subject = f"{bucket}/{key}"
    return subject if len(subject) <= MAX_SUBJECT else f"{subject[: MAX_SUBJECT - 1]}…"


def mark_of(workflow: str, found: Object, by: str, now: datetime | None) -> str:
    """What `update` writes on what it makes of an object: for which workflow, by which firing, of which content, when.

    The object is part of it: a copy under another name is another object, whatever metadata it brings along. `now` is
    the time by the clock of the store, None where it does not take writing back for a change of the object.
    """
    at = "-" if now is None else f"{int(now.timestamp()):x}"
    which = _size(found) if _etag_changes(found) else _content(found)
    return f"{_owner(workflow, found)}.{_digest(by)}.{which}.{at}"


def is_own(found: Object, workflow: str, by: str | None = None) -> bool:
    """Whether it was made by an `update` of this very workflow, or firing; whoever put it again kept only the mark."""
    owner, firing, which, at = (*found.metadata.get(MARK, "").split("."), "", "", "", "")[:4]
    if owner != _owner(workflow, found) or which not in (_size(found), _content(found)):
        return False
    # The same content may be ours for as long as clocks differ; of content that is not known, only what came at once.
    late = SKEW if which == _content(found) else WRITING + timedelta(seconds=(found.size or 0) // SLOWEST)
    return (by is None or firing == _digest(by)) and (at == "-" or _written_at(found, at, late))


def _written_at(found: Object, at: str, late: timedelta) -> bool:
    try:
        modified = datetime.fromisoformat(str(found.system.get("last_modified")))
        return -SKEW.total_seconds() <= modified.timestamp() - int(at, 16) <= late.total_seconds()
    except ValueError:
        return False


def _etag_changes(found: Object) -> bool:
    """Whether a copy has another etag: of what was put in parts, or is encrypted with keys of a service."""
    return bool(_PARTS.fullmatch(found.etag)) or str(found.system.get("encryption", "")).startswith("aws:kms")


def _size(found: Object) -> str:
    """What a copy keeps, where it gets another etag."""
    return f"-{found.size or 0:x}"


def _content(found: Object) -> str:
    return _digest(f"{found.size}:{found.etag}")


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _owner(workflow: str, found: Object) -> str:
    return blake2b("\n".join((workflow, found.bucket, found.key)).encode(), digest_size=12).hexdigest()
