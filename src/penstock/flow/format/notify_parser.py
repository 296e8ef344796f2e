"""Who is told of events and ends (`notify`), out of nodes."""

from __future__ import annotations

from urllib.parse import urlsplit

from penstock.flow.format import fields
from penstock.flow.format.fields import Level, Read, Spot, read_level
from penstock.flow.format.verify_parser import secret_name
from penstock.flow.model.definition import Notice
from penstock.flow.values.payload import is_storable

MAX_ENTRIES = 20
"""Entries that `notify` may have."""
MAX_URL_LENGTH = 1000
"""Characters of the address of a webhook."""


def _keepable(spot: Spot) -> str | None:
    found = fields.filled(spot)
    if found is not None and not is_storable(found):
        message = f"`{spot.label}` has a character that no database keeps: leave it out."
        return spot.wrong("wrong_value", message)
    return found


def _address(spot: Spot) -> str | None:
    """The address of a webhook; whether it may be called is seen when it is."""
    found = _keepable(spot)
    if found is None:
        return None
    try:
        parts = urlsplit(found)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        _ = parts.port
    except ValueError:
        fits = False
    if not fits or "#" in found or len(found) > MAX_URL_LENGTH or any(char <= " " for char in found):
        return spot.wrong(
            "wrong_value",
            f"`{spot.label}` must be an address such as https://example.org/hook, without a password or `#`.",
        )
    return found


def _some(read: Read) -> Read:
    """A list that is not empty: nobody is told of nothing."""
    read_all = fields.listed(read)

    def read_some(spot: Spot) -> tuple[str, ...] | None:
        if spot.value == []:
            message = f"`{spot.label}` is empty; write something, or leave the key out."
            return spot.wrong("wrong_value", message)
        found: tuple[str, ...] | None = read_all(spot)
        return found

    return read_some


_COMMON: dict[str, Read] = {
    "events": _some(fields.name("an event", None)),
    "statuses": _some(fields.choice("succeeded", "failed", "canceled", "timed_out")),
    "data": fields.expression,
}
NOTICE = Level("an entry of `notify`", {"bus": _keepable, "topic": _keepable, **_COMMON}, ("bus", "topic"))
WEBHOOK = Level(
    "a webhook of `notify`", {"url": _address, "secret": secret_name, **_COMMON}, ("url", "secret")
)


def read_notify(spot: Spot) -> tuple[Notice, ...] | None:
    """Every entry; one alone may stand without a list."""
    if not isinstance(spot.value, dict | list):
        return spot.must(
            "a list of entries such as {bus: main, topic: orders.done} or {url: https://…, secret: NAME}"
        )
    items = spot.items()
    if len(items) > MAX_ENTRIES:
        spot.wrong("too_many", f"`notify` has {len(items)} entries; {MAX_ENTRIES} at most.")
    return tuple(notice for item in items if (notice := _notice(item)) is not None)


def _notice(spot: Spot) -> Notice | None:
    is_webhook = isinstance(spot.value, dict) and ("url" in spot.value or "secret" in spot.value)
    level = WEBHOOK if is_webhook else NOTICE
    found = read_level(spot, level)
    return Notice(**found) if all(key in found for key in level.required) else None
