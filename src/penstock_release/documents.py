"""What is not a run: services, studies, notes, what is shown of releases. Kept as tokens, by compare-and-set."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import Context
from typing import Any

from msgspec import Struct

from penstock import Changed, Engine, UnknownToken
from penstock_release.errors import busy, unknown

OWNER = "penstock-release"
TRIES = 50
"""How often a change is tried that somebody else was faster with."""
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

    async def require(self, name: str) -> Document:
        """The document. Raises Refused where there is none."""
        kept = await self.get(name)
        if kept is None:
            raise unknown()
        return kept

    async def newest(self, prefix: str) -> list[dict[str, Any]]:
        """What the documents whose names begin so say, the newest first."""
        found = [kept.data for kept in await self.all(prefix)]
        return sorted(found, key=lambda each: str(each["created_at"]), reverse=True)

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

    async def add(self, name: str, data: dict[str, Any]) -> dict[str, Any]:
        """A new document, and what it says. Raises Refused."""
        if not await self.change(insert=[(name, data)]):
            raise busy()
        return data

    async def edit(self, name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Change some fields, and what the document says then. Raises Refused."""
        for _ in range(TRIES):
            kept = await self.require(name)
            changed = {**kept.data, **fields}
            if changed == kept.data or await self.change(update=[(kept, changed)]):
                return changed
        raise busy()

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
