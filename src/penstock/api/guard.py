"""Who asks, and may they: every call passes here before its handler, whatever it is and however it is asked."""

from __future__ import annotations

from ipaddress import ip_address

from starlette.requests import Request

from penstock.access.caller import ANYBODY_HERE, NOBODY, Caller
from penstock.access.errors import Forbidden, Unauthenticated
from penstock.api.call import Call
from penstock.api.reading import Unreadable
from penstock.api.service import Service

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class WrongHost(Forbidden):
    """A page of another site tries to reach a Penstock that needs no sign-in."""

    code = "wrong_host"


class CrossSite(Forbidden):
    """A page of another site asks in the name of whoever is signed in."""

    code = "csrf"


async def admit(service: Service, call: Call, request: Request) -> Caller:
    """The caller. Raises Unauthenticated, Forbidden, TooManyRequests."""
    if "token" in request.query_params or "access_token" in request.query_params:
        raise Unreadable("token_in_query", "a token never goes into an address: send Authorization: Bearer")
    if call.action == "public":
        return NOBODY
    caller = await _caller(service, request)
    caller.require(call.action)
    return caller


async def _caller(service: Service, request: Request) -> Caller:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated("send Authorization: Bearer and a token")
        if service.doors is None:
            raise Unauthenticated("this Penstock has no tokens")
        return await service.doors.authenticate(token.strip())
    if service.open:
        refuse_strangers(request)
        return ANYBODY_HERE
    raise Unauthenticated("this Penstock needs sign-in: send Authorization: Bearer and a token")


def refuse_strangers(request: Request) -> None:
    """Without sign-in only programs and pages of this machine are answered. Raises WrongHost, CrossSite."""
    host = request.headers.get("host", "")
    if not is_loopback(host):
        raise WrongHost(
            f"this Penstock is open to its own machine only, and '{host[:80]}' is no name of it: use 127.0.0.1"
        )
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise CrossSite(f"a page of '{origin[:80]}' may not use this Penstock")


def is_loopback(host: str) -> bool:
    """Whether a Host header names this machine."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    name = name.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
