"""Notifications of object stores: a verified call lists objects that came or went, and each starts its runs.

Verify, then parse; ask the store about what is wanted; answer when all of it is durable. What cannot be had now is
answered so that the store sends it again: a repeat starts nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
from base64 import b64decode
from binascii import Error
from collections import Counter
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.errors import PenstockError
from penstock.objects.address import Address
from penstock.objects.errors import (
    BadStore,
    ObjectGone,
    ObjectRefused,
    ObjectStoreAway,
    OtherBucket,
    UnknownStore,
)
from penstock.objects.protocol import Object
from penstock.objects.s3_listing import is_drawn_folder
from penstock.objects.s3_notifications import Notice, Odd, read_bridged, read_each, read_notices
from penstock.objects.stores import Stores
from penstock.runtime.json.strict_json import Unreadable, read_json
from penstock.sources.errors import Unverified
from penstock.sources.hooks.cloudevents import CloudEvent, is_cloudevent, read_cloudevents
from penstock.sources.hooks.envelope import Call
from penstock.sources.hooks.hooks import Hooks
from penstock.sources.hooks.signatures import Headers, said, token_fits
from penstock.sources.objects.starts import ObjectSource, ObjectStarts, Outcome

log = logging.getLogger("penstock.objects")


class Told(Struct, frozen=True, kw_only=True):
    """What became of a notification: how many runs it started, how many it had started before, what is for nobody."""

    started: int = 0
    duplicate: int = 0
    ignored: int = 0
    refused: int = 0


Sources = Callable[[], list[ObjectSource]]


class _Asked(Struct, frozen=True):
    """A run that a notice asks for."""

    notice: Notice
    source: ObjectSource
    found: Object
    refused: ObjectRefused | None = None  # why the store does not describe the object


class Noticing:
    """Starts runs for what stores tell; `sources` are those that are fed, where it is not all that are started."""

    def __init__(self, stores: Stores, starts: ObjectStarts, sources: Sources | None = None) -> None:
        self._stores, self._starts, self._sources = stores, starts, sources

    async def take(self, address: Address, notices: list[Notice]) -> Told:
        """Start the runs of notices, in their order. Raises OtherBucket, ObjectStoreAway, StoreError."""
        ours = [each for each in notices if each.bucket == address.bucket]
        if notices and not ours:
            raise OtherBucket(address.name, address.bucket, notices[0].bucket)
        # Most name one object.
        done = await self._one(address, ours[0]) if len(ours) == 1 else await self._many(address, ours)
        counted: Counter[str] = Counter(done)
        counted["ignored"] += len(notices) - len(ours)
        self._stores.store_counts[address.name].counts.update(counted)
        return Told(**{name: counted[name] for name in Told.__struct_fields__})

    async def _one(self, address: Address, notice: Notice) -> list[Outcome]:
        return [await self._start(each) for each in await self._look(address, notice)] or ["ignored"]

    async def _many(self, address: Address, notices: list[Notice]) -> list[Outcome]:
        """All objects are requested at once; their runs start in order."""
        looked = await asyncio.gather(
            *(self._look(address, each) for each in notices), return_exceptions=True
        )
        asked: list[_Asked] = []
        failed: list[BaseException] = []
        held: set[str] = set()  # later notices must not overtake one whose object is unavailable
        for notice, each in zip(notices, looked, strict=True):
            if isinstance(each, BaseException) or not held.isdisjoint(notice.keys):
                held.update(notice.keys)
                failed += [each] if isinstance(each, BaseException) else []
            else:
                asked += each
        # Not one after the other: whoever is begun first is made first.
        done = await asyncio.gather(*(self._start(each) for each in asked), return_exceptions=True)
        failed += [each for each in done if isinstance(each, BaseException)]
        if failed:
            raise failed[0]
        ignored: list[Outcome] = ["ignored" for each in looked if not each]
        return [each for each in done if not isinstance(each, BaseException)] + ignored

    async def _look(self, address: Address, notice: Notice) -> list[_Asked]:
        """The runs that a notice asks for."""
        sources = [
            each
            for each in await self._all(address.name)
            if notice.event in each.matching.events and any(map(each.matching.named, notice.keys))
        ]
        if not sources:
            return []
        refused = None
        try:
            found = await self._found(address.name, notice)
        except ObjectRefused as error:
            found, refused = None, error
        if found is None:
            key = await self._spelling(sources, notice)
            gone = {"gone": True} if notice.event == "created" and refused is None else {}
            found = Object(
                bucket=notice.bucket,
                key=key,
                version=notice.version,
                size=notice.size,
                etag=notice.etag or "",
                system={"store": address.name, **gone},
            )
        if is_drawn_folder(found.key, found.size or 0):  # of what is deleted nobody says how large it was
            return []
        self._stores.store_counts[address.name].saw(notice.event, found.key)
        return [_Asked(notice, each, found, refused) for each in sources]

    async def _start(self, asked: _Asked) -> Outcome:
        notice, found = asked.notice, asked.found
        key = notice.start_key(found.key)
        return await self._starts.start(
            asked.source, found, notice.event, notice.transport, key, asked.refused
        )

    async def _spelling(self, sources: list[ObjectSource], notice: Notice) -> str:
        """Which of several ways to write the key is meant, where the object cannot be asked: the one that is known.

        A repeat has the key of the first telling, and what is deleted the name under which it came.
        """
        if len(notice.keys) > 1:
            for key in notice.keys:
                for each in sources:
                    if await self._starts.knows(each.workflow, notice.start_key(key)):
                        return key
            for key in notice.keys:
                for each in sources:
                    if await self._starts.has_run_about(each.workflow, notice.bucket, key):
                        return key
        return notice.keys[0]

    async def _found(self, store: str, notice: Notice) -> Object | None:
        """The object as it is; None if it no longer exists. Raises ObjectRefused: it alone is not described."""
        if notice.event == "deleted":
            return None
        kept = await self._stores.get(store)
        for key in notice.keys:
            try:
                found = await kept.head(key, notice.version)
            except ObjectGone:
                continue
            except ObjectStoreAway as error:  # who looks at the stores is told so as long as it is true
                log.warning("a notification of store '%s' must be sent again: %s", store, error)
                raise
            return replace(found, version=found.version or notice.version)
        return None

    async def _all(self, store: str) -> list[ObjectSource]:
        return await self._starts.sources(store) if self._sources is None else self._sources()


class ObjectHooks(Noticing):
    """Takes the calls of `/hooks/s3/{store}`."""

    def __init__(self, hooks: Hooks, stores: Stores, starts: ObjectStarts) -> None:
        super().__init__(stores, starts)
        self._hooks = hooks

    async def receive(self, store: str, call: Call) -> Told:
        """Start what a notification asks for; answers when it is durable.

        Raises UnknownStore, Unverified, Untrusted, CertificateAway, Unreadable, OtherBucket, and ObjectStoreAway or
        StoreError where it is to be sent again.
        """
        try:
            address = self._address(store)
            odd: list[tuple[Any, Unreadable]] = []
            notices = await self._notices(address, call, lambda *each: odd.append(each))
            told = await self.take(address, notices)
            told = replace(told, refused=told.refused + await self._dead_letter(address, odd))
        except PenstockError as error:
            self._hooks.refused[str(getattr(error, "reason", error.code))] += 1
            raise
        self._hooks.taken["taken" if told.started else "duplicate" if told.duplicate else "ignored"] += 1
        return told

    async def _dead_letter(self, address: Address, odd: list[tuple[Any, Unreadable]]) -> int:
        """Keep what cannot be read where people look for it; how many."""
        counts = self._stores.store_counts[address.name]
        for record, error in odd:
            counts.note("refused")
            counts.error = await self._starts.dead_letter(address.name, record, error)
            log.warning("%s", counts.error)
        return len(odd)

    # -- who sent it ---------------------------------------------------------------------------------------

    def _address(self, store: str) -> Address:
        """Raises UnknownStore, which names no other: anybody may call, and must not learn which stores there are."""
        try:
            return self._stores.address(store)
        except UnknownStore:
            raise UnknownStore(store, ()) from None

    async def _notices(self, address: Address, call: Call, odd: Odd) -> list[Notice]:
        if "x-amz-sns-message-type" in call.headers:
            message = await self._hooks.sns_message_of(address.topics, call)
            return [] if message is None else read_notices(read_json(message.message.encode()), odd)
        if not token_fits(shown_token(call.headers))(await self._token(address.name)):
            raise Unverified("mismatch")
        if not is_cloudevent(call.headers):
            return read_notices(read_json(call.body), odd)
        return notices_of_events(read_cloudevents(call.headers, call.body), odd)

    async def _token(self, store: str) -> str:
        """What the sender must show. Raises Unverified where there is nothing: a stranger is not told why."""
        try:
            token = await self._stores.hook_token(store)
        except BadStore as error:
            log.warning("the hook of store '%s' refuses every call: %s", store, error)
            raise Unverified("no_secret") from None
        if not token or not token.strip():
            log.warning("the hook of store '%s' refuses every call: it has no hook_token", store)
            raise Unverified("no_secret")
        return token


def notices_of_events(events: list[CloudEvent], odd: Odd) -> list[Notice]:
    """The notices of CloudEvents. Raises Unreadable."""
    return read_each(events, lambda each: read_bridged(each.type, each.data, {"time": each.time}, odd), odd)


def shown_token(headers: Headers) -> str:
    """What a store shows as its token: after `Bearer`, as the password of `Basic`, or alone. Raises Unverified."""
    given = said(headers, "authorization")
    scheme, _, rest = given.partition(" ")
    if scheme.lower() == "bearer" and rest:
        return rest.strip()
    if scheme.lower() == "basic" and rest:
        try:
            return b64decode(rest.strip(), validate=True).decode().partition(":")[2]
        except (Error, ValueError):
            raise Unverified("malformed") from None
    return given
