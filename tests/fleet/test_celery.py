"""Workflows whose steps are tasks of a team's Celery app, done by a real Celery worker."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from penstock import Engine
from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run_input import Done, Failed
from penstock.testing.scripted_gate import ScriptedGate
from penstock.workers.bridges.celery import CeleryFleet, celery_executor_factory, task_id
from penstock.workers.bridges.celery_app import celery_tasks
from penstock.workers.worker.worker import Worker
from tests import waiting
from tests.fleet.conftest import Crowd
from tests.workers.working import reported

LONGEST = 30.0


def play(test: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(test, LONGEST))


async def ended(app: Any, step: dict[str, Any], **more: Any) -> dict[str, Any]:
    """How a workflow with one step ended."""
    async with Engine(tasks=celery_tasks(app), fleet=celery_executor_factory(app, uuid4().hex)) as engine:
        definition = {"penstock": 1, "name": "one", "steps": {"step": step}, **more}
        await engine.publish(definition, override="some of these are wrong on purpose")
        return await engine.wait(await engine.start("one"), LONGEST)


async def until(path: Path) -> None:
    await waiting.until(path.exists, f"the file {path.name}", 60)


async def until_state(app: Any, id: str, state: str) -> None:
    await waiting.until(
        lambda: app.AsyncResult(id).state, f"the state {state}", 60, so=lambda found: found == state
    )


def test_a_step_gets_the_result_of_the_celery_task_it_names(celery: Any) -> None:
    given = {"order": 7, "parcels": ["a", "b"], "fast": True}

    run = play(ended(celery, {"task": "celery.shop.ship", "with": given}))

    assert (run["status"], run["steps"]["step"]["output"]) == ("succeeded", given)


def test_a_task_that_only_the_workers_know_is_sent_by_its_name(celery: Any) -> None:
    call = {"task": "shop.ship", "args": [7, "a"], "kwargs": {"fast": False}, "queue": "celery"}

    run = play(ended(celery, {"task": "celery", "with": call}))

    assert run["steps"]["step"]["output"] == {"order": 7, "parcels": ["a"], "fast": False}


def test_each_task_of_the_app_is_offered_with_its_parameters(celery: Any) -> None:
    offers = {name: task.offer for name, task in celery_tasks(celery).items()}

    assert {"celery", "celery.echo", "celery.shop.ship"} <= set(offers)
    assert (offers["celery.echo"].title, offers["celery.echo"].doc) == ("Echo", "Answer what was given.")
    assert offers["celery.fail"].parameters == {
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
        "additionalProperties": False,
    }


def test_a_failure_tells_type_message_and_traceback(celery: Any) -> None:
    run = play(ended(celery, {"task": "celery.fail", "with": {"message": "no disk"}, "retries": 0}))

    error = run["steps"]["step"]["error"]
    assert (run["status"], error["kind"]) == ("failed", "error")
    assert (error["message"], error["detail"]["type"]) == ("RuntimeError: no disk", "RuntimeError")
    assert "raise RuntimeError(message)" in error["detail"]["traceback"]


def test_parameters_that_do_not_fit_fail_for_good_and_are_not_sent(celery: Any) -> None:
    run = play(ended(celery, {"task": "celery.fail", "with": {"massage": "x"}, "retries": 5}))

    step = run["steps"]["step"]
    assert (step["attempts"], step["error"]["kind"]) == (1, "fatal")
    assert step["error"]["message"] == (
        "the parameters of task 'celery.fail' do not fit: missing a required argument: 'message'; "
        "look at the step's `with`"
    )


def test_an_attempt_that_failed_is_tried_again_by_penstock(celery: Any) -> None:
    run = play(
        ended(celery, {"task": "celery.shop.second_time", "retries": 1, "backoff": {"initial": "10ms"}})
    )

    about = run["steps"]["step"]["output"]
    assert (run["steps"]["step"]["attempts"], about["attempt"], about["step"]) == (2, 2, "step")
    assert (about["run"], about["idempotency_key"]) == (run["id"], f"{run['id']}.2")


def test_what_celery_retries_by_itself_is_one_attempt(celery: Any, tmp_path: Path) -> None:
    log = tmp_path / "log"

    run = play(ended(celery, {"task": "celery.shop.flaky", "with": {"log": str(log)}, "retries": 0}))

    assert (run["steps"]["step"]["attempts"], run["steps"]["step"]["output"]) == (1, 1)
    lines = log.read_text().splitlines()
    assert (len(lines), len(set(lines))) == (2, 1)


def test_a_task_over_its_time_is_revoked_and_stopped(celery: Any, tmp_path: Path) -> None:
    begun, seen = tmp_path / "begun", tmp_path / "seen"
    step = {
        "task": "celery.until_canceled",
        "with": {"begun": str(begun), "seen": str(seen)},
        "timeouts": {"start_to_close": "700ms"},
        "timeout_retries": [],
    }

    async def main() -> dict[str, Any]:
        run = await ended(celery, step)
        await until(seen)
        return run

    run = play(main())

    assert (run["status"], run["steps"]["step"]["error"]["kind"]) == ("failed", "timeout")


def test_canceling_a_run_revokes_its_tasks(celery: Any, tmp_path: Path) -> None:
    begun, seen, installation = tmp_path / "begun", tmp_path / "seen", uuid4().hex
    step = {"task": "celery.until_canceled", "with": {"begun": str(begun), "seen": str(seen)}}

    async def main() -> dict[str, Any]:
        async with Engine(
            tasks=celery_tasks(celery), fleet=celery_executor_factory(celery, installation)
        ) as engine:
            await engine.publish({"penstock": 1, "name": "one", "steps": {"step": step}})
            id = await engine.start("one")
            await until(begun)
            await engine.cancel(id)
            await until(seen)
            await until_state(celery, f"{installation}-{id}.2-1", "REVOKED")
            return await engine.wait(id, LONGEST)

    assert play(main())["status"] == "canceled"


def test_a_task_whose_process_dies_is_lost_and_tried_again(celery: Any) -> None:
    run = play(ended(celery, {"task": "celery.shop.die", "timeout_retries": [1]}))

    step = run["steps"]["step"]
    assert (run["status"], step["attempts"], step["error"]["kind"]) == ("failed", 2, "lost")
    assert "the process of the task died" in step["error"]["message"]


def test_a_task_whose_worker_is_killed_is_lost_and_done_by_another(celery: Any, tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    call = {"task": "hold", "kwargs": {"begun": str(begun), "go": str(go)}, "queue": "doomed"}
    step = {"task": "celery", "with": call, "timeouts": {"heartbeat": "1s"}, "timeout_retries": [1, 1, 1]}

    bridges: list[CeleryFleet] = []

    def muster(*given: Any) -> CeleryFleet:
        bridges.append(CeleryFleet(celery, uuid4().hex, *given))
        return bridges[-1]

    async def main(first: Crowd) -> dict[str, Any]:
        async with Engine(tasks=celery_tasks(celery), fleet=muster) as engine:
            await engine.publish({"penstock": 1, "name": "one", "steps": {"step": step}})
            id = await engine.start("one")
            await waiting.until(lambda: bridges and bridges[0].at_workers(), "a task at a worker")
            first.kill()
            go.touch()
            celery.control.add_consumer("doomed", destination=["second@fleet"])
            return await engine.wait(id, LONGEST)

    with (
        Crowd("first@fleet", tmp_path / "first", "doomed", 1) as first,
        Crowd("second@fleet", tmp_path / "second", "idle", 1) as second,
    ):
        second.wait()
        run = play(main(first))

    assert (run["status"], run["steps"]["step"]["output"]) == ("succeeded", "held")
    assert run["steps"]["step"]["attempts"] >= 2


# -- behind a scripted gate ---------------------------------------------------------------------------------


class Bridge:
    """A worker at work for the app."""

    def __init__(self, app: Any, gate: ScriptedGate, installation: str, concurrency: int = 10) -> None:
        fleet = celery_executor_factory(app, installation)
        self.worker = Worker(gate, celery_tasks(app), name="bridge", concurrency=concurrency, fleet=fleet)
        self._stop = asyncio.Event()
        self._running = asyncio.ensure_future(self.worker.run(self._stop))

    async def close(self) -> None:
        self._stop.set()
        await self._running


def test_two_hundred_tasks_are_in_flight_at_once_with_a_handful_of_threads(
    celery: Any, tmp_path: Path
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"

    async def main() -> tuple[int, set[Any], int]:
        gate, threads = ScriptedGate(), threading.active_count()
        bridge = Bridge(celery, gate, uuid4().hex, concurrency=200)
        runs = [gate.give("celery.hold", {"begun": str(begun), "go": str(go)}) for _ in range(200)]
        await gate.until(lambda: len(gate.leased) == 200)
        await until(begun)
        more = threading.active_count() - threads
        go.touch()
        await gate.until(lambda: len(gate.outcomes()) == 200)
        await bridge.close()
        return more, {str(gate.outcomes()[run]) for run in runs}, len(gate.reports)

    more, outcomes, reports = play(main())

    assert (outcomes, reports) == ({str(Done(output="held"))}, 200)
    assert more <= 5


def test_an_attempt_that_was_begun_before_is_not_sent_again(celery: Any, tmp_path: Path) -> None:
    log, installation = tmp_path / "log", uuid4().hex

    async def once() -> Any:
        gate = ScriptedGate()  # hands out the same attempt each time
        bridge = Bridge(celery, gate, installation)
        run = gate.give("celery.shop.flaky", {"log": str(log)})
        await gate.until(lambda: run in gate.outcomes())
        await bridge.close()
        return gate.outcomes()[run]

    assert (play(once()), play(once())) == (Done(output=1), Done(output=1))
    assert len(log.read_text().splitlines()) == 2


def test_a_task_that_somebody_else_revokes_has_failed_for_good(celery: Any, tmp_path: Path) -> None:
    installation = uuid4().hex

    async def main() -> Any:
        gate = ScriptedGate()
        bridge = Bridge(celery, gate, installation)
        run = gate.give("celery.until_canceled", {"begun": str(tmp_path / "b"), "seen": str(tmp_path / "s")})
        await until(tmp_path / "b")
        [assignment] = gate.leased.values()
        celery.control.revoke(task_id(installation, assignment.attempt), terminate=True)
        await gate.until(lambda: run in gate.outcomes())
        await bridge.close()
        return gate.outcomes()[run]

    outcome = play(main())

    assert isinstance(outcome, Failed)
    assert (outcome.retry, "revoked, and not by the engine" in outcome.error.message) == (False, True)


def test_a_result_that_cannot_be_read_fails_its_own_attempt_only(celery: Any, tmp_path: Path) -> None:
    installation = uuid4().hex

    async def main() -> list[Any]:
        gate = ScriptedGate()
        bridge = Bridge(celery, gate, installation)
        bad = gate.give("celery.hold", {"begun": str(tmp_path / "b"), "go": str(tmp_path / "go")})
        await until(tmp_path / "b")
        [assignment] = gate.leased.values()
        celery.backend.client.set(
            celery.backend.get_key_for_task(task_id(installation, assignment.attempt)), "{["
        )
        good = gate.give("celery.echo", {"value": 1})
        outcomes = await reported(gate, bad, good)
        (tmp_path / "go").touch()
        await bridge.close()
        return outcomes

    bad, good = play(main())

    assert good == Done(output=1)
    assert (bad.retry, bad.error.message[:46]) == (False, "the result of the Celery task cannot be read: ")


def test_a_task_that_waits_in_the_queue_is_dropped_at_its_deadline(celery: Any, tmp_path: Path) -> None:
    call = {"task": "hold", "kwargs": {"begun": str(tmp_path / "b"), "go": str(tmp_path)}, "queue": "nobody"}

    async def main() -> tuple[list[Any], Path]:
        gate = ScriptedGate()
        bridge = Bridge(celery, gate, uuid4().hex)
        gate.give("celery", call, Timeouts(start_to_close=timedelta(seconds=0.4)))
        run = gate.give("celery.echo", {"value": 1}, Timeouts(start_to_close=timedelta(seconds=20)))
        await gate.until(lambda: run in gate.outcomes())
        await gate.until(lambda: bridge.worker.counts["worker.canceled"])
        await bridge.close()
        return gate.reports, tmp_path / "b"

    reports, begun = play(main())
    with Crowd("late@fleet", tmp_path / "log", "nobody", 1) as late:
        late.wait("Discarding revoked task")

    assert ([report.outcome for report in reports], begun.exists()) == ([Done(output=1)], False)
