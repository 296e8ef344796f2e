"""What every object store does, whichever it is: a folder, SeaweedFS, and JuiceFS' gateway."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.objects.errors import ObjectGone, ObjectRefused
from penstock.objects.protocol import ObjectStore
from tests.objects.places import StorePlace

KEYS = ("a b/x+y ü.txt", "100%.txt", "a/b/c", "日本/絵 %2B.png")


async def keys_of(store: ObjectStore, prefix: str = "", after: str = "") -> list[str]:
    return [each.key async for page in store.pages(prefix, after) for each in page]


@pytest.mark.parametrize("key", KEYS)
def test_an_object_is_found_under_the_key_it_was_put_with(kept: StorePlace, key: str) -> None:
    kept.put(key, b"four")

    async def talk(store: ObjectStore) -> Any:
        return await store.head(key), await keys_of(store)

    found, keys = kept.run(talk)
    assert (found.key, found.size, found.version, found.tags, keys) == (key, 4, None, {}, [key])
    assert found.etag
    assert found.system["store"] == "pics"
    assert found.system["last_modified"].endswith("Z")


def test_what_is_not_there_is_gone(kept: StorePlace) -> None:
    async def talk(store: ObjectStore) -> None:
        for ask in (store.head("none"), store.put_tags("none", {"a": "1"})):
            with pytest.raises(ObjectGone):
                await ask

    kept.run(talk)


def test_tags_are_written_as_a_whole_and_read_back(kept: StorePlace) -> None:
    kept.put("a")

    async def talk(store: ObjectStore) -> Any:
        await store.put_tags("a", {"mime": "image/png", "old": "1"})
        first = (await store.head("a")).tags
        await store.put_tags("a", {"mime": "image/jpeg"})
        return first, (await store.head("a")).tags, (await store.head("a", tags=False)).size

    assert kept.run(talk) == ({"mime": "image/png", "old": "1"}, {"mime": "image/jpeg"}, 1)


def test_metadata_is_written_without_touching_content_or_tags(kept: StorePlace) -> None:
    kept.put("a", b"four")

    async def talk(store: ObjectStore) -> Any:
        await store.put_tags("a", {"mime": "image/png"})
        found = await store.head("a")
        done = await store.put_metadata(found, {"who": "me"})
        return done, await store.head("a")

    done, after = kept.run(talk)
    assert (after.metadata, after.tags, after.size) == ({"who": "me"}, {"mime": "image/png"}, 4)
    assert done == after


def test_metadata_is_not_written_onto_an_object_that_was_replaced(kept: StorePlace) -> None:
    kept.put("a", b"one")

    async def talk(store: ObjectStore) -> None:
        found = await store.head("a")
        kept.put("a", b"another")
        with pytest.raises(ObjectRefused, match="replaced"):
            await store.put_metadata(found, {"who": "me"})

    kept.run(talk)


def test_an_object_that_is_put_again_has_none_of_its_tags(kept: StorePlace) -> None:
    kept.put("a", b"one")

    async def talk(store: ObjectStore) -> Any:
        await store.put_tags("a", {"mime": "image/png"})
        kept.put("a", b"another")
        return (await store.head("a")).tags

    assert kept.run(talk) == {}


def test_too_many_tags_and_too_long_ones_are_refused(kept: StorePlace) -> None:
    kept.put("a")

    async def talk(store: ObjectStore) -> Any:
        for tags in ({str(number): "1" for number in range(11)}, {"a" * 129: "1"}, {"a": "1" * 257}):
            with pytest.raises(ObjectRefused):
                await store.put_tags("a", tags)
        return (await store.head("a")).tags

    assert kept.run(talk) == {}


def test_a_listing_goes_on_behind_a_key_in_its_own_order(kept: StorePlace) -> None:
    keys = ["a-b", "a/b", "a/c/d", "a0", "b/1", "b/2", "é"]
    for key in keys:
        kept.put(key)

    async def talk(store: ObjectStore) -> Any:
        return (
            await keys_of(store),
            await keys_of(store, after="a/b"),
            await keys_of(store, "b"),
            await keys_of(store, "b/", after="b/1"),
            await keys_of(store, "none"),
        )

    every, after, under, rest, none = kept.run(talk)
    assert sorted(every) == sorted(keys)  # in bytes' order, but for SeaweedFS, where folders come first
    assert after == every[every.index("a/b") + 1 :]
    assert (under, rest, none) == (["b/1", "b/2"], ["b/2"], [])


def test_a_listing_goes_on_over_pages(kept: StorePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.objects.s3.PAGE", 7)
    monkeypatch.setattr("penstock.objects.folder.PAGE", 7)
    keys = [f"k/{number:03}" for number in range(30)]
    for key in keys:
        kept.put(key)

    async def talk(store: ObjectStore) -> Any:
        return [[each.key for each in page] async for page in store.pages("k/")]

    pages = kept.run(talk)
    assert [key for page in pages for key in page] == keys
    assert len(pages) > 3


def test_a_real_store_is_listed_without_the_slow_way(
    kept: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_: Any, **__: Any) -> Any:
        raise AssertionError("boto3 was asked")

    monkeypatch.setattr("penstock.objects.s3.S3Store._call", slow)
    for key in KEYS:
        kept.put(key)

    assert sorted(kept.run(keys_of)) == sorted(KEYS)


def test_a_presigned_address_is_good_for_a_bounded_time(kept: StorePlace) -> None:
    kept.put("a b/x+y.txt", b"content")

    async def talk(store: ObjectStore) -> Any:
        for expires in (timedelta(0), timedelta(days=8)):
            with pytest.raises(ObjectRefused):
                await store.presign("a b/x+y.txt", "read", expires)

    kept.run(talk)
