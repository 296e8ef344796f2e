"""Publishing: a definition is read, checked and put on the shelf as the next version."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from penstock.engine.checking import refuse_errors
from penstock.engine.loading import SUFFIXES, Loaded, Source, load, read_text
from penstock.engine.offering import kept_offers
from penstock.flow.format.writing import write_yaml
from penstock.runtime.flows import Flows, encode_offers
from penstock.runtime.recording import by_for
from penstock.store.people import Notes
from penstock.store.protocol import Shelf
from penstock.store.rows import Version
from penstock.workers.task import Task


class ShelfAndNotes(Shelf, Notes, Protocol):
    """Published workflows, and what tasks elsewhere offer."""


class Catalog:
    """Names to versions. A version never changes once it is published."""

    def __init__(self, shelf: ShelfAndNotes, flows: Flows, tasks: Mapping[str, Task]) -> None:
        self._shelf, self._flows, self._tasks = shelf, flows, tasks

    async def publish(
        self, definition: Source, note: str | None = None, start: bool | None = None, again: bool = True
    ) -> Version:
        """The next version; with `again` False the newest one where nothing changed.

        The first publish starts a workflow whose source is `api`, and others where `start` says so.
        Raises DefinitionError, CheckFailed.
        """
        loaded = load(definition, self._tasks, elsewhere=await kept_offers(self._shelf))
        refuse_errors(loaded)
        return await self.put(loaded, text_of(definition, loaded), note, start, again)

    async def put(
        self, loaded: Loaded, text: str, note: str | None, start: bool | None, again: bool = True
    ) -> Version:
        """The same with a text that was read and checked before."""
        source = loaded.definition.source
        begin = (source is None or source.kind == "api") if start is None else start
        version = await self._shelf.publish(
            loaded.flow.name,
            text,
            encode_offers(loaded.flow, loaded.offers),
            note,
            begin,
            again,
            by_for(loaded.flow.name),
        )
        self._flows.forget()
        return version


def text_of(source: Source, loaded: Loaded) -> str:
    """The definition as its author wrote it; what was no text is written as YAML."""
    if isinstance(source, Path):
        return read_text(source)
    if isinstance(source, str):
        return source if "\n" in source or not source.endswith(SUFFIXES) else read_text(Path(source))
    return write_yaml(loaded.definition)
