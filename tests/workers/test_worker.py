"""The worker in Python: what the common rules cannot see."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run_input import Done, Failed, Outcome, TimedOut
from penstock.runtime.dispatch.gate import Assignment, Report, Verdict
from penstock.store.errors import StoreAway, StoreFull
from penstock.store.rows.rows import ClaimRequest, Heartbeat, Renewal
from penstock.testing.scripted_gate import ScriptedGate
from penstock.workers.context import Context
from penstock.workers.execute import executor
from penstock.workers.execute.thread_pool import TaskThread
from penstock.workers.task import task, tasks_of
from penstock.workers.worker.work import Work
from penstock.workers.worker.worker import Worker, utc_now
from tests.workers.working import reported, working

SHORT = Timeouts(heartbeat=timedelta(seconds=0.3))


def echo(value: Any = None) -> Any:
    return value


async def echo_async(value: Any = None) -> Any:
    return value


def test_a_stopping_worker_gives_back_what_it_has_not_begun() -> None:
    begun, go = threading.Event(), threading.Event()

    def hold() -> str:
        begun.set()
        go.wait(20)
        return "held"

    async def main() -> None:
        gate = ScriptedGate()
        runs = [gate.give("hold") for _ in range(5)]
        async with working(gate, {"hold": hold}, concurrency=5, threads=1) as worker:
            await gate.until(begun.is_set)
            draining = asyncio.ensure_future(worker.drain(timedelta(seconds=20)))
            await gate.until(lambda: gate.released)
            go.set()
            await draining

        assert gate.outcomes() == {runs[0]: Done(output="held")}
        assert [lease.run for lease in gate.released] == runs[1:]
        assert worker.counts["worker.released"] == 4

    asyncio.run(main())


def test_what_a_claim_answers_as_the_worker_stops_is_given_back() -> None:
    class Late(ScriptedGate):
        """Cannot be cancelled any more: its answer is on the way."""

        async def claim(self, wish: ClaimRequest, wait: timedelta) -> list[Assignment]:
            try:
                return await super().claim(wish, wait)
            except asyncio.CancelledError:
                self.give("echo")
                return await super().claim(wish, wait)

    async def main() -> None:
        gate = Late()
        async with working(gate, {"echo": echo}):
            await gate.until(lambda: gate.claiming)

        assert (gate.released, gate.reports) == (list(gate.leased), [])

    asyncio.run(main())


class Full(ScriptedGate):
    """What is away has no room to write."""

    def _called(self, name: str) -> None:
        try:
            super()._called(name)
        except StoreAway:
            raise StoreFull("disk full") from None


@pytest.mark.parametrize("kind", [ScriptedGate, Full])
def test_giving_back_is_tried_again_while_the_gate_is_away(kind: type[ScriptedGate]) -> None:
    begun, go = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        go.wait(20)

    async def main() -> None:
        gate = kind()
        runs = [gate.give("hold") for _ in range(2)]
        async with working(gate, {"hold": hold}, threads=1) as worker:
            await gate.until(begun.is_set)
            gate.away = {"release"}
            draining = asyncio.ensure_future(worker.drain(timedelta(seconds=20)))
            await gate.until(lambda: gate.calls.count("release") >= 2)
            gate.away = set()
            go.set()
            await draining

        assert [lease.run for lease in gate.released] == runs[1:]

    asyncio.run(main())


def test_many_tiny_tasks_share_few_calls() -> None:
    async def main() -> None:
        gate = ScriptedGate()
        runs = [gate.give("echo") for _ in range(1000)]
        async with working(gate, {"echo": echo_async}, concurrency=500):
            outcomes = await reported(gate, *runs)

        assert outcomes == [Done()] * 1000
        assert [report.lease.run for report in gate.reports] == runs
        assert max(gate.calls.count("claim"), gate.calls.count("report")) <= 6

    asyncio.run(main())


def test_tiny_plain_functions_need_one_thread_and_run_in_order() -> None:
    began: list[int] = []

    async def main() -> None:
        gate = ScriptedGate()
        runs = [gate.give("tiny", {"number": number}) for number in range(300)]
        async with working(gate, {"tiny": lambda number: began.append(number)}, threads=1):
            await reported(gate, *runs)

        assert began == list(range(300))

    asyncio.run(main())


def test_tasks_that_wait_get_a_thread_each() -> None:
    together = threading.Barrier(24)

    def meet() -> str:
        together.wait(20)
        return "met"

    async def main() -> None:
        gate = ScriptedGate()
        runs = [gate.give("meet") for _ in range(24)]
        async with working(gate, {"meet": meet}, concurrency=24):
            assert await reported(gate, *runs) == [Done(output="met")] * 24

    asyncio.run(main())


def test_a_thread_that_is_stuck_is_replaced() -> None:
    free = threading.Event()

    def stuck() -> None:
        free.wait(20)

    async def main() -> None:
        gate = ScriptedGate()
        stuck_run = gate.give("stuck", timeouts=SHORT)
        async with working(gate, {"stuck": stuck, "echo": echo}, threads=1):
            await gate.until(lambda: gate.leased)
            gate.lose([stuck_run])
            outcomes = await reported(gate, gate.give("echo", {"value": 1}), gate.give("echo", {"value": 2}))
            free.set()

        assert outcomes == [Done(output=1), Done(output=2)]
        assert stuck_run not in gate.outcomes()

    asyncio.run(main())


class Fragile(TaskThread):
    """Breaks, other than its task, on the first piece of work that it is given."""

    broke = 0

    def do(self, work: Work) -> Outcome:
        if not Fragile.broke:
            Fragile.broke += 1
            raise MemoryError("no room")
        return super().do(work)


def test_a_hand_that_breaks_loses_its_work_alone_and_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "TaskThread", Fragile)
    monkeypatch.setattr(Fragile, "broke", 0)

    async def main() -> None:
        gate = ScriptedGate()
        runs = [gate.give("echo", {"value": number}) for number in range(3)]
        async with working(gate, {"echo": echo}, threads=1):
            lost, *others = await reported(gate, *runs)

        assert lost == TimedOut("lost", "what runs the task broke: no room")
        assert others == [Done(output=1), Done(output=2)]

    asyncio.run(main())


def test_a_hand_that_cannot_be_had_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Scarce(TaskThread):
        asked = 0

        def __init__(self, limit: int) -> None:
            Scarce.asked += 1
            if Scarce.asked < 3:
                raise MemoryError("no room")
            super().__init__(limit)

    monkeypatch.setattr(executor, "TaskThread", Scarce)

    async def main() -> None:
        gate = ScriptedGate()
        run = gate.give("echo", {"value": "late"})
        async with working(gate, {"echo": echo}, threads=1):
            assert await reported(gate, run) == [Done(output="late")]

    asyncio.run(main())


def test_work_that_is_canceled_is_no_reason_to_warn(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        gate = ScriptedGate()
        told, beaten = gate.give("hold"), gate.give("hold", timeouts=SHORT)
        async with working(gate, {"hold": hold}) as worker:
            await gate.until(lambda: len(gate.leased) == 2)
            worker.nudge(told, [(1, -1)])
            gate.lose([beaten])
            await gate.until(lambda: worker.counts["worker.canceled"] == 2)

        assert [
            (each.levelname, each.message) for each in caplog.records if each.name == "penstock.worker"
        ] == [("INFO", f"task hold of run {run} is no longer wanted") for run in (told, beaten)]

    async def hold() -> None:
        await asyncio.Event().wait()

    with caplog.at_level("INFO"):
        asyncio.run(main())


def test_what_waits_for_a_thread_and_is_no_longer_wanted_is_not_begun() -> None:
    began: list[str] = []
    free = threading.Event()

    def work(name: str) -> None:
        began.append(name)
        free.wait(20)

    async def main() -> None:
        gate = ScriptedGate()
        first = gate.give("work", {"name": "first"}, SHORT)
        second = gate.give("work", {"name": "second"}, SHORT)
        async with working(gate, {"work": work, "echo": echo}, threads=1) as worker:
            await gate.until(lambda: began and len(gate.leased) == 2)
            gate.lose([second])
            await gate.until(lambda: worker.counts["worker.canceled"])
            free.set()
            await reported(gate, first, gate.give("echo"))

        assert (began, second in gate.outcomes()) == (["first"], False)

    asyncio.run(main())


def test_draining_without_grace_stops_what_runs() -> None:
    async def endless() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        gate = ScriptedGate()
        gate.give("endless")
        async with working(gate, {"endless": endless}) as worker:
            await gate.until(lambda: worker.counts["worker.claimed"])
            await worker.drain(timedelta(0))
            stopped = worker.counts["worker.canceled"]

        assert (stopped, gate.reports, gate.released) == (1, [], [])

    asyncio.run(main())


class Silent(ScriptedGate):
    """Does not answer renewals."""

    async def heartbeat(self, beats: Sequence[Heartbeat]) -> list[Renewal]:
        await super().heartbeat(beats)
        await asyncio.Event().wait()
        return []


def test_a_gate_that_never_answers_a_renewal_does_not_keep_a_task_alive_over_its_lease() -> None:
    async def endless() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        gate = Silent()
        gate.give("endless", timeouts=SHORT)
        async with working(gate, {"endless": endless}) as worker:
            await gate.until(lambda: worker.counts["worker.canceled"])

        assert (len(gate.heartbeats), gate.reports) == (1, [])

    asyncio.run(main())


def test_a_gate_that_fails_while_the_worker_stops_does_not_hold_it_up() -> None:
    async def main() -> None:
        gate = ScriptedGate()
        async with working(gate, {"echo": echo_async}):
            await reported(gate, gate.give("echo"))
            gate.away = {"claim", "register", "report", "log", "release", "deregister"}

        assert gate.calls[-1] == "deregister"

    asyncio.run(main())


def test_reports_that_come_too_late_are_counted() -> None:
    async def main() -> None:
        gate = ScriptedGate()
        runs = [gate.give("echo") for _ in range(4)]
        gate.verdicts = {runs[0]: "superseded", runs[1]: "conflict", runs[2]: "repeated"}
        async with working(gate, {"echo": echo_async}) as worker:
            await reported(gate, *runs)
            await gate.until(lambda: worker.counts["worker.rejected"])

        assert worker.counts["worker.rejected"] == 2
        assert worker.counts["worker.reported"] == 4

    asyncio.run(main())


class Poisoned(ScriptedGate):
    """Fails on the report of one run."""

    bad = ""

    async def report(self, reports: Sequence[Report]) -> list[Verdict]:
        self._called("report")
        if any(report.lease.run == self.bad for report in reports):
            raise RuntimeError("this cannot be stored")
        return await super().report(reports)


def test_one_report_that_the_gate_fails_on_does_not_hold_up_the_others_and_is_given_up() -> None:
    async def main() -> None:
        gate = Poisoned()
        runs = [gate.give("echo", timeouts=SHORT) for _ in range(3)]
        gate.bad = runs[1]
        async with working(gate, {"echo": echo_async}) as worker:
            await reported(gate, runs[0], runs[2])
            later = gate.give("echo", {"value": "later"})
            assert await reported(gate, later) == [Done(output="later")]
            await gate.until(lambda: worker.counts["worker.dropped"])

        assert list(gate.outcomes()) == [runs[0], runs[2], later]
        assert worker.counts["worker.dropped"] == 1

    asyncio.run(main())


def test_reports_outlive_their_leases_while_the_disk_is_full() -> None:
    async def main() -> None:
        gate = Full()
        gate.away = {"report", "heartbeat"}
        runs = [gate.give("echo", {"value": number}, SHORT) for number in range(3)]
        async with working(gate, {"echo": echo_async}) as worker:
            await gate.until(lambda: len(gate.leased) == 3)
            over = max(held.expires for held in gate.leased.values()) + timedelta(seconds=0.1)
            await gate.until(lambda: utc_now() > over)
            tried = gate.calls.count("report")
            await gate.until(lambda: gate.calls.count("report") > tried)
            gate.away = set()
            assert await reported(gate, *runs) == [Done(output=0), Done(output=1), Done(output=2)]

        assert worker.counts["worker.dropped"] == 0

    asyncio.run(main())


class Broken(ScriptedGate):
    """Every call fails once in a way that nobody thought of; the first renewal answers too little."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = {"claim", "report", "register", "log"}

    def _called(self, name: str) -> None:
        super()._called(name)
        if name in self.broken:
            self.broken.remove(name)
            raise asyncio.CancelledError if name == "claim" else ZeroDivisionError("a bug")

    async def heartbeat(self, beats: Sequence[Heartbeat]) -> list[Renewal]:
        renewals = await super().heartbeat(beats)
        return renewals if len(self.heartbeats) > 1 else []


