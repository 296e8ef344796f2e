"""Errors as RFC 9457 problems: the one table that says which HTTP status an error has."""

from __future__ import annotations

from math import ceil
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict
from starlette.responses import Response

from penstock.access.errors import Forbidden, TooManyRequests, Unauthenticated
from penstock.api.guard import WrongHost
from penstock.api.request_body import BodyTooLarge, NotFitting, TooSlow, Unreadable, WrongType
from penstock.api.router import MethodNotAllowed
from penstock.api.streams import TooManyStreams
from penstock.api.wire.workflows import Finding
from penstock.api.work.errors import AttemptSuperseded, InvalidOutput, ResultTooLarge
from penstock.engine.authoring.check_gate import CheckFailed
from penstock.flow.errors import PenstockError
from penstock.flow.model.problems import UNREADABLE, DefinitionError
from penstock.flow.values.schema_validation import pointer_of
from penstock.objects.errors import ObjectStoreAway
from penstock.runtime.call_errors import CallTimedOut, CannotCall
from penstock.runtime.commands.approval_bypass import NotTheirs
from penstock.runtime.dispatch.redaction import Redact
from penstock.runtime.errors import (
    AlreadyDecided,
    ApprovalExpired,
    BadCursor,
    Conflict,
    Invalid,
    InvalidEvent,
    InvalidFields,
    InvalidInput,
    NoTask,
    NotFound,
    NotSeparate,
    PayloadTooLarge,
    PreconditionFailed,
)
from penstock.secrets.errors import KeysElsewhere, SecretKeyError
from penstock.sources.errors import CertificateAway, Untrusted, Unverified
from penstock.store.errors import OutcomeUnknown, StoreError, StoreRefused
from penstock.testing.world import Endless

MEDIA = "application/problem+json"
RETRY_AFTER = 2
POINTERS: dict[type[Exception], str] = {
    InvalidInput: "/input",
    InvalidEvent: "/data",
    InvalidFields: "/fields",
    InvalidOutput: "",
}
"""Where in the body that stands which does not fit a schema."""

STATUSES: dict[type[Exception], int] = {
    Unreadable: 400,
    BadCursor: 400,
    Unauthenticated: 401,
    Unverified: 401,
    Forbidden: 403,
    Untrusted: 403,
    NotSeparate: 403,
    NotTheirs: 403,
    WrongHost: 403,
    NotFound: 404,
    MethodNotAllowed: 405,
    Conflict: 409,
    CannotCall: 409,
    ApprovalExpired: 410,
    TooSlow: 408,
    PreconditionFailed: 412,
    BodyTooLarge: 413,
    PayloadTooLarge: 413,
    WrongType: 415,
    Invalid: 422,
    NoTask: 422,
    Endless: 422,
    TooManyRequests: 429,
    KeysElsewhere: 409,
    SecretKeyError: 503,
    CertificateAway: 503,
    ObjectStoreAway: 503,
    StoreError: 503,
    StoreRefused: 500,
    TooManyStreams: 503,
    CallTimedOut: 504,
    PenstockError: 500,
}
"""The nearest class in an error's line of ancestors counts."""

TITLES = {
    400: "The request cannot be read",
    401: "Sign-in is needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict with the present state",
    410: "Too late",
    412: "Somebody else was faster",
    413: "Too large",
    415: "Unsupported type",
    422: "Not valid",
    429: "Too many requests",
    431: "Headers too large",
    500: "A mistake in Penstock",
    503: "Not possible just now",
    504: "It took too long",
}


class Misfit(msgspec.Struct, kw_only=True):
    """One thing that is wrong: `path` points at it in the body, or names the parameter; `line` is of a definition."""

    path: str
    code: str
    message: str
    line: int | UnsetType | None = UNSET
    column: int | UnsetType | None = UNSET


class Problem(msgspec.Struct, omit_defaults=True):
    """What every answer that is not good looks like."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: list[Misfit] = []
    findings: list[Finding] = []
    cancel: bool = False  # of a worker's report: stop the work
    sign_in: list[str] = []  # the ways to sign in, where it was asked who one is
    decision: dict[str, Any] | None = None  # of an approval: the first, which counts


def status_of(error: BaseException) -> int:
    """The HTTP status of an error."""
    if isinstance(error, DefinitionError):
        codes = {problem.code for problem in error.problems}
        return 413 if "too_large" in codes else 400 if codes & UNREADABLE else 422
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)


def problem_of(error: BaseException, request_id: str) -> Problem:
    """An error as a problem; an internal error only says where to look."""
    status = status_of(error)
    known = isinstance(error, PenstockError | DefinitionError)
    code = str(error.code) if known else "internal"  # type: ignore[attr-defined]
    if not known:
        detail = f"Penstock made a mistake; its log says more under request {request_id}"
    elif isinstance(error, DefinitionError):
        detail = f"the definition is not valid: {error.problems[0].message}"
    else:
        detail = str(error)
    return Problem(
        type=f"urn:penstock:problem:{code}",
        title=TITLES[status],
        status=status,
        code=code,
        detail=detail,
        request_id=request_id,
        errors=[Misfit(**each) for each in _errors(error)],
        cancel=isinstance(error, AttemptSuperseded),
        findings=_findings(error),
        sign_in=list(error.ways) if isinstance(error, Unauthenticated) else [],
        decision=error.decision if isinstance(error, AlreadyDecided) else None,
    )


def _findings(error: BaseException) -> list[Finding]:
    found = error.report.findings if isinstance(error, CheckFailed) else ()
    return [msgspec.convert(each.to_plain(), Finding) for each in found]


def _errors(error: BaseException) -> list[dict[str, Any]]:
    """Each thing that is wrong, where there may be several."""
    if isinstance(error, NotFitting | Unreadable):
        return error.errors
    if isinstance(error, DefinitionError):
        return [asdict(problem) for problem in error.problems]
    if isinstance(error, InvalidInput | InvalidEvent | InvalidFields | InvalidOutput):
        top, wrong = POINTERS[type(error)], error.problems
        return [{"path": top + pointer_of(text), "code": "schema", "message": text} for text in wrong]
    if isinstance(error, CannotCall):
        return [{"path": "", "code": "cannot_call", "message": text} for text in error.reasons]
    return []


def problem_response(error: BaseException, request_id: str, redact: Redact) -> Response:
    """An error as an answer; `redact` takes secrets out of what it says."""
    problem = problem_of(error, request_id)
    headers = {"x-request-id": request_id}
    # A call whose outcome is unknown must not simply be sent again.
    if problem.status in (429, 503) and not isinstance(error, OutcomeUnknown):
        seconds = error.retry_after if isinstance(error, TooManyRequests) else RETRY_AFTER
        headers["retry-after"] = str(max(1, ceil(seconds)))
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowed):
        headers["allow"] = ", ".join(error.allowed)
    if isinstance(error, BodyTooLarge | TooSlow) or (isinstance(error, ResultTooLarge) and error.unread):
        headers["connection"] = "close"  # the rest of the body is not read
    body = msgspec.json.encode(redact(msgspec.to_builtins(problem)))
    return Response(body, problem.status, headers, MEDIA)
