"""The ASGI application: a request finds its call, is admitted, read, handled and answered."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from random import getrandbits
from time import perf_counter
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from penstock.api.call import Call, Reply, RequestContext
from penstock.api.guard import admit
from penstock.api.openapi import description_of
from penstock.api.problems import problem_response, status_of
from penstock.api.request_body import Asked, fit, raw_body, read_query, validate_content_type, value_of
from penstock.api.response import HEADERS, Ready
from penstock.api.router import Router
from penstock.api.service import Service
from penstock.runtime.commands.approval_bypass import ROLE
from penstock.runtime.errors import UnknownWorkflow
from penstock.runtime.node.audit_context import AUDIT, CALLER_NAME
from penstock.runtime.node.log_context import REQUEST
from penstock.store.call_outcome import one_call
from penstock.store.errors import OutcomeUnknown, StoreRefused

log = logging.getLogger("penstock.api")

_encode = msgspec.json.Encoder().encode
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


class App:
    """Serves a table of calls for one service."""

    def __init__(self, service: Service, calls: Sequence[Call]) -> None:
        self.service, self.calls = service, tuple(calls)
        service.describe = partial(description_of, self.calls, version("penstock"))
        self._router = Router(calls)
        self._stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _reject_websocket(scope, receive, send)
            return
        began, call, request_id, path = perf_counter(), None, _request_id(scope), _raw_path(scope)
        request = Asked(scope, receive)
        REQUEST.set(request_id)
        try:
            call, values = self._router.find(scope["method"], path)
            response: Response | Ready = await self._answer(call, values, request, request_id)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            response = self._problem(OutcomeUnknown("this server is stopping"), request_id)
        except Exception as error:
            if status_of(error) == 500 or isinstance(error.__cause__, StoreRefused):
                log.exception("request %s failed: %s %s", request_id, scope["method"], scope["path"])
            response = self._problem(error, request_id)
            _let_go(error)
        if isinstance(response, Response):
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
        self.service.metrics.called(call, scope["method"], response.status_code, perf_counter() - began)
        await response(scope, receive, send)

    def stop(self) -> None:
        """End streams, so that the server can stop: their readers reconnect."""
        self._stopping = True
        self.service.streams.close()
        self.service.worker_registry.close()

    def _problem(self, error: BaseException, request_id: str) -> Response:
        return problem_response(error, request_id, self.service.access.vault.redactor.redact_value)

    async def _answer(
        self, call: Call, values: dict[str, str], request: Request, request_id: str
    ) -> Response | Ready:
        caller = await admit(self.service, call, request)
        query = _query(call, request)
        body = await read_body(call, request)
        CALLER_NAME.set(caller.name)
        ROLE.set(caller.role)
        if call.recorded:
            AUDIT.set(caller.audit(call.name, call.path, reason=_reason(body)))
        try:
            context = RequestContext(request, self.service, caller, values, body, query, self.service.engine)
            answer = await one_call(call.handler, context)
        except UnknownWorkflow as error:
            raise error.visible_to(caller.sees) from None
        return render(call, answer, request_id)


def _query(call: Call, request: Request) -> Any:
    """The query as the call takes it. Raises Unreadable, also where one that takes none is given some."""
    if call.query is not None:
        return read_query(request, call.query)
    if request.scope["query_string"] and not call.others and call.path.startswith("/api/"):
        read_query(request, _Nothing)
    return None


class _Nothing(msgspec.Struct):
    """No parameter at all."""


def _reason(body: Any) -> str | None:
    """Why somebody does it, where they say so."""
    reason: str | None = getattr(body, "reason", None) or getattr(body, "override", None)
    return reason


async def read_body(call: Call, request: Request) -> Any:
    """The body as the call takes it; None where it takes none."""
    if call.reads != "json":
        return None
    raw = await raw_body(request, call.max_body)
    if not raw and call.empty:
        return fit({}, call.takes)
    validate_content_type(request, call.accepts)
    return fit(value_of(raw), call.takes)


def render(call: Call, answer: Any, request_id: str) -> Response | Ready:
    """What a handler gave, as a response."""
    if isinstance(answer, Response):
        answer.headers["x-request-id"] = request_id
        return answer
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    status = reply.status or call.status
    body = b"" if status == 204 else _encode(reply.value)
    if reply.headers or not body:
        headers = {"x-request-id": request_id, **reply.headers}
        return Response(body, status, headers, call.media if body else None)
    return Ready(body, status, call.media, request_id)


def _let_go(error: BaseException) -> None:
    """Forget where an error was raised: a function there may hold it, and both, with the body, stay for long.

    Errors may lead to one another in a circle: each is visited once.
    """
    left, seen = [error], set[int]()
    while left:
        each = left.pop()
        if id(each) not in seen:
            seen.add(id(each))
            each.__traceback__ = None
            left += [more for more in (each.__cause__, each.__context__) if more is not None]


def _raw_path(scope: Scope) -> str:
    """The path as it came: what was percent-encoded still is."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("latin-1").partition("?")[0]


def _request_id(scope: Scope) -> str:
    """That of the caller's proxy, or a new one: it only has to be unique, nobody is let in by it."""
    given = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"x-request-id"), "")
    return given if _REQUEST_ID.fullmatch(given) else f"{getrandbits(64):016x}"


async def _reject_websocket(scope: Scope, receive: Receive, send: Send) -> None:
    """There are no WebSockets here; the rest of ASGI is the server's own business."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    elif scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