def test_a_worker_that_stopped_claiming_because_of_its_reports_claims_again_when_they_are_told() -> None:
    class Slow(ScriptedGate):
        async def report(self, reports: Sequence[Report]) -> list[Verdict]:
            await go.wait()
            return await super().report(reports)

    go = asyncio.Event()

    async def main() -> None:
        gate = Slow()
        runs = [gate.give("echo") for _ in range(9)]
        async with working(gate, {"echo": echo_async}, concurrency=1) as worker:
            await gate.until(lambda: worker.counts["worker.claimed"] == 3)
            for _ in range(20):  # turns of the loop in which a fourth would be claimed
                await asyncio.sleep(0)
            assert worker.counts["worker.claimed"] == 3
            go.set()
            assert await reported(gate, *runs) == [Done()] * 9

    asyncio.run(main())


def test_no_bug_in_any_call_ends_the_worker() -> None:
    go = threading.Event()

    def hold(ctx: Context) -> str:
        ctx.log("a line \ud800")
        go.wait(20)
        return "held"

    async def main() -> None:
        gate = Broken()
        run = gate.give("hold", timeouts=Timeouts(heartbeat=timedelta(seconds=1.5)))
        async with working(gate, {"hold": hold}) as worker:
            await gate.until(lambda: len(gate.heartbeats) > 2)
            go.set()
            assert await reported(gate, run) == [Done(output="held")]
            await gate.until(lambda: gate.workers)

        assert (gate.broken, len(gate.lines), gate.left) == (set(), 1, [worker.id])

    asyncio.run(main())


