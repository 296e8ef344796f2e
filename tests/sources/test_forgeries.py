"""Forged calls to every kind of hook: each is refused, starts nothing, and nothing is fetched for it."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from penstock import Engine
from penstock.flow.errors import PenstockError
from penstock.sources.hooks.envelope import Call
from tests.durable.conftest import Place
from tests.sources.amazon import ADDRESS, AMAZON, NOW, TOPIC, Amazon, Web
from tests.sources.hooking import hooks_of
from tests.sources.signing import OTHER, SECRET, signed_github, signed_standard

OTHER_TOPIC = TOPIC.replace("transcoded", "other")
BODY = b'{"n": 1,  "m": [2]}'
KEY = "a secret of a sender"
JSON = {"content-type": "application/json"}

HOOKS: dict[str, Any] = {
    "standard": {"method": "standard", "secret": "STANDARD"},
    "github": {"method": "github", "secret": "KEY"},
    "hmac": {"method": "hmac", "secret": "KEY"},
    "wide": {
        "method": "hmac",
        "secret": "KEY",
        "header": "X-Sign",
        "algorithm": "sha512",
        "encoding": "base64",
        "prefix": "v2=",
    },
    "bearer": {"method": "token", "secret": "KEY"},
    "header": {"method": "token", "secret": "KEY", "header": "X-Key"},
    "sns": {"method": "sns", "topics": [TOPIC]},
    "elsewhere": {"method": "sns", "topics": [OTHER_TOPIC]},
    "unset": {"method": "github", "secret": "NOT_SET"},
    "empty": {"method": "github", "secret": "EMPTY"},
    "blank": {"method": "hmac", "secret": "BLANK"},
    "hollow": {"method": "standard", "secret": "HOLLOW"},
}
"""A workflow for each, with the way in which its calls are verified."""
SECRETS = {"STANDARD": SECRET, "KEY": KEY, "EMPTY": "", "BLANK": "   ", "HOLLOW": "whsec_"}


def digest(algorithm: str = "sha256", body: bytes = BODY, key: str = KEY) -> bytes:
    return hmac.new(key.encode(), body, algorithm).digest()


def text(**changed: Any) -> bytes:
    return json.dumps(AMAZON.letter(**changed)).encode()


GOOD: dict[str, tuple[dict[str, str], bytes]] = {
    "standard": (signed_standard(BODY, NOW), BODY),
    "github": (signed_github(BODY, secret=KEY), BODY),
    "hmac": ({**JSON, "x-signature": digest().hex()}, BODY),
    "wide": ({**JSON, "x-sign": f"v2={b64encode(digest('sha512')).decode()}"}, BODY),
    "bearer": ({**JSON, "authorization": f"Bearer {KEY}"}, BODY),
    "header": ({**JSON, "x-key": KEY}, BODY),
    "sns": ({"content-type": "text/plain"}, text()),
}
"""What is not forged."""
SIGNED = ("standard", "github", "hmac", "wide", "sns")

Forged = tuple[str, dict[str, str], bytes]


def altered() -> Iterator[Forged]:
    """Good calls of which something was changed on the way."""
    for name, (headers, body) in GOOD.items():
        for gone in set(headers) - {"content-type"}:
            yield name, {key: value for key, value in headers.items() if key != gone}, body
            if gone == "x-github-delivery":  # GitHub signs the body alone: docs/security.md says so
                continue
            was = headers[gone]
            for value in {"", was[:-1], was + "0", was[::-1], "\u00e9", "0", "null"} - {was}:
                yield name, {**headers, gone: value}, body
        if name in SIGNED and name != "sns":  # that one signs what its fields say
            for other in (
                b"",
                body + b" ",
                body.replace(b"1", b"2", 1),
                b" " + body,
                json.dumps(json.loads(body)).encode(),
            ):
                if other != body:
                    yield name, headers, other


def crossed() -> Iterator[Forged]:
    """Good calls of one hook to another: of whoever may call that one alone."""
    for one in GOOD:
        for other in GOOD:
            if one != other:
                yield one, *GOOD[other]
    yield "elsewhere", *GOOD["sns"]
    yield "sns", {}, text(TopicArn=OTHER_TOPIC)


def mis_signed() -> Iterator[Forged]:
    """With other secrets, none, and other algorithms."""
    for secret in (OTHER, "whsec_", "whsec_AAAA"):
        yield "standard", signed_standard(BODY, NOW, secret=secret), BODY
    for minutes in (-6, 6, -600_000):
        yield "standard", signed_standard(BODY, NOW + timedelta(minutes=minutes)), BODY
    for version in ("v0", "v1a", "v2", "V1", ""):
        signature = GOOD["standard"][0]["webhook-signature"].replace("v1", version)
        yield "standard", {**GOOD["standard"][0], "webhook-signature": signature}, BODY
    for key in ("", " ", "other", KEY[:-1], KEY.encode().hex()):
        yield "github", signed_github(BODY, secret=key), BODY
        yield "hmac", {**JSON, "x-signature": digest(key=key).hex()}, BODY
        yield "bearer", {**JSON, "authorization": f"Bearer {key}"}, BODY
        yield "header", {**JSON, "x-key": key}, BODY
    for algorithm in ("md5", "sha1", "sha224", "sha384", "sha512"):
        for name, header in (("github", "x-hub-signature-256"), ("hmac", "x-signature")):
            for before in ("", f"{algorithm}=", "sha256="):
                yield name, {**GOOD[name][0], header: before + digest(algorithm).hex()}, BODY
    yield "hmac", {**JSON, "x-signature": hashlib.sha256(KEY.encode() + BODY).hexdigest()}, BODY
    yield "wide", {**JSON, "x-sign": f"v2={b64encode(digest()).decode()}"}, BODY
    for scheme in ("Basic", "bearer,", "Token", "Bearer Bearer", ""):
        yield "bearer", {**JSON, "authorization": f"{scheme} {KEY}".strip()}, BODY
    yield "bearer", {**JSON, "cookie": f"authorization=Bearer {KEY}"}, BODY


def without_a_secret() -> Iterator[Forged]:
    """Signed as with what is configured there: nothing."""
    for name in ("unset", "empty", "blank", "hollow"):
        for key in ("", "   ", "NOT_SET", "None", "null"):
            yield name, {**signed_github(BODY, secret=key), "x-signature": digest(key=key).hex()}, BODY
        yield name, signed_standard(BODY, NOW, secret="whsec_"), BODY


CHANGES: list[dict[str, Any]] = [
    {"Message": "{}"},
    {"MessageId": "m-2"},
    {"Subject": "other"},
    {"Subject": None},
    {"Timestamp": "2026-03-01T11:59:01.000Z"},
    {"Type": "UnsubscribeConfirmation"},
    {"Type": "SubscriptionConfirmation", "Token": "t", "SubscribeURL": "http://169.254.169.254/"},
    {"SignatureVersion": "1"},
    {"SignatureVersion": "3"},
    {"SignatureVersion": 2},
    {"Signature": ""},
    {"Signature": "AAAA"},
    {"Signature": None},
    {"TopicArn": OTHER_TOPIC},
    {"TopicArn": [TOPIC]},
    {"TopicArn": TOPIC + "x"},
    {"SigningCertURL": None},
]
"""Of a letter, after it was signed."""

ELSEWHERE = (
    ADDRESS.replace("https", "http"),
    ADDRESS.replace(".com/", ".com.evil.io/"),
    ADDRESS.replace("https://", "https://evil.io@"),
    ADDRESS.replace("https://", "https://evil.io/#"),
    "https://bucket.s3.amazonaws.com/x.pem",
    ADDRESS + "?x=.pem",
    ADDRESS + "#.pem",
    ADDRESS.replace(".com/", ".com:444/"),
    ADDRESS.replace("/Simple", "/../Simple"),
    ADDRESS.replace("sns.eu", "sns\u3002eu"),
    ADDRESS.replace("/Simple", "/%2e%2e/Simple"),
    "file:///etc/ssl/x.pem",
    "https://sns.eu-west-1.amazonaws.com\\@evil.io/x.pem",
)
"""Certificates that are not with Amazon."""


def false_letters() -> Iterator[Forged]:
    """Of SNS: other keys, hosts, times, versions, and whatever was not signed so."""
    stranger = Amazon()
    yield "sns", {}, json.dumps(stranger.letter()).encode()
    letter = AMAZON.letter()
    for change in CHANGES:
        yield "sns", {}, json.dumps({**letter, **change}).encode()
    for address in ELSEWHERE:
        yield "sns", {}, text(SigningCertURL=address)
    for stamp in ("2026-03-01T10:58:00Z", "2026-03-01T13:30:00Z", "2026-03-01T11:59:00", "yesterday", ""):
        yield "sns", {}, text(Timestamp=stamp)


KINDS: list[Callable[[], Iterator[Forged]]] = [altered, crossed, mis_signed, without_a_secret, false_letters]


async def published(engine: Engine) -> None:
    for name, verify in HOOKS.items():
        await engine.publish(
            {
                "penstock": 1,
                "name": name,
                "source": {"kind": "webhook", "verify": verify},
                "steps": {"a": {"task": "one"}},
            },
            start=True,
        )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_forged_call_is_refused_and_leaves_nothing(kind: Callable[[], Iterator[Forged]]) -> None:
    async def main(engine: Engine) -> None:
        await published(engine)
        web = Web(AMAZON)
        hooks = await hooks_of(engine, web, **SECRETS)
        forged, passed, fetched = 0, [], set()
        for name, headers, body in kind():
            forged += 1
            try:
                await hooks.receive(name, None, Call(headers, body))
                passed.append((name, headers, body))
            except PenstockError:
                fetched.update(web.fetched)

        assert (passed, await engine.runs()) == ([], [])
        assert forged > 10 and (sum(hooks.refused.values()), hooks.taken) == (forged, {})
        assert all(url.startswith(("https://sns.eu-west-1.amazonaws.com/", "http://crt.")) for url in fetched)

    Place("memory:").run(main, {"one": lambda: 1})


@pytest.mark.parametrize("name", GOOD)
def test_what_is_not_forged_is_taken_and_its_replay_starts_nothing(name: str) -> None:
    """A token says who sends, not what: there every call is a new one."""

    async def main(engine: Engine) -> None:
        await published(engine)
        hooks = await hooks_of(engine, None, **SECRETS)
        answers = [(await hooks.receive(name, None, Call(*GOOD[name]))).status for _ in range(3)]

        assert answers == ([201, 200, 200] if name in SIGNED else [201, 201, 201])
        assert len(await engine.runs()) == answers.count(201)

    Place("memory:").run(main, {"one": lambda: 1})
