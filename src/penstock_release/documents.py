"""What is not a run: services, studies, notes, what is shown of releases. Kept as tokens, by compare-and-set."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextvars import Context
from typing import Any

from msgspec import Struct

from penstock import Changed, Engine, UnknownToken

OWNER = "penstock-release"
ROOT = f"/custom/{OWNER}/"
PAGE = 1000


class Document(Struct, frozen=True):
    """A document as it is kept, with the version that a change expects."""

    name: str
    version: int
    data: dict[str, Any]


Put = tuple[str, dict[str, Any]]


class Documents:
    """Documents by name, such as `releases/RE_1`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def get(self, name: str) -> Document | None:
        """The document; None: there is none."""
        found = (await self._engine.tokens(ROOT + name, limit=1))["items"]
        return _document(found[0]) if found and found[0]["name"] == ROOT + name else None

    async def all(self, prefix: str) -> list[Document]:
        """Every document whose name begins so."""
        found: list[Document] = []
        cursor = None
        while True:
            page = await self._engine.tokens(ROOT + prefix, limit=PAGE, cursor=cursor)
            found += [_document(each) for each in page["items"]]
            cursor = page["next"]
            if cursor is None:
                return found

    async def change(
        self,
        *,
        insert: Sequence[Put] = (),
        update: Sequence[tuple[Document, dict[str, Any]]] = (),
        delete: Sequence[Document] = (),
        quiet: bool = False,
    ) -> bool:
        """All of it or nothing; False: somebody changed one of them meanwhile.

        What is `quiet` follows from something else, and is not on record as what the caller did.
        """
        changes: dict[str, Any] = {
            "insert": [{"name": ROOT + name, "data": data} for name, data in insert],
            "update": [
                {"name": ROOT + kept.name, "version": kept.version, "data": data} for kept, data in update
            ],
            "delete": [{"name": ROOT + kept.name, "version": kept.version} for kept in delete],
        }
        if not quiet:
            return await self._change(changes)
        return await asyncio.create_task(self._change(changes), context=Context())

    async def _change(self, changes: dict[str, Any]) -> bool:
        try:
            with self._engine.acting_for(OWNER):
                await self._engine.edit_tokens(**changes)
        except (Changed, UnknownToken):
            return False
        return True


def _document(token: dict[str, Any]) -> Document:
    return Document(token["name"].removeprefix(ROOT), token["version"], token["data"])
