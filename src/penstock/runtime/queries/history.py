"""The history of a run, read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any, Protocol

from msgspec.structs import replace

from penstock.flow.model.plan import Entry
from penstock.flow.views.run_view import history_view
from penstock.runtime.codec.decoder import Ref, decode, decode_page, refs_of
from penstock.store.protocol import Runs, RunViews

DEFAULT_PAGE = 500
MAX_PAGE_BYTES = 2 * 1024 * 1024
"""Bytes of payloads that one page reads: a thousand large ones for each reader would fill the memory."""
MAX_PAYLOADS_PER_READ = 16
"""Payloads that are fetched at once, because their sizes are unknown."""


class Histories(Runs, RunViews, Protocol):
    """Runs, what happened to them, and how long they waited for a worker."""


async def read_history(
    store: Runs, run: str, after: int = 0, limit: int | None = None
) -> AsyncIterator[Entry]:
    """Entries after `after`, in order, at most `limit`; what is added meanwhile is read too."""
    async for entries in _pages(store, run, after, limit):
        for entry in entries:
            yield entry


async def show_history(
    store: Histories, run: str, after: int = 0, limit: int | None = None
) -> AsyncIterator[dict[str, Any]]:
    """The same as people and programs read it, with the time at which a worker began what ended."""
    async for entries in _pages(store, run, after, limit):
        for item in history_view(entries, await _begun(store, run, entries)):
            yield item


async def show_page(store: Histories, run: str, after: int, limit: int) -> tuple[list[dict[str, Any]], bool]:
    """At most `limit` entries, as people read them, fewer where they are large; and whether there are more."""
    items: list[dict[str, Any]] = []
    full = False
    while len(items) <= limit and not full:
        entries, full = await _some(store, run, after, min(DEFAULT_PAGE, limit + 1 - len(items)))
        if not entries:
            break
        items += history_view(entries, await _begun(store, run, entries))
        after = entries[-1].seq
    return items[:limit], full or len(items) > limit


async def _begun(store: Histories, run: str, entries: Sequence[Entry]) -> dict[int, datetime]:
    """By the number of the entry that tells an attempt's end. None of one that did not wait for a worker."""
    ends = [entry for entry in entries if entry.kind in ("ended", "attempt") and entry.attempt is not None]
    firings = sorted({entry.firing for entry in ends if entry.firing is not None})
    rows = await store.timings([run], firings=firings) if firings else []
    begun = {(row.firing, row.attempt): row.started_at for row in rows}
    found = [(entry, begun.get((entry.firing or 0, entry.attempt or 0))) for entry in ends]
    # The end is by the node's guess of the store's time, which may lag behind it by a millisecond.
    return {entry.seq: min(at, entry.at) for entry, at in found if at is not None}


async def _pages(store: Runs, run: str, after: int, limit: int | None) -> AsyncIterator[list[Entry]]:
    left = limit
    while left is None or left > 0:
        want = DEFAULT_PAGE if left is None else min(left, DEFAULT_PAGE)
        entries, _ = await _some(store, run, after, want)
        if not entries:
            return
        yield entries[:left]
        after = entries[-1].seq
        left = None if left is None else left - len(entries)


async def _some(store: Runs, run: str, after: int, limit: int) -> tuple[list[Entry], bool]:
    """The next entries, enough for `limit` or as many as there is room for; whether it is the room that ends them."""
    pages = await store.pages(run, after, limit)
    entries = [entry for page in pages for entry in decode_page(page) if entry.seq > after]
    whole = await _filled(store, run, entries)
    return whole, len(whole) < len(entries)


async def _filled(store: Runs, run: str, entries: Sequence[Entry]) -> list[Entry]:
    """The first entries with their payloads: one, or as many as weigh no more than there is room for."""
    due = list(dict.fromkeys(refs_of(entries)))
    found: dict[bytes, tuple[Any, int]] = {}  # the first of those that are due
    whole: list[Entry] = []
    left = MAX_PAGE_BYTES
    for entry in entries:
        if isinstance(entry.data, Ref):
            if entry.data.digest not in found:
                found |= await _fetched(store, run, due[len(found) :][:MAX_PAYLOADS_PER_READ])
            value, size = found[entry.data.digest]
            left -= size
            if left < 0 and whole:
                break
            entry = replace(entry, data=value)
        whole.append(entry)
    return whole


async def _fetched(store: Runs, run: str, digests: Sequence[bytes]) -> dict[bytes, tuple[Any, int]]:
    """Payloads and their sizes; None for one that no longer exists."""
    bodies = await store.payloads([(run, digest) for digest in digests])
    found = {digest: bodies.get((run, digest)) for digest in digests}
    return {
        digest: (None, 0) if body is None else (decode(body), len(body)) for digest, body in found.items()
    }
