"""Definitions in requests and answers: JSON or YAML, by the headers, and the etags of drafts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from starlette.requests import Request
from starlette.responses import Response

from penstock.api.request_body import (
    NotFitting,
    Unreadable,
    media_type,
    raw_body,
    read_json,
    validate_content_type,
)
from penstock.engine.authoring.drafts import Written

JSON = "application/json"
YAML = ("application/yaml", "text/yaml", "application/x-yaml")
DEFINITION = (JSON, *YAML)
"""What a definition may come as."""

_ETAG = re.compile(r'(?:W/)?"([^"]*)"')


async def read_body(request: Request) -> Written | dict[str, Any]:
    """The body: text where it is YAML, a map where it is JSON. Raises WrongType, Unreadable, NotFitting."""
    raw = await raw_body(request)
    validate_content_type(request, DEFINITION)
    if media_type(request) == JSON:
        value = read_json(raw)
        if not isinstance(value, dict):
            raise NotFitting("", "must be an object: the definition, or {definition: …}")
        return value
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Unreadable("invalid_unicode", "the body is not text in UTF-8") from None


def in_envelope(body: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a body has the definition in it, rather than being it: what has steps is a definition itself."""
    return isinstance(body, Mapping) and "definition" in body and "steps" not in body


async def read_written(request: Request) -> Written:
    """The definition in the body, as itself or in the envelope that an answer has it in."""
    body = await read_body(request)
    if not in_envelope(body):
        return body
    inner = body["definition"]
    if not isinstance(inner, str | dict):
        raise NotFitting("/definition", "must be an object, or YAML as text")
    return inner


def wants_yaml(request: Request) -> bool:
    """Whether the caller asks for the text alone."""
    accepted = request.headers.get("accept", "").lower()
    return any(media in accepted for media in YAML) and JSON not in accepted


def yaml_response(text: str, etag: str) -> Response:
    return Response(text, media_type=YAML[0], headers={"etag": f'"{etag}"'})


def expected(request: Request, present: str) -> list[str] | None:
    """The etags that the caller has seen, by If-Match and If-None-Match; None: it does not say.

    `present` is that of what is there, empty where there is nothing.
    """
    if request.headers.get("if-none-match", "").strip() == "*":
        return [""]
    given = request.headers.get("if-match")
    if given is None:
        return None
    if given.strip() == "*":
        return [present] if present else ["*"]
    return _ETAG.findall(given) or [given.strip() or "*"]
