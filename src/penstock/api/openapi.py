"""The OpenAPI 3.1 document, made from the table of calls and their types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, get_origin

import msgspec
from msgspec.structs import FieldInfo

from penstock.api.call import Call
from penstock.api.problems import MEDIA, TITLES, Problem

TEXT_SCHEMA = {"type": "string", "minLength": 1}
NAME_SCHEMA = {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$"}
COUNT_SCHEMA = {"type": "integer", "minimum": 1}
PATH_SCHEMAS: dict[str, dict[str, Any]] = {
    "workflows/{name}": NAME_SCHEMA,
    "versions/{v}": COUNT_SCHEMA,
    "undelivered/{number}": COUNT_SCHEMA,
}
"""What stands in a path, by what goes before it; else any text."""
_PAGE = re.compile(r"Page_(.+?)_+$")
REF = "#/components/schemas/{name}"
STABLE_SCHEMA_NAMES = {
    "penstock.workers.wire.Told": "penstock.remote.wire.Told",
    "penstock.sources.objects.notifications.Told": "penstock.sources.object_hooks.Told",
}
"""Types whose module shows in the document, for another has the same name: clients know them by the first one."""


def describe(calls: Sequence[Call], version: str) -> dict[str, Any]:
    """The whole document."""
    calls = [call for call in calls if call.described]
    types = [Problem, *dict.fromkeys(kind for call in calls for kind in (call.takes, call.gives) if kind)]
    schemas, components = msgspec.json.schema_components(types, ref_template=REF)
    known = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for call in calls:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call, known)
    return _plainly_named(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Penstock",
                "version": version,
                "description": "Workflows that are drawn, proved and run.",
            },
            "paths": paths,
            "components": {
                "schemas": components,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
            "tags": [{"name": tag} for tag in dict.fromkeys(call.tag for call in calls)],
        }
    )


def _plainly_named(document: dict[str, Any]) -> dict[str, Any]:
    """The document with names that a generated client can use: `Page_Run_` is `RunPage`."""
    text = msgspec.json.encode(document).decode()
    for moved, name in STABLE_SCHEMA_NAMES.items():
        text = text.replace(moved, name)
    for name in document["components"]["schemas"]:
        plain = _PAGE.sub(lambda found: f"{found[1] if found[1].isidentifier() else ''}Page", name)
        text = text.replace(f'schemas/{name}"', f'schemas/{plain}"').replace(f'"{name}":{{', f'"{plain}":{{')
    made: dict[str, Any] = msgspec.json.decode(text)
    return made


description_of = lru_cache(maxsize=4)(describe)
"""The same, made when somebody first asks for it: it takes longer than to begin everything else."""


def _operation(call: Call, known: dict[Any, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": call.name,
        "summary": call.summary,
        "tags": [call.tag],
        "x-action": call.action,
        **({"x-everywhere": True} if call.everywhere else {}),
        "security": [] if call.action == "public" else [{"token": []}, {}],
        "parameters": [*_path_parameters(call), *_query_parameters(call), *_headers(call)],
        "responses": _responses(call, known),
    }
    if call.reads != "none":
        schema = known[call.takes] if call.takes is not None else {}
        content = {media: {"schema": schema} for media in call.accepts}
        made["requestBody"] = {"required": not call.empty, "content": content}
    return made


def _path_parameters(call: Call) -> Iterable[dict[str, Any]]:
    segments = call.path.split("/")
    for before, segment in pairwise(segments):
        if segment.startswith("{"):
            schema = PATH_SCHEMAS.get(f"{before}/{segment}", TEXT_SCHEMA)
            yield {"name": segment[1:-1], "in": "path", "required": True, "schema": schema}


def _headers(call: Call) -> Iterable[dict[str, Any]]:
    for name in call.headers:
        yield {"name": name, "in": "header", "required": False, "schema": {"type": "string"}}


def _query_parameters(call: Call) -> Iterable[dict[str, Any]]:
    if call.query is None:
        return
    schema = msgspec.json.schema(call.query)
    properties = schema["$defs"][call.query.__name__]["properties"]
    for field in msgspec.structs.fields(call.query):
        yield _query_parameter(field, properties[field.encode_name])


def _query_parameter(field: FieldInfo, schema: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"name": field.encode_name, "in": "query", "required": field.required}
    if get_origin(field.type) in (list, tuple):
        made |= {"style": "form", "explode": False}
    schema = {key: value for key, value in schema.items() if key not in ("default", "description")}
    return {**made, "schema": _without_null(schema)}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter that is not given is absent; it is never null."""
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    return choices[0] if len(choices) == 1 else schema


def _responses(call: Call, known: dict[Any, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {call.media: {"schema": known[call.gives] if call.gives is not None else {}}}
    content |= {media: {"schema": {"type": "string"}} for media in call.also}
    made: dict[str, Any] = {}
    for status in (call.status, *call.statuses):
        made[str(status)] = {"description": "done"} | ({} if status == 204 else {"content": content})
    problem = {MEDIA: {"schema": known[Problem]}}
    for status in _bad(call):
        made[str(status)] = {"description": TITLES[status], "content": problem}
    return made


def _bad(call: Call) -> Iterable[int]:
    """What else may be answered."""
    yield from (400, 401, 403)
    if "{" in call.path:
        yield 404
    if call.method != "GET":
        yield from (409, 412)
    if call.name == "decide_approval":
        yield 410
    if call.reads != "none":
        yield from (413, 415)
    if call.reads != "none" or call.query is not None:
        yield 422
    yield from (429, 503)
    if call.name in ("call_workflow", "try_workflow"):
        yield 504
