"""A snapshot as bytes: the header once, the head at every change, the elements of fans apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from immutables import Map
from msgspec import Raw, Struct
from msgspec.structs import astuple

from penstock.flow.model.run import (
    Aside,
    Element,
    Ending,
    Failure,
    Firing,
    Header,
    Origin,
    Pauser,
    Result,
    Snapshot,
    Status,
    StepState,
)
from penstock.flow.model.tags import NO_TAGS, Tag, Tags
from penstock.kernel.marking import Marking, Taken, Token
from penstock.runtime.codec.payloads import INLINE, MARK, Packer, Ref, Unreadable, decode, encode
from penstock.runtime.codec.plain import PLAIN, decode_plain, encode_plain
from penstock.store.rows.change import WHOLE, Part

FORMAT = 1
_NOTHING: Mapping[str, Any] = {}
INPUT = "i"
"""Stands for the run's input where its data is still that."""


class _Body(Struct, array_like=True):
    """The head of a run without what its parts share, field by field."""

    seq: int
    status: Status
    ending: Ending | None
    paused: Sequence[Pauser]
    started_at: datetime | None
    ended_at: datetime | None
    data: Any
    tags: int | None
    result: Any
    error: Any
    ok: bool
    put_off: Any
    tokens: Any
    owed: Any
    filled: Any
    complete: Any
    firings: Any
    elements: Any
    failed: Any
    halted: Any
    kept: Any
    came: Any
    keys: Any
    disabled: Any
    aside: Any
    epoch: int
    agenda: Sequence[int]
    revision: int
    steps: Any


# -- to bytes ------------------------------------------------------------------------------------------------


def encode_header(header: Header, pack: Packer) -> bytes:
    return encode(
        (
            FORMAT,
            header.id,
            header.workflow,
            header.version,
            header.subject,
            header.labels,
            header.input and pack(header.input),
            header.parent,
            header.rerun_of,
            header.tags and pack(header.tags),
            header.by,
        )
    )


class HeadEncoder:
    """Encodes the head of one run again and again: plainly while it is small, then with care for its size.

    A head of at most INLINE bytes holds nothing large, and little that is worth sharing. One that grew beyond is
    likely to stay so: from then on payloads, origins and tags are shared, and a step that did not change is
    not encoded anew.
    """

    __slots__ = ("_large", "_states", "pack", "plain")

    def __init__(self, pack: Packer) -> None:
        self.pack = pack
        self.plain = False  # the last one: it holds every payload in place
        self._large = False
        self._states: dict[str, tuple[StepState, Raw, int]] | None = None  # with the bytes it has apart

    def __call__(self, was: Snapshot) -> bytes:
        plain = None if self._large else encode_plain(was)
        self.plain = plain is not None and len(plain) <= INLINE
        if plain is not None:
            if self.plain:
                return plain
            self._large = True
        steps = self._steps(was.steps)
        head = _Writing(self.pack).head(was, steps)
        # Of steps that are not encoded anew the packer hears nothing any more, and they weigh as before.
        self.pack.head = len(head) + sum(apart for _, _, apart in (self._states or {}).values())
        return head

    def _steps(self, steps: Map[str, StepState]) -> dict[str, Raw]:
        if self._states is None:
            self._states = {}
        known, pack = self._states, self.pack
        made: dict[str, Raw] = {}
        for name, state in steps.items():
            before = known.get(name)
            if before is None or before[0] is not state:
                apart = pack.apart
                fields = (
                    state.status,
                    state.firings,
                    state.live,
                    state.latest,
                    state.attempts,
                    None if state.output is None else pack(state.output),
                    None if state.error is None else _failure(state.error, pack),
                    state.port,
                    state.reason,
                    state.elements,
                    state.spoke,
                )
                known[name] = before = (state, Raw(encode(fields)), pack.apart - apart)
            made[name] = before[1]
        return made


