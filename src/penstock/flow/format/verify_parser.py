"""How the sender of a hook is verified (`verify`), out of nodes. Secrets are named here, never written."""

from __future__ import annotations

import re

from penstock.flow.format import fields
from penstock.flow.format.fields import Level, Read, Spot, read_level, unknown_kind
from penstock.flow.format.nodes import plain
from penstock.flow.model.definition import Json

_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]{1,256}")
_LIKE_A_SECRET = re.compile(r"whsec_|sk_|ghp_|ps_[a-z]+_")


def secret_name(spot: Spot) -> str | None:
    found: str | None = fields.identifier("a secret")(spot)
    if found is not None and _LIKE_A_SECRET.match(found):
        return spot.wrong(
            "wrong_value",
            "`secret` is the name of a secret, not the secret itself; keep that with `penstock secret set NAME`.",
        )
    return found


def _topic(spot: Spot) -> str | None:
    found = fields.filled(spot)
    if found is not None and not _TOPIC.fullmatch(found):
        message = "`topics` lists topics of Amazon SNS, such as arn:aws:sns:eu-west-1:123456789012:jobs."
        return spot.wrong("wrong_value", message)
    return found


_METHOD: dict[str, Read] = {"method": lambda spot: spot.value}
_SHARED: dict[str, Read] = {
    **_METHOD,
    "secret": fields.listed(secret_name),
    "origins": fields.listed(fields.filled),
}
_HEADER: dict[str, Read] = {"header": fields.identifier("a header"), "prefix": fields.text}

METHODS: dict[str, Level] = {
    "standard": Level("`verify` of method `standard`", _SHARED, ("secret",)),
    "github": Level("`verify` of method `github`", _SHARED, ("secret",)),
    "hmac": Level(
        "`verify` of method `hmac`",
        {
            **_SHARED,
            **_HEADER,
            "algorithm": fields.choice("sha256", "sha512", "sha1"),
            "encoding": fields.choice("hex", "base64"),
        },
        ("secret",),
    ),
    "token": Level("`verify` of method `token`", {**_SHARED, **_HEADER}, ("secret",)),
    "sns": Level("`verify` of method `sns`", {**_METHOD, "topics": fields.listed(_topic)}),
}


def read_verify(spot: Spot) -> Json:
    """The name of a method that needs no settings, or a map of its `method` and settings; as it is written."""
    if isinstance(spot.value, str):
        return _short(spot)
    if not isinstance(spot.value, dict) or not spot.value:
        return spot.must("a map such as {method: github, secret: NAME}, or sns")
    if "method" not in spot.value:
        message = f"`verify` needs the key `method`: one of {', '.join(METHODS)}."
        return spot.wrong("missing_key", message, spot.key_place)
    at = spot.child("method")
    if not isinstance(at.value, str) or at.value not in METHODS:
        return unknown_kind(at, "`verify` has no method", METHODS)
    read_level(spot, METHODS[at.value])
    return plain(spot.node)


def _short(spot: Spot) -> str | None:
    method = fields.filled(spot)
    if method is None:
        return None
    if method not in METHODS:
        return unknown_kind(spot, "`verify` has no method", METHODS)
    if METHODS[method].required:
        message = f"The method `{method}` needs a secret: write {{method: {method}, secret: NAME}}."
        return spot.wrong("missing_key", message)
    return method
