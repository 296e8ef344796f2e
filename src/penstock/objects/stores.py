"""The object stores of one process, by name: opened on first use, with counts of what was seen in each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, field

from penstock.flow.errors import PenstockError
from penstock.objects.address import Address, Secrets, read_addresses, resolved
from penstock.objects.errors import BadStore, UnknownStore
from penstock.objects.folder import FolderStore
from penstock.objects.protocol import ObjectStore, moment_text
from penstock.objects.s3 import Credentials, S3Store
from penstock.objects.update_order import UpdateOrder

LOOK_TIMEOUT = 10.0
"""Seconds that a look at a store may take."""


class StoreCounts(Struct):
    """What this process saw of a store since it began."""

    counts: Counter[str] = field(default_factory=Counter)
    last_event: dict[str, Any] | None = None
    error: str | None = None
    names: str | None = None  # what is wrong with names in it

    def note(self, what: str, number: int = 1) -> None:
        self.counts[what] += number

    def tell_names(self, count: int, why: str | None) -> None:
        """Of names that cannot be read, until there are none any more."""
        if self.counts["unreadable"] or count:
            self.counts["unreadable"] = count
        if why is not None or self.error == self.names:
            self.error = why
        self.names = why

    def saw(self, event: str, key: str) -> None:
        self.last_event = {"event": event, "key": key, "at": moment_text(datetime.now(UTC))}


class Stores:
    """What `--store NAME=URL` set up. `secrets` is where `${NAME}` is looked up that the environment has not."""

    def __init__(self, stores: Mapping[str, object] | None = None, secrets: Secrets | None = None) -> None:
        """Raises BadStore."""
        self._addresses = read_addresses(stores or {})
        self._open: dict[str, ObjectStore] = {}
        self.secrets, self.update_order = secrets, UpdateOrder()
        self.store_counts = {name: StoreCounts() for name in self._addresses}

    @property
    def names(self) -> list[str]:
        return sorted(self._addresses)

    def __bool__(self) -> bool:
        return bool(self._addresses)

    def address(self, name: str) -> Address:
        """Raises UnknownStore."""
        found = self._addresses.get(name)
        if found is None:
            raise UnknownStore(name, self._addresses)
        return found

    async def get(self, name: str) -> ObjectStore:
        """The store of that name. Raises UnknownStore, BadStore."""
        address = self.address(name)
        found = self._open.get(name)
        if found is None:
            # Not under a lock: calls of functions ask from loops of their own.
            found = self._open.setdefault(name, await self._opened(address))
        return found

    def of_bucket(self, bucket: str) -> str:
        """The name of the one store that has the bucket. Raises UnknownStore, BadStore where there are several."""
        found = [name for name, each in self._addresses.items() if each.bucket == bucket]
        if not found:
            raise UnknownStore(bucket, self._addresses)
        if len(found) > 1:
            raise BadStore(found[0], f"is not the only one of bucket '{bucket}': say which with `store`")
        return found[0]

    async def hook_token(self, name: str) -> str | None:
        """What whoever notifies of the store must show; None: nobody may. Raises UnknownStore, BadStore."""
        return await resolved(self.address(name), "hook_token", self.secrets)

    async def look(self, names: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """How the stores are, for people: never anything secret."""
        chosen = self.names if names is None else list(names)
        return list(await asyncio.gather(*(self._looked(name) for name in chosen)))

    async def close(self) -> None:
        for store in self._open.values():
            await store.close()
        self._open.clear()

    async def _looked(self, name: str) -> dict[str, Any]:
        address, counts = self.address(name), self.store_counts[name]
        error = await self._why_not(name)
        return {
            "name": name,
            "kind": address.kind,
            "bucket": address.bucket,
            "reachable": error is None,
            "last_event": counts.last_event,
            "counts": dict(counts.counts),
            "error": error or counts.error,
        }

    async def _why_not(self, name: str) -> str | None:
        try:
            async with asyncio.timeout(LOOK_TIMEOUT):
                await (await self.get(name)).check()
        except TimeoutError:
            return f"the object store '{name}' did not answer within {LOOK_TIMEOUT:g} seconds"
        except PenstockError as error:  # also a secret that cannot be opened: the other stores are shown
            return str(error)
        return None

    async def _opened(self, address: Address) -> ObjectStore:
        if address.kind == "dir":
            return FolderStore(address.name, address.path)

        async def keys() -> Credentials:
            said = [await resolved(address, each, self.secrets) for each in Credentials.__struct_fields__]
            return Credentials(*said)

        return S3Store(
            address.name,
            address.bucket,
            endpoint=address.options.get("endpoint"),
            region=address.options.get("region"),
            style=address.options.get("style"),
            credentials=await keys(),
            lookup=keys,
        )
