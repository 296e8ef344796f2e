"""Where a request comes from: pages of other sites must not use a session of this one."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from penstock.access.errors import ForeignOrigin

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
MARK = "X-Penstock"
"""A header that pages of other sites cannot send: they would have to ask first, and nobody says yes."""


def require_own_page(method: str, host: str | None, origin: str | None, mark: str | None) -> None:
    """Raises ForeignOrigin where a request with a session that changes something may be forged.

    The values of the headers Host, Origin and X-Penstock; None where one was not sent.
    """
    if method.upper() in SAFE or mark == "1" or is_same_origin(host, origin):
        return
    raise ForeignOrigin


def is_same_origin(host: str | None, origin: str | None) -> bool:
    """Whether an Origin is this very host and port; none at all is not."""
    if not host or not origin:
        return False
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.username is not None or not parts.hostname:
        return False
    if parts.path or parts.query or parts.fragment:
        return False
    usual = 443 if parts.scheme == "https" else 80
    return _host_and_port(host, usual) == (parts.hostname, port or usual)


@lru_cache(256)
def is_loopback_host(host: str | None) -> bool:
    """Whether a Host header names this machine itself: a name that was rebound to it does not."""
    found = _host_and_port(host or "", 80)
    if found is None:
        return False
    try:
        return ip_address(found[0]).is_loopback
    except ValueError:
        return found[0] == "localhost"


def _host_and_port(host: str, usual: int) -> tuple[str, int] | None:
    try:
        parts = urlsplit(f"//{host}")
        port = parts.port
    except ValueError:
        return None
    if parts.netloc != host or parts.username is not None or not parts.hostname:
        return None
    return parts.hostname, port or usual
