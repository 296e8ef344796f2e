"""Which hosts the installation may call: those on the allow-list; inner addresses must be listed themselves.

Names are resolved here and every address is judged; the connection then goes to a judged address. So a name that
says something else a moment later (DNS rebinding) leads nowhere.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from penstock.boxes.failures import Failing

if TYPE_CHECKING:
    from aiohttp import TCPConnector

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

INNER = tuple(
    ip_network(each)
    for each in (
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "2001::/32",
        "192.0.0.0/24",
        "fd00:ec2::/32",
        "::/96",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "fe80::/10",
        "fec0::/10",
        "168.63.129.16/32",
    )
)
"""Networks that embed or lead to other addresses, in addition to those that are not global anyway."""

METADATA = frozenset(
    ip_address(each)
    for each in (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
"""Where clouds tell their secrets: only who lists the very address reaches it."""


_ODD = re.compile(r"[0-9.]+|(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+))*")
"""Hosts that some resolvers take for an address, such as 2852039166 or 127.1: no name looks so."""


MAX_REMEMBERED = 4096


class Denied(Failing):
    """A call to a host that is not allowed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "egress", retry=False)


class Egress:
    """The allow-list: host names, `*.suffix`, addresses and networks."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._names: set[str] = set()
        self._suffixes: list[str] = []
        self._networks: list[Network] = []
        for each in (text.strip().lower().rstrip(".") for text in allow):
            if (network := _network(each)) is not None:
                self._networks.append(network)
            elif each.startswith("*."):
                self._suffixes.append(f".{_plain_host(each[2:])}")
            elif each:
                self._names.add(_plain_host(each))

    def validate_url(self, url: str) -> SplitResult:
        """The parts of an address that may be called, as far as its text shows. Raises Denied."""
        try:
            parts = urlsplit(url)
            host = _plain_host((parts.hostname or "").rstrip(".").lower())
            _ = parts.port
        except ValueError:
            raise Denied(f"'{_shown(url)}' is no address of a service") from None
        if parts.scheme not in ("http", "https") or not host:
            raise Denied(f"'{_shown(url)}' is no address that begins with https:// or http://")
        if parts.username is not None or parts.password is not None:
            raise Denied(
                f"the address of {host} has a name or password in it: put them into a header, from a secret"
            )
        if (literal := _address(host)) is not None:
            self._judge(host, [literal])
        elif _ODD.fullmatch(host) or "%" in host or (not self.knows(host) and not self._networks):
            raise _not_listed(host)
        return parts

    def knows(self, host: str) -> bool:
        """Whether a host is listed by its name."""
        return host in self._names or any(host.endswith(suffix) for suffix in self._suffixes)

    def _judge(self, host: str, addresses: Iterable[Address]) -> None:
        """Raises Denied where one of the addresses may not be called."""
        named = self.knows(host)
        for address in addresses:
            if self._is_listed(address):
                continue
            if not named:
                raise _not_listed(host)
            if not is_public(address):
                raise Denied(
                    f"{host} is {address}, an address of an inner network: "
                    f"an administrator can list it in `egress_allow` too, such as {address}"
                )

    def _is_listed(self, address: Address) -> bool:
        plain = _unwrapped(address)
        if plain in METADATA or _carried(plain) in METADATA:
            return any(network.num_addresses == 1 and plain in network for network in self._networks)
        return any(plain in network for network in self._networks)

    def connector(self, keep_alive: float) -> TCPConnector:
        """What opens connections, to judged addresses alone; one that nobody uses is kept for so many seconds."""
        from aiohttp import TCPConnector
        from aiohttp.abc import AbstractResolver, ResolveResult
        from aiohttp.resolver import ThreadedResolver

        judge, listed = self._judge, self._is_listed
        judged: dict[str, None] = {}  # addresses of names that may be called, the latest last

        class Resolver(AbstractResolver):
            """Answers judged addresses only."""

            def __init__(self) -> None:
                self._plain = ThreadedResolver()

            async def resolve(
                self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
            ) -> list[ResolveResult]:
                found = await self._plain.resolve(host, port, family)
                addresses = [ip_address(each["host"].partition("%")[0]) for each in found]
                judge(host.rstrip(".").lower(), addresses)
                _remember(judged, addresses)
                return found

            async def close(self) -> None:
                await self._plain.close()

        def opened(info: Any) -> socket.socket:
            """The last look, at what is really connected to, by whatever name: an address itself must be listed."""
            address = ip_address(info[4][0].partition("%")[0])
            if not listed(address) and (str(address) not in judged or not is_public(address)):
                raise _not_listed(str(address))
            return socket.socket(info[0], info[1], info[2])

        return TCPConnector(
            resolver=Resolver(),
            use_dns_cache=False,
            socket_factory=opened,
            limit=1000,
            keepalive_timeout=keep_alive,
        )


def _remember(judged: dict[str, None], addresses: Iterable[Address]) -> None:
    """As the latest; the oldest are forgotten."""
    for address in map(str, addresses):
        judged.pop(address, None)
        judged[address] = None
    while len(judged) > MAX_REMEMBERED:
        del judged[next(iter(judged))]


def is_public(address: Address) -> bool:
    """Whether an address is one of the internet, not of a machine, a house or a cloud's inside."""
    plain = _unwrapped(address)
    if not plain.is_global or plain.is_multicast or plain.is_reserved:
        return False
    return not any(plain in network for network in INNER)


def _unwrapped(address: Address) -> Address:
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _carried(address: Address) -> IPv4Address | None:
    """The address of version 4 to which one of version 6 leads, through a gateway."""
    if isinstance(address, IPv4Address):
        return None
    low = IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.sixtofour or (low if any(address in network for network in _LAST) else None)


_LAST = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
"""Networks whose addresses have one of version 4 in their last bits."""


def _plain_host(host: str) -> str:
    """A host as the client that calls takes it: other letters may be those of another name, or of an address."""
    if host.isascii():
        return host
    from yarl import URL

    return (URL.build(scheme="http", host=host).raw_host or "").rstrip(".").lower()


def _address(host: str) -> Address | None:
    try:
        return ip_address(host.partition("%")[0] if ":" in host else host)
    except ValueError:
        return None


def _network(text: str) -> Network | None:
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None


def _not_listed(host: str) -> Denied:
    return Denied(
        f"{host} is not on the allow-list, so it is not called: an administrator can add it to `egress_allow`"
    )


def _shown(url: str) -> str:
    return url.partition("?")[0][:200]
