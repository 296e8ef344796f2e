"""A limit holds under every plan.

A plan that was made while a table was empty is kept. It may join by a nested loop, which runs what is joined again for
each row: a limit inside of it would then count anew.
"""

from __future__ import annotations

from penstock.store.postgres.store import PostgresStore
from penstock.store.rows.change import Post
from penstock.store.rows.rows import ClaimRequest, TokenChange
from tests.postgres_server import PostgresServer
from tests.store.postgres.making import BEGAN, MINUTE, moved, name, started, task, with_store

RUN, MANY, FEW = name(1), 40, 7
KEPT = 8
"""Executions after which PostgreSQL keeps the plan of a statement."""


def test_st4_no_more_is_handed_out_than_was_asked_for(url: str, server: PostgresServer) -> None:
    database = url.rpartition("/")[2]

    async def take(store: PostgresStore) -> list[int]:
        due = await store.due(FEW, MINUTE)
        leased = await store.lease(_wish("amy", "default"))
        more = await store.lease(_wish("ben", "default", "other"))
        tokens = await store.claim_tokens("amy", "/custom/", MINUTE, FEW)
        server.query("UPDATE task SET expires = now() - interval '1 minute'", database)
        late = await store.due(FEW, MINUTE)
        return [len(due.timers), len(due.messages), len(leased), len(more), len(tokens), len(late.tasks)]

    async def main(store: PostgresStore) -> list[int]:
        server.query("VACUUM ANALYZE", database)
        for _ in range(KEPT):
            assert await take(store) == [0] * 6
        await store.commit([started(RUN, tasks=tuple(task(n) for n in range(1, MANY)))])
        await store.commit([moved(RUN, 1, timers=tuple((BEGAN, b"timer") for _ in range(MANY)))])
        await store.commit([moved(RUN, 2, posts=tuple(Post(RUN, b"message") for _ in range(MANY)))])
        server.query("UPDATE message SET ready_at = now() - interval '1 minute'", database)
        await store.change_tokens([TokenChange(name=f"/custom/{n}") for n in range(MANY)])
        return await take(store)

    assert with_store(url, main) == [FEW] * 6


def _wish(worker: str, *lists: str) -> ClaimRequest:
    return ClaimRequest(worker=worker, task_lists=lists, tasks=("t",), limit=FEW)
