"""The web pages: one document at `/` and below `/app/`, and the files that it names."""

from __future__ import annotations

from secrets import token_urlsafe

from starlette.responses import Response

from penstock.access.origin import is_loopback_host
from penstock.api.call import Calls, RequestContext
from penstock.api.guard import is_secure
from penstock.api.router import NoSuchPath
from penstock.web.built import NONCE, BuiltFile, asset, document, icon

calls = Calls("pages")
HTML = "text/html; charset=utf-8"
IMMUTABLE = "public, max-age=31536000, immutable"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
SAFETY = {
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-frame-options": "DENY",
}
ISOLATED = {"cross-origin-opener-policy": "same-origin"}
"""Apart from windows of other sites: over a plain line from elsewhere a browser ignores it, and complains."""
NOT_BUILT = (
    "<!doctype html><html lang=en><title>Penstock</title><p>The pages of Penstock are not built: "
    "run <code>make install</code> in its folder. The command line and the API at /api work without them."
)


@calls.get("/", "public", media="text/html", described=False, others=True)
async def first_page(context: RequestContext[None, None]) -> Response:
    """The first page."""
    return _page(context)


@calls.get("/app/{*page}", "public", media="text/html", described=False, others=True)
async def other_page(context: RequestContext[None, None]) -> Response:
    """Any other page: the document finds out by its address which."""
    return _page(context)


@calls.get("/app/assets/{name}", "public", described=False)
async def page_file(context: RequestContext[None, None]) -> Response:
    """A file of the pages; what it is called changes with what is in it."""
    return _file(context, asset(context.path["name"]), IMMUTABLE)


@calls.get("/favicon.ico", "public", described=False)
async def page_icon(context: RequestContext[None, None]) -> Response:
    """The picture beside the title."""
    return _file(context, icon(), "public, max-age=86400")


def _page(context: RequestContext[None, None]) -> Response:
    text, nonce = document(), token_urlsafe(16)
    headers = {"content-security-policy": POLICY.format(nonce=nonce), **SAFETY}
    if is_secure(context.request) or is_loopback_host(context.request.headers.get("host")):
        headers |= ISOLATED
    return Response(NOT_BUILT if text is None else text.replace(NONCE, nonce), 200, headers, HTML)


def _file(context: RequestContext[None, None], found: BuiltFile | None, cache: str) -> Response:
    if found is None:
        raise NoSuchPath(context.request.url.path)
    headers = {"cache-control": cache, "vary": "accept-encoding", **SAFETY}
    if "gzip" in context.request.headers.get("accept-encoding", ""):
        return Response(found.packed, 200, {**headers, "content-encoding": "gzip"}, found.kind)
    return Response(found.content, 200, headers, found.kind)