def test_a_task_that_cancels_itself_has_failed_and_the_next_one_runs() -> None:
    async def quit() -> None:
        current = asyncio.current_task()
        assert current is not None
        current.cancel()
        await asyncio.sleep(0)

    async def main() -> None:
        gate = ScriptedGate()
        bad, good = gate.give("quit"), gate.give("echo", {"value": 1})
        async with working(gate, {"quit": quit, "echo": echo_async}):
            outcomes = await reported(gate, bad, good)

        assert isinstance(outcomes[0], Failed)
        assert (outcomes[0].error.kind, outcomes[1]) == ("error", Done(output=1))

    asyncio.run(main())


def test_a_clock_that_is_hours_off_neither_stops_tasks_nor_loses_leases() -> None:
    go = threading.Event()

    def hold() -> str:
        go.wait(20)
        return "held"

    async def main(off: timedelta) -> None:
        gate = ScriptedGate()
        go.clear()
        limits = Timeouts(heartbeat=timedelta(seconds=0.6), start_to_close=timedelta(hours=1))
        run = gate.give("hold", timeouts=limits)
        async with working(gate, {"hold": hold}, now=lambda: utc_now() + off):
            await gate.until(lambda: len(gate.heartbeats_of(run)) > 3)
            go.set()
            assert await reported(gate, run) == [Done(output="held")]

    asyncio.run(main(timedelta(hours=5)))
    asyncio.run(main(timedelta(hours=-5)))


