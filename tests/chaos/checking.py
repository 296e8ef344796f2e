"""What must be true when all is over: each promise has its own checker."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Snapshot
from penstock.flow.views.replay import BrokenHistory, fold
from penstock.runtime.node.flow_cache import FlowCache
from penstock.runtime.node.run_cache import CachedRun, RunCache
from penstock.runtime.queries.history import read_history
from penstock.store.protocol import Store
from penstock.store.rows.rows import Filter
from tests.waiting import within

STEPS = ("take", "left", "right", "rest", "join")
TASKS = ("take", "left", "right", "join")
REST = timedelta(milliseconds=300)
"""How long `rest` waits."""
BOUND = 180.0
"""Seconds after the last fault within which everything must have ended."""


class Ran(Struct, frozen=True):
    """A run with all that happened to it."""

    flow: Flow
    snapshot: Snapshot
    history: list[Entry]

    @property
    def number(self) -> int:
        return int(self.snapshot.run.input["number"])


Runs = Mapping[str, Ran]


async def read_runs(store: Store, workflow: str = "carry") -> dict[str, Ran]:
    """Every run of a workflow that is in the store."""
    ids = [row.id for row in await store.runs(Filter(workflow=workflow, limit=1_000_000))]
    found = await RunCache(store, FlowCache(store, shared=True)).fetch(ids)
    runs: dict[str, Ran] = {}
    for id in ids:
        live = found[id]
        assert isinstance(live, CachedRun), f"run {id} cannot be read: {live}"
        runs[id] = Ran(live.flow, live.snapshot, [entry async for entry in read_history(store, id)])
    return runs


async def all_ended(store: Store, bound: float = BOUND) -> float:
    """Seconds until no run is under way; the bound where some still are."""
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def ended() -> bool:
        counts = await store.count(Filter())
        return not any(counts.get(status) for status in ("running", "waiting", "stalled"))

    await within(bound, ended, pause=0.2)
    return loop.time() - began


def lost(runs: Runs, acknowledged: Mapping[int, str]) -> Iterator[str]:
    """C1: what a caller was told is there, and came to its end with its own number."""
    for number, run in acknowledged.items():
        ran = runs.get(run)
        if ran is None:
            yield f"number {number}: run {run} was acknowledged and is not there"
        elif ran.number != number:
            yield f"number {number}: run {run} carries {ran.number}"
        elif (ran.snapshot.status, ran.snapshot.result) != ("succeeded", number):
            yield f"number {number}: run {run} {ran.snapshot.status} with {ran.snapshot.result}"


def doubled(runs: Runs, acknowledged: Mapping[int, str]) -> Iterator[str]:
    """C3 and C7: each number is there once, each step fired once, each firing ended once."""
    for number, count in Counter(ran.number for ran in runs.values()).items():
        if count > 1:
            yield f"number {number} is there {count} times"
    for id, ran in runs.items():
        fired = [entry for entry in ran.history if entry.kind == "fired"]
        ended = Counter(entry.firing for entry in ran.history if entry.kind == "ended")
        steps = Counter(entry.step for entry in fired)
        if any(steps[step] > 1 for step in STEPS) or any(count > 1 for count in ended.values()):
            yield f"run {id}: steps fired {dict(steps)}, firings ended {dict(ended)}"


def stuck(runs: Runs, acknowledged: Mapping[int, str]) -> Iterator[str]:
    """C4: every run has ended, and each of its steps."""
    for id, ran in runs.items():
        ended = sorted(str(entry.step) for entry in ran.history if entry.kind == "ended")
        if not ran.snapshot.ended or ended != sorted(STEPS):
            yield f"run {id} of number {ran.number} is {ran.snapshot.status}; ended: {ended}"


def torn(runs: Runs, acknowledged: Mapping[int, str]) -> Iterator[str]:
    """C2 and C8: histories have no gaps, and fold to the marking that is stored."""
    for id, ran in runs.items():
        if [entry.seq for entry in ran.history] != list(range(1, ran.snapshot.seq + 1)):
            yield f"run {id}: its history has gaps"
            continue
        try:
            folded = fold(ran.flow, ran.history)
        except BrokenHistory as error:
            yield f"run {id}: {error}"
            continue
        if folded.tokens != ran.snapshot.marking.tokens:
            yield f"run {id}: its history folds to another marking"


def early(runs: Runs) -> list[str]:
    """C9: a timer never rings before its time, by the clock of the database."""
    found = []
    for id, ran in runs.items():
        fired = {
            entry.seq: entry.at for entry in ran.history if (entry.kind, entry.step) == ("fired", "rest")
        }
        rung = [entry for entry in ran.history if (entry.kind, entry.step) == ("ended", "rest")]
        found += [f"run {id}: {e.at} is too early" for e in rung if e.at < fired[e.firing or 0] + REST]
    return found


def told_by_others(runs: Runs, since: datetime, far: timedelta) -> list[str]:
    """C9: no time in a history is that of a process; the database's clock was never as `far` off."""
    first, last = since - far, datetime.now(UTC) + far
    return [
        f"run {id}: {entry.at} is of no clock of the database"
        for id, ran in runs.items()
        for entry in ran.history
        if not first <= entry.at <= last
    ]


CHECKERS = (lost, doubled, stuck, torn)


def findings(runs: Runs, acknowledged: Mapping[int, str]) -> dict[str, list[str]]:
    """Checker → what it found."""
    return {checker.__name__: list(checker(runs, acknowledged)) for checker in CHECKERS}


class Execution(Struct, frozen=True):
    """A task that a worker began. `token` is that of the result which it was given."""

    run: str
    step: str
    attempt: int
    number: int
    token: str


def read_executions(folder: Path) -> list[Execution]:
    """All notes of all workers."""
    lines = [line.split() for file in sorted(folder.iterdir()) for line in file.read_text().splitlines()]
    return [
        Execution(run, step, int(attempt), int(number), token) for run, step, attempt, number, token in lines
    ]


def never_begun(runs: Runs, executions: Sequence[Execution]) -> list[str]:
    """C4: a task that ended was begun at least once."""
    begun = {(each.run, each.step) for each in executions}
    return [f"run {id}: {step} was never begun" for id in runs for step in TASKS if (id, step) not in begun]


def taken_back(runs: Runs, executions: Sequence[Execution]) -> Iterator[str]:
    """C1: a result that was handed on to the next step is the one in the history, whatever died in between."""
    tokens = {
        id: entry.data["token"]
        for id, ran in runs.items()
        for entry in ran.history
        if entry.kind == "ended" and entry.step == "take"
    }
    for each in executions:
        if each.token not in ("-", tokens.get(each.run)):
            yield f"run {each.run}: {each.step} went on with a result that is not in the history"
