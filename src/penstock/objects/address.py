"""Addresses of object stores: `s3://bucket?endpoint=…` and `dir:///path`, read before anything is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from penstock.objects.errors import BadStore

Secrets = Callable[[str], Awaitable[str | None]]
"""The value of a secret by its name; None where there is none."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,254}")
_REGION = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_REFERENCE = re.compile(r"\$\{([A-Za-z0-9_.-]{1,128})\}")
_ARN = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]{1,256}")
_S3 = (
    "endpoint",
    "region",
    "style",
    "access_key",
    "secret_key",
    "session_token",
    "hook_token",
    "sns_topic",
    "bus",
    "topic",
)
_DIR = ("hook_token",)


class Address(Struct, frozen=True, kw_only=True):
    """One store as it is set up; values such as `${NAME}` stand for a variable or a secret and are looked up late."""

    name: str
    kind: str  # 's3' or 'dir'
    bucket: str
    path: str = ""
    options: dict[str, str] = {}

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of Amazon SNS that may tell of it."""
        return tuple(each for each in self.options.get("sns_topic", "").split(" ") if each)


def read_addresses(stores: Mapping[str, object]) -> dict[str, Address]:
    """The setting `stores`. Raises BadStore."""
    return {name: read_address(name, url) for name, url in stores.items()}


def read_address(name: str, url: object) -> Address:
    """One store out of its name and its address. Raises BadStore with what is wrong."""
    if not _NAME.fullmatch(name):
        raise BadStore(name[:128], "has a name that cannot be: use letters, digits, _, . and -, 128 at most")
    if not isinstance(url, str):
        raise BadStore(name, "must have an address such as s3://bucket or dir:///path")
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise BadStore(name, "has an address that cannot be read: write s3://bucket?endpoint=…") from None
    if "#" in url:  # what comes behind it would be left out in silence
        raise BadStore(name, "has a # in its address: write %23")
    if parts.scheme == "s3":
        return _s3(name, parts.netloc, parts.path, options)
    if parts.scheme == "dir":
        return _folder(name, parts.netloc, parts.path, options)
    raise BadStore(name, f"has the scheme '{parts.scheme[:20]}': use s3://bucket or dir:///path")


def _s3(name: str, bucket: str, path: str, options: dict[str, str]) -> Address:
    if "@" in bucket:
        raise BadStore(
            name, "has credentials before its bucket: use access_key=${NAME} and secret_key=${NAME}"
        )
    if bucket and not path.strip("/") and not _BUCKET.fullmatch(bucket):
        raise BadStore(
            name,
            f"names the bucket '{bucket[:80]}', which cannot be one: use 2 to 255 letters, digits, _, . and -",
        )
    if not bucket or path.strip("/"):
        raise BadStore(name, "needs a bucket and nothing behind it, as in s3://pictures?region=eu-west-1")
    _reject_unknown(name, options, _S3)
    endpoint = options.get("endpoint", "")
    if endpoint and not _is_address(endpoint):
        raise BadStore(name, "has an endpoint that is no http:// or https:// address")
    if not _REGION.fullmatch(options.get("region", "us-east-1")):
        raise BadStore(
            name, f"has the region '{options['region'][:40]}', which is none: write one like eu-west-1"
        )
    if options.get("style", "path") not in ("path", "virtual"):
        raise BadStore(name, "has a style that is neither `path` nor `virtual`")
    if ("access_key" in options) != ("secret_key" in options):
        raise BadStore(name, "needs both access_key and secret_key, or neither for those of the environment")
    if ("bus" in options) != ("topic" in options):
        raise BadStore(name, "needs both bus and topic, where its notifications come over a topic")
    found = Address(name=name, kind="s3", bucket=bucket, options=options)
    if not all(_ARN.fullmatch(each) for each in found.topics):
        raise BadStore(
            name, "has an sns_topic that is no ARN of one, such as arn:aws:sns:eu-west-1:123456789012:x"
        )
    return found


def _folder(name: str, host: str, path: str, options: dict[str, str]) -> Address:
    if host or not path.startswith("/") or path == "/":
        raise BadStore(name, "needs the whole path of a folder, as in dir:///srv/inbox")
    _reject_unknown(name, options, _DIR)
    # A folder has no name of its own that would be unique: its bucket is called like the store.
    return Address(name=name, kind="dir", bucket=name, path=str(Path(unquote(path))), options=options)


def _reject_unknown(name: str, options: Mapping[str, str], known: tuple[str, ...]) -> None:
    for each in options:
        if each not in known:
            close = get_close_matches(each, known, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known)}"
            raise BadStore(name, f"has an option '{each[:40]}' that is none: {hint}")


async def resolved(address: Address, option: str, secrets: Secrets | None) -> str | None:
    """The value of an option; `${NAME}` is the variable of that name, or else the secret. Raises BadStore."""
    value = address.options.get(option)
    reference = _REFERENCE.fullmatch(value or "")
    if value is None or reference is None:
        return value
    found = os.environ.get(reference[1])
    if not found and secrets is not None:
        found = await secrets(reference[1])
    if not found:
        why = f"needs the secret '{reference[1]}' for {option}: set it with `penstock secret set {reference[1]}`"
        raise BadStore(address.name, why)
    return found


def _is_address(endpoint: str) -> bool:
    """Whether something can be asked there."""
    try:
        parts = urlsplit(endpoint)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port that is no number, or too large
        return False
