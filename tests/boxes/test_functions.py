"""Each kind of function is called the way its own runtime expects."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as AwsCredentials

from penstock.access.caller import ANYBODY_HERE
from penstock.boxes.failures import Failing
from penstock.boxes.functions import content_of
from penstock.boxes.lambda_signature import signed
from penstock.boxes.outbound_call import Answer, Call
from penstock.objects.s3_signature import Keys
from tests.boxes.conftest import Functions, functions, says, site


async def called(
    folder: Path, answer: Any = None, path: str = "f", **params: Any
) -> tuple[dict[str, Any], Functions]:
    """A call of one kind: the run, and what the function got. The secret KEY is there."""
    async with site(folder) as here, functions(**{path: answer or says({"output": 1})}) as there:
        await here.service.access.set_secret(ANYBODY_HERE, "KEY", "hush-hush-7")
        given = {
            key: value.replace("BASE", there.base) if isinstance(value, str) else value
            for key, value in params.items()
        }
        run = await here.run({"steps": {"call": {"task": "http", "with": given}}}, {"n": 1}, subject="a b")
        return run, there


@pytest.mark.parametrize("kind", ["cloudevents", "knative"])
def test_a_cloud_event_in_headers(kind: str, tmp_path: Path) -> None:
    run, there = asyncio.run(called(tmp_path, url="BASE/f", kind=kind))

    [(_, headers, body)] = there.got
    assert (headers["ce-specversion"], headers["ce-type"], headers["ce-subject"]) == (
        "1.0",
        "penstock.step",
        "a b",
    )
    assert headers["ce-source"] == f"/penstock/w/{run['id']}"
    assert headers["ce-id"] == body["idempotency_key"]
    assert (headers["content-type"], body["data"]) == ("application/json", {"n": 1})


def test_a_cloud_event_in_one_piece_and_one_back(tmp_path: Path) -> None:
    async def f(request: web.Request) -> web.StreamResponse:
        event = await request.json()
        back = {
            "specversion": "1.0",
            "id": "1",
            "source": "f",
            "type": "t",
            "data": {"output": event["data"]["data"]},
        }
        return web.json_response(back, content_type="application/cloudevents+json")

    run, there = asyncio.run(called(tmp_path, f, url="BASE/f", kind="cloudevents", structured=True))

    assert there.got[0][1]["content-type"] == "application/cloudevents+json"
    assert run["steps"]["call"]["output"] == {"n": 1}


def test_an_azure_function_gets_its_key(tmp_path: Path) -> None:
    _, there = asyncio.run(called(tmp_path, url="BASE/f", kind="azure", key={"secret": "KEY"}))

    assert there.got[0][1]["x-functions-key"] == "hush-hush-7"


def test_a_google_function_gets_a_bearer_token(tmp_path: Path) -> None:
    _, there = asyncio.run(called(tmp_path, url="BASE/f", kind="google", key={"secret": "KEY"}))

    assert there.got[0][1]["authorization"] == "Bearer hush-hush-7"


def test_a_lambda_is_invoked_with_a_signature(tmp_path: Path) -> None:
    keys = {"id": "AKID", "secret": {"secret": "KEY"}}
    run, there = asyncio.run(
        called(
            tmp_path,
            path="2015-03-31",
            url="BASE",
            kind="lambda-invoke",
            function="scale",
            region="eu-central-1",
            credentials=keys,
        )
    )

    [(path, headers, _)] = there.got
    assert path == "/2015-03-31/functions/scale/invocations"
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "/eu-central-1/lambda/aws4_request" in headers["authorization"]
    assert run["steps"]["call"]["output"] == 1


def test_a_blank_in_the_query_goes_out_as_it_is_signed(tmp_path: Path) -> None:
    async def f(request: web.Request) -> web.StreamResponse:
        return web.json_response({"output": request.raw_path})

    run, _ = asyncio.run(called(tmp_path, f, url="BASE/f", kind="lambda", query={"q": "a b+c"}))

    assert run["steps"]["call"]["output"] == "/f?q=a%20b%2Bc"


def test_a_lambda_that_failed_fails_the_step(tmp_path: Path) -> None:
    answer = says({"errorMessage": "boom"}, headers={"X-Amz-Function-Error": "Unhandled"})
    keys = {"id": "AKID", "secret": "x"}
    run, _ = asyncio.run(
        called(
            tmp_path,
            answer,
            path="2015-03-31",
            url="BASE",
            kind="lambda-invoke",
            function="f",
            region="r",
            credentials=keys,
        )
    )

    assert "the function failed (Unhandled)" in run["steps"]["call"]["error"]["message"]


@pytest.mark.parametrize(
    ("status", "again"), [(500, True), (502, True), (504, True), (429, True), (404, False), ("x", False)]
)
def test_what_a_lambda_answers_as_a_gateway_would_is_tried_again_as_such(status: Any, again: bool) -> None:
    found = {"statusCode": status, "headers": {"Retry-After": "7"}, "body": "not now"}
    call = Call(method="POST", url="https://lambda.example/f")
    answer = Answer(200, {"content-type": "application/json"}, json.dumps(found).encode(), call)

    with pytest.raises(Failing) as caught:
        content_of(answer, "lambda-invoke")

    outcome = caught.value.outcome
    assert (outcome.retry, outcome.retry_after) == (again, timedelta(seconds=7) if again else None)


@pytest.mark.parametrize(
    "url",
    [
        "https://lambda.eu-central-1.amazonaws.com/2015-03-31/functions/f%3A1/invocations",
        "https://abc.lambda-url.eu-central-1.on.aws/?b=2&a=1%202&c",
        "https://abc.lambda-url.eu-central-1.on.aws/deep/path",
    ],
)
@pytest.mark.parametrize("token", [None, "session-token"])
def test_the_signature_is_that_of_botocore(url: str, token: str | None) -> None:
    now = datetime(2026, 5, 1, 12, 30, 45, tzinfo=UTC)
    headers, body = {"Content-Type": "application/json", "X-Extra": "a  b"}, b'{"n":1}'

    ours = signed("POST", url, headers, body, Keys("AKID", "hush", token), "eu-central-1", now)

    request = AWSRequest("POST", url, headers=dict(headers), data=body)
    request.context["timestamp"] = f"{now:%Y%m%dT%H%M%SZ}"
    theirs = SigV4Auth(AwsCredentials("AKID", "hush", token), "lambda", "eu-central-1")
    request.headers["X-Amz-Date"] = request.context["timestamp"]
    if token:
        request.headers["X-Amz-Security-Token"] = token
    canonical = theirs.canonical_request(request)
    expected = theirs.signature(theirs.string_to_sign(request, canonical), request)
    assert ours["Authorization"].endswith(f"Signature={expected}")
