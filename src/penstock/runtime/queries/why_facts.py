"""Gathers from the store the facts that `why` needs."""

from __future__ import annotations

from typing import Any, Protocol

from penstock.runtime.codec.decoder import CorruptRecord
from penstock.runtime.codec.messages import decode_message
from penstock.runtime.commands.validation import validate_step
from penstock.runtime.node.run_cache import CachedRun
from penstock.runtime.queries.why import Facts, why_list, why_run
from penstock.store.protocol import InboundEvents, Runs, RunViews, TaskViews

MAX_REFUSED_KEYS = 1000
"""Refused keys of all runs that are searched."""


class RunFacts(InboundEvents, Runs, RunViews, TaskViews, Protocol):
    """All that can delay a run."""


async def ask_why(store: RunFacts, live: CachedRun, step: str | None = None) -> dict[str, Any]:
    """Why a run, or one step of it, makes no progress. Raises Invalid if there is no such step."""
    validate_step(live.flow, step)
    run = live.snapshot.run.id
    waits = await store.waits(run)
    holders = sorted({holder for lock in waits.locks for holder in lock.holders})
    facts = Facts(
        now=await store.now(),
        tasks=await store.tasks(run),
        timers=[(due, _read(body)) for due, body in waits.timers],
        locks=waits.locks,
        paused=[each.run for each in await store.states(holders) if each.status == "paused"],
        workers=await store.workers(),
        queues=await store.queues() if live.snapshot.elements else (),
        refused=await _refused(store, run) if live.snapshot.keys else (),
    )
    return {"run": run, **why_run(live.flow, live.snapshot, facts, step)}


async def _refused(store: RunFacts, run: str) -> list[tuple[str, str, str]]:
    rows = await store.refused(MAX_REFUSED_KEYS)
    return [(name, value, holder) for name, value, asker, holder in rows if asker == run]


async def ask_why_list(store: RunFacts, task_list: str) -> dict[str, Any]:
    """Why a task list does not move."""
    facts = Facts(now=await store.now(), workers=await store.workers(), queues=await store.queues())
    return why_list(task_list, facts)


def _read(body: bytes) -> Any:
    """What a timer says; one that cannot be read says nothing."""
    try:
        return decode_message(body)
    except CorruptRecord:
        return None
