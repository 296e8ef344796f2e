"""Writes tags and metadata back to the object of a run, so that the change starts no other run.

A change of tags makes no version, and what stores tell of it is not taken for a new object. A change of metadata makes
one: it carries a mark, by which the notification of it is known, also where it comes before the answer or twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from msgspec import Struct

from penstock.objects.context import MARK, is_own, mark_of
from penstock.objects.errors import ObjectRefused
from penstock.objects.protocol import Object, ObjectStore
from penstock.objects.stores import Stores
from penstock.objects.tags import as_texts, validate_metadata, validate_tags

Mode = Literal["merge", "replace"]

EXPIRES = timedelta(hours=1)
"""How long an address is good for by which a function without credentials reads or writes an object."""

TRIES = 3
"""How often tags are written that somebody else has written over."""


class Target(Struct, frozen=True, kw_only=True):
    """Which object: in which store, and as which it was found, where that is known."""

    store: str
    key: str
    version: str | None = None
    etag: str | None = None


class UpdateRequest(Struct, frozen=True, kw_only=True):
    """What is to be written; None: nothing of that. A value that is None takes the tag away.

    `workflow` is the one that the writing must not start, `by` the firing: a repeat of it writes nothing twice.
    """

    target: Target
    tags: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    mode: Mode = "merge"
    workflow: str = ""
    by: str = ""


def target_of(stores: Stores, data: Any, params: Mapping[str, Any]) -> Target:
    """The object of a run, or the one that its step names. Raises ObjectRefused, UnknownStore, BadStore."""
    said = data if isinstance(data, Mapping) else {}
    bucket, key = said.get("bucket"), params.get("key", said.get("key"))
    if not isinstance(key, str) or not key:
        raise ObjectRefused(
            "the run is about no object: its data needs `bucket` and `key`, or say `key` in `with`"
        )
    store = params.get("store")
    system = said.get("system")
    if store is None and isinstance(system, Mapping):
        store = system.get("store")
    if store is None and isinstance(bucket, str):
        store = stores.of_bucket(bucket)
    if not isinstance(store, str):
        raise ObjectRefused("the run does not say in which store its object is: say `store` in `with`")
    name = stores.address(store).name
    if key != said.get("key"):
        return Target(store=name, key=key, version=params.get("version"))
    version = params.get("version", said.get("version"))
    return Target(store=name, key=key, version=version, etag=said.get("etag") or None)


async def presign(stores: Stores, access: str, data: Any) -> str:
    """An address by which the object of a run can be read or written for a while. Raises PenstockError."""
    if access not in ("read", "write"):
        raise ObjectRefused(f"`presign` is `read` or `write`, not '{access[:40]}'")
    target = target_of(stores, data, {})
    store = await stores.get(target.store)
    return await store.presign(target.key, "read" if access == "read" else "write", EXPIRES, target.version)


async def write_back(stores: Stores, request: UpdateRequest) -> Object:
    """Write what is wished, alone with the object among all steps of this installation; the object as it is then.

    Raises ObjectGone, ObjectRefused (it was replaced, or the store does not take it), ObjectStoreAway, StoreError.
    """
    address = stores.address(request.target.store)
    store = await stores.get(address.name)
    which = (address.options.get("endpoint", ""), address.path or address.bucket, request.target.key)
    async with stores.update_order.at("\n".join(which)):
        if request.metadata is None:
            found = await _found(store, request)
        else:
            found = await _metadata(store, request)
        return found if request.tags is None else await _tagged(store, found, request.tags, request.mode)


async def _tagged(store: ObjectStore, found: Object, said: Mapping[str, Any], mode: Mode) -> Object:
    """Others may write tags at the same moment, and no store compares: look whether ours are there."""
    for _ in range(TRIES):
        tags = _merged(found.tags, said, mode)
        if tags == found.tags:
            break
        validate_tags(tags)
        await store.put_tags(found.key, tags, found.version)
        found = await store.head(found.key, found.version)
    return found


async def _found(store: ObjectStore, request: UpdateRequest) -> Object:
    """The object that was meant: tags that were worked out for one content must not go onto another."""
    target = request.target
    if target.version is not None and target.etag is not None:
        newest = await store.head(target.key)
        if newest.etag == target.etag and is_own(newest, request.workflow):
            return newest  # what a step beside this one made of the very version
    found = await store.head(target.key, target.version)
    replaced = target.version is None and target.etag is not None and found.etag != target.etag
    if replaced and not is_own(found, request.workflow):
        raise ObjectRefused(f"{found.bucket}/{found.key} was replaced by another object since this run began")
    return found


async def _metadata(store: ObjectStore, request: UpdateRequest) -> Object:
    newest = await store.head(request.target.key)
    if is_own(newest, request.workflow, request.by):
        return newest  # an attempt before this one wrote it and was not heard
    found = await _found(store, request)
    if found.version != newest.version:
        raise ObjectRefused(
            f"{found.bucket}/{found.key} has a newer version: the metadata of an old one stays"
        )
    had = {name: value for name, value in found.metadata.items() if name != MARK}
    wanted = _merged(
        had, {name.lower(): each for name, each in (request.metadata or {}).items()}, request.mode
    )
    if wanted == had:
        return found
    validate_metadata(wanted)
    mark = mark_of(request.workflow, found, request.by, store.now())
    return await store.put_metadata(found, {**wanted, MARK: mark})


def _merged(had: Mapping[str, str], said: Mapping[str, Any], mode: Mode) -> dict[str, str]:
    if mode == "replace":
        return as_texts(said)
    return {
        name: value for name, value in {**had, **as_texts(said)}.items() if said.get(name, "") is not None
    }
