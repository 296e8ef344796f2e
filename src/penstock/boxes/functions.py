"""How each kind of function is called: headers, body, and how its answer is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import msgspec

from penstock.boxes.failures import Failing, span_of, wrong
from penstock.boxes.lambda_signature import signed
from penstock.boxes.outbound_call import Answer, Call
from penstock.boxes.task_environment import TaskEnvironment
from penstock.objects.s3_signature import Keys
from penstock.workers.context import Context

JSON = "application/json"
EVENTS = ("cloudevents", "knative")
LAMBDA = ("lambda", "lambda-invoke")
CONTEXT_FIELDS = ("run", "step", "index", "attempt", "idempotency_key", "data", "tags", "input", "events")
"""Of the context, what a function gets."""

WITHOUT_BODY = ("GET", "HEAD", "DELETE")


def context_of(ctx: Context, params: Mapping[str, Any]) -> dict[str, Any]:
    """What a function learns about the run."""
    found = {name: getattr(ctx, name) for name in CONTEXT_FIELDS}
    return {**found, "params": params["params"]} if "params" in params else found


async def prepared(
    environment: TaskEnvironment,
    ctx: Context,
    params: Mapping[str, Any],
    extra: Mapping[str, Any],
    headers: Mapping[str, str],
) -> Call:
    """The call that a step requests; `extra` is sent with the context. Raises Failing."""
    kind, method = params.get("kind", "plain"), params.get("method", "POST")
    own = {
        name: _text(value) for name, value in (await environment.revealed_in(ctx, params, "headers")).items()
    }
    said = {"traceparent": ctx.traceparent, "Idempotency-Key": ctx.idempotency_key, **headers, **own}
    url = _url(params, await environment.revealed_in(ctx, params, "query"))
    body: bytes | None = None
    if "body" in params:
        body, said = _own_body(params["body"], said)
    elif method not in WITHOUT_BODY:
        context = {**context_of(ctx, params), **extra}
        body, said = _context_body(kind, bool(params.get("structured")), ctx, context, said)
    said = await _opened(environment, ctx, kind, params, said)
    timeout = span_of(params.get("timeout", "30s"), "timeout")
    call = Call(method=method, url=url, headers=said, body=body, timeout=timeout)
    return await _signed(environment, ctx, params, call) if kind in LAMBDA else call


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if "\r" in text or "\n" in text or "\0" in text:
        raise wrong("a header cannot have a line end in it: look at the step's `headers`")
    return text


def _url(params: Mapping[str, Any], query: Mapping[str, Any]) -> str:
    url = params.get("url")
    if params.get("kind") == "lambda-invoke":
        function, region = params.get("function"), params.get("region")
        if not function or not (region or url):
            raise wrong("`kind: lambda-invoke` needs `function`, and `region` or `url`")
        base = str(url or f"https://lambda.{region}.amazonaws.com").rstrip("/")
        url = f"{base}/2015-03-31/functions/{quote(str(function), safe='')}/invocations"
    if not isinstance(url, str) or not url:
        raise wrong("`http` needs `url`: the address of the function, such as https://f.example/scale")
    if not query:
        return url
    parts = urlsplit(url)
    # A blank as %20: a receiver that checks a signature reads a plus literally.
    more = urlencode({name: _text(value) for name, value in query.items()}, quote_via=quote)
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, more)))))


def _own_body(body: Any, said: dict[str, str]) -> tuple[bytes, dict[str, str]]:
    named = {name.lower() for name in said}
    if isinstance(body, str) and "content-type" in named:
        return body.encode(), said
    return msgspec.json.encode(body), said if "content-type" in named else {**said, "Content-Type": JSON}


def _context_body(
    kind: str, structured: bool, ctx: Context, context: Mapping[str, Any], said: dict[str, str]
) -> tuple[bytes, dict[str, str]]:
    if kind not in EVENTS:
        return msgspec.json.encode(context), {"Content-Type": JSON, **said}
    event = {
        "specversion": "1.0",
        "id": ctx.idempotency_key,
        "source": f"/penstock/{quote(ctx.run['workflow'])}/{quote(ctx.run['id'])}",
        "type": "penstock.step",
    }
    if ctx.run.get("subject"):
        event["subject"] = str(ctx.run["subject"])
    if structured:
        whole = {**event, "datacontenttype": JSON, "data": context}
        return msgspec.json.encode(whole), {"Content-Type": "application/cloudevents+json", **said}
    named = {
        f"ce-{name}": quote(value, safe=" !#$&'()*+,-./:;<=>?@[]^_`{|}~") for name, value in event.items()
    }
    return msgspec.json.encode(context), {"Content-Type": JSON, **named, **said}


async def _opened(
    environment: TaskEnvironment, ctx: Context, kind: str, params: Mapping[str, Any], said: dict[str, str]
) -> dict[str, str]:
    """With the key that opens the function, where its kind has one."""
    if "key" not in params or kind not in ("azure", "google"):
        return said
    key = _text(await environment.revealed(ctx, ("key",), params["key"]))
    return {**said, "x-functions-key": key} if kind == "azure" else {**said, "Authorization": f"Bearer {key}"}


async def _signed(environment: TaskEnvironment, ctx: Context, params: Mapping[str, Any], call: Call) -> Call:
    invokes, said = params.get("kind") == "lambda-invoke", dict(call.headers)
    if invokes and params.get("mode") == "async":
        said["X-Amz-Invocation-Type"] = "Event"
    credentials = await _credentials(environment, ctx, params)
    if credentials is not None:
        region = params.get("region") or _region_of(call.url)
        if not region:
            raise wrong("a signed call of a Lambda function needs `region`")
        now = datetime.now(UTC)
        said = signed(call.method, call.url, said, call.body or b"", credentials, str(region), now)
    elif invokes:
        raise wrong(
            "`kind: lambda-invoke` needs `credentials`, or AWS_ACCESS_KEY_ID in the server's environment"
        )
    return msgspec.structs.replace(call, headers=said)  # not signed: a function URL may be open


async def _credentials(environment: TaskEnvironment, ctx: Context, params: Mapping[str, Any]) -> Keys | None:
    given = await environment.revealed_in(ctx, params, "credentials")
    if given:
        nested = any(isinstance(each, Mapping | list) for each in given.values())
        if nested or not given.get("id") or not given.get("secret"):
            raise wrong("`credentials` needs `id` and `secret`, each a text or {secret: NAME}")
        return Keys(str(given["id"]), str(given["secret"]), given.get("token"))
    id, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    return Keys(id, secret, os.environ.get("AWS_SESSION_TOKEN")) if id and secret else None


def _region_of(url: str) -> str | None:
    """The region in the address of a function: `ID.lambda-url.REGION.on.aws`."""
    words = (urlsplit(url).hostname or "").split(".")
    return words[2] if len(words) > 3 and words[1] == "lambda-url" else None


def content_of(answer: Answer, kind: str) -> Any:
    """What a function says, out of the envelope of its kind. Raises Failing."""
    if (error := answer.headers.get("x-amz-function-error")) is not None:
        message = f"the function failed ({error[:100]}): {answer.shown()}"
        raise Failing(message, detail={"status": answer.status, "body": answer.shown()})
    found = answer.json()
    if answer.kind == "application/cloudevents+json" and isinstance(found, dict):
        return found.get("data")
    if kind == "lambda-invoke" and isinstance(found, dict) and {"statusCode", "body"} <= found.keys():
        return _proxied(answer, found)
    return found


def _proxied(answer: Answer, found: dict[str, Any]) -> Any:
    """The answer of a function that was written for API gateways."""
    status, body = found["statusCode"], found["body"]
    if not isinstance(status, int) or not 100 <= status < 600:
        raise Failing(f"the function answered {str(status)[:40]}, which is no status", retry=False)
    if not 200 <= status < 300:
        said = found.get("headers") if isinstance(found.get("headers"), dict) else {}
        names = {name.lower(): str(value) for name, value in (said or {}).items()}
        text = body.encode() if isinstance(body, str) else msgspec.json.encode(body)
        raise msgspec.structs.replace(answer, status=status, headers=names, body=text).refused()
    if not isinstance(body, str):
        return body
    return msgspec.structs.replace(answer, body=body.encode(), headers={"content-type": JSON}).json()
