"""Notifications of Amazon, MinIO, Ceph, EventBridge and SeaweedFS, as notices of one shape. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal, TypeVar
from urllib.parse import unquote_plus

from msgspec import Struct

from penstock.flow.values.payload import is_storable
from penstock.objects.s3_reader import real_version
from penstock.runtime.json.strict_json import Unreadable

Item = TypeVar("Item")

MAX_RECORDS = 1_000
"""Records that one notification may have."""

_NOT_THE_OBJECT = ("Tagging", "Retention", "LegalHold", "Acl")
"""Ends of MinIO's names for what changes about an object while its content stays: `ObjectCreated:PutTagging`."""

_TYPE = re.compile(r"(?:.*[.:/])?object[ ._-]?(created|removed|deleted)(?:[.:](\w+))?", re.IGNORECASE)
"""Types of CloudEvents that tell of an object: `com.amazonaws.s3.objectcreated`, `s3:ObjectCreated:Put`."""

_BRIDGED = {"Object Created": "ObjectCreated", "Object Deleted": "ObjectRemoved"}
_SEAWEED = {"create": "created", "update": "created", "delete": "deleted"}
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/%+!*'()=&;:@,$")
"""What a key that was encoded consists of."""


class Notice(Struct, frozen=True, kw_only=True):
    """One object was created or deleted. `keys`: how it may be called, the likeliest first."""

    event: Literal["created", "deleted"]
    bucket: str
    keys: tuple[str, ...]
    version: str | None = None
    etag: str | None = None
    size: int | None = None
    sequencer: str | None = None
    transport: dict[str, Any] = {}

    def start_key(self, key: str) -> str:
        """By which a repeat of it is known: one of the version, or of the content and where it stands in order."""
        which = self.version or f"{self.etag}:{self.sequencer or self.transport.get('at')}"
        said = "\n".join((self.event, self.bucket, key, which))
        return f"object:{blake2b(said.encode('utf-8', 'surrogatepass'), digest_size=20).hexdigest()}"


Odd = Callable[[Any, Unreadable], None]
"""Is told of what cannot be read beside other things that can, and why."""


def read_each(items: Sequence[Item], read: Callable[[Item], list[Notice]], odd: Odd) -> list[Notice]:
    """The notices of several things; one that cannot be read does not hold the others. Raises Unreadable: none can."""
    found: list[Notice] = []
    bad: list[tuple[Any, Unreadable]] = []
    for item in items:
        try:
            found += read(item)
        except Unreadable as error:
            bad.append((item, error))
    if bad and len(bad) == len(items):
        raise bad[0][1]
    for each in bad:
        odd(*each)
    return found


def _raise(item: Any, error: Unreadable) -> None:
    raise error


def read_notices(body: Any, odd: Odd = _raise) -> list[Notice]:
    """The notices of one body; none where it is a test, or about something else. Raises Unreadable."""
    if isinstance(body, list):
        return _bounded(read_each(body, lambda each: read_notices(each, odd), odd))
    if not isinstance(body, Mapping):
        raise _bad("it is no map")
    if isinstance(body.get("Records"), list):
        return _bounded(read_each(body["Records"], lambda each: _as_list(_record(each)), odd))
    if body.get("Event") == "s3:TestEvent":
        return []
    if isinstance(body.get("detail"), Mapping) and isinstance(body.get("detail-type"), str):
        return _as_list(_bridged(body["detail-type"], body["detail"], body))
    if "eventName" in body and isinstance(body.get("s3"), Mapping):
        return _as_list(_record(body))
    if "event_type" in body and isinstance(body.get("key"), str):
        return _as_list(_of_seaweed(body))
    raise _bad("it has no `Records`, and is none of EventBridge or SeaweedFS")


def read_bridged(kind: str, data: Any, envelope: Mapping[str, Any], odd: Odd = _raise) -> list[Notice]:
    """The notices of a CloudEvent: its data is a body as above, or what EventBridge calls a detail."""
    if isinstance(data, Mapping) and "bucket" in data and "object" in data:
        return _as_list(_bridged(_named(kind), data, envelope))
    return read_notices(data, odd)


def _named(kind: str) -> str | None:
    """What EventBridge calls a type; None: it is about something else, such as the tags that `update` writes."""
    found = _TYPE.fullmatch(kind)
    came = found is not None and found[1].lower() == "created"
    event = _event(kind if found is None else f"Object{'Created' if came else 'Removed'}:{found[2] or ''}")
    return None if event is None else "Object Created" if event == "created" else "Object Deleted"


def _bounded(notices: list[Notice]) -> list[Notice]:
    if len(notices) > MAX_RECORDS:
        raise _bad(f"it has more than {MAX_RECORDS} records")
    return notices


def _as_list(notice: Notice | None) -> list[Notice]:
    return [] if notice is None else [notice]


def _bad(why: str) -> Unreadable:
    return Unreadable("bad_notification", f"this is no notification of an object store: {why}")


