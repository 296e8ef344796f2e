"""Who sent a call: the `verify` of a hook, and whether a call passes it. Pure: time and secrets are arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from penstock.sources.errors import Unverified
from penstock.sources.hooks import signatures
from penstock.sources.hooks.signatures import Algorithm, Encoding, Headers


class _Rule(Struct, frozen=True, kw_only=True, tag_field="method", forbid_unknown_fields=True):
    """What all methods have: `secret` names one or more secrets, `origins` who may ask for CloudEvents' consent."""

    secret: str | tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets, any of which may have signed."""
        return (self.secret,) if isinstance(self.secret, str) else self.secret


class Standard(_Rule, frozen=True, kw_only=True, tag="standard"):
    """Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`."""


class GitHub(_Rule, frozen=True, kw_only=True, tag="github"):
    """`X-Hub-Signature-256`; a repeat is known by `X-GitHub-Delivery`."""


class Hmac(_Rule, frozen=True, kw_only=True, tag="hmac"):
    """An HMAC of the body in a header."""

    header: str = "x-signature"
    algorithm: Algorithm = "sha256"
    encoding: Encoding = "hex"
    prefix: str = ""


class Token(_Rule, frozen=True, kw_only=True, tag="token"):
    """A secret that both sides know, sent as it is."""

    header: str = "authorization"
    prefix: str | None = None

    @property
    def before(self) -> str:
        """What stands before the token: `Bearer ` in `Authorization`."""
        if self.prefix is not None:
            return self.prefix
        return "Bearer " if self.header.lower() == "authorization" else ""


class Sns(Struct, frozen=True, kw_only=True, tag="sns", tag_field="method", forbid_unknown_fields=True):
    """Amazon SNS: signed with Amazon's certificate, of a topic on the list."""

    topics: tuple[str, ...] = ()


Secret = Standard | GitHub | Hmac | Token
Rule = Secret | Sns


class Verified(Struct, frozen=True):
    """The sender is known. `id`: by which a repeat of this call is recognised, where the method has one."""

    id: str | None = None
    at: datetime | None = None


def rule_of(verify: Any) -> Rule | None:
    """The `verify` of a definition, which was checked when it was read; None: there is none, nobody passes."""
    if verify is None:
        return None
    written = {"method": verify} if isinstance(verify, str) else verify
    rule: Rule = msgspec.convert(written, Rule)
    return rule


def verify(rule: Secret, secrets: Sequence[str], headers: Headers, body: bytes, now: datetime) -> Verified:
    """That one of the secrets signed the call as it came. Raises Unverified, Stale.

    Without a secret nobody passes: an empty one would let everybody pass.
    """
    usable = [secret for secret in secrets if secret.strip()]
    if not usable:
        raise Unverified("no_secret")
    fits, verified = _METHODS[type(rule)](rule, headers, body)
    told = [_tried(fits, secret) for secret in usable]
    if not any(told):
        raise Unverified("mismatch" if False in told else "bad_secret")
    if verified.at is not None:
        signatures.validate_timestamp(verified.at, now)
    return verified


def _tried(fits: Callable[[str], bool], secret: str) -> bool | None:
    """Whether one secret signed it; None: it can be none of this method. Another one may have."""
    try:
        return fits(secret)
    except Unverified:
        return None


_Answer = tuple[Callable[[str], bool], Verified]


def _standard(rule: Standard, headers: Headers, body: bytes) -> _Answer:
    fits, id, at = signatures.standard(headers, body)
    return fits, Verified(id, at)


def _github(rule: GitHub, headers: Headers, body: bytes) -> _Answer:
    given = _after("sha256=", signatures.said(headers, "x-hub-signature-256"))
    id = signatures.said(headers, "x-github-delivery")  # without it a replay could not be recognised
    return signatures.digest_fits(given, body, "sha256", "hex"), Verified(id)


def _hmac(rule: Hmac, headers: Headers, body: bytes) -> _Answer:
    given = _after(rule.prefix, signatures.said(headers, rule.header))
    # Only the body is signed: an equal body may be a replay, and counts as one.
    return signatures.digest_fits(given, body, rule.algorithm, rule.encoding), Verified(
        hashlib.sha256(body).hexdigest()
    )


def _token(rule: Token, headers: Headers, body: bytes) -> _Answer:
    value, before = signatures.said(headers, rule.header), rule.before
    if rule.header.lower() == "authorization" and value.lower().startswith(before.lower()):
        value = before + value[len(before) :]  # the name of a scheme may be written in any case
    return signatures.token_fits(_after(before, value)), Verified()


def _after(prefix: str, value: str) -> str:
    if not value.startswith(prefix) or len(value) == len(prefix):
        raise Unverified("malformed")
    return value[len(prefix) :]


_METHODS: dict[type, Callable[[Any, Headers, bytes], _Answer]] = {
    Standard: _standard,
    GitHub: _github,
    Hmac: _hmac,
    Token: _token,
}
