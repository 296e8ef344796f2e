"""Tokens and sessions: who may come in, and who the caller is."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import Any

from msgspec import convert
from msgspec.structs import asdict
from starlette.responses import RedirectResponse, Response

from penstock.access.access import TokenView
from penstock.access.caller import Caller
from penstock.access.errors import SignInFailed, Unauthenticated
from penstock.access.roles import ACTIONS
from penstock.access.sessions import clear_cookie, read_cookie, set_cookie
from penstock.access.tokens import TokenRequest
from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.guard import address_of, by_session, identify, is_secure
from penstock.api.paging import Page, Paged
from penstock.api.wire.access import BackTo, Made, MakeToken, SignIn, Who

calls = Calls("access")
LOGIN_COOKIE = "penstock-login"
"""The cookie that proves that a sign-in was begun in the same browser."""
MAX_ANONYMOUS_BODY = 4096
"""Bytes of a body that an anonymous caller may send: reading a large one takes time from other callers."""


@calls.get("/api/access", "admin", query=Paged, gives=Page[TokenView])
async def list_access(context: RequestContext[None, Paged]) -> Page[TokenView]:
    """Tokens, newest first; never what they are made of."""
    return await context.query.page(str, context.service.access.list, lambda token: token.id)


@calls.post("/api/access", "admin", takes=MakeToken, gives=Made, status=201)
async def create_access(context: RequestContext[MakeToken, None]) -> Made:
    """Make a token; it is shown in this answer and never again."""
    request = convert(context.body, TokenRequest, from_attributes=True)
    made = await context.service.access.create(context.caller, request)
    return Made(token=made.token, **asdict(made.view))


@calls.delete("/api/access/{id}", "admin", status=204)
async def revoke_access(context: RequestContext[None, None]) -> None:
    """Revoke a token: from its next call on it does not count."""
    await context.service.access.revoke(context.caller, context.path["id"])


# -- sessions ----------------------------------------------------------------------------------------------


@calls.get("/api/session", "public", gives=Who)
async def who_am_i(context: RequestContext[None, None]) -> Who:
    """Who asks, and what that role may do; who is not known is told how to sign in."""
    try:
        return _who(context, await identify(context.service, context.request))
    except Unauthenticated as error:
        error.ways = _ways(context)
        raise


@calls.post("/api/session", "public", takes=SignIn, gives=Who, status=201, max_body=MAX_ANONYMOUS_BODY)
async def sign_in(context: RequestContext[SignIn, None]) -> Reply:
    """Begin a session of a browser with a token."""
    request, access = context.request, context.service.access
    context.service.limiters.logins.check(address_of(request) or "", monotonic())
    caller = await access.authenticate(context.body.token, address_of(request))
    secure = is_secure(request)
    cookie = await access.sign_in(caller, read_cookie(request.headers.get("cookie"), secure))
    return Reply(_who(context, caller), headers={"set-cookie": set_cookie(cookie, secure)})


@calls.delete("/api/session", "public", status=204)
async def sign_out(context: RequestContext[None, None]) -> Reply:
    """End the session; there is no harm in ending it twice."""
    secure = is_secure(context.request)
    cookie = read_cookie(context.request.headers.get("cookie"), secure)
    if cookie is not None:
        with suppress(Unauthenticated):  # it has ended: the browser still has to forget it
            caller = await by_session(context.service, context.request, cookie)
            await context.service.access.sign_out(caller, cookie)
    return Reply(headers={"set-cookie": clear_cookie(secure)})


@calls.get("/api/session/oidc", "public", query=BackTo, status=302)
async def begin_oidc(context: RequestContext[None, BackTo]) -> Response:
    """Go to the identity provider to sign in."""
    if context.service.oidc is None:
        raise SignInFailed("no identity provider is set up here")
    context.service.limiters.logins.check(address_of(context.request) or "", monotonic())
    sending = await context.service.oidc.begin(context.query.back_to)
    answer = RedirectResponse(sending.url, 302)
    answer.set_cookie(
        LOGIN_COOKIE,
        sending.cookie,
        600,
        path="/api/session",
        secure=is_secure(context.request),
        httponly=True,
        samesite="lax",
    )
    return answer


@calls.get("/api/session/callback", "public", others=True, status=302)
async def finish_oidc(context: RequestContext[None, None]) -> Response:
    """Come back from the identity provider."""
    request, secure = context.request, is_secure(context.request)
    if context.service.oidc is None:
        raise SignInFailed("no identity provider is set up here")
    arrival = await context.service.oidc.finish(
        dict(request.query_params), request.cookies.get(LOGIN_COOKIE), address_of(request)
    )
    before = read_cookie(request.headers.get("cookie"), secure)
    cookie = await context.service.access.sign_in(arrival.caller, before)
    answer = RedirectResponse(arrival.back_to, 302)
    answer.delete_cookie(LOGIN_COOKIE, path="/api/session")
    answer.headers.append("set-cookie", set_cookie(cookie, secure))
    return answer


def _who(context: RequestContext[Any, Any], caller: Caller) -> Who:
    ways: list[Any] = list(_ways(context))
    workflows = None if caller.workflows is None else list(caller.workflows)
    may = [action for action in ACTIONS if caller.may(action)]
    return Who(caller.name, caller.role, may, workflows, not caller.local, ways)


def _ways(context: RequestContext[Any, Any]) -> tuple[str, ...]:
    return ("token", "oidc") if context.service.oidc is not None else ("token",)
