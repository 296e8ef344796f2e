"""The history of a run, read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator

from msgspec.structs import replace

from penstock.flow.plan import Entry
from penstock.runtime.codec.pages import decode_page, refs_of
from penstock.runtime.codec.payloads import Ref, decode
from penstock.store.protocol import Runs

PAGE = 500


async def read_history(
    store: Runs, run: str, after: int = 0, limit: int | None = None
) -> AsyncIterator[Entry]:
    """Entries after `after`, in order, at most `limit`; what is added meanwhile is read too."""
    left = limit
    while left is None or left > 0:
        want = PAGE if left is None else min(left, PAGE)
        entries = await _some(store, run, after, want)
        if not entries:
            return
        for entry in entries[:left]:
            yield entry
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
