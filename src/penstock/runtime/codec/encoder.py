"""To bytes: payloads, the header and the head of a run, the elements of its fans, and pages of its history.

The header is written once, the head at every change. Large payloads are kept apart, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from immutables import Map
from msgspec import Raw
from msgspec.msgpack import Ext
from msgspec.structs import astuple

from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Element, Failure, Firing, Header, Origin, Snapshot, StepState
from penstock.flow.model.tags import Tags
from penstock.kernel.marking import Token
from penstock.runtime.codec.format import (
    ENTRY_KINDS,
    FORMAT,
    INPUT,
    MAX_INLINE_BYTES,
    PLAIN,
    SAME_CODE,
    SEPARATE_CODE,
    Body,
    PlainHead,
    encode,
)
from penstock.store.rows.change import WHOLE, Part

_NOTHING: Mapping[str, Any] = {}
_KIND_NUMBERS = {kind: number for number, kind in enumerate(ENTRY_KINDS)}
_SAME = Ext(SAME_CODE, b"")

Known = tuple[Any, Raw, int]
"""A payload, what stands for it, and its bytes."""
_NONE: dict[int, Known] = {}


class Packer:
    """Encodes the payloads of one run. One object is encoded once in a round, a large one once while it is in use."""

    __slots__ = ("_before", "_large", "_round", "apart", "fresh", "head")

    def __init__(self) -> None:
        # One that is never filled stands for all of them: most runs have only small payloads, and keep none.
        self._large: dict[int, Known] = _NONE  # the object is kept, so that its id stays its own
        self._before: dict[int, Known] = _NONE  # the large ones of the round before
        self._round: dict[int, Known] = _NONE
        self.fresh: tuple[tuple[bytes, bytes], ...] = ()
        self.apart = 0  # bytes of the large ones that were asked for, ever: it grows by what something has
        self.head = 0  # bytes of a large head, and of what its steps have apart

    def begin(self) -> None:
        """A new round: what it finds to be large and new is in `fresh`. What the last one did not use is dropped."""
        if self._round or self._large or self._before:
            self._before, self._large, self._round = self._large, _NONE, _NONE
            self.fresh = ()

    def __call__(self, value: Any) -> Any:
        """What to encode in place of the payload."""
        if not value or value is True:
            return value  # nothing, or an empty one: there is nothing to spare
        key = id(value)
        known = self._round.get(key) or self._large.get(key)
        if known is None and (known := self._before.get(key)) is not None:
            self._keep(key, known)
        if known is not None:
            if known[2] > MAX_INLINE_BYTES:
                self.apart += known[2]
            return known[1]
        body = encode(value)
        raw = Raw(body)
        if len(body) > MAX_INLINE_BYTES:
            digest = blake2b(body, digest_size=16).digest()
            self.fresh += ((digest, body),)
            self.apart += len(body)
            raw = Raw(encode(Ext(SEPARATE_CODE, digest)))
            self._keep(key, (value, raw, len(body)))
        else:
            if self._round is _NONE:
                self._round = {}
            self._round[key] = (value, raw, len(body))
        return raw

    def adopt(self, value: Any, digest: bytes, size: int) -> None:
        """A payload that the store already has."""
        self._keep(id(value), (value, Raw(encode(Ext(SEPARATE_CODE, digest))), size))

    @property
    def weight(self) -> int:
        """The bytes of a large head and of the large ones that are in use; one that just was may count twice."""
        if not (self._large or self._before or self.head):
            return 0
        return self.head + sum(size for _, _, size in (self._before | self._large).values())

    def _keep(self, key: int, large: Known) -> None:
        if self._large is _NONE:
            self._large = {}
        self._large[key] = large


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
        self.plain = plain is not None and len(plain) <= MAX_INLINE_BYTES
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
        body = Body(
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
            elements=[encode_element(each, pack) for key, each in was.elements.items() if key[1] is None],
            failed=self.firings(was.failed),
            halted=self.firings(was.halted),
            reused=[(key, self.firing(firing)) for key, firing in was.reused.items()] if was.reused else (),
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
    maps: tuple[Map[Any, Firing], ...] = (snapshot.firings, snapshot.failed, snapshot.halted, snapshot.reused)
    return {each.number: each for map in maps if map for each in map.values() if each.total is not None}


def _pairs(map: Mapping[Any, Any]) -> Sequence[Any]:
    return list(map.items()) if map else ()


def _failure(error: Failure | None, pack: Packer) -> tuple[str, str, Any] | None:
    return None if error is None else (error.kind, error.message, pack(error.detail))


def encode_plain(was: Snapshot) -> bytes | None:
    """The head of a run with nothing rare about it, with every payload in place: most heads are so.

    None where there is something that it has no field for.
    """
    marking = was.marking
    if was.ending or was.error or was.put_off or was.results or was.failed or was.halted or was.reused:
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
        PlainHead(
            format=PLAIN,
            seq=was.seq,
            status=was.status,
            paused=was.paused,
            started_at=was.started_at,
            ended_at=was.ended_at,
            untouched=untouched,
            data=None if untouched else data,
            tags=was.tags,
            same=same,
            result=None if same else result,
            ok=was.ok,
            tokens=tuple(tokens.items()) if tokens else (),
            filled=tuple(filled.items()) if filled else (),
            firings=firings,
            elements=tuple(was.elements.values()) if firings else (),
            steps=tuple(was.steps.items()),
            came=tuple(came.items()) if came else (),
            epoch=was.epoch,
            revision=was.revision,
        )
    )


def encode_page(history: Sequence[Entry], pack: Packer) -> bytes:
    """The entries of one decision, which all have one time. A payload that neighbours share is in it once."""
    body = _encode_page(history, None)
    # So short a page holds nothing large. Else each payload is looked at by itself.
    return body if len(body) <= MAX_INLINE_BYTES else _encode_page(history, pack)


def _encode_page(history: Sequence[Entry], pack: Packer | None) -> bytes:
    rows: list[Any] = []
    before = None
    for entry in history:
        data = entry.data
        if data is not None:
            if data is before:
                data = _SAME
            else:
                before = data
                if pack is not None:
                    data = pack(data)
        rows.append(
            (
                _KIND_NUMBERS[entry.kind],
                entry.step,
                entry.event,
                entry.port,
                entry.attempt,
                data,
                entry.firing,
                entry.id,
                *(() if entry.tags is None else (entry.tags,)),
            )
        )
    first = history[0]
    return encode((first.seq, first.at, rows))
