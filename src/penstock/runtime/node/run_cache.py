"""Cached runs, so that a node need not read a run before every decision."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import Snapshot
from penstock.flow.values.payload import is_storable
from penstock.runtime.codec.decoder import Stored
from penstock.runtime.codec.encoder import HeadEncoder, Packer
from penstock.runtime.node.flow_cache import FlowCache
from penstock.store.errors import StoreError
from penstock.store.protocol import Runs
from penstock.store.rows.change import NewTask
from penstock.store.rows.rows import StoredRun

MAX_CACHED_RUNS = 5_000
"""Runs that are cached. Most have a few kilobytes; those that sleep for weeks need no place."""

MAX_CACHED_BYTES = 32 * 1024 * 1024
"""Maximum encoded bytes of large cached runs. Elements of `each` are not counted."""


class CachedRun:
    """One run as this node knows it. By its revision the store detects a stale copy."""

    __slots__ = ("encode", "first", "flow", "pack", "snapshot", "state")

    def __init__(self, flow: Flow, snapshot: Snapshot, pack: Packer | None = None) -> None:
        self.flow, self.snapshot = flow, snapshot
        self.pack = Packer() if pack is None else pack
        self.encode = HeadEncoder(self.pack)
        self.state: bytes | None = None  # its head, if equal runs share it
        # The tasks of a run that was created here and not decided since.
        self.first: tuple[NewTask, ...] | None = None


class RunCache:
    """The runs used last. If other nodes write, a copy may be stale; its commit detects that."""

    def __init__(self, store: Runs, flows: FlowCache, max_runs: int = MAX_CACHED_RUNS) -> None:
        self._store, self._flows, self._max_runs = store, flows, max_runs
        self._runs: OrderedDict[str, CachedRun] = OrderedDict()
        self._weights: OrderedDict[str, int] = OrderedDict()  # of those that are large, in the same order
        self._weight = 0

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, run: str) -> CachedRun | None:
        return self._runs.get(run)

    def keep(self, run: str, live: CachedRun) -> None:
        """Remember a run, and forget the one not used for longest."""
        runs = self._runs
        runs[run] = live
        runs.move_to_end(run)
        weight = live.pack.weight
        if weight or run in self._weights:
            self._weigh(run, weight)
        if len(runs) > self._max_runs:
            self.forget(next(iter(runs)))

    def offer(self, run: str, live: CachedRun) -> None:
        """Cache an active run that was only read, if it is newer than the cached one.

        Only where others write, too, and each commit finds out whether what it was decided from is old.
        """
        known = self._runs.get(run)
        newer = known is None or known.snapshot.revision < live.snapshot.revision
        if newer and not live.snapshot.ended:
            self.keep(run, live)

    def _weigh(self, run: str, weight: int) -> None:
        """Forget what is large and was not used for longest, where it is too much together; never the last of all."""
        self._weight += weight - self._weights.pop(run, 0)
        self._weights[run] = weight
        while self._weight > MAX_CACHED_BYTES and len(self._weights) > 1:
            self.forget(next(iter(self._weights)))

    def forget(self, run: str) -> None:
        self._runs.pop(run, None)
        if self._weights:
            self._weight -= self._weights.pop(run, 0)

    async def fetch(
        self, runs: Sequence[str], remember: bool = False
    ) -> dict[str, CachedRun | BaseException]:
        """Read runs from the store; one that cannot be read comes as the error, one that is not there not at all.

        Only who decides about the runs may have them remembered: what others read may be old by now (see `offer`).
        """
        found: dict[str, CachedRun | BaseException] = {}
        halves: list[tuple[StoredRun, Stored]] = []
        runs = [run for run in runs if is_storable(run)]
        for row in await self._store.load(runs) if runs else ():
            if row is None:
                continue
            try:
                halves.append((row, Stored(row.header, row.head, row.parts)))
            except Exception as error:
                found[row.run] = error
        refs = [(row.run, digest) for row, half in halves for digest in half.refs()]
        bodies: dict[str, dict[bytes, bytes]] = {}
        for (run, digest), body in (await self._store.payloads(refs) if refs else {}).items():
            bodies.setdefault(run, {})[digest] = body
        for row, half in halves:
            try:
                found[row.run] = live = await self._live(half, bodies.get(row.run, {}))
                if remember:
                    self.keep(row.run, live)
            except StoreError:
                raise  # the database is unavailable: nothing is wrong with the run
            except Exception as error:
                found[row.run] = error
        return found

    async def _live(self, half: Stored, bodies: dict[bytes, bytes]) -> CachedRun:
        pack = Packer()
        snapshot = half.snapshot(bodies, pack)
        flow = await self._flows.get(snapshot.run.workflow, snapshot.run.version)
        return CachedRun(flow, snapshot, pack)
