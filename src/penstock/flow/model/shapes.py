"""The shapes of what the engine itself makes, as JSON Schemas: what expressions find besides the data of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.kernel.net import CANCEL, FAIL, TIMEOUT

Schema = dict[str, Any]

ANY: Schema = {}
NULL: Schema = {"type": "null"}
TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
TIME: Schema = {"type": "string", "format": "date-time"}
MAP: Schema = {"type": "object"}
TEXTS_BY_NAME: Schema = {"type": "object", "additionalProperties": TEXT}
TIMESTAMP: Schema = {"x-cel": "timestamp"}
"""What is a timestamp in expressions, and not a text."""


def closed(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """The schema of an object that has these fields and no others."""
    properties = {**required, **(optional or {})}
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def either(*schemas: Schema) -> Schema:
    """The schema of what fits any of these; if it is only one, that one."""
    return schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}


# -- what every expression of a step may read ------------------------------------------------------------------

RUN = closed(
    {"id": TEXT, "workflow": TEXT, "version": {"type": "integer", "minimum": 1}, "subject": TEXT_OR_NULL}
)
"""`run`."""


def event_shape(data: Schema = ANY) -> Schema:
    """`event`: the consumed event that was fired last, which carries `data`."""
    return closed({"name": TEXT, "data": data, "id": TEXT, "at": TIMESTAMP})


# -- what events carry ---------------------------------------------------------------------------------------

ERROR = closed({"kind": TEXT, "message": TEXT, "detail": ANY})
"""Why a step failed."""

FAILED = closed({"step": TEXT, "error": ERROR, "attempts": COUNT, "index": {"type": ["integer", "null"]}})
"""The data of the port `failed`."""

GIVEN_UP = closed({"step": NULL, "error": ERROR})
"""The data of `FAIL` where a person let the run fail."""


def failed_shape(item: Schema | None = None) -> Schema:
    """The data of the port `failed`; `item` is that of an `each` step, which fails with an item or as a whole."""
    return FAILED if item is None else FAILED | {"properties": FAILED["properties"] | {"item": item}}


def list_shape(output: Schema, collect: bool = False) -> Schema:
    """The output of an `each` step on `done`, of whose task `output` is known; it may collect failures."""
    return {"type": "array", "items": either(output, closed({"error": ERROR})) if collect else output}


def element_shape(item: Schema, output: Schema) -> Schema:
    """The output of an `each` step on another port: the element that decided."""
    return closed({"item": item, "index": COUNT, "output": output})


ENDINGS: Mapping[str, tuple[Schema, ...]] = {
    FAIL: (FAILED, GIVEN_UP),
    CANCEL: (closed({"reason": TEXT_OR_NULL}),),
    TIMEOUT: (NULL,),
}
"""The data of the events that end a run, apart from what steps fire under these names."""


def child_shape(result: Schema | None) -> Schema:
    """The output of a `workflow` step; `result` is that of the child run, None if the step does not wait for it."""
    return closed({"run": TEXT} if result is None else {"run": TEXT, "result": result})


# -- what sources and hooks bring ------------------------------------------------------------------------------

_OBJECT: dict[str, Schema] = {
    "bucket": TEXT,
    "key": TEXT,
    "version": TEXT_OR_NULL,
    "size": {"type": ["integer", "null"]},
    "etag": TEXT,
    "metadata": TEXTS_BY_NAME,
    "system": MAP,
    "transport": MAP,
    "event": {"enum": ["created", "deleted", "found"]},
}
OBJECT = closed(_OBJECT)
"""The input of a run about an object."""

OBJECT_VARIABLES: Mapping[str, Schema] = {
    **_OBJECT,
    "tags": TEXTS_BY_NAME,
    "object": closed({**_OBJECT, "tags": TEXTS_BY_NAME}),
}
"""What `where` of an `object` or `search` source may read."""

TICK = closed({"scheduled_at": TIME, "previous": TEXT_OR_NULL, "timezone": TEXT})
"""The input of a run that a clock starts."""

INPUTS: Mapping[str, Schema] = {"object": OBJECT, "search": OBJECT, "schedule": TICK}
"""The input that a source of each kind gives its runs; those that are missing give what somebody says."""

HOOK_VARIABLES: Mapping[str, Schema] = {
    "body": ANY,
    "headers": TEXTS_BY_NAME,
    "query": TEXTS_BY_NAME,
    "event": {"type": "object", "properties": {"id": TEXT_OR_NULL}, "required": ["id"]},
}
"""What the expressions of hooks and topics may read; `event` is the envelope: of a CloudEvent, all its attributes."""

NOTICE_VARIABLES: Mapping[str, Schema] = {
    "run": RUN,
    "data": ANY,
    "tags": MAP,
    "event": either(closed({"name": TEXT, "data": ANY, "id": TEXT_OR_NULL, "at": TIME}), NULL),
    "status": TEXT_OR_NULL,
    "result": ANY,
    "error": either(ERROR, NULL),
}
"""What `data` of `notify` may read."""
