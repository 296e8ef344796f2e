"""Where built-in tasks may call: what is not listed, or leads inside, is not reached."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from penstock.boxes.egress import Denied, Egress, is_public
from penstock.boxes.outbound_call import Call, send
from penstock.boxes.task_environment import TaskEnvironment
from tests.boxes.conftest import functions, says, site


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "2001::1",
        "168.63.129.16",
        "::ffff:168.63.129.16",
        "::ffff:100.64.0.1",
        "::7f00:1",
        "fec0::1",
        "192.0.0.1",
        "255.255.255.255",
    ],
)
def test_an_inner_address_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    ("allow", "url"),
    [
        ([], "https://example.com/"),
        (["::/0", "0.0.0.0/0"], "http://[::ffff:169.254.169.254]/"),
        (["example.com"], "https://evil.example/"),
        (["example.com"], "https://example.com.evil.example/"),
        (["*.example.com"], "https://example.com/"),
        (["*.example.com"], "https://evilexample.com/"),
        (["example.com"], "http://127.0.0.1/"),
        (["example.com"], "http://[::ffff:7f00:1]/"),
        (["example.com"], "ftp://example.com/"),
        (["example.com"], "https://user:pass@example.com/"),
        (["example.com"], "file:///etc/passwd"),
        (["example.com"], "https://"),
        (["0.0.0.0/0"], "http://169.254.169.254/latest"),
        (["0.0.0.0/0"], "http://168.63.129.16/machine"),
        (["::/0"], "http://[fd20:ce::254]/"),
        (["::/0"], "http://[64:ff9b::a9fe:a9fe]/"),
        (["::/0"], "http://[2002:a9fe:a9fe::]/"),
        (["10.0.0.0/8"], "http://192.168.0.1/"),
    ],
)
def test_what_is_not_listed_is_refused_by_its_text(allow: list[str], url: str) -> None:
    with pytest.raises(Denied):
        Egress(allow).validate_url(url)


@pytest.mark.parametrize(
    ("allow", "url"),
    [
        (["example.com"], "https://example.com/a?b=c"),
        (["Example.com"], "https://EXAMPLE.com:8443/"),
        (["*.example.com"], "https://a.b.example.com/"),
        (["127.0.0.1"], "http://127.0.0.1:80/"),
        (["10.0.0.0/8"], "http://10.9.9.9/"),
        (["169.254.169.254"], "http://169.254.169.254/latest"),
        (["10.0.0.0/8"], "http://inside.example/"),  # its addresses decide
    ],
)
def test_what_is_listed_is_let_through(allow: list[str], url: str) -> None:
    Egress(allow).validate_url(url)


async def reach(allow: list[str], url: str) -> str:
    environment = TaskEnvironment(egress_allow=allow)
    try:
        answer = await send(environment, Call(method="GET", url=url))
        return str(answer.status)
    except Denied as error:
        return str(error)


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every name have these addresses, one after the other."""
    call_order = iter(addresses)

    def found(host: str, port: int, *more: Any, **named: Any) -> list[Any]:
        address = next(call_order)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", found)


def test_a_listed_name_that_leads_inside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with functions(f=says({})) as there:
            port = there.base.rsplit(":", 1)[1]
            resolving(monkeypatch, "127.0.0.1", "169.254.169.254")

            said = await reach(["inside.example"], f"http://inside.example:{port}/f")
            metadata = await reach(["inside.example"], "http://inside.example/latest")

            assert "127.0.0.1, an address of an inner network" in said
            assert "169.254.169.254, an address of an inner network" in metadata
            assert there.got == []

    asyncio.run(main())


@pytest.mark.parametrize(
    "url", ["http://2852039166/", "http://0x7f000001/", "http://127.1/", "http://localhost/"]
)
def test_other_ways_to_write_an_inner_address_lead_nowhere(url: str) -> None:
    assert "not on the allow-list" in asyncio.run(reach(["8.8.8.8"], url))


def test_a_step_that_may_not_call_fails_at_once_with_the_remedy(tmp_path: Path) -> None:
    async def main() -> None:
        async with functions(f=says({})) as there, site(tmp_path, egress_allow=[]) as here:
            step = {"task": "http", "with": {"url": f"{there.base}/f"}, "retries": 3}
            run = await here.run({"steps": {"call": step}})

            error = run["steps"]["call"]["error"]
            assert (error["kind"], run["steps"]["call"]["attempts"]) == ("egress", 1)
            assert "an administrator can add it to `egress_allow`" in error["message"]
            assert there.got == []
            [entry, *_] = await here.service.access.audit(None, 10)
            assert (entry.row.action, entry.row.actor) == ("egress.denied", "workflow w")
            assert run["id"] in entry.row.target

    asyncio.run(main())
