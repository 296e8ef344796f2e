"""What can be wrong with an object store or an object in it.

PenstockError
├── NotFound
│   ├── UnknownStore      no store of that name is set up
│   └── ObjectGone        there is no such object, or not any more
├── Invalid
│   ├── BadStore          an address of a store that cannot be
│   ├── ObjectRefused     the store does not take what is to be written, or has no such thing
│   └── OtherBucket       a notification tells of a bucket that is not the store's
└── ObjectStoreAway       the store does not answer, or does not let us in; ask again
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from penstock.flow.errors import PenstockError
from penstock.runtime.errors import Invalid, NotFound


class UnknownStore(NotFound):
    """No store of that name is set up here."""

    code = "unknown_store"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, 1)
        hint = f"did you mean '{close[0]}'?" if close else "name it with `--store NAME=URL`"
        super().__init__(f"there is no object store '{name[:128]}': {hint}")
        self.name = name


class ObjectGone(NotFound):
    """The object does not exist, or no longer exists."""

    code = "object_gone"

    def __init__(self, bucket: str, key: str, version: str | None = None) -> None:
        which = "" if version is None else f" in version {version}"
        super().__init__(f"the object {bucket}/{key} is not there{which}: it was deleted, or never put")
        self.bucket, self.key, self.version = bucket, key, version


class BadStore(Invalid):
    """The address of a store that cannot be."""

    code = "bad_store"

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the object store '{name}' {why}")
        self.name = name


class ObjectRefused(Invalid):
    """The store does not take what is to be written."""

    code = "object_refused"


class OtherBucket(Invalid):
    """A notification tells of a bucket that is not the store's."""

    code = "other_bucket"

    def __init__(self, store: str, bucket: str, named: str) -> None:
        super().__init__(
            f"the notification is about bucket '{named[:80]}', and store '{store}' is bucket '{bucket}': "
            "send it to the hook of its own store"
        )


class ObjectStoreAway(PenstockError):
    """The store does not answer, or does not let us in; what was asked may be asked again."""

    code = "object_store_away"

    def __init__(self, store: str, why: str) -> None:
        super().__init__(f"the object store '{store}' cannot be asked just now: {why}")
        self.store = store
