"""`penstock.Engine("memory:")`, async and sync."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import CheckFailed, Context, DefinitionError, Engine, Fatal, Out
from penstock.flow.errors import PenstockError
from penstock.runtime.call_errors import CallTimedOut, CannotCall
from penstock.runtime.errors import (
    Invalid,
    NoTask,
    NotRetryable,
    RunEnded,
    UnknownWorkflow,
)
from penstock.store.errors import BadAddress
from penstock.workers.worker.task_loader import TasksUnreadable

CHAIN = """
penstock: 1
name: chain
steps:
  a: {task: one, with: {n: "${ data.n }"}}
  b: {task: two, after: a, emits: OK}
"""


def one(ctx: Context, n: int) -> Out:
    return Out({"n": n + 1}, tags={"seen": "yes"}, set={"a": True})


async def two(ctx: Context) -> Any:
    await asyncio.sleep(0)
    return ctx.input["a"]["n"] * 10


TASKS = {"one": one, "two": two}


def run(main: Any) -> Any:
    return asyncio.run(main)


def test_publish_start_wait_and_read() -> None:
    async def main() -> None:
        async with Engine("memory:", tasks=TASKS) as engine:
            assert await engine.publish(CHAIN) == 1
            assert await engine.publish(CHAIN) == 2
            id = await engine.start("chain", subject="s", input={"n": 1}, labels={"team": "video"})
            view = await engine.wait(id, timeout=10)
            assert (view["status"], view["version"], view["subject"], view["labels"]) == (
                "succeeded",
                2,
                "s",
                {"team": "video"},
            )
            assert (view["data"], view["tags"]) == ({"n": 1, "a": True}, {"seen": "yes"})
            assert view["steps"]["b"]["output"] == 20
            history = await engine.history(id)
            assert [entry["seq"] for entry in history] == list(range(1, len(history) + 1))
            assert history[-1]["kind"] == "run_ended"

    run(main())


def test_runs_stay_on_their_version() -> None:
    async def main() -> None:
        async with Engine(tasks=TASKS) as engine:
            waits = "penstock: 1\nname: w\nexternal: [e]\nsteps:\n  x: {task: one, after: e, with: {n: 1}}\n"
            await engine.publish(waits)
            id = await engine.start("w")
            await engine.publish(waits.replace("n: 1", "n: 100"))
            await engine.emit("e", run=id)
            view = await engine.wait(id, 10)
            assert (view["version"], view["steps"]["x"]["output"]) == (1, {"n": 2})

    run(main())


def test_what_can_be_no_definition_is_refused_in_a_sentence() -> None:
    async def main() -> None:
        async with Engine(tasks={}) as engine:
            for wrong, name in ((5, "int"), (None, "NoneType"), (b"penstock: 1", "bytes")):
                with pytest.raises(Invalid) as caught:
                    await engine.publish(wrong)  # type: ignore[arg-type]
                assert str(caught.value) == (
                    f"a definition is YAML or JSON text, a path or a map, not a Python {name}"
                )

    run(main())


def test_outside_events_by_run_and_by_key() -> None:
    async def main() -> None:
        tasks = {"make": lambda: Out(correlate={"job": "7"}), "use": lambda ctx: ctx.events["e"]}
        steps = "  m: {task: make}\n  u: {task: use, after: [m, e], emits: OK}\n"
        text = f"penstock: 1\nname: w\nexternal: [e]\nsteps:\n{steps}"
        async with Engine(tasks=tasks) as engine:
            await engine.publish(text)
            id = await engine.start("w")
            assert (await engine.wait(id, 10, rest=True))["waiting_for"] == ["e"]
            with pytest.raises(Invalid, match="either `run` or `key`"):
                await engine.emit("e")
            with pytest.raises(Invalid, match="`set` must be a map"):
                await engine.emit("e", run=id, set=5)  # type: ignore[arg-type]
            assert await engine.emit("e", {"x": 1}, key={"job": "7"}, id="1") == "accepted"
            assert (await engine.wait(id, 10))["steps"]["u"]["output"] == {"x": 1}
            assert await engine.emit("e", run=id) == "recorded"

    run(main())


def test_plain_functions_run_in_threads_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=10)
    text = "penstock: 1\nname: w\nsteps:\n  a: {task: meet}\n  b: {task: meet}\n"

    with Engine.sync(tasks={"meet": lambda: meeting.wait() >= 0}) as engine:
        engine.publish(text)
        assert engine.wait(engine.start("w"), 20)["status"] == "succeeded"


def test_time_outs_are_enforced_and_the_late_result_is_not_used() -> None:
    release = threading.Event()
    attempts: list[int] = []

    def slow(ctx: Context) -> str:
        attempts.append(ctx.attempt)
        if ctx.attempt == 1:
            release.wait(10)
            return "late"
        return "in time"

    async def stuck(ctx: Context) -> None:
        await asyncio.sleep(60)  # longer than its time-out

    text = """
