"""The list of sources: which are read, by which node, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from penstock.flow.views.run_view import time_text
from penstock.runtime.node.node import Node
from penstock.sources.triggers.lease import TRIGGER_PREFIX, Record, read_record, trigger_of
from penstock.store.protocol import Tokens
from penstock.store.rows.rows import TokenRow, WorkflowState

MAX_PAGE = 500
RETRY_NOTE = "It is tried again by itself."
HINTS = {
    "topic": "See that the broker answers at the address under `buses`, with the right secret.",
    "object": "See that the object store answers and lets Penstock in: `penstock doctor` tries it.",
    "search": "Check that the search service answers, and that its index exists.",
    "schedule": "See that the workflow can start with what its schedule gives: start it once by hand.",
    "backfill": "See that the workflow can start with what its schedule gives; `penstock backfill --cancel` ends it.",
}
"""What to do about a source that fails, by its kind."""


async def list_triggers(node: Node) -> list[dict[str, Any]]:
    """Everything that was ever fed, by workflow: its source, the topics of its outside events, its backfill."""
    states = {state.name: state for state in await node.flows.states()}
    found = []
    for row in await trigger_rows(node.store):
        record, (workflow, what, event) = read_record(row), trigger_of(row.name)
        state = states.get(workflow)
        if record is not None and state is not None:
            found.append(_trigger_view(state, what, event, record, row))
    return found


async def list_failing(node: Node) -> list[dict[str, Any]]:
    """Those of them that should be fed, and fail."""
    return [trigger for trigger in await list_triggers(node) if trigger["state"] == "failing"]


async def all_records(store: Tokens) -> dict[str, Record]:
    """What is kept of all feeds, by the names of their tokens."""
    read = ((row.name, read_record(row)) for row in await trigger_rows(store))
    return {name: record for name, record in read if record is not None}


def _trigger_view(
    state: WorkflowState, what: str, event: str | None, record: Record, row: TokenRow
) -> dict[str, Any]:
    wrong = record.error is not None and (state.started or what != "source")  # else nobody tries
    return {
        "workflow": state.name,
        "what": what,
        "event": event,
        "kind": record.kind,
        "state": "failing" if wrong else "fed" if row.owner is not None else "idle",
        "node": row.owner,
        "progress": record.state,
        "error": record.error if wrong else None,
        "error_at": time_text(record.error_at) if wrong else None,
        "failures": record.failures if wrong else 0,
        "hint": f"{HINTS.get(record.kind, 'See what the error says.')} {RETRY_NOTE}" if wrong else None,
    }


async def trigger_rows(store: Tokens) -> list[TokenRow]:
    """The tokens of all feeds, by name."""
    found: list[TokenRow] = []
    while rows := await store.tokens(TRIGGER_PREFIX, found[-1].name if found else "", MAX_PAGE):
        found += rows
    return found
