"""`http`: what a function is sent, what is taken back, and what becomes of a bad answer."""

from __future__ import annotations

import asyncio
import gzip
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock.access.caller import ANYBODY_HERE
from penstock.boxes.outbound_call import Answer, Call
from tests.boxes.conftest import Functions, functions, says, site


def calls(**params: Any) -> dict[str, Any]:
    return {
        "steps": {
            "call": {"task": "http", "with": params, "fails": "bad", "timeouts": {"start_to_close": "20s"}}
        }
    }


async def outcome(folder: Path, answer: Any, **params: Any) -> tuple[dict[str, Any], Functions]:
    """The step after one call of a function that answers so."""
    async with site(folder) as here, functions(f=answer) as there:
        run = await here.run(calls(url=f"{there.base}/f", **params), {"n": 1}, tags={"old": "x"})
        return run, there


def test_a_function_gets_the_context_and_gives_tags_and_data_back(tmp_path: Path) -> None:
    answer = says({"output": {"mime": "image/png"}, "tags": {"mime": "image/png"}, "data": {"seen": True}})

    run, there = asyncio.run(outcome(tmp_path, answer, params={"deep": 1}))

    assert run["status"] == "succeeded"
    assert run["steps"]["call"]["output"] == {"mime": "image/png"}
    assert (run["data"], run["tags"]) == ({"n": 1, "seen": True}, {"old": "x", "mime": "image/png"})
    [(path, headers, body)] = there.got
    assert (path, headers["content-type"]) == ("/f", "application/json")
    assert (body["run"]["workflow"], body["data"], body["tags"], body["params"]) == (
        "w",
        {"n": 1},
        {"old": "x"},
        {"deep": 1},
    )
    assert body["events"] == {"START": {"n": 1}}
    assert headers["idempotency-key"] == body["idempotency_key"]
    assert headers["traceparent"].startswith("00-")


def test_a_secret_that_the_program_makes_is_redacted_like_others(tmp_path: Path) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response({"asked with": request.headers["authorization"]}, status=403)

    async def make() -> str:
        return "Bearer token-of-this-hour"

    async def main() -> tuple[dict[str, Any], Any]:
        async with functions(f=echo) as there, site(tmp_path) as here:
            await here.engine.give_secret("BEARER", make)
            step = calls(url=f"{there.base}/f", headers={"Authorization": {"secret": "BEARER"}})
            run = await here.run(step)
            return run, await here.engine.history(run["id"])

    run, history = asyncio.run(main())

    assert "***" in str(run["steps"]["call"]["error"])
    assert "token-of-this-hour" not in str((run, history))


def test_tags_replace_those_that_were_there(tmp_path: Path) -> None:
    run, _ = asyncio.run(outcome(tmp_path, says({"tags": {"new": 1}}), tags_mode="replace"))

    assert run["tags"] == {"new": 1}


def test_a_body_of_ones_own_is_sent_alone_and_the_answer_is_the_output(tmp_path: Path) -> None:
    run, there = asyncio.run(outcome(tmp_path, says({"data": {"n": 9}}), body={"text": "n is ${ data.n }"}))

    assert (there.got[0][2], run["steps"]["call"]["output"]) == ({"text": "n is 1"}, {"data": {"n": 9}})
    assert run["data"] == {"n": 1}


@pytest.mark.parametrize(("status", "tries"), [(500, 3), (503, 3), (429, 3), (404, 1), (400, 1)])
def test_what_is_busy_is_tried_again_and_what_is_wrong_is_not(
    status: int, tries: int, tmp_path: Path
) -> None:
    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({"no": 1}, status)) as there:
            flow = calls(url=f"{there.base}/f")
            flow["steps"]["call"] |= {"retries": 2, "backoff": {"initial": "1ms"}}
            run = await here.run(flow)

            error = run["steps"]["call"]["error"]
            assert len(there.got) == tries
            assert f"answered {status}" in error["message"]
            assert error["detail"]["status"] == status

    asyncio.run(main())


def test_retry_after_says_when_it_is_tried_again(tmp_path: Path) -> None:
    answers = [says({}, 429, headers={"Retry-After": "0"}), says({"output": 1})]

    async def f(request: web.Request) -> web.StreamResponse:
        return await answers.pop(0)(request)

    async def main() -> None:
        async with site(tmp_path) as here, functions(f=f) as there:
            flow = calls(url=f"{there.base}/f")
            flow["steps"]["call"] |= {"retries": 1, "backoff": {"initial": "1h", "max": "1h"}}
            assert (await here.run(flow))["status"] == "succeeded"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("1000000000", 86_400), ("9" * 400, 86_400), ("-5", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("7", 7)],
)
def test_a_retry_after_beyond_reason_is_clamped(said: str, seconds: int) -> None:
    answer = Answer(429, {"retry-after": said}, b"", Call(method="GET", url="http://x/"))

    assert answer.refused().outcome.retry_after == timedelta(seconds=seconds)


@pytest.mark.parametrize("said", ["", "soon", "1e9", "\u0667", "Thu, 99 Jan 1970", "--5", "-"])
def test_a_retry_after_that_is_none_counts_as_none(said: str) -> None:
    answer = Answer(503, {"retry-after": said}, b"", Call(method="GET", url="http://x/"))

    assert answer.refused().outcome.retry_after is None


