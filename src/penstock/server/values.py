"""Parsers of settings, from a text or from TOML. An invalid value is a ValueError with a reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_network
from typing import Any, TypeVar

import msgspec

from penstock.access.claims import OidcSettings
from penstock.flow.values.duration import parse_duration
from penstock.runtime.node.retention import DEFAULT_RETENTION
from penstock.topics.buses import validate_urls
from penstock.topics.errors import BadBus
from penstock_release.options import OAuth

T = TypeVar("T")
TRACING = ("off", "console", "otlp")
"""Where traces of runs can go."""

MIN_SIZE, MAX_SIZE = 1024, 4 * 1024 * 1024
"""Bytes that the limit of payloads may be set to."""

_SIZE = re.compile(r"(\d+) ?(B|KiB|MiB)?")
_SUFFIX = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_BUS = re.compile(r",(?=[^,=]+=[a-z]+://)")
_UNITS = {None: 1, "B": 1, "KiB": 1024, "MiB": 1024 * 1024}


def text(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise ValueError("must be a text")
    return given


def port(given: Any) -> int:
    number = whole(given, "must be a port, 0 to 65535")
    if not 0 <= number <= 65535:
        raise ValueError("must be a port, 0 to 65535")
    return number


def whole(given: Any, why: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise ValueError(why)
    try:
        return int(given)
    except ValueError:
        raise ValueError(why) from None


def switch(given: Any) -> bool:
    known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    value = given if isinstance(given, bool) else known.get(str(given).lower())
    if value is None:
        raise ValueError("must be true or false")
    return value


def names(given: Any) -> tuple[str, ...]:
    """A list; as a text with commas."""
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("must be a list of texts")
    return tuple(part.strip() for part in parts if part.strip())


def networks(given: Any) -> tuple[str, ...]:
    """A list of addresses and networks."""
    found = names(given)
    for each in found:
        try:
            ip_network(each)
        except ValueError:
            raise ValueError("must be addresses or networks, such as 127.0.0.1 or 10.0.0.0/8") from None
    return found


def pairs(given: Any) -> dict[str, Any]:
    """A map; as a text `NAME=VALUE` with commas."""
    if isinstance(given, Mapping):
        return dict(given)
    found = {}
    for part in names(given):
        name, equals, value = part.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise ValueError("must be NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def buses(given: Any) -> dict[str, str]:
    """A map of brokers; as a text `NAME=URL` with commas, which may also stand in a URL."""
    found = pairs(_BUS.split(given) if isinstance(given, str) else given)
    try:
        validate_urls(found)
    except BadBus as error:
        raise ValueError(f"cannot be: {error}") from None
    return found


def identity(given: Any) -> OidcSettings:
    """The table `[oidc]`: how people sign in elsewhere."""
    return _table(given, OidcSettings, "must say how people sign in")


def credentials(given: Any) -> OAuth:
    """The table `[release_oauth]`: with what a bearer token is fetched."""
    return _table(given, OAuth, "must have token_url, client_id and client_secret")


def _table(given: Any, kind: type[T], why: str) -> T:
    try:
        return msgspec.convert(given if isinstance(given, Mapping) else msgspec.json.decode(given), kind)
    except (msgspec.MsgspecError, TypeError) as error:
        raise ValueError(f"{why}: {error}") from None


def size(given: Any) -> int:
    found = _SIZE.fullmatch(str(given).strip())
    number = int(found[1]) * _UNITS[found[2]] if found else 0
    if number < 1:
        raise ValueError("must be a size such as 256KiB")
    return number


def payload(given: Any) -> int:
    """Less would refuse ordinary work; more would make every run slow."""
    number = size(given)
    if not MIN_SIZE <= number <= MAX_SIZE:
        raise ValueError("must be a size from 1KiB to 4MiB")
    return number


def suffix(given: Any) -> str:
    """What can stand at the end of the name of a task list."""
    if not isinstance(given, str) or not _SUFFIX.fullmatch(given):
        raise ValueError("must have only letters, digits and _.- and 64 of them at most")
    return given


def tracing(given: Any) -> str:
    if given not in TRACING:
        raise ValueError(f"must be one of {', '.join(TRACING)}")
    return str(given)


def duration(given: Any) -> timedelta:
    try:
        found = parse_duration(float(given) if str(given).replace(".", "", 1).isdigit() else given)
    except (ValueError, TypeError):
        found = timedelta(0)
    if found <= timedelta(0):
        raise ValueError("must be a duration above 0, such as 30s or 10m")
    return found


def days(given: Any) -> dict[str, timedelta]:
    """Days for every status, or by status."""
    why = f"must be days, 1 or more: 30, or by status ({', '.join(DEFAULT_RETENTION)})"
    if isinstance(given, int) or str(given).isdigit():
        given = dict.fromkeys(DEFAULT_RETENTION, given)
    try:
        found = {name: whole(value, why) for name, value in pairs(given).items()}
    except ValueError:
        raise ValueError(why) from None
    if not set(found) <= set(DEFAULT_RETENTION) or any(not 1 <= value <= 36_500 for value in found.values()):
        raise ValueError(why)
    return {name: timedelta(days=value) for name, value in found.items()}
