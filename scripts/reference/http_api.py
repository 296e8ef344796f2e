"""The reference page of the API, written from the table of calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from penstock.api.call import Call
from penstock.api.openapi import describe
from penstock.api.table import CALLS

HEAD = """\
# HTTP API

This page is written by `make reference` from the table of calls that the server itself is made of; `/openapi.json`
describes the same for programs, with every field of every answer.

**Requests.** Bodies are JSON in UTF-8, at most 1 MiB. Keys that are not known, keys that are there twice, `NaN` and
numbers beyond 64 bits are refused. `Authorization: Bearer TOKEN` says who asks; on a server that is open to its own
machine nobody is asked. *Needs* below is the action that a caller must be allowed;
*everywhere*: not for who is bound to workflows.

**Answers.** Times are RFC 3339 in UTC. What is not good is `application/problem+json` with `type`, `title`, `status`,
`code`, `detail`, `request_id` and, where several things are wrong, `errors: [{path, code, message}]`; the codes are
those of [Errors](errors.md). 400: it cannot be read. 404: not there, or not for you. 409: not in this state. 412: not
what you have seen. 413: too large. 422: it can be read and is not right. 429 and 503: come again after `Retry-After`;
503 without it is `outcome_unknown`: look first, or repeat it with the same key.

**Lists** answer `{"items": […], "next": CURSOR or null}` and take `limit` and `cursor`.

**Definitions** are sent as JSON or as YAML (`application/yaml`), as themselves or as `{"definition": …}`, which is how
they are answered: what was read can be changed and sent back. A draft keeps the text that was sent; a definition in
JSON becomes YAML, unless it says what the draft says already. `ETag` names a text. With `If-Match: "ETAG"` a draft is
changed or published only where it is still that text, with `If-None-Match: *` only where there is none.
A workflow that is published and has no draft reads as its newest version; publishing makes the draft the next version,
after which there is no draft. `publish` with a `definition` in its body publishes that and leaves the draft alone.

**Tries.** `try` runs a draft in memory, on a clock that jumps, for at most 10 seconds. Tasks are stubs: `stubs` says
what each step comes to (`{"port", "output", "tags", "set"}` or `{"error"}`; a list: one a try), others end on `done`
with null; with `from` all that leads to that step does so at once. It stops after the step `until`, or with
`{"before": STEP}` before one; `stopped` says so (`until`), or that it took too long (`time`) or became too long
(`long`).

**Streams** are server-sent events with a comment at least every 15 seconds. That of a run sends its history (`history`,
`id` is the number of the entry) and `end` after the end of the run. That of all runs sends `change` with
`{run, workflow, status, seq, subject}` for each change. After a broken line `Last-Event-ID` goes on without a gap;
where that is not possible any more, `reset` says that some changes were missed: load again what you show.

**Pauses.** `/api/pause` holds the whole installation, `/api/workflows/{name}/pause` a workflow, `/api/runs/{id}/pause`
a run: nothing new is dispatched, events are kept, and what is under way may finish.
"""


def reference_text(calls: Sequence[Call] = CALLS) -> str:
    """The whole page."""
    calls = [call for call in calls if call.described]
    described = describe(calls, "")
    schemas = described["components"]["schemas"]
    lines = [HEAD]
    for tag in dict.fromkeys(call.tag for call in calls):
        lines += [f"## {tag.capitalize()}", ""]
        for call in calls:
            if call.tag == tag:
                lines += _call(call, described["paths"][call.path][call.method.lower()], schemas)
    return "\n".join(lines)


def _call(call: Call, operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    yield f"### `{call.method} {call.path}`"
    yield ""
    needs = f"`{call.action}`{' everywhere' if call.everywhere else ''}"
    yield f"{call.summary} Needs {needs}. Answers {_answers(operation)}."
    yield ""
    rows = [*_parameters(operation), *_body(operation, schemas)]
    if rows:
        yield from ("| | in | is |", "| --- | --- | --- |", *rows, "")


def _answers(operation: dict[str, Any]) -> str:
    good = [status for status in operation["responses"] if status < "400"]
    return " or ".join(good)


def _parameters(operation: dict[str, Any]) -> Iterator[str]:
    for each in operation["parameters"]:
        if each["in"] != "path":
            yield f"| `{each['name']}` | {each['in']} | {_kind(each['schema'])} |"


def _body(operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    body = operation.get("requestBody")
    if body is None:
        return
    schema = next(iter(body["content"].values()))["schema"]
    found = schemas.get(schema.get("$ref", "").rpartition("/")[2])
    if found is None:
        yield f"| | body | {' or '.join(f'`{media}`' for media in body['content'])} |"
        return
    needed = found.get("required", ())
    for name, field in found.get("properties", {}).items():
        yield f"| `{name}` | body | {_kind(field)}{', needed' if name in needed else ''} |"


def _kind(schema: dict[str, Any]) -> str:
    """A type in a few words."""
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"] if each != {"type": "null"})
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        return f"a list of {_kind(schema['items'])}"
    return _plain(schema)


def _plain(schema: dict[str, Any]) -> str:
    words = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
    kind = words.get(schema.get("type", ""), "an object" if schema.get("type") == "object" else "anything")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None and high < 2**31 - 1:
        return f"{kind} from {low} to {high}"
    default = schema.get("default")
    return kind if default in (None, "", [], {}) else f"{kind} ({str(default).lower()})"
