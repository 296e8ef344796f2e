"""The head of a run with nothing rare about it, written and read by msgspec alone: most heads are so."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from immutables import Map
from msgspec import Struct, convert
from msgspec.msgpack import Decoder
from msgspec.structs import replace

from penstock.flow.model.run import Element, Firing, Header, Origin, Pauser, Snapshot, Status, StepState
from penstock.flow.model.tags import Tag
from penstock.kernel.marking import Join, Marking, Place, Taken, Token
from penstock.runtime.codec.payloads import encode

PLAIN = 2
"""The format of such a head: its first item."""


def encode_plain(was: Snapshot) -> bytes | None:
    """The head with every payload in place; None where there is something that it has no field for."""
    marking = was.marking
    if was.ending or was.error or was.put_off or was.results or was.failed or was.halted or was.kept:
        return None
    if was.keys or was.disabled or was.aside or was.agenda or marking.owed or marking.complete:
        return None
    firings = tuple(was.firings.values()) if was.firings else ()
    for firing in firings:
        if firing.total is not None:
            return None  # of a fan: its items are kept apart
    data, result, tokens, filled, came = was.data, was.result, marking.tokens, marking.filled, was.came
    untouched, same = data is was.run.input, result is data
    return encode(
        (
            PLAIN,
            was.seq,
            was.status,
            was.paused,
            was.started_at,
            was.ended_at,
            untouched,
            None if untouched else data,
            was.tags,
            same,
            None if same else result,
            was.ok,
            tuple(tokens.items()) if tokens else (),
            tuple(filled.items()) if filled else (),
            firings,
            tuple(was.elements.values()) if firings else (),
            tuple(was.steps.items()),
            tuple(came.items()) if came else (),
            was.epoch,
            was.revision,
        )
    )


class _Head(Struct, array_like=True, frozen=True):
    """What `encode_plain` writes, field by field."""

    format: int
    seq: int
    status: Status
    paused: tuple[Pauser, ...]
    started_at: datetime | None
    ended_at: datetime | None
    untouched: bool  # the run's data is its input
    data: Any
    tags: dict[str, Tag]
    same: bool  # the run's result is its data
    result: Any
    ok: bool
    tokens: tuple[tuple[Place, tuple[Token, ...]], ...]
    filled: tuple[tuple[Join, int], ...]
    firings: tuple[Firing, ...]
    elements: tuple[Element, ...]
    steps: tuple[tuple[str, StepState], ...]
    came: tuple[tuple[str, int], ...]
    epoch: int
    revision: int


_decode = Decoder(_Head).decode


def decode_plain(body: bytes, header: Header) -> Snapshot:
    """The snapshot. Raises ValidationError, and others where the bytes are damaged."""
    head = _decode(body)
    data = header.input if head.untouched else head.data
    return Snapshot(
        run=header,
        seq=head.seq,
        status=head.status,
        paused=head.paused,
        started_at=head.started_at,
        ended_at=head.ended_at,
        data=data,
        tags=head.tags,
        result=data if head.same else head.result,
        ok=head.ok,
        marking=Marking(
            Map({place: _tokens(queue) for place, queue in head.tokens}), filled=Map(head.filled)
        ),
        firings=Map({firing.number: _firing(firing) for firing in head.firings}),
        elements=Map({element.id: element for element in head.elements}),
        steps=Map(head.steps),
        came=Map(head.came),
        epoch=head.epoch,
        revision=head.revision,
    )


def _firing(firing: Firing) -> Firing:
    taken = firing.taken
    slots = tuple([_tokens(slot) for slot in taken.slots])
    dropped = tuple([(slot, _token(token)) for slot, token in taken.dropped])
    return replace(firing, taken=Taken(slots, taken.key, dropped))


def _tokens(queue: tuple[Token, ...]) -> tuple[Token, ...]:
    return tuple([_token(token) for token in queue])


def _token(token: Token) -> Token:
    """The kernel does not say what a token carries: in a run it is an origin."""
    return Token(token.number, token.name, convert(token.load, Origin))