def _record(record: Any) -> Notice | None:
    """Of Amazon, MinIO and Ceph; None: it is about something else than an object that came or went."""
    if not isinstance(record, Mapping) or not isinstance(record.get("s3"), Mapping):
        raise _bad("a record has no `s3`")
    name = str(record.get("eventName", "")).removeprefix("s3:")
    event = _event(name)
    bucket, found = record["s3"].get("bucket"), record["s3"].get("object")
    if event is None:
        return None
    if not isinstance(bucket, Mapping) or not isinstance(found, Mapping):
        raise _bad("a record has no `bucket` or no `object`")
    raw_first = str(record.get("eventSource", "")).startswith("ceph")
    return Notice(
        event=event,
        bucket=_text(bucket.get("name"), "a bucket"),
        keys=keys_of(_text(found.get("key"), "a key"), raw_first),
        version=real_version(found.get("versionId")),
        etag=_optional(found.get("eTag") or found.get("etag")),
        size=_size(found.get("size")),
        sequencer=_optional(found.get("sequencer")),
        transport=_transport(record, name),
    )


def _event(name: str) -> Literal["created", "deleted"] | None:
    if name.endswith(_NOT_THE_OBJECT):
        return None
    if name.startswith("ObjectCreated:"):
        return "created"
    # A version that expires by a rule of the bucket goes as any other does.
    if name.startswith(("ObjectRemoved:", "LifecycleExpiration:", "ObjectLifecycle:Expiration")):
        return "deleted"
    return None


def _transport(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Who did it, from where, by which call, and when."""
    asked, answered = _map(record.get("requestParameters")), _map(record.get("responseElements"))
    said = {
        "name": name,
        "at": record.get("eventTime"),
        "region": record.get("awsRegion"),
        "user": _map(record.get("userIdentity")).get("principalId"),
        "source_ip": asked.get("sourceIPAddress"),
        "user_agent": _map(record.get("source")).get("userAgent"),
        "request_id": answered.get("x-amz-request-id"),
        "sequencer": _map(_map(record.get("s3")).get("object")).get("sequencer"),
    }
    return {key: value for key, value in said.items() if isinstance(value, str) and value}


def _bridged(kind: str | None, detail: Mapping[str, Any], envelope: Mapping[str, Any]) -> Notice | None:
    """EventBridge, whose keys are not encoded."""
    if kind not in _BRIDGED:
        return None
    bucket, found = _map(detail.get("bucket")), _map(detail.get("object"))
    said = {
        "name": f"{_BRIDGED[kind]}:{detail.get('reason', '')}".rstrip(":"),
        "at": envelope.get("time"),
        "region": envelope.get("region"),
        "user": detail.get("requester"),
        "source_ip": detail.get("source-ip-address"),
        "request_id": detail.get("request-id"),
        "sequencer": found.get("sequencer"),
    }
    return Notice(
        event="created" if kind == "Object Created" else "deleted",
        bucket=_text(bucket.get("name"), "a bucket"),
        keys=(_text(found.get("key"), "a key"),),
        version=real_version(found.get("version-id")),
        etag=_optional(found.get("etag")),
        size=_size(found.get("size")),
        sequencer=_optional(found.get("sequencer")),
        transport={key: value for key, value in said.items() if isinstance(value, str) and value},
    )


def _of_seaweed(body: Mapping[str, Any]) -> Notice | None:
    """SeaweedFS tells paths of its filer; buckets are under /buckets. Nothing says which version it is."""
    event = _SEAWEED.get(body["event_type"]) if isinstance(body["event_type"], str) else None
    root, bucket, key = [*body["key"].removeprefix("/").split("/", 2), "", ""][:3]
    if event is None or root != "buckets" or not key:
        return None
    message = _map(body.get("message") or body.get("message_data"))
    entry = _map(message.get("new_entry") or message.get("old_entry"))
    if entry.get("is_directory"):
        return None
    attributes = _map(entry.get("attributes"))
    when = f"{attributes.get('mtime')}.{attributes.get('mtime_ns', '')}" if attributes else None
    return Notice(
        event="created" if event == "created" else "deleted",
        bucket=_text(bucket, "a bucket"),
        keys=(key,),
        size=_size(attributes.get("file_size")),
        sequencer=when or _optional(body.get("ts_ns")),
        transport={"name": f"seaweedfs:{body['event_type']}"},
    )


def keys_of(key: str, raw_first: bool = False) -> tuple[str, ...]:
    """What a key in a notification may stand for: most stores encode it as in a form, some leave it as it is."""
    decoded = unquote_plus(key, errors="replace")
    if decoded == key or not set(key) <= _PLAIN or "\ufffd" in decoded:
        return (key,)
    return (key, decoded) if raw_first else (decoded, key)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value or not is_storable(value):
        raise _bad(f"a record names {what} that is no text")
    return value


def _optional(value: Any) -> str | None:
    return str(value).strip('"') if isinstance(value, str | int) and value != "" else None


def _size(value: Any) -> int | None:
    """A size that can be one; anything else is as if it were not told."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 10**18:
        return None
    return value


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
