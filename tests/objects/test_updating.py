"""What `update` writes is on the object, and on no other; a repeat writes nothing twice."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import botocore.exceptions
import pytest
from msgspec.structs import replace

from penstock.objects.context import MARK, is_own, mark_of
from penstock.objects.errors import ObjectGone, ObjectRefused, UnknownStore
from penstock.objects.protocol import Object, moment_text
from penstock.objects.s3 import S3Store
from penstock.objects.s3_reader import clock_ahead
from penstock.objects.stores import Stores
from penstock.objects.update_order import LOCKS, UpdateOrder
from penstock.objects.write_back import Target, UpdateRequest, presign, target_of, write_back
from penstock.store.open import open_store
from tests.objects.places import FolderPlace, S3Place, StorePlace
from tests.objects.servers import SeaweedFS
from tests.postgres_server import PostgresServer


def written(kept: StorePlace, *wishes: UpdateRequest) -> Any:
    async def main() -> Any:
        stores = Stores({"pics": kept.url})
        try:
            done = [await write_back(stores, each) for each in wishes]
            return done[-1]
        finally:
            await stores.close()

    return asyncio.run(main())


def wish(
    key: str = "a", by: str = "run/1", etag: str | None = None, version: str | None = None, **more: Any
) -> UpdateRequest:
    target = Target(store="pics", key=key, etag=etag, version=version)
    return UpdateRequest(target=target, workflow="pics", by=by, **more)


def test_tags_are_merged_or_replaced(kept: StorePlace) -> None:
    kept.put("a")
    first = written(kept, wish(tags={"a": "1", "b": 2, "c": True, "d": None}))
    assert first.tags == {"a": "1", "b": "2", "c": "true"}
    assert written(kept, wish(tags={"a": None, "b": "3"})).tags == {"b": "3", "c": "true"}
    assert written(kept, wish(tags={"z": "1"}, mode="replace")).tags == {"z": "1"}


def test_metadata_is_merged_or_replaced_and_marked_as_ours(kept: StorePlace) -> None:
    kept.put("a")
    first = written(kept, wish(metadata={"Who": "me", "n": 1}))
    assert {name: first.metadata[name] for name in ("who", "n")} == {"who": "me", "n": "1"}
    assert is_own(first, "pics")
    assert not is_own(first, "others")
    assert not is_own(replace(first, key="a copy"), "pics")
    second = written(kept, wish(metadata={"x": "y"}, mode="replace", by="run/2"))
    assert "who" not in second.metadata
    assert second.metadata["x"] == "y"


def test_an_object_that_is_gone_fails_clearly(kept: StorePlace) -> None:
    for each in (wish("none", tags={"a": "1"}), wish("none", metadata={"a": "1"})):
        with pytest.raises(ObjectGone, match="none is not there"):
            written(kept, each)


def test_an_object_that_was_replaced_is_left_alone(kept: StorePlace) -> None:
    kept.put("a", b"another")
    with pytest.raises(ObjectRefused, match="replaced"):
        written(kept, wish(etag="of-the-first", tags={"a": "1"}))

    async def tags(store: Any) -> Any:
        return (await store.head("a")).tags

    assert kept.run(tags) == {}


def test_more_tags_than_an_object_can_have_are_refused_as_a_whole(kept: StorePlace) -> None:
    kept.put("a")
    written(kept, wish(tags={"first": "1"}))
    with pytest.raises(ObjectRefused, match="10 tags at most"):
        written(kept, wish(tags={str(number): "1" for number in range(10)}))


def test_a_repeat_of_the_firing_makes_no_other_version(seaweed: SeaweedFS) -> None:
    bucket = seaweed.bucket("repeats", versions=True)
    put = seaweed.put(bucket, "a")
    kept = S3Place(seaweed, bucket)
    asked = wish(version=put["VersionId"], metadata={"who": "me"}, tags={"a": "1"})
    first = written(kept, asked)
    again = written(kept, asked)
    assert (again, first.version != put["VersionId"]) == (first, True)
    versions = seaweed.client.list_object_versions(Bucket=bucket)["Versions"]
    assert len(versions) == 2


def test_tags_go_onto_the_version_that_the_run_is_about(seaweed: SeaweedFS) -> None:
    bucket = seaweed.bucket("versions", versions=True)
    old = seaweed.put(bucket, "a", b"1")
    new = seaweed.put(bucket, "a", b"2")
    kept = S3Place(seaweed, bucket)
    assert written(kept, wish(version=old["VersionId"], tags={"a": "1"})).version == old["VersionId"]
    newest = seaweed.client.get_object_tagging(Bucket=bucket, Key="a", VersionId=new["VersionId"])
    assert newest["TagSet"] == []
    with pytest.raises(ObjectRefused, match="newer version"):
        written(kept, wish(version=old["VersionId"], metadata={"a": "1"}))


def test_the_object_of_a_run_is_found_by_its_context_or_by_name(tmp_path: Any) -> None:
    stores = Stores({"a": f"dir://{tmp_path}", "b": "s3://shared", "c": "s3://shared", "d": "s3://own"})
    data = {"bucket": "own", "key": "k", "version": None, "etag": "e", "system": {"store": "d"}}
    assert target_of(stores, data, {}) == Target(store="d", key="k", etag="e")
    assert target_of(stores, {"bucket": "own", "key": "k"}, {}) == Target(store="d", key="k")
    assert target_of(stores, data, {"store": "b", "key": "other"}) == Target(store="b", key="other")
    with pytest.raises(ObjectRefused, match="about no object"):
        target_of(stores, None, {})
    with pytest.raises(UnknownStore):
        target_of(stores, {"bucket": "none", "key": "k"}, {})


def test_a_presigned_address_reads_what_nobody_may_read_without(seaweed: SeaweedFS) -> None:
    bucket = seaweed.bucket("signed")
    seaweed.put(bucket, "a b/x+y.txt", b"content")
    data = {"bucket": bucket, "key": "a b/x+y.txt"}

    async def main() -> tuple[str, str]:
        stores = Stores({"pics": seaweed.address(bucket)})
        try:
            return await presign(stores, "read", data), await presign(stores, "write", data)
        finally:
            await stores.close()

    read, write = asyncio.run(main())
    with urllib.request.urlopen(read, timeout=10) as answer:
        assert answer.read() == b"content"
    put = urllib.request.Request(write, b"changed", method="PUT")
    with urllib.request.urlopen(put, timeout=10) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(read.partition("?")[0], timeout=10)


def test_a_folder_has_no_addresses(tmp_path: Any) -> None:
    folder = FolderPlace(tmp_path / "pics")
    folder.put("a")

    async def main() -> None:
        await presign(Stores({"pics": folder.url}), "read", {"bucket": "pics", "key": "a"})

    with pytest.raises(ObjectRefused, match="is a folder"):
        asyncio.run(main())


@pytest.mark.parametrize(
    ("tags", "bad"), [({"make": "Cam <&> Co"}, "'<'"), ({"model": "X#100"}, "'#'"), ({"a;b": "1"}, "';'")]
)
def test_a_tag_that_amazon_would_not_take_is_refused_and_says_which_character(
    tags: dict[str, str], bad: str, kept: StorePlace
) -> None:
    kept.put("a")
    with pytest.raises(ObjectRefused, match=f"the character {bad}"):
        written(kept, wish(tags=tags))


@pytest.mark.parametrize("name", ["aws:owner", "AWS:owner"])
def test_names_of_tags_that_are_amazons_own_are_refused_by_every_store(name: str, kept: StorePlace) -> None:
    kept.put("a")
    with pytest.raises(ObjectRefused, match="are Amazon's own"):
        written(kept, wish(tags={name: "me"}))


def test_tags_have_letters_of_any_script_and_a_few_signs(kept: StorePlace) -> None:
    kept.put("a")
    tags = {"größe/α": "a b+c-d=e.f_g:h/i@j 漢"}
    assert written(kept, wish(tags=tags)).tags == tags


def test_what_steps_write_at_the_same_time_is_all_there(kept: StorePlace) -> None:
    keys = [str(number) for number in range(10)]
    for key in keys:
        kept.put(key)

    async def main() -> Any:
        stores = Stores({"pics": kept.url})
        try:
            tags = [wish(key, by=f"{key}/{name}", tags={name: "1"}) for key in keys for name in "ab"]
            metadata = [wish(key, by=f"{key}/m", metadata={"m": "3"}) for key in keys]
            await asyncio.gather(
                *(write_back(stores, each) for each in (*metadata[:5], *tags, *metadata[5:]))
            )
            store = await stores.get("pics")
            found = [await store.head(key) for key in keys]
            return [(each.tags, each.metadata["m"]) for each in found]
        finally:
            await stores.close()

    assert asyncio.run(main()) == [({"a": "1", "b": "1"}, "3")] * 10


def test_steps_on_two_nodes_write_one_after_the_other(server: PostgresServer, tmp_path: Path) -> None:
    folder = FolderPlace(tmp_path / "pics")
    keys = [str(number) for number in range(10)]
    for key in keys:
        folder.put(key)

    async def main() -> Any:
        database = await open_store(server.create_database())
        nodes = [Stores({"pics": folder.url}) for _ in range(2)]
        for each in nodes:
            each.update_order = UpdateOrder(database, lambda: datetime.now(UTC))
        try:
            await asyncio.gather(
                *(
                    write_back(node, wish(key, by=name, tags={name: "1"}))
                    for key in keys
                    for node, name in zip(nodes, "ab", strict=True)
                )
            )
            store = await nodes[0].get("pics")
            return [(await store.head(key)).tags for key in keys], await database.tokens(LOCKS, "", 10)
        finally:
            await database.close()

    assert asyncio.run(main()) == ([{"a": "1", "b": "1"}] * 10, [])


def test_the_turn_of_a_node_that_died_ends(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.objects.update_order.LEASE", timedelta(seconds=0.5))

    async def main() -> str:
        database = await open_store(server.create_database())
        dead, alive = (UpdateOrder(database, lambda: datetime.now(UTC)) for _ in range(2))
        try:
            await dead.at("x").__aenter__()
            async with asyncio.timeout(20), alive.at("x"):
                return "its turn"
        finally:
            await database.close()

    assert asyncio.run(main()) == "its turn"


def test_new_content_that_keeps_its_metadata_is_nobodys_own(seaweed: SeaweedFS) -> None:
    bucket = seaweed.bucket("kept-marks")
    seaweed.put(bucket, "a", b"one")
    kept = S3Place(seaweed, bucket)
    ours = written(kept, wish(metadata={"seen": "yes"}))
    seaweed.put(bucket, "a", b"two", Metadata=ours.metadata)
    again = kept.run(lambda store: store.head("a"))
    assert (is_own(ours, "pics"), is_own(again, "pics")) == (True, False)
    assert again.metadata == ours.metadata


def test_what_was_put_in_parts_is_known_by_when_it_was_written() -> None:
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    parts = Object(bucket="b", key="k", size=9, etag="0" * 32 + "-2")
    mark = {MARK: mark_of("w", parts, "run/1", now)}

    def written_at(moment: datetime) -> Object:
        return replace(parts, etag="1" * 32, metadata=mark, system={"last_modified": moment_text(moment)})

    assert is_own(written_at(now + timedelta(seconds=9)), "w")
    assert not is_own(written_at(now + timedelta(minutes=3)), "w")


def test_a_large_copy_may_take_its_time() -> None:
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    parts = Object(bucket="b", key="k", size=5_000_000_000, etag="0" * 32 + "-2")
    later = {"last_modified": moment_text(now + timedelta(minutes=9))}
    ours = replace(parts, etag="1" * 32, metadata={MARK: mark_of("w", parts, "run/1", now)}, system=later)

    assert is_own(ours, "w")


def test_new_content_of_what_was_put_in_parts_is_nobodys_own_at_once(seaweed: SeaweedFS) -> None:
    bucket = seaweed.bucket("kept-parts")
    client, where = seaweed.client, {"Bucket": bucket, "Key": "a"}
    upload = {**where, "UploadId": client.create_multipart_upload(**where)["UploadId"]}
    part = client.upload_part(**upload, PartNumber=1, Body=b"one")["ETag"]
    client.complete_multipart_upload(**upload, MultipartUpload={"Parts": [{"ETag": part, "PartNumber": 1}]})
    kept = S3Place(seaweed, bucket)
    before = kept.run(lambda store: store.head("a"))
    ours = written(kept, wish(metadata={"seen": "yes"}))
    seaweed.put(bucket, "a", b"other", Metadata=ours.metadata)
    again = kept.run(lambda store: store.head("a"))

    assert before.etag.endswith("-1")
    assert (is_own(ours, "pics"), is_own(again, "pics")) == (True, False)


@pytest.mark.parametrize(("date", "ahead"), [("Sat, 31 Jan 2026 12:05:00 GMT", 300), ("soon", 0), (None, 0)])
def test_a_store_tells_how_far_its_clock_is_ahead(date: str | None, ahead: int) -> None:
    headers = {} if date is None else {"date": date}

    found = clock_ahead(headers, datetime(2026, 1, 31, 12, tzinfo=UTC))

    assert found == timedelta(seconds=ahead)


def test_tags_go_onto_what_a_step_beside_made_of_the_version(seaweed: SeaweedFS) -> None:
    bucket = seaweed.bucket("beside", versions=True)
    put = seaweed.put(bucket, "a")
    about = {"version": put["VersionId"], "etag": put["ETag"].strip('"')}
    made = written(S3Place(seaweed, bucket), wish(metadata={"m": "1"}, **about))
    tagged = written(S3Place(seaweed, bucket), wish(tags={"a": "1"}, by="run/2", **about))
    assert (tagged.version, tagged.tags, tagged.metadata["m"]) == (made.version, {"a": "1"}, "1")


@pytest.mark.parametrize("endpoint", [None, "https://s3.eu-west-1.amazonaws.com"])
def test_metadata_of_what_amazon_cannot_copy_at_once_is_refused_in_a_sentence(endpoint: str | None) -> None:
    store = S3Store("pics", "pics", endpoint=endpoint)
    large = Object(bucket="pics", key="film.mp4", size=5 * 1024**3 + 1, etag="e")

    with pytest.raises(ObjectRefused, match=r"pics/film.mp4 is larger than 5 GB, .* write tags instead"):
        asyncio.run(store.put_metadata(large, {"who": "me"}))


class _Amazon:
    """A client of S3 with one object, which takes a copy onto itself and remembers what was said."""

    def __init__(self, fault: str | None = None, **object: Any) -> None:
        self._fault, self._object = fault, object
        self.copied: dict[str, Any] = {}

    def head_object(self, **asked: Any) -> dict[str, Any]:
        headers = {"etag": '"e"', "content-length": "3", "last-modified": "Sat, 31 Jan 2026 12:00:00 GMT"}
        return {**self._object, "ResponseMetadata": {"HTTPHeaders": headers}}

    def copy_object(self, **asked: Any) -> dict[str, Any]:
        if self._fault is not None:
            told = {"Error": {"Code": self._fault, "Message": "no"}}
            raise botocore.exceptions.ClientError(told, "CopyObject")
        self.copied = asked
        return {}

    def get_credentials(self) -> None:
        """None: everything is asked through the client."""


def _copied(client: _Amazon) -> None:
    store = S3Store("pics", "pics")
    store._client = store._session = client
    asyncio.run(store.put_metadata(Object(bucket="pics", key="a", size=3, etag="e"), {"who": "me"}))


def test_a_copy_keeps_what_an_object_is_encrypted_with_and_how_it_is_served() -> None:
    kept: dict[str, Any] = {
        "ServerSideEncryption": "aws:kms",
        "SSEKMSKeyId": "arn:aws:kms:eu-west-1:123456789012:key/ours",
        "BucketKeyEnabled": True,
        "ContentType": "image/png",
        "WebsiteRedirectLocation": "/b",
        "Expires": datetime(2027, 1, 1, tzinfo=UTC),
    }
    client = _Amazon(**kept)

    _copied(client)

    assert {name: client.copied.get(name) for name in kept} == kept


def test_metadata_of_what_lies_in_an_archive_is_refused_and_not_tried_for_ever() -> None:
    with pytest.raises(ObjectRefused, match="InvalidObjectState"):
        _copied(_Amazon(fault="InvalidObjectState"))
