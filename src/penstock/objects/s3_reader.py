"""Reads an object's state from the headers of an S3 answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from penstock.objects.protocol import Object, moment_text

_SYSTEM = {
    "content-type": "content_type",
    "content-encoding": "content_encoding",
    "content-disposition": "content_disposition",
    "content-language": "content_language",
    "cache-control": "cache_control",
    "x-amz-storage-class": "storage_class",
    "x-amz-server-side-encryption": "encryption",
    "x-amz-replication-status": "replication",
}
_META = "x-amz-meta-"


def object_of(store: str, bucket: str, key: str, headers: Mapping[str, str], tags: dict[str, str]) -> Object:
    """An object out of the headers of an answer, names in lower case."""
    system: dict[str, Any] = {
        "store": store,
        **{ours: headers[theirs] for theirs, ours in _SYSTEM.items() if theirs in headers},
    }
    if "last-modified" in headers:
        system["last_modified"] = moment_text(parsedate_to_datetime(headers["last-modified"]))
    return Object(
        bucket=bucket,
        key=key,
        size=int(headers.get("content-length", 0)),
        etag=headers.get("etag", "").strip('"'),
        version=real_version(headers.get("x-amz-version-id")),
        metadata={
            name.removeprefix(_META): value for name, value in headers.items() if name.startswith(_META)
        },
        system=system,
        tags=tags,
    )


def clock_ahead(headers: Mapping[str, str], now: datetime) -> timedelta:
    """How far the clock of a store is ahead of ours; nothing where it does not tell."""
    try:
        return parsedate_to_datetime(headers["date"]) - now
    except (KeyError, ValueError, TypeError):
        return timedelta(0)


def tag_count(headers: Mapping[str, str]) -> int:
    """Every store that has tags counts them in its answer, where there are some."""
    said = headers.get("x-amz-tagging-count", "0")
    return int(said) if said.isdigit() else 0


def real_version(version: Any) -> str | None:
    """An object of a bucket without versions has the version `null`, which is none."""
    return version if isinstance(version, str) and version not in ("", "null") else None
