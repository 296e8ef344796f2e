"""Jobs of functions that are being polled, stored so that a job survives the node of its attempt."""

from __future__ import annotations

import logging

from penstock.runtime.node.run_cache import CachedRun, RunCache
from penstock.store.errors import StoreError
from penstock.store.protocol import Notes
from penstock.workers.context import Context

PREFIX = "http-job/"

log = logging.getLogger("penstock.boxes")


class Jobs:
    """See `boxes.job_poll.Jobs`. An unavailable database costs at most one call, never the step."""

    def __init__(self, store: Notes, run_cache: RunCache) -> None:
        self._store, self._memory = store, run_cache

    async def known(self, ctx: Context) -> str | None:
        try:
            return (await self._store.notes(_name(ctx))).get(_name(ctx))
        except StoreError as error:
            log.warning("a job may be begun again: %s", error)
            return None

    async def keep(self, ctx: Context, said: str) -> None:
        await self._put(_name(ctx), said)

    async def forget(self, ctx: Context) -> None:
        await self._put(_name(ctx), None)

    async def sweep(self) -> None:
        """Forget the jobs of runs that ended or no longer exist."""
        try:
            names = list(await self._store.notes(PREFIX))
            found = await self._memory.fetch([_run_of(name) for name in names])
            for name in names:
                live = found.get(_run_of(name))
                if live is None or (isinstance(live, CachedRun) and live.snapshot.ended):
                    await self._put(name, None)
        except StoreError as error:
            log.info("old jobs are forgotten another time: %s", error)

    async def _put(self, name: str, said: str | None) -> None:
        try:
            await self._store.put_note(name, said)
        except StoreError as error:
            log.warning("where a job is asked about was not noted: %s", error)


def _name(ctx: Context) -> str:
    return f"{PREFIX}{ctx.run['id']}/{ctx.idempotency_key}"


def _run_of(name: str) -> str:
    return name.removeprefix(PREFIX).partition("/")[0]
