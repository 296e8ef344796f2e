"""Senders that sign their calls."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from datetime import datetime

SECRET = "whsec_" + b64encode(b"a secret of a sender").decode()
OTHER = "whsec_" + b64encode(b"the secret before it").decode()


def signed_standard(body: bytes, at: datetime, id: str = "msg_1", secret: str = SECRET) -> dict[str, str]:
    """The headers of Standard Webhooks."""
    stamp = str(int(at.timestamp()))
    content = f"{id}.{stamp}.".encode() + body
    key = b64decode(secret.removeprefix("whsec_"))
    digest = b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{digest}",
        "content-type": "application/json",
    }


def signed_github(body: bytes, id: str = "d-1", secret: str = "s3cret") -> dict[str, str]:
    """The headers of GitHub."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        "x-hub-signature-256": f"sha256={digest}",
        "x-github-delivery": id,
        "content-type": "application/json",
    }
