"""Authentication and authorisation: every call passes here before its handler."""

from __future__ import annotations

from time import monotonic

from starlette.requests import Request

from penstock.access.caller import ANYBODY_HERE, NOBODY, Caller
from penstock.access.errors import BoundToWorkflows, ForeignOrigin, Unauthenticated
from penstock.access.origin import MARK, is_loopback_host, is_same_origin, require_own_page
from penstock.access.rate_limits import rate_of
from penstock.access.sessions import read_cookie
from penstock.api.call import Call
from penstock.api.request_body import Unreadable
from penstock.api.service import Service
from penstock.flow.errors import PenstockError


class WrongHost(PenstockError):
    """A page of another site tries to reach a Penstock that needs no sign-in."""

    code = "wrong_host"

    def __init__(self, host: str) -> None:
        super().__init__(
            f"this Penstock is open to its own machine only, and '{host[:80]}' is no name of it: use 127.0.0.1"
        )


_PASSED_ON = frozenset({b"forwarded", b"via", b"x-real-ip"})


async def admit(service: Service, call: Call, request: Request) -> Caller:
    """The caller. Raises Unauthenticated, Forbidden, WrongHost, ForeignOrigin, TooManyRequests, Unreadable."""
    _reject_two_hosts(request)
    if request.scope["query_string"]:
        _reject_token_in_query(request)
    if call.action == "public":
        if service.open and call.tag != "hooks":  # those are called from anywhere, and verify themselves
            validate_host(request)
        return NOBODY
    caller = await identify(service, request)
    if rate_of(caller) is not None:
        service.limiters.tokens.check(caller.token_id or caller.name, monotonic())
    caller.require(call.action)
    if call.everywhere and not caller.everywhere:
        raise BoundToWorkflows(caller.described)
    return caller


async def identify(service: Service, request: Request) -> Caller:
    """Who asks: by token, by session, or whoever is on this machine where no sign-in is needed."""
    headers = request.headers
    token = bearer(headers.get("authorization"))
    if token is not None:
        return await service.access.authenticate(token, address_of(request))
    cookie = read_cookie(headers.get("cookie"), is_secure(request))
    if cookie is not None:
        try:
            return await by_session(service, request, cookie)
        except Unauthenticated:
            if not service.open:  # there a browser with an old cookie would be worse off than one with none
                raise
    if service.open:
        reject_strangers(request)
        return ANYBODY_HERE
    raise Unauthenticated


def bearer(header: str | None) -> str | None:
    """The token in the header `Authorization`; None where there is none. Raises Unauthenticated for another scheme."""
    if header is None:
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("the header 'Authorization' has no bearer token")
    return token.strip()


async def by_session(service: Service, request: Request, cookie: str) -> Caller:
    """Whose session it is. Raises Unauthenticated, ForeignOrigin."""
    headers = request.headers
    caller = await service.access.session(cookie, address_of(request))
    require_own_page(request.method, headers.get("host"), headers.get("origin"), headers.get(MARK))
    return caller


def address_of(request: Request) -> str | None:
    """From where the request comes."""
    return request.client.host if request.client else None


def is_secure(request: Request) -> bool:
    """Whether the line is encrypted: then the cookie is for encrypted lines only."""
    return bool(request.scope["scheme"] == "https")


def reject_strangers(request: Request) -> None:
    """Without sign-in only programs and pages of this machine are answered.

    Raises WrongHost, ForeignOrigin, Unauthenticated where a proxy passes on what somebody else asks.
    """
    for name, _ in request.scope["headers"]:
        if name in _PASSED_ON or name.startswith(b"x-forwarded-"):
            raise Unauthenticated("the request came through a proxy, and who comes that way must sign in")
    validate_host(request)


def validate_host(request: Request) -> None:
    """A name that was rebound to this machine, or a page of another site. Raises WrongHost, ForeignOrigin."""
    host, origin = request.headers.get("host"), request.headers.get("origin")
    if not is_loopback_host(host):
        raise WrongHost(host or "")
    if origin is not None and not is_same_origin(host, origin):
        raise ForeignOrigin(origin)


def _reject_two_hosts(request: Request) -> None:
    """Of two names one guard could look at the first and another at the second (RFC 9112, 3.2)."""
    if [name for name, _ in request.scope["headers"]].count(b"host") > 1:
        raise Unreadable("two_hosts", "the request has more than one Host header: send one")


def _reject_token_in_query(request: Request) -> None:
    if {"token", "access_token"} & request.query_params.keys():
        raise Unreadable("token_in_query", "a token never goes into an address: send Authorization: Bearer")
