"""The list of workflows: drafts and published ones together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from penstock.engine.services import EngineServices
from penstock.flow.views.run_view import time_text
from penstock.runtime.queries.row_views import count_view
from penstock.store.rows.drafts import DraftLine
from penstock.store.rows.rows import RunsByWorkflow, WorkflowState


class Listing:
    """Lists workflows page by page. A version never changes, so it is read once."""

    def __init__(self, running: EngineServices) -> None:
        self._running = running
        self._known: dict[tuple[str, int], tuple[str | None, datetime]] = {}

    async def page(
        self,
        *,
        q: str = "",
        after: str = "",
        limit: int = 50,
        sees: Callable[[str], bool] = lambda name: True,
    ) -> list[dict[str, Any]]:
        """Workflows by name, those after one that have `q` in their name or title."""
        store = self._running.store
        states = {state.name: state for state in await self._running.node.flows.states()}
        drafts = {draft.workflow: draft for draft in await store.drafts()}
        names = sorted(name for name in states.keys() | drafts.keys() if name > after and sees(name))
        items: list[dict[str, Any]] = []
        for name in names:
            item = await self._item(name, states.get(name), drafts.get(name))
            if q.casefold() in f"{name}\n{item['title'] or ''}".casefold():
                items.append(item)
            if len(items) >= limit:
                break
        counts: dict[str, dict[str, int]] = {item["name"]: {} for item in items}
        for count in await store.counts(RunsByWorkflow(tuple(counts))):
            counts[count.workflow][count.status] = count.number
        return [{**item, "runs": count_view(counts[item["name"]])} for item in items]

    async def _item(self, name: str, state: WorkflowState | None, draft: DraftLine | None) -> dict[str, Any]:
        if draft is not None:
            title, at = draft.title, draft.at
        else:
            assert state is not None, "a name is that of a draft or of a version"
            title, at = await self._version(state)
        return {
            "name": name,
            "title": title,
            "published_version": state and state.latest,
            "started": state is not None and state.started,
            "paused": state is not None and (state.paused or state.halted),
            "changed": draft is not None and draft.changed,
            "updated_at": time_text(at),
            "updated_by": draft and draft.author,
        }

    async def _version(self, state: WorkflowState) -> tuple[str | None, datetime]:
        key = (state.name, state.latest)
        if key not in self._known:
            flow = await self._running.node.flows.get(*key)
            [line] = await self._running.store.versions(state.name, state.latest + 1, 1)
            self._known[key] = flow.definition.title, line.at
        return self._known[key]
