"""Who sent a call: each method takes what its sender signed, as it came, and nothing else."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from datetime import UTC, datetime, timedelta

import pytest

from penstock.sources.errors import Stale, Unverified
from penstock.sources.hooks.verification import (
    GitHub,
    Hmac,
    Secret,
    Sns,
    Standard,
    Token,
    Verified,
    rule_of,
    verify,
)
from tests.sources.signing import OTHER, SECRET, signed_github, signed_standard

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BODY = b'{"b": 1,  "a": 2}'


def reason(rule: Secret, secrets: list[str], headers: dict[str, str], body: bytes = BODY) -> str:
    with pytest.raises(Unverified) as caught:
        verify(rule, secrets, headers, body, NOW)
    return caught.value.reason


# -- Standard Webhooks -------------------------------------------------------------------------------------


def test_standard_takes_what_was_signed_and_knows_it_by_its_id() -> None:
    assert verify(Standard(), [SECRET], signed_standard(BODY, NOW), BODY, NOW) == Verified("msg_1", NOW)


def test_standard_takes_any_of_several_signatures_and_secrets_so_that_secrets_can_be_changed() -> None:
    headers = signed_standard(BODY, NOW)
    both = signed_standard(BODY, NOW, secret=OTHER)["webhook-signature"]
    headers["webhook-signature"] = f"v1a,ed25519 {both} {headers['webhook-signature']}"

    assert verify(Standard(), [SECRET], headers, BODY, NOW).id == "msg_1"
    assert verify(Standard(), [OTHER, SECRET], signed_standard(BODY, NOW), BODY, NOW).id == "msg_1"


@pytest.mark.parametrize("secrets", [["not base64!", SECRET], [SECRET, "not base64!"]])
def test_a_secret_that_can_be_none_does_not_close_the_hook_to_the_other(secrets: list[str]) -> None:
    assert verify(Standard(), secrets, signed_standard(BODY, NOW), BODY, NOW).id == "msg_1"
    assert reason(Standard(), secrets, signed_standard(BODY, NOW, secret=OTHER)) == "mismatch"


def test_standard_has_a_known_answer() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    at = datetime.fromtimestamp(1614265330, UTC)

    assert verify(
        Standard(), ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], headers, b'{"test": 2432232314}', at
    ) == (Verified("msg_p5jXN8AQM9LWM0D4loKWxJek", at))


@pytest.mark.parametrize("secrets", [[SECRET], [SECRET, OTHER]])
@pytest.mark.parametrize("minutes", [-6, 6])
def test_row_30_a_time_six_minutes_off_is_stale(minutes: int, secrets: list[str]) -> None:
    at = NOW + timedelta(minutes=minutes)

    with pytest.raises(Stale) as caught:
        verify(Standard(), secrets, signed_standard(BODY, at), BODY, NOW)
    assert caught.value.code == "stale"


@pytest.mark.parametrize("minutes", [-4, 4])
def test_a_time_four_minutes_off_is_taken(minutes: int) -> None:
    at = NOW + timedelta(minutes=minutes)

    assert verify(Standard(), [SECRET], signed_standard(BODY, at), BODY, NOW) == Verified("msg_1", at)


@pytest.mark.parametrize("stamp", ["", "now", "-5", "1e9", "９", "9" * 30])
def test_a_time_that_is_none_is_refused(stamp: str) -> None:
    headers = {**signed_standard(BODY, NOW), "webhook-timestamp": stamp}

    assert reason(Standard(), [SECRET], headers) in ("missing", "malformed")


def test_an_id_or_a_time_that_was_changed_is_refused() -> None:
    for name, value in (("webhook-id", "msg_2"), ("webhook-timestamp", str(int(NOW.timestamp()) + 1))):
        assert reason(Standard(), [SECRET], {**signed_standard(BODY, NOW), name: value}) == "mismatch"


def test_a_secret_that_is_no_base64_lets_nobody_pass() -> None:
    assert reason(Standard(), ["not base64!"], signed_standard(BODY, NOW)) == "bad_secret"


# -- GitHub, HMAC, tokens ----------------------------------------------------------------------------------


def test_github_takes_what_was_signed_and_knows_it_by_its_delivery() -> None:
    assert verify(GitHub(), ["old", "s3cret"], signed_github(BODY), BODY, NOW) == Verified("d-1")


@pytest.mark.parametrize("name", ["x-hub-signature-256", "x-github-delivery"])
def test_github_without_one_of_its_headers_is_refused(name: str) -> None:
    headers = signed_github(BODY)
    del headers[name]

    assert reason(GitHub(), ["s3cret"], headers) == "missing"


@pytest.mark.parametrize("given", ["sha1=00", "sha256=", "sha256=zz", "sha256=é", "00"])
def test_github_with_a_signature_of_another_form_is_refused(given: str) -> None:
    assert reason(GitHub(), ["s3cret"], {**signed_github(BODY), "x-hub-signature-256": given}) in (
        "malformed",
        "mismatch",
    )


def test_hmac_follows_its_settings() -> None:
    rule = Hmac(header="X-Sign", algorithm="sha512", encoding="base64", prefix="v2=")
    digest = b64encode(hmac.new(b"s3cret", BODY, hashlib.sha512).digest()).decode()

    assert verify(rule, ["s3cret"], {"x-sign": f"v2={digest}"}, BODY, NOW) == Verified(
        hashlib.sha256(BODY).hexdigest()
    )
    assert reason(rule, ["s3cret"], {"x-sign": digest}) == "malformed"
    assert reason(rule, ["s3cret"], {"x-sign": f"v2={digest[:-4]}"}) == "mismatch"


def test_a_token_is_read_from_its_header() -> None:
    assert verify(Token(), ["t0p"], {"authorization": "Bearer t0p"}, BODY, NOW) == Verified()
    assert verify(Token(), ["t0p"], {"authorization": "bearer t0p"}, BODY, NOW) == Verified()
    assert verify(Token(prefix="Token "), ["t0p"], {"authorization": "TOKEN t0p"}, BODY, NOW) == Verified()
    assert verify(Token(header="X-Key"), ["t0p"], {"x-key": "t0p"}, BODY, NOW) == Verified()
    assert reason(Token(), ["t0p"], {"authorization": "bearer T0P"}) == "mismatch"
    assert reason(Token(), ["t0p"], {"authorization": "Bearer t0"}) == "mismatch"
    assert reason(Token(), ["t0p"], {"authorization": "Basic t0p"}) == "malformed"
    assert reason(Token(header="X-Key"), ["t0p"], {"authorization": "Bearer t0p"}) == "missing"


# -- all ---------------------------------------------------------------------------------------------------

ALL: list[tuple[Secret, dict[str, str], str]] = [
    (Standard(), signed_standard(BODY, NOW), SECRET),
    (GitHub(), signed_github(BODY), "s3cret"),
    (Hmac(), {"x-signature": hmac.new(b"s3cret", BODY, hashlib.sha256).hexdigest()}, "s3cret"),
]


@pytest.mark.parametrize(("rule", "headers", "secret"), ALL)
def test_row_29_a_signature_over_the_same_json_written_otherwise_is_refused(
    rule: Secret, headers: dict[str, str], secret: str
) -> None:
    assert verify(rule, [secret], headers, BODY, NOW) is not None
    assert reason(rule, [secret], headers, b'{"b":1,"a":2}') == "mismatch"


@pytest.mark.parametrize("secrets", [[], [""], ["  "]])
@pytest.mark.parametrize("rule", [Standard(), GitHub(), Hmac(), Token()])
def test_row_28_without_a_secret_nobody_passes(rule: Secret, secrets: list[str]) -> None:
    empty = hmac.new(b"", BODY, hashlib.sha256)
    forged = {
        **signed_standard(BODY, NOW, secret="whsec_"),
        **signed_github(BODY, secret=""),
        "x-signature": empty.hexdigest(),
        "authorization": "Bearer ",
    }

    assert reason(rule, secrets, forged) == "no_secret"
    assert reason(rule, ["s3cret"], {}) == "missing"


def test_what_a_stranger_reads_does_not_say_what_was_wrong() -> None:
    said = set()
    for secrets, headers in (([], {}), (["s3cret"], {}), (["s3cret"], signed_github(BODY, secret="x"))):
        with pytest.raises(Unverified) as caught:
            verify(GitHub(), secrets, headers, BODY, NOW)
        said.add((caught.value.code, str(caught.value)))

    assert said == {("unverified", "the call is not signed by the sender that this hook knows")}


def test_the_verify_of_a_definition_is_a_rule() -> None:
    assert rule_of("sns") == Sns()
    assert rule_of({"method": "sns", "topics": ["arn"]}) == Sns(topics=("arn",))
    assert rule_of({"method": "github", "secret": "A"}) == GitHub(secret="A")
    assert rule_of({"method": "standard", "secret": ["A", "B"]}) == Standard(secret=("A", "B"))
    assert GitHub(secret="A").secrets == ("A",)
    assert rule_of(None) is None
