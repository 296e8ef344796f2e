"""What can be wrong with a bus.

PenstockError
├── BadBus          its address cannot be, or what it needs is not installed: no use in trying again
├── UnknownBus      no bus of that name is set here
├── MessageRefused  the broker will never take that message
├── NoTopic         the broker has nothing that keeps messages of that topic
└── BusAway         the broker does not answer, or not as it should: it is tried again
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.flow.errors import PenstockError
from penstock.store.address_redaction import without_password


class BadBus(PenstockError):
    """The address of a bus cannot be used."""

    code = "bad_bus"

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"the bus '{without_password(url)}' cannot be used: {why}")


class MissingLibrary(BadBus):
    """The library of a broker is an extra, and not there."""

    def __init__(self, url: str, extra: str) -> None:
        super().__init__(url, f"install what it needs with `pip install 'penstock[{extra}]'`")


class UnknownBus(PenstockError):
    """A definition names a bus that is not set."""

    code = "unknown_bus"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        there = ", ".join(sorted(known)) or "none"
        super().__init__(
            f"there is no bus '{name}' here ({there}): name it in the setting `buses`, "
            f"such as {name}=nats://127.0.0.1:4222"
        )
        self.name = name


class NoTopic(PenstockError):
    """The broker does not know the topic."""

    code = "no_topic"


class MessageRefused(PenstockError):
    """The broker takes no such message: it is too large, or its topic cannot be."""

    code = "message_refused"

    def __init__(self, topic: str, why: BaseException | str) -> None:
        super().__init__(f"the message cannot be published to '{topic}': {why}")


class BusAway(PenstockError):
    """The broker cannot be reached just now, or refuses."""

    code = "bus_away"

    def __init__(self, url: str, why: BaseException | str, what: str = "does not answer") -> None:
        said = str(why) or type(why).__name__
        super().__init__(f"the bus '{without_password(url)}' {what}: {said}")
