"""A report that comes again is answered as the first was; another one for the same attempt is not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.engine.services import EngineServices
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Done, Failed, Reported, TimedOut
from penstock.runtime.decisions.decision import Request
from penstock.runtime.dispatch import duplicate_reports
from penstock.runtime.dispatch.gate import Report, Verdict
from penstock.runtime.queries.history import read_history
from penstock.store.open import open_store
from penstock.store.rows.rows import ClaimRequest, Lease
from tests.waiting import until

Outcome = Done | Failed | TimedOut

STEP = "penstock: 1\nname: w\nsteps:\n  a: {task: work%s}\n"
PLAIN = STEP % ""
AGAIN = STEP % ", retries: 2"
EACH = STEP % ', each: "[1, 2]"'
COLLECT = STEP % ', each: "[1, 2]", each_failure: collect'

ROUND = """
penstock: 1
name: w
steps:
  a: {task: work}
  count: {task: set, after: "a | again", with: {n: "${ has(data.n) ? data.n + 1 : 1 }"}, emits: counted}
  more: {task: decide, after: counted, with: {if: data.n < 40}, emits: {then: again, else: OK}}
"""

BROKE = Failure("error", "broke", {"line": 1})
ODD = {"error": {"kind": "lost", "message": "so says the task", "detail": {"limit": "lost"}}}


async def _taken(running: EngineServices, definition: str) -> Lease:
    """A run of the definition has begun; the lease of its first attempt."""
    await running.catalog.publish(definition)
    await running.node.commands.start("w")
    wish = ClaimRequest(worker="me", task_lists=("default",), tasks=None, limit=1)
    [given] = await running.node.dispatch.claim(wish, timedelta(seconds=5))
    return given.lease


def verdicts(outcomes: Sequence[Outcome], definition: str = PLAIN, limit: str | None = None) -> list[Verdict]:
    """How reports of one attempt are taken, one after the other; with `limit` it is over its time before."""

    async def main() -> list[Verdict]:
        running = await EngineServices.on(await open_store("memory:"), {}, shared=False)
        try:
            lease = await _taken(running, definition)
            if limit is not None:
                await _time_out(running, lease, limit)
            gate = running.node.dispatch
            return [verdict for each in outcomes for verdict in await gate.report([Report(lease, each)])]
        finally:
            await running.close()

    return asyncio.run(main())


def test_a_late_report_is_looked_for_as_long_as_its_firing_lasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker could have the history of a run that goes round for months read with every word."""
    seqs: list[int] = []

    async def reading(*asked: Any) -> AsyncIterator[Entry]:
        async for entry in read_history(*asked):
            seqs.append(entry.seq)
            yield entry

    async def main() -> list[Verdict]:
        running = await EngineServices.on(await open_store("memory:"), {}, shared=False)
        try:
            lease = await _taken(running, ROUND)
            gate = running.node.dispatch
            first = await gate.report([Report(lease, Done())])
            await until(
                lambda: running.node.look(lease.run),
                "a hundred turns",
                so=lambda run: run.snapshot.seq >= 100,
            )
            return first + await gate.report([Report(replace(lease, attempt=7), Done())])
        finally:
            await running.close()

    monkeypatch.setattr(duplicate_reports, "read_history", reading)

    assert asyncio.run(main()) == ["accepted", "superseded"]
    assert max(seqs) < 10


async def _time_out(running: EngineServices, lease: Lease, limit: str) -> None:
    done = asyncio.Event()
    over = Reported(lease.firing, None if lease.index < 0 else lease.index, lease.attempt, TimedOut(limit))
    running.node.requests.submit(Request(lease.run, over, lambda *_: done.set()))
    await asyncio.wait_for(done.wait(), 5)


SAME: list[Outcome] = [
    Done(),
    Done(output={"b": [1, 2.5, None], "a": "x"}),
    Done(output="x" * 5000),
    Done(output=ODD),
    Done(output={"index": 7, "error": None}),
    Done(port="failed"),
    Done(port="failed", output=ODD),
    Done(port="nowhere", output=1),
    Done(output=1, set={"a": {"b": 1}}, tags={"t": 1}, correlate={"job": "1", "other": "2"}),
    Done(set={}, correlate={}),
    Done(tags={"t": None, "u": [1]}, replace_tags=True),
    Failed(error=BROKE),
    Failed(error=BROKE, retry=False),
    Failed(error=Failure("timeout", "the service did not answer")),
    TimedOut("lost", "the process of the task ended with exit code 3"),
    TimedOut("lost"),
]


@pytest.mark.parametrize("outcome", SAME)
@pytest.mark.parametrize(
    "definition", [PLAIN, AGAIN, EACH, COLLECT], ids=["plain", "again", "each", "collect"]
)
def test_a_report_that_comes_again_is_answered_as_the_first_was(definition: str, outcome: Outcome) -> None:
    assert verdicts([outcome, outcome], definition) == ["accepted", "repeated"]


OTHER: list[tuple[Outcome, Outcome]] = [
    (Done(output=1), Done(output=2)),
    (Done(output=1), Done(output=True)),
    (Done(output=1), Done(output=1, port="nowhere")),
    (Done(output=ODD), Failed(error=Failure(**ODD["error"]))),  # type: ignore[arg-type]
    (Done(port="failed", output=1), Done(port="failed", output=2)),
    (Done(port="nowhere"), Done()),
    (Done(port="failed"), Done()),
    (Done(set={"a": 1}), Done(set={"a": 2})),
    (Done(set={"a": 1}), Done()),
    (Done(), Done(set={})),
    (Done(correlate={"job": "1"}), Done(correlate={"job": "2"})),
    (Done(correlate={"job": "1", "more": "1"}), Done(correlate={"job": "1"})),
    (Done(tags={"t": 1}), Done(tags={"t": 2})),
    (Done(tags={"t": 1}), Done()),
    (Done(), Done(tags={})),
    (Done(tags={"t": 1}), Done(tags={"t": 1}, replace_tags=True)),
    (Failed(error=BROKE), Done()),
    (Failed(error=BROKE), Failed(error=Failure("error", "broke", {"line": 2}))),
    (Failed(error=BROKE), Failed(error=Failure("fatal", "broke", {"line": 1}))),
    (Failed(error=Failure("timeout", "the service did not answer")), Done()),
    (Failed(error=BROKE), TimedOut("lost")),
]


@pytest.mark.parametrize(("first", "second"), OTHER)
@pytest.mark.parametrize("definition", [PLAIN, COLLECT], ids=["plain", "collect"])
def test_another_report_of_the_same_attempt_is_a_conflict(
    definition: str, first: Outcome, second: Outcome
) -> None:
    assert verdicts([first, second, first], definition) == ["accepted", "conflict", "repeated"]


@pytest.mark.parametrize("outcome", [Done(), Done(port="failed"), Failed(error=BROKE)])
@pytest.mark.parametrize("limit", ["start_to_close", "heartbeat", "lost"])
@pytest.mark.parametrize("definition", [PLAIN, COLLECT], ids=["plain", "collect"])
def test_a_report_of_an_attempt_that_was_over_its_time_is_superseded(
    definition: str, limit: str, outcome: Outcome
) -> None:
    assert verdicts([outcome, outcome], definition, limit) == ["superseded", "superseded"]


def test_a_failure_for_good_is_not_the_one_that_was_tried_again() -> None:
    failed, finally_failed = Failed(error=BROKE), Failed(error=BROKE, retry=False)

    assert verdicts([failed, finally_failed], AGAIN) == ["accepted", "conflict"]