def test_progress_that_is_not_json_costs_neither_the_task_nor_its_lease() -> None:
    go = threading.Event()

    def odd(ctx: Context) -> bool:
        wanted = ctx.heartbeat(object())
        go.wait(20)
        return wanted

    async def main() -> None:
        gate = ScriptedGate()
        run = gate.give("odd", timeouts=SHORT)
        async with working(gate, {"odd": odd}):
            await gate.until(lambda: len(gate.heartbeats_of(run)) > 2)
            go.set()
            assert await reported(gate, run) == [Done(output=True)]

        assert {beat.progress for beat in gate.heartbeats_of(run)} == {None}

    asyncio.run(main())


def test_progress_is_told_once_though_the_next_renewal_is_far() -> None:
    go = threading.Event()

    def tell(ctx: Context) -> None:
        for number in range(100):
            ctx.heartbeat({"number": number})
        go.wait(20)

    async def main() -> None:
        gate = ScriptedGate()
        run = gate.give("tell")
        async with working(gate, {"tell": tell}):
            await gate.until(lambda: gate.heartbeats)
            go.set()
            await reported(gate, run)

        assert [beat.progress for beat in gate.heartbeats_of(run)] == [b'{"number":99}']

    asyncio.run(main())


def test_a_worker_serves_the_lists_of_its_tasks_under_an_id_that_is_new_at_every_start() -> None:
    @task("video.cut", task_list="video")
    def cut() -> None: ...

    async def main() -> None:
        gate = ScriptedGate()
        for _ in range(2):
            async with working(gate, [cut, echo], concurrency=7):
                seen = len(gate.workers)
                await gate.until(lambda seen=seen: len(gate.workers) > seen)  # type: ignore[misc]

        one, two = gate.workers
        assert (one.name, one.task_lists, one.tasks, one.concurrency) == (
            "test",
            ("default", "video"),
            ("video.cut", "echo"),
            7,
        )
        assert one.id != two.id
        assert gate.left == [one.id, two.id]
        assert {(wish.worker, wish.task_lists) for wish in gate.requests} == {
            (one.id, one.task_lists),
            (two.id, two.task_lists),
        }

    asyncio.run(main())


def test_a_worker_that_is_cancelled_ends_its_tasks() -> None:
    ended: list[str] = []

    async def endless(ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(f"canceled: {ctx.canceled}")

    async def main() -> None:
        gate = ScriptedGate()
        gate.give("endless")
        worker = Worker(gate, tasks_of({"endless": endless}), name="test")
        running = asyncio.ensure_future(worker.run(asyncio.Event()))
        await gate.until(lambda: gate.leased)
        await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running])

        assert (running.cancelled(), ended, gate.left) == (True, ["canceled: True"], [worker.id])

    asyncio.run(main())


def test_processes_without_sources_are_refused() -> None:
    with pytest.raises(ValueError, match="needs `sources`: the modules or files of its tasks"):
        Worker(ScriptedGate(), tasks_of({"echo": echo}), name="test", processes=2)
