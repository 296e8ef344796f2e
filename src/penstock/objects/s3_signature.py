"""Signature Version 4 of AWS: what a call is signed with, and the header that says so."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256

from msgspec import Struct


class Keys(Struct, frozen=True):
    """An access key of AWS."""

    access_key: str
    secret_key: str
    token: str | None = None


def authorization(
    method: str,
    path: str,
    query: str,
    headers: Mapping[str, str],
    digest: str,
    keys: Keys,
    service: str,
    region: str,
) -> str:
    """The header `Authorization` of a call: `headers` are signed, in order, `digest` is that of its body."""
    names, stamp = ";".join(headers), headers["x-amz-date"]
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    asked = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{digest}"
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{sha256(asked.encode()).hexdigest()}"
    signature = hmac.new(_key(keys.secret_key, scope), text.encode(), "sha256").hexdigest()
    credential = f"Credential={keys.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    return f"AWS4-HMAC-SHA256 {credential}"


@lru_cache(maxsize=64)
def _key(secret: str, scope: str) -> bytes:
    found = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        found = hmac.new(found, part.encode(), "sha256").digest()
    return found
