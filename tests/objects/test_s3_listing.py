"""Listings of S3 as XML: keys as they were put, folders left out, and nothing read that is no listing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from penstock.objects.protocol import Listed
from penstock.objects.s3_listing import Page, read_page
from penstock.objects.s3_reader import object_of

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def listing(*rows: str, top: str = "<IsTruncated>false</IsTruncated>") -> bytes:
    head = '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    return f"{head}{top}{''.join(rows)}</ListBucketResult>".encode()


def row(key: str, size: int = 1, more: str = "") -> str:
    return (
        f"<Contents><Key>{key}</Key><LastModified>2026-01-31T12:00:00.000Z</LastModified>"
        f"<ETag>&quot;e&quot;</ETag><Size>{size}</Size>{more}</Contents>"
    )


def test_a_page_has_its_objects_and_the_way_to_the_next() -> None:
    top = "<IsTruncated>true</IsTruncated><NextContinuationToken>a/+=</NextContinuationToken>"
    body = listing(row("a", more="<StorageClass>COLD</StorageClass>"), row("b", 2), top=top)

    assert read_page(body) == Page([Listed("a", 1, "e", NOON, "COLD"), Listed("b", 2, "e", NOON)], "a/+=")


@pytest.mark.parametrize(
    ("said", "encoding", "key"),
    [
        ("a+b%2Bc%25", "<EncodingType>url</EncodingType>", "a b+c%"),
        ("a+b%2Bc", "", "a+b%2Bc"),
        ("a&amp;b", "", "a&b"),
    ],
)
def test_keys_are_decoded_where_the_store_says_they_are_encoded(said: str, encoding: str, key: str) -> None:
    page = read_page(listing(row(said), top=f"{encoding}<IsTruncated>false</IsTruncated>"))

    assert page is not None and [each.key for each in page.objects] == [key]


def test_a_key_within_another_element_is_not_the_objects() -> None:
    owner = "<Owner><ID>x</ID><Key>owner</Key></Owner><CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>"

    page = read_page(listing(row("a", more=owner)))

    assert page is not None and [each.key for each in page.objects] == ["a"]


def test_a_folder_that_somebody_drew_is_no_object() -> None:
    page = read_page(listing(row("a/", 0), row("b/", 1)))

    assert page is not None and [each.key for each in page.objects] == ["b/"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><body>Welcome</body></html>",
        b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>',
        listing("<Contents><Key>a</Key></Contents>"),
        listing(row("a"))[:-5],
    ],
)
def test_what_is_no_whole_listing_is_not_read(body: bytes) -> None:
    assert read_page(body) is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Sat, 31 Jan 2026 12:00:00 GMT", "2026-01-31T12:00:00Z"),
        ("Tue, 3 Mar 2020 01:02:03 GMT", "2020-03-03T01:02:03Z"),
        ("Tue, 03 Mar 2020 01:02:03 +0100", "2020-03-03T00:02:03Z"),
    ],
)
def test_the_time_of_an_object_is_read_however_it_is_written(said: str, told: str) -> None:
    found = object_of("pics", "pics", "a", {"last-modified": said}, {})

    assert found.system["last_modified"] == told
