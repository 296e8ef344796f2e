"""What comes before a call can be found: heads that are too large, too slow, or no HTTP at all."""

from __future__ import annotations

import asyncio
import re
import socket
from typing import Any

import aiohttp
import pytest

from penstock.api import request_body as reading
from penstock.server import protocol
from penstock.server.http import bind
from tests.api.conftest import Client, Serve


async def send(client: Client, text: bytes, keep: bool = False) -> bytes:
    """What a server answers to bytes until it closes; with `keep` the connection is not ended from here."""
    host, port = client.base.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(text)
    if not keep:
        await writer.drain()
    try:
        return await reader.read()
    except ConnectionResetError:
        return b"reset"
    finally:
        writer.close()


def status(answer: bytes) -> int:
    return int(answer.split()[1])


HEAD = b"POST /api/workflows/chain/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNKED = HEAD + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x", 400),
        (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400),
        (HEAD + b"X-A: b\r\n" * 10_000 + b"\r\n", 431),
        (HEAD + b"X-A: " + b"b" * 1_000_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"b" * 1_000_000 + b" HTTP/1.1\r\n\r\n", 431),
        (CHUNKED + b"2\r\n{}\r\n0\r\nX-A: " + b"b" * 1_000_000 + b"\r\n\r\n", 431),
        (CHUNKED + b"2;" + b"b" * 1_000_000 + b"\r\n{}\r\n0\r\n\r\n", 431),
        (HEAD + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n", 400),
    ],
    ids=[
        "two lengths",
        "length and chunks",
        "no HTTP",
        "many headers",
        "a large header",
        "a long path",
        "a large trailer",
        "a large extension of a chunk",
        "websocket",
    ],
)
def test_a_head_that_cannot_be_read_is_told_so_and_the_connection_ends(
    serve: Serve, text: bytes, expected: int
) -> None:
    async def talk(client: Client) -> tuple[bytes, Any]:
        return await send(client, text), await client.engine.runs()

    answer, runs = serve(talk)

    assert (answer == b"reset" and expected == 431) or (status(answer) == expected and b'"code":' in answer)
    assert runs == []


@pytest.mark.parametrize(
    ("address", "expected", "code"),
    [
        ("/api/runs?subject=größe".encode(), 400, b"invalid_address"),
        (b"/\xff", 400, b"invalid_address"),
        (b"http://[", 400, b"invalid_address"),
        (b"http://x:99999999/", 400, b"invalid_address"),
        # It comes in two pieces or in more: before the last one it is only known that the head is too large.
        (b"/" + b"b" * 65_536, 431, b"(address_too_long|headers_too_large)"),
    ],
    ids=["a letter", "a byte", "half a host", "no port", "long"],
)
def test_an_address_that_cannot_be_read_is_told_so_and_nothing_else(
    serve: Serve, address: bytes, expected: int, code: bytes
) -> None:
    async def talk(client: Client) -> bytes:
        return await send(client, b"GET " + address + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    answer = serve(talk)

    assert status(answer) == expected
    assert re.search(b'"code":"' + code + b'"', answer)


def test_what_comes_behind_the_body_is_no_header(serve: Serve) -> None:
    text = CHUNKED + b"2\r\n{}\r\n0\r\nX-Request-Id: behind-the-body\r\nHost: elsewhere.example\r\n\r\n"

    answer = serve(lambda client: send(client, text))

    assert status(answer) == 201
    assert b"behind-the-body" not in answer


def test_an_endless_body_is_cut_off(serve: Serve) -> None:
    async def talk(client: Client) -> int:
        async def body() -> Any:
            while True:
                yield b"x" * 65536

        try:
            return (
                await client.post(
                    "/api/workflows/chain/runs", data=body(), headers={"content-type": "application/json"}
                )
            ).status
        except aiohttp.ClientOSError:  # cut off while it was sending
            return 413

    assert serve(talk) == 413


def test_a_body_that_is_announced_too_large_is_refused_before_it_comes(serve: Serve) -> None:
    head = HEAD + b"Content-Type: application/json\r\nContent-Length: 1048577\r\n\r\n"

    assert status(serve(lambda client: send(client, head, keep=True))) == 413


def test_a_slow_head_is_cut_off_and_others_are_served(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SECONDS", 0.3)

    async def talk(client: Client) -> tuple[bytes, int]:
        slow = asyncio.create_task(send(client, b"GET /health HTTP/1.1\r\nHost:", keep=True))
        answer = await client.get("/health")
        return await slow, answer.status

    slow, other = serve(talk)

    assert (status(slow), other) == (408, 200)


def test_a_slow_body_is_cut_off_and_others_are_served(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BODY_TIMEOUT", 0.3)

    async def talk(client: Client) -> tuple[bytes, int, Any]:
        head = HEAD + b"Content-Type: application/json\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{"
        slow = asyncio.create_task(send(client, head, keep=True))
        answer = await client.get("/health")
        return await slow, answer.status, await client.engine.runs()

    slow, other, runs = serve(talk)

    assert (status(slow), other, runs) == (408, 200, [])


def test_one_connection_serves_many_requests(serve: Serve) -> None:
    async def talk(client: Client) -> bytes:
        one = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        return await send(client, one + one + one.replace(b"Host", b"Connection: close\r\nHost"))

    assert serve(talk).count(b"HTTP/1.1 200") == 3


def test_an_answer_does_not_wait_until_its_head_is_confirmed() -> None:
    """With Nagle's rule each answer on a kept connection comes forty milliseconds late."""
    with bind("127.0.0.1", 0) as listener:
        made = socket.create_connection(listener.getsockname())
        with made, listener.accept()[0] as taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
            assert taken.proto == socket.IPPROTO_TCP  # or the loop leaves it as it is