class _Writing:
    """One head being written: origins and tag sets that are shared are written once."""

    __slots__ = ("at", "origins", "pack", "rows", "tagged", "tags")

    def __init__(self, pack: Packer) -> None:
        self.pack = pack
        self.origins: dict[int, int] = {}
        self.rows: list[Any] = []
        self.tags: dict[int, int] = {}
        self.tagged: list[Any] = []

    def head(self, was: Snapshot, steps: dict[str, Raw]) -> bytes:
        pack, run, marking = self.pack, was.run, was.marking
        data = INPUT if was.data is run.input and run.input is not None else (pack(was.data),)
        result = None if was.result is None else INPUT if was.result is was.data else (pack(was.result),)
        tokens = _pairs(marking.tokens)
        body = _Body(
            seq=was.seq,
            status=was.status,
            ending=was.ending,
            paused=was.paused,
            started_at=was.started_at,
            ended_at=was.ended_at,
            data=data,
            tags=self.tag_set(was.tags) if was.tags else None,
            result=result,
            error=None if was.error is None else _failure(was.error, pack),
            ok=was.ok,
            put_off=[(number, pack(each)) for number, each in was.put_off.items()] if was.put_off else (),
            tokens=[(place, [self.token(token) for token in queue]) for place, queue in tokens],
            owed=_pairs(marking.owed),
            filled=_pairs(marking.filled),
            complete=_pairs(marking.complete),
            firings=self.firings(was.firings),
            elements=[self.element(each) for key, each in was.elements.items() if key[1] is None],
            failed=self.firings(was.failed),
            halted=self.firings(was.halted),
            kept=[(key, self.firing(firing)) for key, firing in was.kept.items()] if was.kept else (),
            came=dict(was.came) if was.came else _NOTHING,
            keys=_pairs(was.keys),
            disabled=dict(was.disabled) if was.disabled else _NOTHING,
            aside=[(each.step, each.slot, self.token(each.token), each.reason) for each in was.aside],
            epoch=was.epoch,
            agenda=was.agenda,
            revision=was.revision,
            steps=steps,
        )
        return encode((FORMAT, self.tagged, self.rows, body))

    def token(self, token: Token) -> tuple[int, str, int]:
        return token.number, token.name, self.origin(token.load)

    def origin(self, origin: Origin) -> int:
        number = self.origins.get(id(origin))
        if number is None:
            number = self.origins[id(origin)] = len(self.rows)
            self.rows.append(
                (
                    None if origin.data is None else self.pack(origin.data),
                    self.tag_set(origin.tags) if origin.tags else None,
                    origin.at,
                    origin.step,
                    origin.outside,
                    origin.id,
                    origin.firing,
                )
            )
        return number

    def tag_set(self, tags: Tags) -> int | None:
        if not tags:
            return None
        number = self.tags.get(id(tags))
        if number is None:
            number = self.tags[id(tags)] = len(self.tagged)
            self.tagged.append({name: astuple(tag) for name, tag in tags.items()})
        return number

    def firings(self, firings: Map[int, Firing]) -> Sequence[Any]:
        return [self.firing(firing) for firing in firings.values()] if firings else ()

    def firing(self, firing: Firing) -> tuple[Any, ...]:
        """Without its items: they never change and are kept apart."""
        taken = firing.taken
        slots = [[self.token(token) for token in slot] for slot in taken.slots]
        dropped = [(slot, self.token(token)) for slot, token in taken.dropped] if taken.dropped else ()
        return (
            firing.number,
            firing.step,
            slots,
            taken.key,
            dropped,
            firing.at,
            self.tag_set(firing.tags),
            firing.total,
            firing.begun,
            firing.live,
            firing.done,
            firing.failed,
            firing.attempts,
        )

    def element(self, element: Element) -> tuple[Any, ...]:
        return encode_element(element, self.pack)