async def html(request: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>Bad gateway</html>", content_type="text/html")


async def nothing(request: web.Request) -> web.StreamResponse:
    return web.Response()


async def broken(request: web.Request) -> web.StreamResponse:
    return web.Response(text='{"a": ', content_type="application/json")


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json"})
    await response.prepare(request)
    try:
        while True:
            await response.write(b" " * 65536)
    except ConnectionError:
        return response


async def deep(request: web.Request) -> web.StreamResponse:
    return web.Response(text="[" * 5_000 + "]" * 5_000, content_type="application/json")


async def zipped(request: web.Request) -> web.StreamResponse:
    body = gzip.compress(b" " * 10_000_000)
    return web.Response(body=body, headers={"content-encoding": "gzip", "content-type": "application/json"})


async def elsewhere(request: web.Request) -> web.StreamResponse:
    raise web.HTTPTemporaryRedirect("http://169.254.169.254/latest/meta-data")


async def slow(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json"})
    await response.prepare(request)
    try:
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.05)  # it never ends, byte by byte
    except ConnectionError:
        return response


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (html, "error", "answered 200 with text/html, where JSON was expected"),
        (nothing, "error", "answered 200 with nothing, where JSON was expected"),
        (broken, "error", "JSON that cannot be read"),
        (deep, "error", "JSON that is nested too deeply"),
        (endless, "too_large", "answered with more than 262144 bytes"),
        (zipped, "error", "answered in the coding 'gzip', which was not asked for"),
        (elsewhere, "egress", "redirects to http://169.254.169.254, which is not followed"),
        (slow, "timeout", "did not answer within 0.3s"),
    ],
)
def test_a_bad_answer_is_one_clear_failure(answer: Any, kind: str, says: str, tmp_path: Path) -> None:
    run, _ = asyncio.run(outcome(tmp_path, answer, timeout="300ms" if kind == "timeout" else "20s"))

    error = run["steps"]["call"]["error"]
    assert (run["steps"]["call"]["status"], error["kind"]) == ("failed", kind)
    assert says in error["message"]


def test_a_function_that_says_no_content_is_done_with_null(tmp_path: Path) -> None:
    async def f(request: web.Request) -> web.StreamResponse:
        return web.Response(status=204)

    run, _ = asyncio.run(outcome(tmp_path, f))

    assert (run["steps"]["call"]["status"], run["steps"]["call"]["output"]) == ("complete", None)


def test_a_function_that_says_error_fails_with_its_words(tmp_path: Path) -> None:
    run, _ = asyncio.run(outcome(tmp_path, says({"error": {"message": "no such picture", "detail": 7}})))

    error = run["steps"]["call"]["error"]
    assert (error["kind"], error["message"], error["detail"]) == ("error", "no such picture", 7)


@pytest.mark.parametrize("error", [None, False, ""])
def test_a_function_that_says_that_there_was_no_error_is_done(error: Any, tmp_path: Path) -> None:
    run, _ = asyncio.run(outcome(tmp_path, says({"error": error, "output": 7})))

    assert (run["steps"]["call"]["status"], run["steps"]["call"]["output"]) == ("complete", 7)


def test_a_secret_goes_into_a_header_and_nowhere_else(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({"output": 1})) as there:
            await here.service.access.set_secret(ANYBODY_HERE, "KEY", "hush-hush-7")
            run = await here.run(calls(url=f"{there.base}/f", headers={"X-Api-Key": {"secret": "KEY"}}))
            history = await here.engine.history(run["id"])

            assert there.got[0][1]["x-api-key"] == "hush-hush-7"
            assert "hush-hush" not in f"{run}{history}"

    asyncio.run(main())


def test_a_secret_that_is_not_there_is_told_by_its_name(tmp_path: Path) -> None:
    run, there = asyncio.run(outcome(tmp_path, says({}), headers={"A": {"secret": "GONE"}}))

    assert "GONE" in run["steps"]["call"]["error"]["message"]
    assert there.got == []


def test_a_redirect_on_the_same_host_is_followed(tmp_path: Path) -> None:
    async def moved(request: web.Request) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect("/g/x")

    async def main() -> None:
        async with site(tmp_path) as here, functions(f=moved, g=says({"output": "here"})) as there:
            run = await here.run(calls(url=f"{there.base}/f"))
            assert run["steps"]["call"]["output"] == "here"
            assert [path for path, _, _ in there.got] == ["/f", "/g/x"]

    asyncio.run(main())


def test_a_state_is_asked_for_until_it_is_an_end(tmp_path: Path) -> None:
    states = ["running", "running", "done"]

    async def state(request: web.Request) -> web.StreamResponse:
        return web.json_response({"state": states.pop(0), "output": 42})

    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({}, 202), state=state) as there:
            poll = {"url": f"{there.base}/state", "every": "5ms"}
            run = await here.run(calls(url=f"{there.base}/f", poll=poll))
            assert (run["steps"]["call"]["output"], len(there.got)) == (42, 4)

    asyncio.run(main())


def test_a_call_inside_a_call_answers_and_one_that_waits_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({"output": 5})) as there:
            url = f"{there.base}/f"
            await here.engine.publish({"penstock": 1, "name": "quick", **calls(url=url)})
            await here.engine.publish({"penstock": 1, "name": "late", **calls(url=url, mode="async")})

            answer = await here.ask("POST", "/api/workflows/quick/call", {})
            refused = await here.ask("POST", "/api/workflows/late/call", {})

            assert (answer[0], answer[1]["steps"]["call"]["output"]) == (200, 5)
            assert (refused[0], refused[1]["code"]) == (409, "cannot_call")

    asyncio.run(main())
