"""Amazon SNS: a message is read, matched with the topics of the hook, and its signature checked. Fetches nothing."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from msgspec import Raw, Struct

from penstock.runtime.json.strict_json import Unreadable
from penstock.sources.errors import Untrusted, Unverified
from penstock.sources.hooks.signatures import validate_timestamp

Kind = Literal["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]

MAX_AGE = timedelta(hours=1)
"""Maximum age of a message: Amazon repeats one for that long."""

_HOST = re.compile(r"sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")
_ARN = re.compile(r"arn:aws(?P<part>-[a-z-]+)?:sns:(?P<region>[a-z0-9-]+):[0-9]{12}:[A-Za-z0-9_.-]{1,256}")
_PLAIN: dict[str, tuple[str, ...]] = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": (
        "Message",
        "MessageId",
        "SubscribeURL",
        "Timestamp",
        "Token",
        "TopicArn",
        "Type",
    ),
}
_PLAIN["UnsubscribeConfirmation"] = _PLAIN["SubscriptionConfirmation"]
_HASHES = {"1": SHA1, "2": SHA256}


class SnsMessage(Struct, frozen=True, kw_only=True):
    """A message of SNS; do not trust it before `check_signature`."""

    kind: Kind
    id: str
    topic: str
    message: str
    subject: str | None
    at: datetime
    token: str
    certificate: str  # where the certificate is, on a host of SNS
    version: str
    signature: bytes
    signed: bytes

    def check_signature(self, key: RSAPublicKey) -> None:
        """Raises Unverified where the letter, as it came, was not signed with the key."""
        try:
            key.verify(self.signature, self.signed, PKCS1v15(), _HASHES[self.version]())
        except InvalidSignature:
            raise Unverified("mismatch") from None


def read_sns_message(body: bytes, topics: Collection[str], now: datetime) -> SnsMessage:
    """A letter of one of the topics, with a certificate of Amazon's own host.

    Raises Unreadable, Untrusted, Unverified, Stale: all before anything is fetched for it.
    """
    value = _texts(body)
    kind = value.get("Type")
    if not isinstance(kind, str) or kind not in _PLAIN:
        raise Unreadable("bad_event", "this is no message of Amazon SNS: turn raw delivery off")
    names = _PLAIN[kind]
    message = {name: value[name] for name in names if value.get(name) is not None}
    if set(names) - {"Subject"} - message.keys() or not all(
        isinstance(each, str) for each in message.values()
    ):
        raise Unverified("malformed")
    if message["TopicArn"] not in topics or not _ARN.fullmatch(message["TopicArn"]):
        raise Untrusted("topic", "the message is of a topic that this hook does not list under `topics`")
    at = _moment(message["Timestamp"])
    validate_timestamp(at, now, MAX_AGE)
    return SnsMessage(
        kind=kind,  # type: ignore[arg-type]
        id=message["MessageId"],
        topic=message["TopicArn"],
        message=message["Message"],
        subject=message.get("Subject"),
        at=at,
        token=message.get("Token", ""),
        certificate=_certificate(value.get("SigningCertURL")),
        version=_version(value.get("SignatureVersion")),
        signature=_signature(value.get("Signature")),
        signed="".join(f"{name}\n{message[name]}\n" for name in names if name in message).encode(),
    )


_NAMES = (
    *sorted({name for names in _PLAIN.values() for name in names}),
    "SigningCertURL",
    "SignatureVersion",
    "Signature",
)
_read = msgspec.json.Decoder(
    msgspec.defstruct("_Said", [(name, Raw, Raw(b"null")) for name in _NAMES])
).decode


def _texts(body: bytes) -> dict[str, Any]:
    """What a letter says, by name; None where it says nothing, False where it is no text. Raises Unreadable.

    Anybody may send one: what else is in it is passed over, however large and deep, and never made into values.
    """
    try:
        raw = msgspec.structs.asdict(_read(body))
        said = {name: _text(bytes(each)) for name, each in raw.items()}
    except msgspec.ValidationError:
        raise Unreadable("bad_event", "this is no message of Amazon SNS: turn raw delivery off") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable("invalid_json", "the body is not JSON") from None
    if any("\0" in each for each in said.values() if isinstance(each, str)):
        raise Unreadable("invalid_unicode", "a text has a NUL character, which cannot be kept: leave it out")
    return said


def _text(raw: bytes) -> Any:
    return msgspec.json.decode(raw) if raw == b"null" or raw.startswith(b'"') else False


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Unverified("malformed") from None
    if at.tzinfo is None:
        raise Unverified("malformed")
    return at


def _version(value: Any) -> str:
    if not isinstance(value, str) or value not in _HASHES:
        raise Unverified("malformed")
    return value


def _signature(value: Any) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (Error, ValueError, TypeError):
        raise Unverified("malformed") from None


def _certificate(url: Any) -> str:
    """An address that can only be Amazon's: one that anybody can write to would let anybody sign."""
    if not isinstance(url, str) or not is_certificate_address(url):
        raise Untrusted("certificate", "the certificate of the message is not on a host of Amazon SNS")
    return url


def is_certificate_address(url: str) -> bool:
    """Whether it is https, a host of SNS, a plain path to a .pem, and nothing else."""
    if not url.isascii() or not url.isprintable() or set(url) & set("\\ %@?#"):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme == "https"
        and port is None
        and _HOST.fullmatch(parts.netloc) is not None
        and parts.path.endswith(".pem")
        and ".." not in parts.path
    )


def confirmation_address(topic: str, token: str) -> str:
    """The call that confirms a subscription, made from the topic: what the message says is never called."""
    found = _ARN.fullmatch(topic)
    assert found is not None, "only listed topics are confirmed, and a topic on the list has the form of one"
    china = ".cn" if found["part"] == "-cn" else ""
    query = urlencode({"Action": "ConfirmSubscription", "TopicArn": topic, "Token": token})
    return f"https://sns.{found['region']}.amazonaws.com{china}/?{query}"
