"""What a built-in task gives and sets, as far as the parameters of its step tell it before it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from penstock.expression import ExpressionError, compile_template
from penstock.expression.template import is_open
from penstock.flow.model.offer import Offer
from penstock.flow.model.shapes import (
    ANY,
    NULL,
    TEXT,
    TEXT_OR_NULL,
    TIME,
    Schema,
    child_shape,
    closed,
    either,
)
from penstock.flow.values.schema_validation import parts, violations

Params = Mapping[str, Any]

NO_DATA: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
"""What a task sets on the run's data that sets nothing."""


def offer_for(offer: Offer, params: Params) -> Offer:
    """The offer of a built-in task for a step with these parameters: its ports, what it gives and what it sets."""
    give = _BY_PARAMETERS.get(offer.name)
    return offer if give is None else replace(offer, **give(params))


def shape_of(value: Any) -> Schema:
    """The schema of a value before its `${ … }` parts are filled in."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return closed({name: shape_of(each) for name, each in value.items()})
    if isinstance(value, list):
        items = [shape_of(each) for each in value]
        listed = {"prefixItems": items} if items else {}
        return {"type": "array", **listed, "items": False, "minItems": len(items)}
    return {"const": value}


def _text(text: str) -> Schema:
    try:
        template = compile_template(text)
    except ExpressionError:
        return {}
    if template.constant:
        return {"const": template.value}
    is_one = text[2:-1].strip() == template.expressions[0].source  # and keeps its type
    return {} if is_one else TEXT


# -- by their parameters ---------------------------------------------------------------------------------------


def _set(params: Params) -> dict[str, Any]:
    shape = shape_of(dict(params))
    return {"output": shape, "sets": shape}


def _switch(params: Params) -> dict[str, Any]:
    cases = params.get("cases")
    ports = (*(cases if isinstance(cases, Mapping) else ()), "else")
    return {"ports": (*ports, "failed"), "outputs": {port: NULL for port in ports}}


APPROVED: Schema = closed(
    {
        "decision": {"const": "approved"},
        "fields": ANY,
        "by": TEXT,
        "at": TIME,
        "comment": TEXT_OR_NULL,
    }
)


def decided(decision: str, fields: Schema | None = None) -> Schema:
    """What an approval gives on the port of that name."""
    own = {"decision": {"const": decision}} | ({} if fields is None else {"fields": fields})
    return APPROVED | {"properties": APPROVED["properties"] | own}


def _approval(params: Params) -> dict[str, Any]:
    form = params.get("fields")
    if not isinstance(form, Mapping) or is_open(form) or _refers(form):
        return {}
    own = form_of(form)
    filled = either(own, NULL)
    approved = own if _is_needed(own) else filled  # a form that needs nothing may be left out
    return {"outputs": {"approved": decided("approved", approved), "rejected": decided("rejected", filled)}}


def form_of(fields: Any) -> Any:
    """The schema of a form, which is a map of fields even where that is not said."""
    return {"type": "object", **fields} if isinstance(fields, Mapping) else fields


def _is_needed(form: Params) -> bool:
    try:
        return bool(violations(form, {}))
    except ValueError:
        return False


def _refers(schema: Params) -> bool:
    """Whether parts of a schema refer to it as a whole: inside another they would refer to that."""
    return any(
        isinstance(each, Mapping) and any(key.startswith("$") for key in each) for each in parts(schema)
    )


def _workflow(params: Params) -> dict[str, Any]:
    wait = params.get("wait", True)
    return {"output": child_shape(ANY if wait else None)} if isinstance(wait, bool) else {}


def _http(params: Params) -> dict[str, Any]:
    reads, method = params.get("answer", "json"), params.get("method", "POST")
    waits = params.get("poll") or params.get("mode", "sync") != "sync"
    if waits or is_open(reads) or is_open(method):
        return {}
    if reads == "text":
        return {"output": ANSWER, "sets": NO_DATA}
    if reads == "nothing" or method == "HEAD":
        return {"output": NULL, "sets": NO_DATA}
    # With a body of its own the answer is the output alone; else a function says what to set.
    return {"sets": NO_DATA} if "body" in params or method in ("GET", "DELETE") else {}


ANSWER: Schema = closed({"status": {"type": "integer", "minimum": 100, "maximum": 599}, "text": TEXT})
"""What `http` gives of an answer that it reads as text."""


def _service(params: Params) -> dict[str, Any]:
    patch = params.get("set")
    if patch is None:
        return {"sets": NO_DATA}
    return {"sets": shape_of(patch)} if isinstance(patch, Mapping) else {}


_BY_PARAMETERS: Mapping[str, Callable[[Params], dict[str, Any]]] = {
    "approval": _approval,
    "http": _http,
    "service": _service,
    "set": _set,
    "switch": _switch,
    "workflow": _workflow,
}
