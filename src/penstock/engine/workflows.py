"""The part of the engine for workflows: publish them, pause them, start and stop their sources."""

from __future__ import annotations

from typing import Any, Protocol

from penstock.engine.authoring.loader import Source
from penstock.engine.authoring.publication import Catalog
from penstock.flow.model.run import Pauser
from penstock.flow.model.run_input import Paused, Resumed
from penstock.runtime.codec.messages import encode_message
from penstock.runtime.commands.validation import validate_texts
from penstock.runtime.errors import UnknownWorkflow
from penstock.runtime.node.audit_context import audit_for
from penstock.runtime.node.node import Node
from penstock.store.protocol import Notifier, WorkflowVersions


class WorkflowRows(WorkflowVersions, Notifier, Protocol):
    """Published workflows, and hints for other nodes."""


class Workflows:
    """Publishes workflows, and starts, stops, pauses and resumes them."""

    def __init__(self, store: WorkflowRows, node: Node, catalog: Catalog) -> None:
        self._store, self._node, self._catalog = store, node, catalog

    async def publish(
        self,
        definition: Source,
        *,
        note: str | None = None,
        start: bool | None = None,
        again: bool = True,
        override: str | None = None,
    ) -> int:
        """Publish a definition (YAML or JSON text, a path, or a plain map); its version, 1, 2, 3 …

        With `again=False` a text that is the newest version already makes no other: for programs that publish
        whenever they start.

        Raises DefinitionError where it cannot be read and CheckFailed where the checks find an error, unless
        `override` says why it is published all the same.
        """
        return (await self._catalog.publish(definition, note, start, again, override)).version

    async def workflows(self) -> list[dict[str, Any]]:
        """Every workflow: name, newest version, whether it is started and whether it is paused."""
        states = await self._node.flows.states()
        return [
            {
                "name": each.name,
                "published_version": each.latest,
                "started": each.started,
                "paused": each.paused or each.halted,
            }
            for each in states
        ]

    async def start_source(self, workflow: str) -> None:
        """Let the source of a workflow make runs."""
        await self._set_started(workflow, True)

    async def stop_source(self, workflow: str) -> None:
        """Stop a workflow's source. Active runs finish."""
        await self._set_started(workflow, False)

    async def pause_workflow(self, workflow: str | None = None) -> None:
        """Dispatch nothing new of a workflow, or (None) of the installation, until it is resumed."""
        if workflow is not None:
            self._node.owners.authorize(workflow)
        await self._set_paused(workflow, True)

    async def resume_workflow(self, workflow: str | None = None) -> None:
        """End the pause of a workflow or of the installation."""
        await self._set_paused(workflow, False)

    async def _set_started(self, workflow: str, started: bool) -> None:
        validate_texts(workflow=workflow)
        self._node.owners.authorize(workflow)
        change = self._store.set_started(workflow, started, audit_for(workflow))
        if not await self._node.flows.changed_by(change):
            raise UnknownWorkflow(workflow, [each.name for each in await self._node.flows.states()])

    async def _set_paused(self, workflow: str | None, paused: bool) -> None:
        validate_texts(workflow=workflow)
        by: Pauser = "installation" if workflow is None else "workflow"
        word, opposite = (Paused(by), Resumed(by)) if paused else (Resumed(by), Paused(by))
        audit = audit_for(workflow or "everything")
        change = self._store.set_paused(
            workflow, paused, encode_message(word), encode_message(opposite), audit
        )
        try:
            known = await self._node.flows.changed_by(change)
        finally:
            self._node.timers.look()  # the held runs hear of it, also where the outcome is unknown
        if not known:
            raise UnknownWorkflow(workflow or "", [each.name for each in await self._node.flows.states()])
        await self._store.notify("messages")
