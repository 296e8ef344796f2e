"""One action on many runs: those that match a filter and allow it, batch by batch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from penstock.flow.errors import PenstockError
from penstock.flow.model.run import STATUSES
from penstock.runtime.commands.commands import Commands
from penstock.runtime.commands.verbs import VERBS, BulkAction
from penstock.runtime.errors import Conflict, Invalid
from penstock.runtime.queries.run_lists import place_of
from penstock.store.errors import StoreError
from penstock.store.protocol import RunViews
from penstock.store.rows.rows import Filter

MAX_BATCH = 100
MAX_RUNS = 10_000
"""Runs that one call acts on; callers repeat the call for more."""

MAX_SHOWN_ERRORS = 20


class Progress(Struct):
    """The progress. `refused`: the run had advanced meanwhile; `errors` are the first few of all others."""

    action: str
    count: int = 0  # matching runs, as far as they were read
    done: int = 0
    refused: int = 0
    failed: int = 0
    errors: list[dict[str, str]] = field(default_factory=list)
    more: bool = False  # there are runs left that were not looked at
    made: list[str] = field(default_factory=list)  # runs that `rerun` made


def applicable(filter: Filter, action: str) -> Filter | None:
    """The filter narrowed to runs that the action can be done to; None: there are none. Raises Invalid."""
    verb = VERBS.get(action)
    if verb is None or not verb.bulk:
        raise Invalid(f"'{action}' cannot be done to many runs: say {', '.join(get_args(BulkAction))}")
    asked = filter.statuses or STATUSES
    statuses = tuple(status for status in verb.bulk if status in asked)
    return replace(filter, statuses=statuses, sort="newest", after=None) if statuses else None


async def preview(store: RunViews, filter: Filter, action: str) -> dict[str, Any]:
    """How many runs it would be done to, by status."""
    narrowed = applicable(filter, action)
    counts = {} if narrowed is None else await store.count(narrowed)
    return {"action": action, "count": sum(counts.values()), "statuses": counts}


async def act_on_many(
    store: RunViews, commands: Commands, filter: Filter, action: str, most: int = MAX_RUNS, **more: Any
) -> AsyncIterator[Progress]:
    """Act, newest first, and yield the progress after every batch. Runs that start meanwhile are not affected."""
    progress = Progress(action)
    narrowed = applicable(filter, action)
    until = await store.now() + timedelta(microseconds=1)
    if filter.until is not None:
        until = min(until, filter.until)
    left = min(most, MAX_RUNS)
    while narrowed is not None and left > 0:
        page = replace(narrowed, until=until, limit=min(MAX_BATCH, left) + 1)
        try:
            rows = await store.runs(page)
        except StoreError as error:
            if not progress.count:
                raise
            # Report what was done so far: repeating all of it would do some of it twice.
            progress.more = True
            progress.errors.append({"run": "", "code": error.code, "message": str(error)})
            yield progress
            return
        batch = rows[: page.limit - 1]
        do = partial(getattr(commands, action), **more)
        await asyncio.gather(*(_one(progress, do, row.id) for row in batch))
        left -= len(batch)
        progress.count += len(batch)
        progress.more = len(rows) > len(batch)
        yield progress
        if not progress.more:
            return
        place = place_of(batch[-1], narrowed)
        narrowed = replace(narrowed, after=(place.at, place.run))
    yield progress


async def _one(progress: Progress, do: Callable[[str], Awaitable[Any]], run: str) -> None:
    """One run that cannot be acted on must not stop the others."""
    try:
        made = await do(run)
        progress.done += 1
        if made is not None:
            progress.made.append(made)
    except Conflict:
        progress.refused += 1
    except PenstockError as error:
        progress.failed += 1
        if len(progress.errors) < MAX_SHOWN_ERRORS:
            progress.errors.append({"run": run, "code": error.code, "message": str(error)})
