"""Calls of Lambda functions, signed as AWS requires."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from urllib.parse import parse_qsl, quote, urlsplit

from penstock.objects.s3_signature import Keys, authorization


def signed(
    method: str, url: str, headers: Mapping[str, str], body: bytes, keys: Keys, region: str, now: datetime
) -> dict[str, str]:
    """The headers with a signature of all that is sent."""
    parts = urlsplit(url)
    said = {**headers, "Host": parts.netloc, "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}"}
    if keys.token is not None:
        said["X-Amz-Security-Token"] = keys.token
    plain = {name.lower(): " ".join(value.split()) for name, value in said.items()}
    path, ordered = quote(parts.path or "/", safe="/-_.~"), dict(sorted(plain.items()))
    digest = sha256(body).hexdigest()
    said["Authorization"] = authorization(
        method, path, _query(parts.query), ordered, digest, keys, "lambda", region
    )
    return said


def _query(query: str) -> str:
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    return "&".join(f"{name}={value}" for name, value in pairs)
