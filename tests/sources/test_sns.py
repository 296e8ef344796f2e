"""Amazon SNS: signed letters of listed topics are taken; for others nothing is fetched."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from time import thread_time
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from penstock.runtime.json.strict_json import Unreadable
from penstock.sources.errors import CertificateAway, Stale, Untrusted, Unverified
from penstock.sources.hooks.certificates import Certificates, amazon_roots, system_roots
from penstock.sources.hooks.sns import (
    SnsMessage,
    confirmation_address,
    is_certificate_address,
    read_sns_message,
)
from tests.sources.amazon import ADDRESS, AMAZON, CONFIRM, ISSUER_ADDRESS, NOW, TOPIC, Amazon, Web, encoded


def read(letter: dict[str, Any], topics: tuple[str, ...] = (TOPIC,)) -> SnsMessage:
    return read_sns_message(encoded(letter), topics, NOW)


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_letter_is_taken_where_its_key_signed_it(version: str) -> None:
    letter = read(AMAZON.letter(version))

    letter.check_signature(AMAZON.key.public_key())

    assert (letter.kind, letter.id, letter.topic, letter.subject) == ("Notification", "m-1", TOPIC, "done")


def test_a_letter_without_a_subject_is_signed_without_it() -> None:
    read(AMAZON.letter(Subject=None)).check_signature(AMAZON.key.public_key())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Message", "{}"),
        ("MessageId", "m-2"),
        ("Subject", "x"),
        ("Timestamp", "2026-03-01T11:58:00.000Z"),
        ("SignatureVersion", "1"),
    ],
)
def test_a_letter_that_was_changed_is_refused(name: str, value: str) -> None:
    letter = read({**AMAZON.letter(), name: value})

    with pytest.raises(Unverified) as caught:
        letter.check_signature(AMAZON.key.public_key())
    assert caught.value.reason == "mismatch"


def test_a_letter_signed_by_another_key_is_refused() -> None:
    with pytest.raises(Unverified):
        read(Amazon().letter()).check_signature(AMAZON.key.public_key())


def test_a_topic_that_is_not_listed_is_refused() -> None:
    for topics in ((), ("arn:aws:sns:eu-west-1:123456789012:other",)):
        with pytest.raises(Untrusted) as caught:
            read(AMAZON.letter(), topics)
        assert caught.value.reason == "topic"


def test_a_letter_is_stale_after_an_hour() -> None:
    read(AMAZON.letter(Timestamp="2026-03-01T11:01:00Z"))

    with pytest.raises(Stale):
        read(AMAZON.letter(Timestamp="2026-03-01T10:59:00Z"))


@pytest.mark.parametrize(
    "changed",
    [
        {"MessageId": None},
        {"Timestamp": "soon"},
        {"Timestamp": "2026-03-01T11:59:00"},
        {"Message": 5},
        {"SignatureVersion": "3"},
        {"Type": "SubscriptionConfirmation"},
    ],
)
def test_a_letter_that_lacks_something_is_refused(changed: dict[str, Any]) -> None:
    letter = {name: value for name, value in {**AMAZON.letter(), **changed}.items() if value is not None}

    with pytest.raises(Unverified) as caught:
        read(letter)
    assert caught.value.reason == "malformed"
    with pytest.raises(Unverified):
        read({**AMAZON.letter(), "Signature": "?"})


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"Type": "Other"}', b"no"])
def test_what_is_no_letter_cannot_be_read(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read_sns_message(body, [TOPIC], NOW)


def test_what_else_is_in_a_letter_is_passed_over() -> None:
    """Anybody may send one, and a quarter of a megabyte of lists in lists took a tenth of a second."""
    deep = "[" * 60 + "]" * 60
    letter = encoded(AMAZON.letter())
    large = letter[:-1] + b', "more": [' + b",".join([deep.encode()] * 2000) + b"]}"
    began = thread_time()
    read_sns_message(large, [TOPIC], NOW).check_signature(AMAZON.key.public_key())

    assert thread_time() - began < 0.03
    for wrong in (letter[:-1] + b', "more": ' + b"[" * 100_000, letter.replace(b"m-1", b"m\\u0000")):
        with pytest.raises(Unreadable):
            read_sns_message(wrong, [TOPIC], NOW)


BAD_ADDRESSES = [
    "https://sns.us-east-1.amazonaws.com.evil.io/x.pem",
    "https://bucket.s3.amazonaws.com/x.pem",
    "https://sns.s3.us-east-1.amazonaws.com/x.pem",
    "http://sns.us-east-1.amazonaws.com/x.pem",
    "https://sns.us-east-1.amazonaws.com/x.pem?a",
    "https://sns.us-east-1.amazonaws.com/x.pem#a",
    "https://sns.us-east-1.amazonaws.com/x.txt",
    "https://sns.us-east-1.amazonaws.com:8443/x.pem",
    "https://user@sns.us-east-1.amazonaws.com/x.pem",
    "https://evil.io\\@sns.us-east-1.amazonaws.com/x.pem",
    "https://evil.io/%2f@sns.us-east-1.amazonaws.com/x.pem",
    "https://sns.us-east-1.amazonaws.com/a/../x.pem",
    "https://sns.us-east-1.amazonaws.com\n.evil.io/x.pem",
    "https://[::ffff:169.254.169.254]/x.pem",
    "https://[oops/x.pem",
    "",
]


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_row_33_a_certificate_elsewhere_is_refused(address: str) -> None:
    assert not is_certificate_address(address)
    with pytest.raises(Untrusted) as caught:
        read({**AMAZON.letter(), "SigningCertURL": address})
    assert caught.value.reason == "certificate"


def test_the_addresses_of_amazon_are_taken() -> None:
    assert is_certificate_address(ADDRESS)
    assert is_certificate_address("https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem")


def test_the_call_that_confirms_is_made_from_the_topic() -> None:
    assert confirmation_address(TOPIC, "t0ken") == CONFIRM
    assert confirmation_address("arn:aws-cn:sns:cn-north-1:123456789012:t", "a&b=c").startswith(
        "https://sns.cn-north-1.amazonaws.com.cn/?Action=ConfirmSubscription&TopicArn=arn%3Aaws-cn%3A"
    )


# -- certificates ------------------------------------------------------------------------------------------


def test_a_certificate_is_fetched_once_with_its_issuer_and_again_after_a_day() -> None:
    web = Web(AMAZON)

    async def main() -> None:
        certificates = Certificates(web.fetch, [AMAZON.root])
        keys = await asyncio.gather(*(certificates.key(ADDRESS, NOW) for _ in range(5)))
        assert {key.public_numbers() for key in keys} == {AMAZON.key.public_key().public_numbers()}
        assert web.fetched == [ADDRESS, ISSUER_ADDRESS]
        await certificates.key(ADDRESS, NOW + timedelta(days=1))
        assert len(web.fetched) == 4

    asyncio.run(main())


def test_a_file_with_the_whole_chain_needs_no_second_call() -> None:
    pem = AMAZON.leaf.public_bytes(Encoding.PEM) + AMAZON.issuer.public_bytes(Encoding.PEM)
    web = Web(AMAZON, pem)

    asyncio.run(Certificates(web.fetch, [AMAZON.root]).key(ADDRESS, NOW))

    assert web.fetched == [ADDRESS]


OTHER = Amazon()
REFUSED = {
    "another root": (AMAZON.leaf, OTHER.root),
    "another name": (AMAZON.signed("bucket.s3.amazonaws.com"), AMAZON.root),
    "a name that looks alike": (AMAZON.signed("sns.amazonaws.com.evil.io"), AMAZON.root),
    "over": (AMAZON.signed(since=NOW - timedelta(days=100)), AMAZON.root),
    "not yet": (AMAZON.signed(since=NOW + timedelta(days=1)), AMAZON.root),
    "signed by itself": (AMAZON.root, AMAZON.root),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_certificate_without_a_chain_to_our_roots_is_refused(case: str) -> None:
    leaf, root = REFUSED[case]
    web = Web(AMAZON, leaf.public_bytes(Encoding.PEM))

    with pytest.raises(Untrusted) as caught:
        asyncio.run(Certificates(web.fetch, [root]).key(ADDRESS, NOW))
    assert caught.value.reason == "certificate"


def test_without_roots_or_with_a_file_that_is_none_nothing_is_believed() -> None:
    for web, roots in ((Web(AMAZON), []), (Web(AMAZON, b"<html>"), [AMAZON.root])):
        with pytest.raises(Untrusted):
            asyncio.run(Certificates(web.fetch, roots).key(ADDRESS, NOW))


def test_an_amazon_that_does_not_answer_may_be_asked_again() -> None:
    web = Web(AMAZON)
    web.away = True

    async def main() -> None:
        certificates = Certificates(web.fetch, [AMAZON.root])
        with pytest.raises(CertificateAway):
            await certificates.key(ADDRESS, NOW)
        web.away = False
        await certificates.key(ADDRESS, NOW)

    asyncio.run(main())


def test_of_many_roots_only_amazons_are_believed() -> None:
    roots = [
        AMAZON.root_of(name) for name in ("Evil", "Amazon", "Starfield Technologies, Inc.", "Not Amazon")
    ]

    found = amazon_roots(b"# comment\n".join(root.public_bytes(Encoding.PEM) for root in roots))

    assert found == roots[1:3]
    assert not set(system_roots()) & set(roots)


def test_a_key_that_is_known_does_not_wait_for_one_that_is_fetched() -> None:
    web, asked = Web(AMAZON), asyncio.Event()

    async def fetch(url: str) -> bytes:
        if url in (ADDRESS, ISSUER_ADDRESS):
            return await web.fetch(url)
        asked.set()
        return await asyncio.Future()  # it never answers

    async def main() -> None:
        certificates = Certificates(fetch, [AMAZON.root])
        known = await certificates.key(ADDRESS, NOW)
        strangers = asyncio.create_task(certificates.key(ADDRESS.replace(".pem", "-none.pem"), NOW))
        await asked.wait()
        async with asyncio.timeout(5):
            assert await certificates.key(ADDRESS, NOW) is known
        strangers.cancel()

    asyncio.run(main())