def encode_element(element: Element, pack: Packer) -> tuple[Any, ...]:
    return (
        element.firing,
        element.index,
        element.step,
        element.state,
        pack(element.params),
        element.attempt,
        element.failures,
        element.timeouts,
        element.multiplier,
        element.key,
        None if element.output is None else pack(element.output),
    )


def encode_parts(
    was: Snapshot, now: Snapshot, touched: Iterable[tuple[int, int | None]], pack: Packer
) -> list[Part]:
    """What changed of elements and results of fans, and the items of fans that came or went."""
    parts: list[Part] = []
    for key in dict.fromkeys(touched):
        firing, index = key
        assert index is not None
        element, before = now.elements.get(key), was.elements.get(key)
        if element is not before:
            body = None if element is None else encode(encode_element(element, pack))
            parts.append(Part("e", firing, index, body))
        result, earlier = now.results.get((firing, index)), was.results.get((firing, index))
        if result is not earlier:
            done = None if result is None else encode((pack(result.entry), result.failed))
            parts.append(Part("r", firing, index, done))
    fans, former = _fans(now), _fans(was)
    if fans or former:
        for number in fans.keys() - former.keys():
            parts.append(Part("i", number, WHOLE, encode([pack(item) for item in fans[number].items])))
        parts += [Part("i", number, WHOLE, None) for number in former.keys() - fans.keys()]
    return parts


def _fans(snapshot: Snapshot) -> dict[int, Firing]:
    """The firings of `each` steps that the snapshot still knows."""
    maps: tuple[Map[Any, Firing], ...] = (snapshot.firings, snapshot.failed, snapshot.halted, snapshot.kept)
    return {each.number: each for map in maps if map for each in map.values() if each.total is not None}


def _pairs(map: Mapping[Any, Any]) -> Sequence[Any]:
    return list(map.items()) if map else ()


def _failure(error: Failure | None, pack: Packer) -> tuple[str, str, Any] | None:
    return None if error is None else (error.kind, error.message, pack(error.detail))


# -- from bytes ----------------------------------------------------------------------------------------------


class Stored:
    """A run read from its bytes in two steps: first what payloads it needs, then the snapshot."""

    def __init__(self, header: bytes, head: bytes, parts: Iterable[Part]) -> None:
        try:
            self._header, self._head = decode(header), decode(head)
            self._parts = [(part, decode(part.body)) for part in parts if part.body is not None]
            self._may_refer = [decoded for body, decoded in self._pieces(header, head) if MARK in body]
            formats = self._header[0], self._head[0]
        except Exception as error:
            raise Unreadable(str(error)) from error
        if formats not in ((FORMAT, FORMAT), (FORMAT, PLAIN)):
            raise Unreadable(f"its format is {formats[1]}, this Penstock knows {FORMAT} and {PLAIN}")
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
            raise Unreadable(f"{type(error).__name__}: {error}") from error

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
        return self._filled(_Body(*body))

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

    def _filled(self, body: _Body) -> Snapshot:
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
            kept=Map({tuple(key): self._firing(firing) for key, firing in body.kept}),
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

    def _marking(self, body: _Body) -> Marking:
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
            number, step, taken, at, self._tag_set(tags), total, items, begun, live, done, failed, attempts
        )

    def _all_elements(self, rows: Any) -> Map[tuple[int, int | None], Element]:
        apart = [body for part, body in self._parts if part.kind == "e"]
        return Map({(row[0], row[1]): self._element(row) for row in (*rows, *apart)})

    def _element(self, row: Any) -> Element:
        firing, index, step, state, params, attempt, failures, timeouts, multiplier, key, output = row
        return Element(
            firing,
            index,
            step,
            state,
            self._value(params),
            attempt,
            failures,
            timeouts,
            multiplier,
            key,
            self._value(output),
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
            status,
            firings,
            tuple(live),
            latest,
            attempts,
            self._value(output),
            self._failure(error),
            port,
            reason,
            None if elements is None else tuple(elements),
            spoke,
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
