"""Published workflows of an engine in memory: versions, checked and compiled once."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.engine.checking import refuse_errors
from penstock.engine.loading import Source, load
from penstock.flow.compile import Flow
from penstock.runtime.errors import UnknownWorkflow
from penstock.workers.task import Task


class Catalog:
    """Names to versions. A version never changes once it is published."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = tasks
        self._flows: dict[str, list[Flow]] = {}

    def publish(self, definition: Source) -> Flow:
        """The next version. Raises DefinitionError, CheckFailed."""
        loaded = load(definition, self._tasks)
        refuse_errors(loaded)
        versions = self._flows.setdefault(loaded.flow.name, [])
        flow = loaded.flow.as_version(len(versions) + 1)
        versions.append(flow)
        return flow

    def flow(self, name: str, version: int | None = None) -> Flow:
        """A version, the newest by default. Raises UnknownWorkflow."""
        versions = self._flows.get(name)
        if not versions:
            raise UnknownWorkflow(name, self._flows)
        return versions[-1 if version is None else version - 1]
