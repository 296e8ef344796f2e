"""A synchronous call of three steps beside an empty request to the same server, one at a time."""

from __future__ import annotations

from msgspec import Struct

from bench.engine.workflows import CHAIN
from bench.http.load import Ask
from bench.http.processes import Process, load, process

ROUNDS = 5
CALL = f"/api/workflows/{CHAIN}/call"
EMPTY = "/health"


class Called(Struct, frozen=True):
    """Milliseconds to the answer at p50: of the call, and of the empty request."""

    call: float
    empty: float

    @property
    def adds(self) -> float:
        return self.call - self.empty


def called(url: str, seconds: float) -> Called:
    """The middle one of some rounds. Raises NotDone where some answer was not good."""
    with process("node", "api", url) as node, process("load", node.hear()) as client:
        _round(client, seconds / 2)  # what is opened only once does not count
        found = [_round(client, seconds) for _ in range(ROUNDS)]
    return sorted(found, key=lambda each: each.adds)[ROUNDS // 2]


def _round(client: Process, seconds: float) -> Called:
    """Both in turn, so that they see the same moment of the machine."""
    empty = load(client, Ask(method="GET", path=EMPTY, connections=1, seconds=seconds / 2))
    call = load(client, Ask(method="POST", path=CALL, body="{}", connections=1, seconds=seconds / 2))
    return Called(call.at(0.5), empty.at(0.5))
