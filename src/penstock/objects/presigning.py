"""Addresses of objects for functions that have no credentials of their own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.objects.errors import ObjectRefused
from penstock.objects.stores import Stores
from penstock.objects.updating import target_of

EXPIRES = timedelta(hours=1)


async def presign(stores: Stores, access: str, data: Any, expires: timedelta = EXPIRES) -> str:
    """An address by which the object of a run can be read or written for a while. Raises PenstockError."""
    if access not in ("read", "write"):
        raise ObjectRefused(f"`presign` is `read` or `write`, not '{access[:40]}'")
    target = target_of(stores, data, {})
    store = await stores.get(target.store)
    return await store.presign(target.key, "read" if access == "read" else "write", expires, target.version)
