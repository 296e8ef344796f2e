"""Publishing: a definition is read, checked and stored as the next version."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from penstock.engine.authoring.check_gate import reject_errors
from penstock.engine.authoring.loader import SUFFIXES, Loaded, Source, load, read_text
from penstock.engine.authoring.offers import offers_by_task
from penstock.flow.format.yaml_writer import write_yaml
from penstock.runtime.commands.ownership import Owners
from penstock.runtime.node.audit_context import audit_for
from penstock.runtime.node.flow_cache import FlowCache, encode_offers
from penstock.store.protocol import Drafts, Notes, WorkflowVersions
from penstock.store.rows.drafts import NewVersion
from penstock.store.rows.rows import Version
from penstock.workers.task import Task


class CatalogRows(WorkflowVersions, Drafts, Notes, Protocol):
    """Published workflows, drafts, and the offers of remote tasks."""


class Catalog:
    """Names to versions. A version never changes once it is published."""

    def __init__(
        self, versions: CatalogRows, flows: FlowCache, owners: Owners, tasks: Mapping[str, Task]
    ) -> None:
        self._versions, self._flows, self._owners, self._tasks = versions, flows, owners, tasks

    async def publish(
        self,
        definition: Source,
        note: str | None = None,
        start: bool | None = None,
        again: bool = True,
        override: str | None = None,
    ) -> Version:
        """The next version; with `again` False the newest one where nothing changed.

        The first publish starts a workflow whose source is `api`, and others where `start` says so. With a reason to
        `override` also what the checks refute. Raises DefinitionError, CheckFailed.
        """
        loaded = load(definition, self._tasks, elsewhere=await offers_by_task(self._versions))
        if override is None:
            reject_errors(loaded)
        else:
            note = f"{note} (over errors: {override})" if note else f"over errors: {override}"
        return await self.put(loaded, text_of(definition, loaded), note, start, again)

    async def put(
        self, loaded: Loaded, text: str, note: str | None, start: bool | None, again: bool = True
    ) -> Version:
        """The same with a text that was read and checked before."""
        new = _version_of(loaded, text, note, start, again)
        self._owners.authorize(new.workflow)
        version = await self._flows.changed_by(
            self._versions.publish(new, None, audit_for(new.workflow, after=text))
        )
        assert version is not None, "nothing was expected of the one before"
        return version

    async def put_draft(
        self,
        loaded: Loaded,
        text: str,
        note: str | None,
        start: bool | None,
        again: bool,
        expect: Collection[str] | None,
        before: str | None = None,
    ) -> Version | None:
        """The same where the draft is one of those expected, else None; it is then no draft any more.

        With `start` also a workflow that is there already is started. `before`: what the newest version says, for
        the record.
        """
        self._owners.authorize(loaded.flow.name)
        new = replace(_version_of(loaded, text, note, start, again), restart=bool(start), draft=True)
        audit = audit_for(new.workflow, before, text)
        return await self._flows.changed_by(self._versions.publish(new, expect, audit))


def _version_of(loaded: Loaded, text: str, note: str | None, start: bool | None, again: bool) -> NewVersion:
    source = loaded.definition.source
    calls = source is None or source.kind == "api"
    return NewVersion(
        workflow=loaded.flow.name,
        definition=text,
        offers=encode_offers(loaded.flow, loaded.offers),
        note=note,
        start=calls if start is None else start,
        again=again,
    )


def text_of(source: Source, loaded: Loaded) -> str:
    """The definition as its author wrote it; what was no text is written as YAML."""
    if isinstance(source, Path):
        return read_text(source)
    if isinstance(source, str):
        return source if "\n" in source or not source.endswith(SUFFIXES) else read_text(Path(source))
    return write_yaml(loaded.definition)
