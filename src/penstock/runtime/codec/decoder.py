"""From bytes: a run in two steps, first what payloads it needs, then the snapshot; and pages of its history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from immutables import Map
from msgspec import convert
from msgspec.msgpack import Decoder
from msgspec.structs import replace

from penstock.flow.model.plan import Entry
from penstock.flow.model.run import (
    Aside,
    Element,
    Failure,
    Firing,
    Header,
    Origin,
    Result,
    Snapshot,
    StepState,
)
from penstock.flow.model.tags import NO_TAGS, Tag, TagChange, Tags
from penstock.kernel.marking import Marking, Taken, Token
from penstock.runtime.codec.encoder import Packer
from penstock.runtime.codec.format import (
    ENTRY_KINDS,
    FORMAT,
    INPUT,
    MARK,
    PLAIN,
    SEPARATE_CODE,
    Body,
    PlainHead,
)
from penstock.store.rows.change import Part


class CorruptRecord(Exception):
    """Written by a later Penstock, or damaged: it is left unchanged and reported."""


class Ref:
    """Stands for a payload that is kept apart, until it is fetched."""

    __slots__ = ("digest",)

    def __init__(self, digest: bytes) -> None:
        self.digest = digest


SAME = object()
"""Stands for the payload of the last entry of the same page that has one."""


def _hook(code: int, data: memoryview) -> Any:
    return Ref(bytes(data)) if code == SEPARATE_CODE else SAME


decode = Decoder(ext_hook=_hook).decode


class Stored:
    """A run read from its bytes in two steps: first what payloads it needs, then the snapshot."""

    def __init__(self, header: bytes, head: bytes, parts: Iterable[Part]) -> None:
        try:
            self._header, self._head = decode(header), decode(head)
            self._parts = [(part, decode(part.body)) for part in parts if part.body is not None]
            self._may_refer = [decoded for body, decoded in self._pieces(header, head) if MARK in body]
            formats = self._header[0], self._head[0]
        except Exception as error:
            raise CorruptRecord(str(error)) from error
        if formats not in ((FORMAT, FORMAT), (FORMAT, PLAIN)):
            raise CorruptRecord(f"its format is {formats[1]}, this Penstock knows {FORMAT} and {PLAIN}")
        self._plain = head if formats[1] == PLAIN else None
        self._bodies: dict[bytes, Any] = {}

    def refs(self) -> set[bytes]:
        """The digests of the payloads that are kept apart."""
        found: set[bytes] = set()
        for decoded in self._may_refer:
            _gather(decoded, found)
        return found

    def _pieces(self, header: bytes, head: bytes) -> Iterator[tuple[bytes, Any]]:
        yield header, self._header
        yield head, self._head
        for part, decoded in self._parts:
            yield part.body or b"", decoded

    def snapshot(self, bodies: Mapping[bytes, bytes], pack: Packer) -> Snapshot:
        """Raises Unreadable."""
        self._bodies = {digest: decode(body) for digest, body in bodies.items()}
        for digest, value in self._bodies.items():
            pack.adopt(value, digest, len(bodies[digest]))
        try:
            return (
                self._snapshot() if self._plain is None else decode_plain(self._plain, self._header_value())
            )
        except Exception as error:
            raise CorruptRecord(f"{type(error).__name__}: {error}") from error

    def _value(self, value: Any) -> Any:
        return self._bodies[value.digest] if type(value) is Ref else value

    def _snapshot(self) -> Snapshot:
        _, tagged, rows, body = self._head
        self._tags: list[Tags] = [
            {name: Tag(tag[0], tag[1], tuple(tag[2]), tag[3]) for name, tag in each.items()}
            for each in tagged
        ]
        self._origins = [
            Origin(self._value(data), self._tag_set(tags), at, step, outside, id, firing)
            for data, tags, at, step, outside, id, firing in rows
        ]
        self._items = {
            part.firing: tuple(self._value(item) for item in items)
            for part, items in self._parts
            if part.kind == "i"
        }
        return self._filled(Body(*body))

    def _header_value(self) -> Header:
        _, id, workflow, version, subject, labels, input, parent, rerun_of, *more = self._header
        return Header(
            id=id,
            workflow=workflow,
            version=version,
            subject=subject,
            labels=labels,
            input=self._value(input),
            parent=parent,
            rerun_of=rerun_of,
            # Older runs did not keep these.
            tags=self._value(more[0]) if more else {},
            by=more[1] if len(more) > 1 else None,
        )

    def _filled(self, body: Body) -> Snapshot:
        header = self._header_value()
        data = header.input if body.data == INPUT else self._value(body.data[0])
        return Snapshot(
            run=header,
            seq=body.seq,
            status=body.status,
            ending=body.ending,
            paused=tuple(body.paused),
            started_at=body.started_at,
            ended_at=body.ended_at,
            data=data,
            tags=self._tag_set(body.tags),
            result=data
            if body.result == INPUT
            else None
            if body.result is None
            else self._value(body.result[0]),
            error=self._failure(body.error),
            ok=body.ok,
            put_off=Map({number: self._value(each) for number, each in body.put_off}),
            marking=self._marking(body),
            firings=self._firings(body.firings),
            elements=self._all_elements(body.elements),
            results=self._results(),
            steps=Map({name: self._state(state) for name, state in body.steps.items()}),
            failed=self._firings(body.failed),
            halted=self._firings(body.halted),
            reused=Map({tuple(key): self._firing(firing) for key, firing in body.reused}),
            came=Map(body.came),
            keys=Map({(name, value): number for (name, value), number in body.keys}),
            disabled=Map(body.disabled),
            aside=tuple(
                Aside(step, slot, self._token(token), reason) for step, slot, token, reason in body.aside
            ),
            epoch=body.epoch,
            agenda=tuple(body.agenda),
            revision=body.revision,
        )

    def _marking(self, body: Body) -> Marking:
        return Marking(
            Map({_place(place): tuple(map(self._token, queue)) for place, queue in body.tokens}),
            Map({(_place(place), name): count for (place, name), count in body.owed}),
            Map({_place(join): count for join, count in body.filled}),
            Map({step: tuple((number, key) for number, key in done) for step, done in body.complete}),
        )

    def _tag_set(self, number: int | None) -> Tags:
        return NO_TAGS if number is None else self._tags[number]

    def _token(self, row: Any) -> Token:
        number, name, origin = row
        return Token(number, name, self._origins[origin])

    def _firings(self, rows: Any) -> Map[int, Firing]:
        return Map({row[0]: self._firing(row) for row in rows})

    def _firing(self, row: Any) -> Firing:
        number, step, slots, key, dropped, at, tags, total, begun, live, done, failed, attempts = row
        taken = Taken(
            tuple(tuple(map(self._token, slot)) for slot in slots),
            key,
            tuple((slot, self._token(token)) for slot, token in dropped),
        )
        items = self._items.get(number, ())
        return Firing(
            number=number,
            step=step,
            taken=taken,
            at=at,
            tags=self._tag_set(tags),
            total=total,
            items=items,
            begun=begun,
            live=live,
            done=done,
            failed=failed,
            attempts=attempts,
        )

    def _all_elements(self, rows: Any) -> Map[tuple[int, int | None], Element]:
        apart = [body for part, body in self._parts if part.kind == "e"]
        return Map({(row[0], row[1]): self._element(row) for row in (*rows, *apart)})

    def _element(self, row: Any) -> Element:
        firing, index, step, state, params, attempt, failures, timeouts, multiplier, key, output = row
        return Element(
            firing=firing,
            index=index,
            step=step,
            state=state,
            params=self._value(params),
            attempt=attempt,
            failures=failures,
            timeouts=timeouts,
            multiplier=multiplier,
            key=key,
            output=self._value(output),
        )

    def _results(self) -> Map[tuple[int, int], Result]:
        return Map(
            {
                (part.firing, part.index): Result(self._value(body[0]), body[1])
                for part, body in self._parts
                if part.kind == "r"
            }
        )

    def _state(self, row: Any) -> StepState:
        status, firings, live, latest, attempts, output, error, port, reason, elements, spoke = row
        return StepState(
            status=status,
            firings=firings,
            live=tuple(live),
            latest=latest,
            attempts=attempts,
            output=self._value(output),
            error=self._failure(error),
            port=port,
            reason=reason,
            elements=None if elements is None else tuple(elements),
            spoke=spoke,
        )

    def _failure(self, row: Any) -> Failure | None:
        return None if row is None else Failure(row[0], row[1], self._value(row[2]))


def _place(place: Any) -> Any:
    return tuple(place) if isinstance(place, list) else place


def _gather(value: Any, found: set[bytes]) -> None:
    if type(value) is Ref:
        found.add(value.digest)
    elif type(value) is list:
        for item in value:
            _gather(item, found)
    elif type(value) is dict:
        for item in value.values():
            _gather(item, found)


_decode_plain_head = Decoder(PlainHead).decode


def decode_plain(body: bytes, header: Header) -> Snapshot:
    """The snapshot. Raises ValidationError, and others where the bytes are damaged."""
    head = _decode_plain_head(body)
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
            Map({place: _plain_tokens(queue) for place, queue in head.tokens}), filled=Map(head.filled)
        ),
        firings=Map({firing.number: _plain_firing(firing) for firing in head.firings}),
        elements=Map({element.id: element for element in head.elements}),
        steps=Map(head.steps),
        came=Map(head.came),
        epoch=head.epoch,
        revision=head.revision,
    )


def _plain_firing(firing: Firing) -> Firing:
    taken = firing.taken
    slots = tuple([_plain_tokens(slot) for slot in taken.slots])
    dropped = tuple([(slot, _plain_token(token)) for slot, token in taken.dropped])
    return replace(firing, taken=Taken(slots, taken.key, dropped))


def _plain_tokens(queue: tuple[Token, ...]) -> tuple[Token, ...]:
    return tuple([_plain_token(token) for token in queue])


def _plain_token(token: Token) -> Token:
    """The kernel does not say what a token carries: in a run it is an origin."""
    return Token(token.number, token.name, convert(token.load, Origin))


def decode_page(body: bytes) -> list[Entry]:
    """The entries; a payload that is kept apart is a Ref in `data`."""
    first, at, rows = decode(body)
    entries: list[Entry] = []
    before = None
    for number, (kind, step, event, port, attempt, data, firing, id, *more) in enumerate(rows):
        if data is not None:
            before = data = before if data is SAME else data
        tags = convert(more[0], TagChange) if more else None  # pages that were written before have none
        entries.append(
            Entry(
                seq=first + number,
                at=at,
                kind=ENTRY_KINDS[kind],
                step=step,
                event=event,
                port=port,
                attempt=attempt,
                data=data,
                firing=firing,
                id=id,
                tags=tags,
            )
        )
    return entries


def refs_of(entries: Sequence[Entry]) -> Iterator[bytes]:
    """The digests of the payloads that must be fetched."""
    return (entry.data.digest for entry in entries if isinstance(entry.data, Ref))
