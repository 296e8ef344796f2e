"""Reports that cannot be told now: each is judged by its own fault, not by its neighbour's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from penstock import Context
from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run_input import Done
from penstock.runtime.dispatch.gate import Report, Verdict
from penstock.store.errors import StoreFull
from penstock.testing.scripted_gate import ScriptedGate
from penstock.workers.worker.worker import utc_now
from tests.workers.working import reported, working


class Ailing(ScriptedGate):
    """Fails on whatever holds the report of one run, and has no room for any other."""

    bad, full = "", True

    async def report(self, reports: Sequence[Report]) -> list[Verdict]:
        if any(report.lease.run == self.bad for report in reports):
            raise RuntimeError("this cannot be stored")
        if self.full:
            raise StoreFull("disk full")
        return await super().report(reports)


async def echo(value: str) -> str:
    return value


def test_a_report_that_is_given_up_takes_none_with_it_that_only_waits_for_room() -> None:
    async def main() -> None:
        gate = Ailing()
        gate.away = {"heartbeat"}
        short = Timeouts(heartbeat=timedelta(seconds=0.3))
        good, gate.bad = (gate.give("echo", {"value": each}, short) for each in ("good", "bad"))
        async with working(gate, {"echo": echo}) as worker:
            await gate.until(lambda: len(gate.leased) == 2)
            over = max(held.expires for held in gate.leased.values()) + timedelta(seconds=0.1)
            await gate.until(lambda: utc_now() > over)
            gate.full = False
            assert await reported(gate, good) == [Done(output="good")]
            await gate.until(lambda: worker.counts["worker.dropped"])

        assert (worker.counts["worker.dropped"], list(gate.outcomes())) == (1, [good])

    asyncio.run(main())


class Choosy(ScriptedGate):
    """Fails on the reports of some runs."""

    bad: tuple[str, ...] = ()

    async def report(self, reports: Sequence[Report]) -> list[Verdict]:
        if any(report.lease.run in self.bad for report in reports):
            raise RuntimeError("this cannot be stored")
        return await super().report(reports)


def test_a_worker_that_stopped_claiming_because_of_bad_reports_claims_again_when_they_are_given_up() -> None:
    async def main() -> None:
        gate = Choosy()
        short = Timeouts(heartbeat=timedelta(seconds=0.3))
        gate.bad = tuple(gate.give("echo", {"value": "bad"}, short) for _ in range(3))
        good = gate.give("echo", {"value": "good"})
        async with working(gate, {"echo": echo}, concurrency=1) as worker:
            assert await reported(gate, good) == [Done(output="good")]

        assert worker.counts["worker.dropped"] == 3

    asyncio.run(main())


def test_a_line_with_a_nul_is_told_with_a_mark_in_its_place() -> None:
    def write(ctx: Context) -> None:
        ctx.log.info("a\0b")

    async def main() -> None:
        gate = ScriptedGate()
        run = gate.give("write")
        async with working(gate, {"write": write}):
            await reported(gate, run)

        assert [msgspec.json.decode(line.body)["text"] for line in gate.lines] == ["a\ufffdb"]

    asyncio.run(main())
