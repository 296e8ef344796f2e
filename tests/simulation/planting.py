"""What a planted bug is, and how one is put into the engine from outside."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import Struct

from penstock.store.sqlite.session import SQL

Patch = pytest.MonkeyPatch


class Bug(Struct, frozen=True):
    """A planted bug, the scar it is named after, and the checker that must find it."""

    name: str
    scar: str
    checker: str
    plant: Callable[[Patch], None]


def sql(name: str, *changes: tuple[str, str]) -> Callable[[Patch], None]:
    """A query with some of its words changed."""

    def plant(patch: Patch) -> None:
        text = SQL[name]
        for old, new in changes:
            assert old in text, f"the query {name} has no '{old}' any more: plant it anew"
            text = text.replace(old, new)
        patch.setitem(SQL, name, text)

    return plant


def both(*plants: Callable[[Patch], None]) -> Callable[[Patch], None]:
    """Two guards at once: each would hide that the other is missing."""

    def plant(patch: Patch) -> None:
        for each in plants:
            each(patch)

    return plant
