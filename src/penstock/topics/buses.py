"""Buses by name: created on first use, with the library of their broker."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.topics.address import read_address
from penstock.topics.bus import Bus
from penstock.topics.errors import BadBus, UnknownBus

GROUP = "penstock"


def open_bus(url: str) -> Bus:
    """The bus at an address; nothing is connected yet. Raises BadBus, also where its library is missing."""
    address = read_address(url)
    if address.scheme == "nats":
        from penstock.topics.nats import NatsBus

        return NatsBus(address)
    if address.scheme == "kafka":
        from penstock.topics.kafka import KafkaBus

        return KafkaBus(address)
    from penstock.topics.amqp import AmqpBus

    return AmqpBus(address)


class Buses:
    """The buses that the settings name."""

    def __init__(self, urls: Mapping[str, str] | None = None) -> None:
        self.urls = dict(urls or {})
        for url in self.urls.values():
            read_address(url)
        self._open: dict[str, Bus] = {}

    def __getitem__(self, name: str) -> Bus:
        """Raises UnknownBus, BadBus."""
        if name not in self.urls:
            raise UnknownBus(name, self.urls)
        if name not in self._open:
            self._open[name] = open_bus(self.urls[name])
        return self._open[name]

    def group(self, name: str) -> str:
        """What the names of consumers on a bus begin with. Raises UnknownBus."""
        if name not in self.urls:
            raise UnknownBus(name, self.urls)
        return read_address(self.urls[name]).options.get("group", GROUP)

    async def close(self) -> None:
        """Let go of all of them."""
        opened, self._open = self._open, {}
        for bus in opened.values():
            await bus.close()


def validate_urls(urls: Mapping[str, str]) -> None:
    """Raises BadBus for an address that cannot be."""
    for name, url in urls.items():
        if not name:
            raise BadBus(url, "it has no name: write NAME=URL")
        read_address(url)
