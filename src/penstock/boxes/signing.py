"""Signature Version 4 of AWS, as far as a call of a Lambda function needs it."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct


class Credentials(Struct, frozen=True):
    """An access key of AWS."""

    id: str
    secret: str
    token: str | None = None


def signed(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    credentials: Credentials,
    region: str,
    now: datetime,
    service: str = "lambda",
) -> dict[str, str]:
    """The headers with a signature of all that is sent."""
    parts, stamp = urlsplit(url), f"{now:%Y%m%dT%H%M%SZ}"
    said = {**headers, "Host": parts.netloc, "X-Amz-Date": stamp}
    if credentials.token is not None:
        said["X-Amz-Security-Token"] = credentials.token
    plain = {name.lower(): " ".join(value.split()) for name, value in said.items()}
    names = ";".join(sorted(plain))
    request = "\n".join(
        (
            method,
            quote(parts.path or "/", safe="/-_.~"),
            _query(parts.query),
            "".join(f"{name}:{plain[name]}\n" for name in sorted(plain)),
            names,
            sha256(body).hexdigest(),
        )
    )
    scope = f"{now:%Y%m%d}/{region}/{service}/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{sha256(request.encode()).hexdigest()}"
    key = f"AWS4{credentials.secret}".encode()
    for word in scope.split("/"):
        key = hmac.new(key, word.encode(), sha256).digest()
    signature = hmac.new(key, to_sign.encode(), sha256).hexdigest()
    said["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials.id}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return said


def _query(query: str) -> str:
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    return "&".join(f"{name}={value}" for name, value in pairs)
