"""What stores tell is understood, whoever wrote it and however they write keys."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.objects.s3_notifications import read_bridged, read_notices
from penstock.runtime.json.strict_json import Unreadable
from tests.objects.telling import record


def told(*records: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.event, each.keys) for each in read_notices({"Records": list(records)})]


@pytest.mark.parametrize(
    ("key", "source", "keys"),
    [
        ("red+flower%2B.jpg", "aws:s3", ("red flower+.jpg", "red+flower%2B.jpg")),
        ("a%2Fx%2By+%C3%BC.txt", "minio:s3", ("a/x+y ü.txt", "a%2Fx%2By+%C3%BC.txt")),
        ("a/x+y.txt", "ceph:s3", ("a/x+y.txt", "a/x y.txt")),
        ("a/x+y ü.txt", "aws:s3", ("a/x+y ü.txt",)),
        ("plain/key.txt", "aws:s3", ("plain/key.txt",)),
        ("100%.txt", "aws:s3", ("100%.txt",)),
        ("a%FF.txt", "aws:s3", ("a%FF.txt",)),
        ("..%2Fup", "aws:s3", ("../up", "..%2Fup")),
    ],
)
def test_both_encodings_of_keys_are_taken(key: str, source: str, keys: tuple[str, ...]) -> None:
    assert told(record(key, source=source)) == [("created", keys)]


@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("ObjectCreated:Put", ["created"]),
        ("s3:ObjectCreated:CompleteMultipartUpload", ["created"]),
        ("ObjectCreated:Copy", ["created"]),
        ("ObjectRemoved:Delete", ["deleted"]),
        ("s3:ObjectRemoved:DeleteMarkerCreated", ["deleted"]),
        ("LifecycleExpiration:Delete", ["deleted"]),
        ("ObjectTagging:Put", []),
        ("s3:ObjectCreated:PutTagging", []),
        ("s3:ObjectCreated:DeleteTagging", []),
        ("s3:ObjectCreated:PutRetention", []),
        ("s3:ObjectAcl:Put", []),
        ("s3:ObjectAccessed:Get", []),
        ("ObjectRestore:Completed", []),
    ],
)
def test_only_objects_that_come_or_go_count(name: str, events: list[str]) -> None:
    assert [event for event, _ in told(record(name=name))] == events


def test_a_record_says_who_did_it_from_where_and_when() -> None:
    [notice] = read_notices({"Records": [record(versionId="v1")]})
    assert (notice.bucket, notice.version, notice.etag, notice.size) == ("pics", "v1", "e1", 1)
    assert notice.transport == {
        "name": "ObjectCreated:Put",
        "at": "2026-01-31T12:00:00.000Z",
        "region": "eu-west-1",
        "user": "AWS:ABC",
        "source_ip": "192.0.2.7",
        "request_id": "C3D13FE58DE4C810",
        "sequencer": "0055AED6DCD90281E5",
    }


def test_a_repeat_is_known_by_version_or_by_content_and_order() -> None:
    def key(**found: Any) -> str:
        [notice] = read_notices({"Records": [record(**found)]})
        return notice.start_key("a.png")

    assert key(versionId="v1", sequencer="1") == key(versionId="v1", sequencer="2")
    assert key(versionId="v1") != key(versionId="v2")
    assert key(versionId="null") == key()
    assert key(sequencer="1") != key(sequencer="2")
    assert key(eTag="a") != key(eTag="b")
    assert key() == key()


def test_a_test_of_the_store_tells_nothing() -> None:
    assert read_notices({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "pics"}) == []
    assert read_notices({"Records": []}) == []


def test_eventbridge_tells_keys_as_they_are() -> None:
    detail = {
        "bucket": {"name": "pics"},
        "object": {"key": "a+b.png", "size": 5, "etag": "e", "version-id": "v", "sequencer": "00"},
        "requester": "123456789012",
        "source-ip-address": "192.0.2.7",
        "reason": "PutObject",
    }
    plain = {
        "detail-type": "Object Created",
        "source": "aws.s3",
        "time": "2026-01-31T12:00:00Z",
        "detail": detail,
    }
    [notice] = read_notices(plain)
    assert (notice.event, notice.keys, notice.version, notice.size) == ("created", ("a+b.png",), "v", 5)
    assert notice.transport["name"] == "ObjectCreated:PutObject"
    assert read_bridged("Object Created", detail, {"time": "2026-01-31T12:00:00Z"})[0].keys == ("a+b.png",)
    assert read_bridged("Object Deleted", detail, {})[0].event == "deleted"
    assert read_notices({**plain, "detail-type": "Object Tags Added"}) == []
    with pytest.raises(Unreadable, match="none of EventBridge"):
        read_notices({**plain, "detail-type": [[]]})


@pytest.mark.parametrize(
    ("kind", "events"),
    [
        ("Object Created", ["created"]),
        ("Object Deleted", ["deleted"]),
        ("com.amazonaws.s3.objectcreated", ["created"]),
        ("com.amazonaws.s3.objectremoved", ["deleted"]),
        ("s3:ObjectCreated:CompleteMultipartUpload", ["created"]),
        ("ObjectRemoved:DeleteMarkerCreated", ["deleted"]),
        ("LifecycleExpiration:Delete", ["deleted"]),
        ("Object Tags Added", []),
        ("Object Tags Deleted", []),
        ("Object ACL Updated", []),
        ("Object Restore Completed", []),
        ("ObjectTagging:Put", []),
        ("ObjectTagging:Delete", []),
        ("ObjectAcl:Put", []),
        ("ObjectRestore:Post", []),
        ("s3:ObjectCreated:PutTagging", []),
        ("com.amazonaws.s3.ObjectCreated:PutTagging", []),
        ("ReducedRedundancyLostObject", []),
        ("object.moved", []),
        ("", []),
    ],
)
def test_of_events_too_only_objects_that_come_or_go_count(kind: str, events: list[str]) -> None:
    detail = {"bucket": {"name": "pics"}, "object": {"key": "a.png"}}
    assert [notice.event for notice in read_bridged(kind, detail, {})] == events


def test_seaweedfs_tells_paths_of_its_filer() -> None:
    entry = {"attributes": {"file_size": 5, "mtime": 17}}
    made = {"key": "/buckets/pics/a/b+c.png", "event_type": "create", "message": {"new_entry": entry}}
    [notice] = read_notices(made)
    assert (notice.event, notice.bucket, notice.keys, notice.size) == ("created", "pics", ("a/b+c.png",), 5)
    assert read_notices({**made, "event_type": "delete"})[0].event == "deleted"
    assert read_notices({**made, "key": "/etc/seaweedfs/x"}) == []
    folder = {**made, "message": {"new_entry": {"is_directory": True}}}
    assert read_notices(folder) == []


@pytest.mark.parametrize(
    "body",
    [
        "text",
        7,
        None,
        {},
        {"Records": [7]},
        {"Records": [{"eventName": "ObjectCreated:Put"}]},
        {"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": {}, "object": {"key": "a"}}}]},
        {"Records": [record("")]},
        {"Records": [record()] * 1001},
    ],
)
def test_what_is_no_notification_is_refused(body: Any) -> None:
    with pytest.raises(Unreadable, match="no notification"):
        read_notices(body)


@pytest.mark.parametrize("size", ["²", "9" * 5_000, "99999999999999999999", 10**30, -1, True, None, "x"])
def test_a_size_that_cannot_be_is_as_if_it_were_not_told(size: object) -> None:
    record = {
        "eventName": "ObjectCreated:Put",
        "s3": {"bucket": {"name": "b"}, "object": {"key": "k", "size": size}},
    }

    assert [notice.size for notice in read_notices({"Records": [record]})] == [None]
