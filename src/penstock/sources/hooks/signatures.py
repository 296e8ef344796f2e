"""The ways to sign a call with a secret: each answers whether one secret made it, and who the call is."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Literal

from penstock.sources.errors import Stale, Unverified

Headers = Mapping[str, str]
"""Names in lower case."""

Algorithm = Literal["sha1", "sha256", "sha512"]
Encoding = Literal["hex", "base64"]

CLOCK_TOLERANCE = timedelta(minutes=5)
_STANDARD_PREFIX = "whsec_"


def said(headers: Headers, name: str) -> str:
    """The header, which is required."""
    value = headers.get(name.lower(), "")
    if not value:
        raise Unverified("missing")
    return value


def same(given: str, expected: str) -> bool:
    """Compared in the same time wherever they differ; whatever a stranger sends is compared."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def sign(secret: bytes, content: bytes, algorithm: Algorithm, encoding: Encoding) -> str:
    digest = hmac.new(secret, content, getattr(hashlib, algorithm)).digest()
    return digest.hex() if encoding == "hex" else b64encode(digest).decode()


def standard_key(secret: str) -> bytes:
    """The key in a secret of Standard Webhooks: base64, mostly after `whsec_`. Raises Unverified."""
    try:
        key = b64decode(secret.removeprefix(_STANDARD_PREFIX), validate=True)
    except (Error, ValueError):
        raise Unverified("bad_secret") from None
    if not key:
        raise Unverified("no_secret")
    return key


def standard(headers: Headers, body: bytes) -> tuple[Callable[[str], bool], str, datetime]:
    """Standard Webhooks: what tells whether a secret signed it, the id, the time. Raises Unverified."""
    id, stamp = said(headers, "webhook-id"), said(headers, "webhook-timestamp")
    given = [each[3:] for each in said(headers, "webhook-signature").split(" ") if each.startswith("v1,")]
    at = _moment(stamp)
    content = f"{id}.{stamp}.".encode() + body

    def fits(secret: str) -> bool:
        expected = sign(standard_key(secret), content, "sha256", "base64")
        return any([same(each, expected) for each in given])

    return fits, id, at


def _moment(stamp: str) -> datetime:
    if not stamp.isascii() or not stamp.isdigit() or len(stamp) > 11:
        raise Unverified("malformed")
    return datetime.fromtimestamp(int(stamp), UTC)


def validate_timestamp(at: datetime, now: datetime, tolerance: timedelta = CLOCK_TOLERANCE) -> None:
    """Raises Stale where the time is further from now than allowed, on either side."""
    if abs(now - at) > tolerance:
        raise Stale()


def digest_fits(given: str, body: bytes, algorithm: Algorithm, encoding: Encoding) -> Callable[[str], bool]:
    """Whether a secret made the HMAC that was given, over the body as it came."""
    text = given.lower() if encoding == "hex" else given

    def fits(secret: str) -> bool:
        return same(text, sign(secret.encode(), body, algorithm, encoding))

    return fits


def token_fits(given: str) -> Callable[[str], bool]:
    """Whether the token is the secret: digests are compared, so that not even its length shows."""

    def fits(secret: str) -> bool:
        ours = hashlib.sha256(secret.encode()).digest()
        return hmac.compare_digest(hashlib.sha256(given.encode("utf-8", "replace")).digest(), ours)

    return fits
