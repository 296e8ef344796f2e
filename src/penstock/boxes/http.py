"""`http`: calls a function and waits for its answer, its callback, or the state that polling reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.boxes.callback_tokens import Attempted
from penstock.boxes.failures import Failing, wrong
from penstock.boxes.functions import content_of, prepared
from penstock.boxes.job_poll import Polling
from penstock.boxes.outbound_call import Answer, send
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.errors import PenstockError
from penstock.flow.model.run_input import Done, Outcome, Parked
from penstock.flow.values.payload import TooLarge, plain
from penstock.objects.errors import ObjectStoreAway
from penstock.workers.context import Context

NO_ERROR = (None, False, "")
"""What many say under `error` where there was none."""

CALLBACK = "Penstock-Callback"
"""The header with the address to call back."""


async def call_http(environment: TaskEnvironment, ctx: Context, **params: Any) -> Outcome:
    """One attempt of an `http` step. Raises Failing."""
    replace = params.get("tags_mode") == "replace"
    extra, headers = await _beside(environment, ctx, params)
    call = await prepared(environment, ctx, params, extra, headers)
    polling = Polling(environment, ctx, params, call) if params.get("poll") else None
    if polling is not None and (found := await polling.known()) is not None:
        return taken(found, replace)
    answer = await send(environment, call)
    if not _expected(answer, params):
        raise answer.refused()
    if polling is not None:
        return taken(await polling.begun(answer), replace)
    if params.get("mode") == "async":
        return Parked(waits="callback")
    return _outcome(answer, params)


async def _beside(
    environment: TaskEnvironment, ctx: Context, params: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """What is sent with the context: the callback address, and a URL of the object."""
    extra: dict[str, Any] = {}
    headers: dict[str, str] = {}
    if params.get("mode") == "async" and not params.get("poll"):
        extra["callback"] = headers[CALLBACK] = await callback_url(environment, ctx)
    if params.get("presign"):
        try:
            extra["object_url"] = await environment.presign(str(params["presign"]), ctx.data)
        except ObjectStoreAway as error:
            raise Failing(str(error)) from None
        except PenstockError as error:
            raise wrong(str(error)) from None
    return extra, headers


async def callback_url(environment: TaskEnvironment, ctx: Context) -> str:
    """The address that ends this attempt when it is called. Raises Failing."""
    if environment.public_url is None or environment.parts.callback_tokens is None:
        raise wrong("`mode: async` needs an address to call back: run a server, and say its `public_url`")
    id = await environment.parts.callback_tokens.issue(Attempted(*ctx.place))
    return f"{environment.public_url.rstrip('/')}/hooks/callback/{id}"


def _expected(answer: Answer, params: Mapping[str, Any]) -> bool:
    expect = params.get("expect")
    return answer.status in expect if expect else 200 <= answer.status < 300


def _outcome(answer: Answer, params: Mapping[str, Any]) -> Outcome:
    """What the answer comes to: of a function that got the context, its `output`, `tags` and `data`."""
    reads = params.get("answer", "json")
    if reads == "text":
        return Done(output={"status": answer.status, "text": answer.text()})
    if reads == "nothing" or answer.status in (204, 205) or answer.call.method == "HEAD":
        return Done(output=None)
    found = content_of(answer, params.get("kind", "plain"))
    if "body" in params or answer.call.method in ("GET", "DELETE"):
        return Done(output=found)
    return taken(found, params.get("tags_mode") == "replace")


def taken(found: Any, replace: bool = False) -> Outcome:
    """What a function or a callback says: `{port, output, tags, data, error}`, or anything else as its output."""
    if not isinstance(found, dict):
        return Done(output=found)
    if (error := found.get("error")) not in NO_ERROR:
        raise _failed(error, found.get("retry", True) is not False)
    tags, data, port = found.get("tags"), found.get("data", found.get("set")), found.get("port", "done")
    for name, value in (("tags", tags), ("data", data)):
        if value is not None and not isinstance(value, dict):
            raise wrong(f"the function answered with `{name}` that is no map")
    if not isinstance(port, str):
        raise wrong("the function answered with a `port` that is no text")
    output = found.get("output", found)
    return Done(port=port, output=output, tags=tags, replace_tags=replace and tags is not None, set=data)


class Said(Failing):
    """The function says itself that it failed."""


def _failed(error: Any, retry: bool) -> Said:
    """What went wrong in the words of the function."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return Said(error["message"][:2000], retry=retry, detail=error.get("detail"))
    said = error if isinstance(error, str) else msgspec.json.encode(error).decode()
    return Said(f"the function failed: {said[:2000]}", retry=retry)


def read_callback(body: Any, replace: bool = False) -> Outcome:
    """What a callback says. Raises Failing where it cannot be understood."""
    try:
        return taken(plain(body), replace)
    except TooLarge as error:
        raise Failing(f"the callback {error}", "too_large", retry=False) from None
    except Said as said:
        return said.outcome
