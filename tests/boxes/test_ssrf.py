"""Calls that a workflow could be led to make inside: each is refused, and no connection is even begun."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from penstock.boxes.failures import Failing
from penstock.boxes.outbound_call import Call, send
from penstock.boxes.task_environment import TaskEnvironment
from tests.boxes.conftest import Handler, functions

INNER = (
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "169.254.170.2",
    "100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::", "2001:0:a9fe:a9fe::", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1",
    "168.63.129.16",
)  # fmt: skip
"""Addresses of machines, houses and clouds' insides, some in the clothes of others."""

LITERALS = (
    "http://2852039166/", "http://0xA9FEA9FE/", "http://0251.0376.0251.0376/", "http://127.1/", "http://0/",
    "http://127.0.0.1./", "http://127%2e0%2e0%2e1/", "http://127.0.0.1%00.ok.example/", "http://127.0.0.1%23.ok.example/",
    "http://\uff11\uff12\uff17.0.0.1/", "http://127\u30020\u30020\u30021/", "http://\u2460\u2461\u2466.0.0.1/",
    "http://[::ffff:7f00:1]/", "http://[::ffff:127.0.0.1]/", "http://[fe80::1%25eth0]/", "http://[::1%25lo]/",
    "http://localhost/", "http://LOCALHOST./", "http://ok.example@127.0.0.1/", "http://127.0.0.1#@ok.example/",
    "http://127.0.0.1\\@ok.example/", "http://ok.example:80@127.0.0.1/", "http:///127.0.0.1/", "http:127.0.0.1",
    "gopher://ok.example/", "file:///etc/passwd", "//ok.example/", "http://ok.example.evil.example/",
    "http://8.8.8.8/", "http://\uff18.8.8.8/", "http://8%2e8.8.8/", "http://[2606:4700::1111]/",
)  # fmt: skip
"""Ways to write an address that is not listed."""


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were connected to; those of the internet answer nothing here."""
    found: list[str] = []
    plainly = asyncio.selector_events.BaseSelectorEventLoop.sock_connect

    async def connect(loop: Any, opened: socket.socket, address: tuple[Any, ...]) -> None:
        found.append(address[0])
        if address[0] != "127.0.0.1":
            raise ConnectionRefusedError(f"nobody is at {address[0]}")
        await plainly(loop, opened, address)

    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", connect)
    return found


Names = Callable[..., None]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Let every name have these addresses: one list of them for each time that it is asked for."""

    def say(*call_order: list[str]) -> None:
        answers = iter(call_order)

        def found(host: str, port: int, *more: Any, **named: Any) -> list[Any]:
            return [_info(address, port) for address in next(answers)]

        monkeypatch.setattr(socket, "getaddrinfo", found)

    return say


def _info(address: str, port: int) -> tuple[Any, ...]:
    if ":" in address:
        return socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)


async def refusal(allow: list[str], *urls: str) -> list[str]:
    """The kinds of failure of some calls, one after the other, by one server; `200` of those that were answered."""
    environment = TaskEnvironment(egress_allow=allow)
    environment.open()
    said = []
    try:
        for url in urls:
            try:
                said.append(str((await send(environment, Call(method="GET", url=url))).status))
            except Failing as error:
                said.append(error.outcome.error.kind)
    finally:
        await environment.close()
    return said


@pytest.mark.parametrize("address", INNER)
def test_row_56_an_inner_address_is_reached_by_no_way(
    address: str, connected: list[str], names: Names
) -> None:
    """As itself, as a listed name, as one of two addresses of it, and as the one that it has a moment later."""
    host = f"[{address}]" if ":" in address else address
    names([address], ["93.184.216.34", address], ["93.184.216.34"], [address])
    itself = asyncio.run(refusal(["ok.example", "10.9.0.0/16"], f"http://{host}/"))
    alone, beside, outside, rebound = asyncio.run(refusal(["ok.example"], *["http://ok.example/"] * 4))

    assert (itself, alone, beside, rebound) == (["egress"], "egress", "egress", "egress")
    assert (outside, connected) == ("error", ["93.184.216.34"])


@pytest.mark.parametrize("url", LITERALS)
def test_row_56_an_address_that_is_not_listed_is_not_called_however_it_is_written(
    url: str, connected: list[str], names: Names
) -> None:
    names(["127.0.0.1"])

    assert asyncio.run(refusal(["ok.example", "10.9.0.0/16"], url)) in (["egress"], ["fatal"])
    assert connected == []


def test_a_name_that_is_not_listed_is_judged_by_its_addresses(connected: list[str], names: Names) -> None:
    names(["10.9.0.1"], ["10.8.0.1"], ["93.184.216.34"], ["10.9.0.1", "93.184.216.34"])

    said = asyncio.run(refusal(["10.9.0.0/16"], *["http://some.example/"] * 4))

    assert said == ["error", "egress", "egress", "egress"]
    assert connected == ["10.9.0.1"]


def test_a_name_in_other_letters_is_the_one_that_is_called(connected: list[str], names: Names) -> None:
    names(["93.184.216.34"], ["93.184.216.34"])
    urls = ("http://b\u00fccher.example/", "http://xn--bcher-kva.example/", "http://buecher.example/")

    assert asyncio.run(refusal(["B\u00fccher.example"], *urls)) == ["error", "error", "egress"]
    assert connected == ["93.184.216.34"] * 2


def leading_to(location: str) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"location": location})

    return answer


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "//169.254.169.254/",
        "http://2852039166/",
        "http://ok.example/",
        "https://127.0.0.1/",
        "https://127.0.0.1:{port}/f",
        "http://user@127.0.0.1:{port}/f",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
        "http://127.0.0.1:1/",
    ],
)
def test_row_56_a_redirect_leads_to_no_other_host(location: str, connected: list[str]) -> None:
    async def main() -> None:
        async with functions(g=leading_to("")) as there:
            port = there.base.rpartition(":")[2]
            there._paths["f"] = leading_to(location.format(port=port))

            said = await refusal(["127.0.0.1", "169.254.169.254", "ok.example"], f"{there.base}/f")

            assert said in (["egress"], ["fatal"])
            assert [path for path, _, _ in there.got] == ["/f"]

    asyncio.run(main())
    assert connected == ["127.0.0.1"]


def test_a_proxy_of_the_environment_is_not_used(
    connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")

    assert asyncio.run(refusal(["93.184.216.34"], "http://93.184.216.34/")) == ["error"]
    assert connected == ["93.184.216.34"]
