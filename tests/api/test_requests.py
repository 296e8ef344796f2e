"""What every call has in common: how a request is read, and how what is wrong with it is told."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from io import BytesIO
from typing import Any

import pytest
from yarl import URL

from penstock.api.problems import problem_response
from penstock.server.protocol import Exchange
from penstock.store.errors import OutcomeUnknown, StoreAway
from tests.api.conftest import CHAIN, OWN, Client, Serve

RUNS = "/api/workflows/chain/runs"

BAD_BODIES = [
    (b"nonsense", 400, "invalid_json"),
    (b"[" * 100_000, 400, "too_deep"),
    (b'{"input": ' + b"[" * 64 + b"]" * 64 + b"}", 400, "too_deep"),
    (b'{"input": {"a": 1, "a": 2}}', 400, "duplicate_key"),
    (b'{"input": NaN}', 400, "invalid_number"),
    (b'{"input": -Infinity}', 400, "invalid_number"),
    (b'{"input": ' + b"9" * 5000 + b"}", 400, "number_out_of_range"),
    (b'{"input": 1180591620717411303424}', 400, "number_out_of_range"),
    (b'{"input": 1e999}', 400, "number_out_of_range"),
    (rb'{"input": "\ud800"}', 400, "invalid_unicode"),
    (rb'{"input": "\udc00\ud800"}', 400, "invalid_unicode"),
    (rb'{"input": "\ud83d\u0e0d"}', 400, "invalid_unicode"),
    (rb'{"input": "\ud83d\n"}', 400, "invalid_unicode"),
    (rb'{"input": "\u0000"}', 400, "invalid_unicode"),
    (b'{"input": "\xff"}', 400, "invalid_unicode"),
    (b'{"inputs": 1}', 422, "invalid_request"),
    (b'{"subject": 1}', 422, "invalid_request"),
    (b"[]", 422, "invalid_request"),
    (b'{"input": "' + b"x" * 1024 * 1024 + b'"}', 413, "body_too_large"),
    (b'{"input": "' + b"x" * 300 * 1024 + b'"}', 413, "payload_too_large"),
]


@pytest.mark.parametrize(("body", "status", "code"), BAD_BODIES, ids=lambda value: str(value)[:30])
def test_a_bad_body_is_refused_in_one_sentence_and_nothing_is_started(
    serve: Serve, body: bytes, status: int, code: str
) -> None:
    async def talk(client: Client) -> tuple[Any, Any]:
        headers = {"content-type": "application/json"}
        answer = await client.post(RUNS, data=BytesIO(body), headers=headers)
        return answer, await client.engine.runs()

    answer, runs = serve(talk)

    assert (answer.status, answer.json["code"], runs) == (status, code, [])
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json) >= {"type", "title", "status", "code", "detail", "request_id"}


def test_a_pair_of_surrogates_is_one_character(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        headers = {"content-type": "application/json"}
        return await client.post(RUNS, data=rb'{"input": "\ud83d\ude00 \\ud800"}', headers=headers)

    answer = serve(talk)

    assert (answer.status, answer.json["input"]) == (201, "😀 \\ud800")


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/json", "multipart/form-data", "", "application/json; charset=latin1"]
)
def test_a_body_of_another_type_is_refused(serve: Serve, kind: str) -> None:
    answer = serve(lambda client: client.post(RUNS, data=b"{}", headers={"content-type": kind}))

    assert (answer.status, answer.json["code"]) == (415, "unsupported_media_type")


def test_a_compressed_body_is_refused(serve: Serve) -> None:
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = serve(lambda client: client.post(RUNS, data=b"x", headers=headers))

    assert (answer.status, answer.json["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "path",
    ["/api/runs/..%2fhealth", "//health", "/health/", "/health;.js", "/api", "/API/runs", "/api/runs//"],
)
def test_a_path_that_is_nearly_right_is_not_found(serve: Serve, path: str) -> None:
    answer = serve(lambda client: client.get(path, allow_redirects=False))

    assert answer.status == 404


def test_a_page_of_another_site_is_not_answered(serve: Serve) -> None:
    async def talk(client: Client) -> list[tuple[int, str]]:
        headers = [{"host": "evil.example"}, {"origin": "https://evil.example"}, {"origin": "null"}]
        answers = [await client.post(RUNS, {}, headers=dict(each)) for each in headers]
        return [(answer.status, answer.json["code"]) for answer in answers]

    assert serve(talk) == [(403, "wrong_host"), (403, "csrf"), (403, "csrf")]


def test_a_page_of_another_site_is_told_of_no_session_where_nobody_signs_in(serve: Serve) -> None:
    headers = {"origin": "https://evil.example", "x-penstock": "1"}

    refused = serve(lambda client: client.get("/api/runs", headers=headers)).json["detail"]

    assert "'https://evil.example'" in refused
    assert "session" not in refused and "X-Penstock" not in refused


def test_what_is_public_is_not_for_pages_of_other_sites_either(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        paths = ("/", "/health", "/openapi.json", "/api/session")
        return [(await client.get(path, headers={"host": "evil.example"})).status for path in paths]

    assert serve(talk) == [403] * 4


def test_a_request_with_two_names_of_the_server_is_refused(serve: Serve) -> None:
    async def talk(client: Client) -> bytes:
        url = URL(client.base)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        head = f"GET /health HTTP/1.1\r\nHost: {url.authority}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        answer = await reader.read()
        writer.close()
        return answer

    answer = serve(talk)

    assert answer.startswith(b"HTTP/1.1 400") and b"two_hosts" in answer


def test_a_page_of_its_own_is_answered(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        return await client.post(RUNS, {}, headers={"origin": client.base})

    assert serve(talk).status == 201


@pytest.mark.parametrize(
    "header", ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-IP"]
)
def test_what_a_proxy_passes_on_needs_a_sign_in(serve: Serve, header: str) -> None:
    async def talk(client: Client) -> list[int]:
        passed, own = {header: "for=203.0.113.9"}, {"authorization": f"Bearer {OWN}"}
        asked = [("/api/workflows", passed), ("/api/session", passed), ("/api/workflows", {**passed, **own})]
        return [(await client.get(path, headers=headers)).status for path, headers in asked]

    assert serve(talk) == [401, 401, 200]


@pytest.mark.parametrize("name", ["token", "tok%65n", "access_token", "%61ccess_token"])
def test_a_token_in_an_address_is_refused(serve: Serve, name: str) -> None:
    async def talk(client: Client) -> tuple[int, str]:
        address = URL(f"{client.base}/api/runs/x?{name}=ps_1", encoded=True)
        async with client.session.get(address) as answer:
            return answer.status, (await answer.json(content_type=None))["code"]

    assert serve(talk) == (400, "token_in_query")


@pytest.mark.parametrize(
    "path",
    [
        "/api/runs/x/history?after=null",
        "/api/runs/x/history?limit=NULL",
        "/api/runs?since=null",
        "/api/runs?since=0.5",
    ],
)
def test_null_is_no_value_of_a_parameter_and_a_number_no_time(serve: Serve, path: str) -> None:
    answer = serve(lambda client: client.get(path))

    assert (answer.status, answer.json["code"]) == (400, "invalid_parameter")


def test_a_text_may_be_null_in_a_query(serve: Serve) -> None:
    answer = serve(lambda client: client.get("/api/workflows?q=null"))

    assert (answer.status, answer.json["items"]) == (200, [])


def test_a_word_that_is_none_of_those_is_answered_with_them(serve: Serve) -> None:
    async def talk(client: Client) -> list[str]:
        asked = [
            await client.get("/api/runs?sort=started"),
            await client.post("/api/runs/bulk", {"action": "x"}),
        ]
        return [answer.json["detail"] for answer in asked]

    sort, action = serve(talk)

    assert "'started': it is one of newest, oldest, ended" in sort
    assert "'x': it is one of " in action and "cancel" in action


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("GET", "/api/runs?key=J1", None, "key: must be NAME=VALUE"),
        ("GET", "/api/runs?label=team", None, "label: must be NAME=VALUE"),
        (
            "POST",
            "/api/workflows/chain/runs",
            {"labels": {"a=b": "c"}},
            "/labels: must be a name without `=`",
        ),
        ("PUT", "/api/views/a%0Ab", {"filter": {}}, "the body: must be one line of text"),
    ],
)
def test_what_has_another_shape_is_told_its_shape_in_words(
    serve: Serve, method: str, path: str, body: Any, said: str
) -> None:
    async def talk(client: Client) -> Any:
        return (await client.ask(method, path, body)).json["detail"]

    assert serve(talk) == said


@pytest.mark.parametrize("path", [RUNS, "/hooks/callback/x", "/health"])
def test_what_nobody_read_of_a_body_is_gone_with_its_answer(serve: Serve, path: str) -> None:
    """It would stay until the garbage is collected: of ten thousand strangers who are refused, a gigabyte."""

    async def talk(client: Client) -> int:
        for _ in range(20):
            await client.post(path, data=b"x" * 200_000)
        return sum(isinstance(each, Exchange) for each in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        assert serve(talk, open=False) <= 2
    finally:
        gc.enable()


LONG = "x" * 200_000


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/tasks/x.1/complete", {"lease": "x", "output": LONG}),
        ("/api/check", {"definition": {**CHAIN, "titel": LONG}}),
    ],
)
def test_what_was_refused_is_gone_with_its_answer(serve: Serve, path: str, body: Any) -> None:
    async def talk(client: Client) -> tuple[bool, int]:
        first = await client.post(path, body)
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(20):
            await client.post(path, body)
        after, _ = tracemalloc.get_traced_memory()
        return first.status < 400, after - before

    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        accepted, kept = serve(talk)
    finally:
        tracemalloc.stop()
        gc.enable()

    assert not accepted and kept < 10 * len(LONG)


def test_who_does_not_know_whether_it_was_done_is_not_told_to_send_it_again() -> None:
    answers = [
        problem_response(error("gone"), "r1", lambda value: value) for error in (StoreAway, OutcomeUnknown)
    ]

    assert [(answer.status_code, answer.headers.get("retry-after")) for answer in answers] == [
        (503, "2"),
        (503, None),
    ]