penstock: 1
name: w
steps:
  a: {task: slow, timeouts: {start_to_close: 1s}, timeout_retries: [100]}
  b: {task: stuck, timeouts: {schedule_to_close: 20ms}, timeout_retries: [], emits: OK, fails: OK}
"""
    with Engine.sync(tasks={"slow": slow, "stuck": stuck}) as engine:
        engine.publish(text)
        view = engine.wait(engine.start("w"), 20)
        release.set()

    assert (view["status"], view["steps"]["a"]["output"], attempts) == ("succeeded", "in time", [1, 2])
    assert view["steps"]["b"]["error"]["kind"] == "timeout"


def test_cancel_reaches_a_running_task() -> None:
    began, seen = threading.Event(), threading.Event()

    def work(ctx: Context) -> None:
        began.set()
        while not ctx.canceled:
            if not ctx.heartbeat():
                break
        seen.set()

    with Engine.sync(tasks={"work": work}) as engine:
        engine.publish("penstock: 1\nname: w\nsteps:\n  a: {task: work}\n")
        id = engine.start("w")
        assert began.wait(10)
        assert engine.cancel(id)["status"] == "canceled"
        assert seen.wait(10)
        with pytest.raises(RunEnded):
            engine.cancel(id)


def test_pause_resume_and_retry() -> None:
    broken = [True]

    def work() -> str:
        if broken:
            broken.clear()
            raise Fatal("not yet")
        return "done"

    with Engine.sync(tasks={"work": work}) as engine:
        engine.publish("penstock: 1\nname: w\nexternal: [e]\nsteps:\n  a: {task: work, after: e}\n")
        id = engine.start("w")
        assert engine.pause(id)["status"] == "paused"
        engine.emit("e", run=id)
        assert engine.show(id)["steps"]["a"]["reason"] == "pause"
        engine.resume(id)
        assert engine.wait(id, 10)["status"] == "failed"
        engine.retry(id)
        assert engine.wait(id, 10)["status"] == "succeeded"


def test_a_workflow_can_be_called_like_a_function() -> None:
    with Engine.sync(tasks=TASKS) as engine:
        engine.publish(CHAIN)
        answer = engine.call("chain", input={"n": 4})

    assert (answer["status"], answer["result"], answer["tags"]) == (
        "succeeded",
        {"n": 4, "a": True},
        {"seen": "yes"},
    )
    assert answer["steps"]["b"]["output"] == 50


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ("a: {task: wait, with: {for: 1s}}", "step 'a' is a `wait`"),
        ("a: {task: approval}", "step 'a' is an `approval`"),
        ("a: {task: one, serialize: data.n, with: {n: 1}}", "step 'a' has a `serialize` key"),
        ("a: {task: unheard}", "task 'unheard' of step 'a' is not offered in this process"),
        ("a: {task: one, after: e, with: {n: 1}}", "step 'a' waits for 'e', which only comes from outside"),
        (
            "a: {task: http, with: {url: 'https://f.example', mode: async}}",
            "step 'a' is an `http` step that waits for a call or asks again",
        ),
    ],
)
def test_what_cannot_be_called_says_why(steps: str, reason: str) -> None:
    with Engine.sync(tasks=TASKS) as engine:
        engine.publish(f"penstock: 1\nname: w\nexternal: [e]\nsteps:\n  {steps}\n")
        with pytest.raises(CannotCall) as caught:
            engine.call("w")

    assert reason in caught.value.reasons


def test_what_is_paused_is_not_called() -> None:
    with Engine.sync(tasks=TASKS) as engine:
        engine.publish("penstock: 1\nname: w\nsteps:\n  a: {task: set, with: {x: 1}}\n")
        refused = []
        for name in ("w", None):
            engine.pause_workflow(name)
            with pytest.raises(CannotCall) as caught:
                engine.call("w")
            refused.append(caught.value.reasons)
            engine.resume_workflow(name)

        assert refused == [("it is paused",), ("the whole installation is paused",)]
        assert engine.call("w")["status"] == "succeeded"


def test_a_call_has_a_time_limit() -> None:
    text = "penstock: 1\nname: w\nsteps:\n  a: {task: bad, retries: 9, backoff: {initial: 1h}}\n"

    def bad() -> None:
        raise ValueError

    with Engine.sync(tasks={"bad": bad}) as engine:
        engine.publish(text)
        with pytest.raises(CallTimedOut, match="the call of 'w' took longer than"):
            engine.call("w", timeout=0.05)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), True, "1s"])
def test_a_time_limit_that_is_none_is_refused(timeout: Any) -> None:
    with (
        Engine.sync(tasks={}) as engine,
        pytest.raises(Invalid, match="`timeout` must be seconds of more than 0"),
    ):
        engine.call("w", timeout=timeout)


@pytest.mark.parametrize("extra", ["", ", timeouts: {start_to_close: 10s}"])
def test_a_call_answers_in_time_whatever_its_tasks_do_and_begins_nothing_more(extra: str) -> None:
    release, after = threading.Event(), list[int]()
    steps = f"  a: {{task: slow{extra}}}\n  b: {{task: next, after: a}}\n"
    with Engine.sync(tasks={"slow": lambda: release.wait(20), "next": lambda: after.append(1)}) as engine:
        engine.publish(f"penstock: 1\nname: w\nsteps:\n{steps}")
        with pytest.raises(CallTimedOut):
            engine.call("w", timeout=0.05)
        threads = [each for each in threading.enumerate() if each.name.startswith("penstock-call")]
        release.set()
    for thread in threads:
        thread.join(10)

    assert (after, [thread.is_alive() for thread in threads]) == ([], [False] * len(threads))


def test_a_call_keeps_the_time_outs_of_its_steps() -> None:
    release = threading.Event()
    limits = "timeouts: {start_to_close: 20ms}, timeout_retries: []"
    text = f"penstock: 1\nname: w\nsteps:\n  a: {{task: slow, {limits}}}\n  b: {{task: stuck, {limits}}}\n"

    with Engine.sync(tasks={"slow": lambda: release.wait(20), "stuck": lambda: release.wait(20)}) as engine:
        engine.publish(f"{text}on_failure: continue\n")
        answer = engine.call("w", timeout=10)
        release.set()

    kinds = [answer["steps"][name]["error"]["kind"] for name in ("a", "b")]
    assert (answer["status"], kinds) == ("failed", ["timeout", "timeout"])


def test_a_definition_may_be_a_path_a_text_or_a_map(tmp_path: Path) -> None:
    file = tmp_path / "chain.yaml"
    file.write_text(CHAIN)

    with Engine.sync(tasks=TASKS) as engine:
        assert [engine.publish(CHAIN), engine.publish(file), engine.publish(str(file))] == [1, 2, 3]
        assert (
            engine.publish({"penstock": 1, "name": "m", "steps": {"a": {"task": "one", "with": {"n": 1}}}})
            == 1
        )
        with pytest.raises(DefinitionError, match="the file does not exist"):
            engine.publish("nowhere.yaml")
        with pytest.raises(UnknownWorkflow, match="no workflow 'chian' is published; did you mean 'chain'"):
            engine.start("chian")


def test_a_task_that_nobody_defines_is_told_at_the_start() -> None:
    with Engine.sync(tasks={}) as engine:
        engine.publish(CHAIN)
        with pytest.raises(
            NoTask, match="no task is defined for 'one', 'two': pass a module that defines it"
        ):
            engine.start("chain", input={"n": 1})


def test_an_unknown_store_is_refused_and_a_closed_engine_says_so() -> None:
    with (
        pytest.raises(BadAddress, match="use a path such as penstock"),
        Engine.sync("oracle://here") as other,
    ):
        other.publish(CHAIN)
    engine = Engine.sync()
    engine.close()
    with pytest.raises(PenstockError, match="this engine is closed"):
        engine.show("x")


def test_a_workflow_that_can_get_stuck_is_not_published() -> None:
    text = """
