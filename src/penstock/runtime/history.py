"""The history of a run, read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from penstock.flow.plan import Entry
from penstock.flow.view import history_view
from penstock.runtime.codec.pages import decode_page, refs_of
from penstock.runtime.codec.payloads import Ref, decode
from penstock.store.change import WHOLE
from penstock.store.protocol import Runs, Store

PAGE = 500


async def read_history(
    store: Runs, run: str, after: int = 0, limit: int | None = None
) -> AsyncIterator[Entry]:
    """Entries after `after`, in order, at most `limit`; what is added meanwhile is read too."""
    async for entries in _pages(store, run, after, limit):
        for entry in entries:
            yield entry


async def show_history(
    store: Store, run: str, after: int = 0, limit: int | None = None
) -> AsyncIterator[dict[str, Any]]:
    """The same as people and programs read it, with the time at which a worker began what ended."""
    async for entries in _pages(store, run, after, limit):
        for item in history_view(entries, await _begun(store, run, entries)):
            yield item


async def _begun(store: Store, run: str, entries: Sequence[Entry]) -> dict[int, datetime]:
    """By the number of the entry that tells an attempt's end. None of one that did not wait for a worker."""
    ends = [entry for entry in entries if entry.kind in ("ended", "attempt") and entry.attempt is not None]
    rows = await store.timings([run]) if ends else []
    begun = {(row.firing, row.attempt): row.started_at for row in rows if row.index == WHOLE}
    found = {entry.seq: begun.get((entry.firing or 0, entry.attempt or 0)) for entry in ends if begun}
    return {seq: at for seq, at in found.items() if at is not None}


async def _pages(store: Runs, run: str, after: int, limit: int | None) -> AsyncIterator[list[Entry]]:
    left = limit
    while left is None or left > 0:
        want = PAGE if left is None else min(left, PAGE)
        entries = await _some(store, run, after, want)
        if not entries:
            return
        yield entries[:left]
        after = entries[-1].seq
        left = None if left is None else left - len(entries)


async def _some(store: Runs, run: str, after: int, limit: int) -> list[Entry]:
    pages = await store.pages(run, after, limit)
    entries = [entry for page in pages for entry in decode_page(page) if entry.seq > after]
    digests = set(refs_of(entries))
    if not digests:
        return entries
    bodies = await store.payloads([(run, digest) for digest in digests])
    values = {digest: decode(body) for (_, digest), body in bodies.items()}
    return [
        replace(entry, data=values.get(entry.data.digest)) if isinstance(entry.data, Ref) else entry
        for entry in entries
    ]
