"""Who asks, and may they: every call passes here before its handler, whatever it is and however it is asked."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address

from starlette.requests import Request

from penstock.access.caller import ANYBODY_HERE, NOBODY, Caller
from penstock.access.errors import ForeignOrigin, Unauthenticated
from penstock.api.call import Call
from penstock.api.reading import Unreadable
from penstock.api.service import Service
from penstock.flow.errors import PenstockError

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class WrongHost(PenstockError):
    """A page of another site tries to reach a Penstock that needs no sign-in."""

    code = "wrong_host"

    def __init__(self, host: str) -> None:
        super().__init__(
            f"this Penstock is open to its own machine only, and '{host[:80]}' is no name of it: use 127.0.0.1"
        )


async def admit(service: Service, call: Call, request: Request) -> Caller:
    """The caller. Raises Unauthenticated, Forbidden, TooManyRequests."""
    if request.scope["query_string"] and (
        "token" in request.query_params or "access_token" in request.query_params
    ):
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
            raise Unauthenticated("what was sent is no bearer token")
        if service.doors is None:
            raise Unauthenticated("there are no tokens here")
        return await service.doors.authenticate(token.strip())
    if service.open:
        refuse_strangers(request)
        return ANYBODY_HERE
    raise Unauthenticated


def refuse_strangers(request: Request) -> None:
    """Without sign-in only programs and pages of this machine are answered. Raises WrongHost, ForeignOrigin."""
    host = request.headers.get("host", "")
    if not is_loopback(host):
        raise WrongHost(host)
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise ForeignOrigin


@lru_cache(256)
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