penstock: 1
name: w
steps:
  d: {task: decide, with: {if: "data.n > 1"}, emits: {then: x, else: y}}
  a: {task: one, after: x, with: {n: 1}}
  b: {task: one, after: y, with: {n: 1}}
  join: {task: one, after: [a, b], with: {n: 1}}
"""
    with Engine.sync(tasks=TASKS) as engine:
        with pytest.raises(CheckFailed, match="'w' is not published: ") as caught:
            engine.publish(text)
        assert engine.publish(text.replace("[a, b]", "a | b")) == 1
        assert engine.publish(text, override="it is for the show") == 2

    assert "deadlock" in {finding.code for finding in caught.value.report.findings}


def test_what_tasks_log_can_be_read() -> None:
    def talk(ctx: Context) -> None:
        ctx.log("reading %s", "a file")
        ctx.log.warning("careful")

    with Engine.sync(tasks={"talk": talk}) as engine:
        engine.publish("penstock: 1\nname: w\nsteps:\n  a: {task: talk}\n")
        id = engine.start("w")
        engine.wait(id, 10)
        lines = engine.logs(id)

    assert [(line["step"], line["attempt"], line["level"], line["text"]) for line in lines] == [
        ("a", 1, "info", "reading a file"),
        ("a", 1, "warning", "careful"),
    ]


ONE_STEP = "penstock: 1\nname: w\nsteps:\n  a: {task: t}\n"


def leave() -> None:
    sys.exit(3)


async def leave_later() -> None:
    sys.exit("enough")


async def cancel_itself() -> None:
    raise asyncio.CancelledError


async def have_itself_cancelled() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


def interrupt_itself() -> None:
    raise KeyboardInterrupt


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError


def mute() -> None:
    raise Mute


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (leave, "the task called sys.exit(3): return, or raise an error instead"),
        (leave_later, "the task called sys.exit(enough): return, or raise an error instead"),
        (cancel_itself, "the task was cancelled, and not by the engine"),
        (have_itself_cancelled, "the task was cancelled, and not by the engine"),
        (interrupt_itself, "KeyboardInterrupt"),
        (mute, "Mute (it cannot be told what it says)"),
    ],
)
def test_whatever_a_task_raises_is_its_failure_and_the_engine_lives_on(function: Any, message: str) -> None:
    with Engine.sync(tasks={"t": function}) as engine:
        engine.publish(ONE_STEP)
        views = [engine.wait(engine.start("w"), 10) for _ in range(2)]

    errors = [view["steps"]["a"]["error"] for view in views]
    assert [(error["kind"], error["message"]) for error in errors] == [("error", message)] * 2


def test_a_closed_engine_takes_nothing_and_tells_whoever_waits() -> None:
    async def main() -> None:
        engine = Engine(tasks={"t": lambda: None})
        await engine.publish("penstock: 1\nname: w\nexternal: [e]\nsteps:\n  a: {task: t, after: e}\n")
        waiting = asyncio.ensure_future(engine.wait(await engine.start("w")))
        await asyncio.sleep(0)
        await engine.close()
        for work in (waiting, engine.start("w"), engine.call("w")):
            with pytest.raises(PenstockError, match="this engine is closed"):
                await asyncio.wait_for(work, 10)

    run(main())


def test_a_thread_that_waits_is_told_when_the_engine_closes() -> None:
    engine = Engine.sync(tasks={"t": lambda: None})
    engine.publish("penstock: 1\nname: w\nexternal: [e]\nsteps:\n  a: {task: t, after: e}\n")
    id, told = engine.start("w"), list[str]()

    def wait() -> None:
        try:
            engine.wait(id)
        except PenstockError as error:
            told.append(str(error))

    waiter = threading.Thread(target=wait, daemon=True)
    waiter.start()
    while not engine._engine._running.node.run_watch._waiters:  # type: ignore[attr-defined]
        waiter.join(0.001)
    engine.close()
    waiter.join(10)

    assert told == ["this engine is closed"]


def test_waiting_for_rest_is_not_fooled_by_an_event_that_was_kept_for_the_run() -> None:
    tasks = {"make": lambda: Out(correlate={"job": "7"}), "use": lambda: "used"}
    text = "penstock: 1\nname: w\nexternal: [e]\nsteps:\n  m: {task: make}\n  u: {task: use, after: e, emits: OK}\n"

    with Engine.sync(tasks=tasks) as engine:
        engine.publish(text)
        engine.emit("e", key={"job": "7"})
        assert engine.wait(engine.start("w"), 10, rest=True)["status"] in ("waiting", "succeeded")
        assert engine.wait(engine.start("w"), 10, rest=True)["status"] == "waiting"


@pytest.mark.parametrize(
    ("said", "error", "sentence"),
    [
        ({"url": 5}, BadAddress, "'5' is no text"),
        ({"tasks": ["nomod"]}, TasksUnreadable, "'nomod' is no task: give functions"),
        ({"tasks": "nomod"}, TasksUnreadable, "'nomod' is no task"),
        ({"tasks": 5}, TasksUnreadable, "5 is no task"),
        (
            {"tasks": {"a": 5}},
            TasksUnreadable,
            "`tasks` must be a map from names to functions; 'a' is not so",
        ),
        ({"concurrency": 0}, Invalid, "`concurrency` must be a whole number from 1"),
        ({"concurrency": -1}, Invalid, "`concurrency` must be a whole number from 1"),
        ({"concurrency": "x"}, Invalid, "`concurrency` must be a whole number, not 'x'"),
        ({"grace": "x"}, Invalid, "`grace` must be a number of seconds, 0 or more, not 'x'"),
        ({"grace": -1}, Invalid, "`grace` must be a number of seconds, 0 or more, not -1"),
        ({"retention": 5}, Invalid, "`retention` must be a map from statuses to timedeltas, not 5"),
        (
            {"retention": {"done": timedelta(1)}},
            Invalid,
            "'done' is no status of an ended run: say succeeded",
        ),
        ({"retention": {"failed": 5}}, Invalid, "that of 'failed' must be a timedelta of 0 or more, not 5"),
        ({"retention": {"failed": timedelta(-1)}}, Invalid, "must be a timedelta of 0 or more"),
    ],
)
def test_an_engine_that_cannot_be_is_refused_when_it_is_made(
    said: dict[str, Any], error: type[PenstockError], sentence: str
) -> None:
    with pytest.raises(error, match=re.escape(sentence)):
        Engine(**said)


def test_a_list_that_cannot_be_asked_for_is_refused() -> None:
    async def main() -> None:
        async with Engine(tasks={}) as engine:
            for ask in (engine.runs, engine.counts):
                for wrong in ({"foo": 1}, {"subject": 1}, {"statuses": ("gone",)}, {"limit": 0}):
                    with pytest.raises(Invalid):
                        await ask(**wrong)

    asyncio.run(main())


def test_a_step_that_did_not_fail_has_nothing_to_retry() -> None:
    async def fails() -> None:
        raise ValueError("no")

    async def main() -> None:
        async with Engine(tasks={"fails": fails}) as engine:
            await engine.publish(
                "penstock: 1\nname: w\nsteps:\n  a: {task: fails}\n  b: {task: fails, after: a}\n"
            )
            run = await engine.start("w")
            await engine.wait(run, 10)
            with pytest.raises(NotRetryable, match="step 'b' has nothing to retry: it did not fail"):
                await engine.retry(run, "b")

    asyncio.run(main())
