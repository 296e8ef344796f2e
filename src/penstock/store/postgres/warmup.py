"""Warm-up: before its first run, a node executes the statements of single runs on no rows.

PostgreSQL plans a statement anew for the values of each of its first five calls on a connection, and keeps a plan only
then. Those that write a whole step are long: to plan one takes as long as to carry it out, and the first runs after a
start would take twice as long as all others.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import asyncpg

from penstock.store.postgres.commit.commit import advance_values, begin_values
from penstock.store.postgres.database import Work

CALLS_PER_STATEMENT = 6
"""Five for the values alone, and one that makes the plan that stays."""

WARMUP_TIMEOUT = 1.0
"""Seconds after which a connection is given up that does not answer."""


async def call_in_vain(connection: Any) -> None:
    """Call what makes and moves single runs. Nothing is written; where it cannot be done, the first runs are slower."""
    transaction = connection.transaction()
    try:
        async with asyncio.timeout(WARMUP_TIMEOUT):
            await transaction.start()
            with contextlib.suppress(asyncpg.PostgresError):
                await _call(connection)
            await transaction.rollback()
    except TimeoutError:
        connection.terminate()  # who rolls back would wait as long again


async def _call(connection: Any) -> None:
    # Who has a table to himself must not keep a node from its start.
    await connection.execute("SET LOCAL lock_timeout = '50ms'")
    work = Work(connection)
    for _ in range(CALLS_PER_STATEMENT):
        await work.rows("begin_runs", **begin_values([], []))
        await work.rows("advance_runs", **advance_values([]))
