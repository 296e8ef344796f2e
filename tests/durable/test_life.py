"""The life of runs on every store: starts, versions, pauses, cancels, retries, children, fans."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from penstock import Context, Engine, Fatal
from penstock.runtime.errors import (
    BadCursor,
    BadPayload,
    IdempotencyMismatch,
    InvalidInput,
    NotRetryable,
    RunEnded,
    UnknownRun,
    UnknownVersion,
    UnknownWorkflow,
)
from tests.durable.conftest import Place
from tests.waiting import nothing_happens, until

WAITS = "penstock: 1\nname: w\nexternal: [go]\nsteps:\n  a: {task: echo, after: go, with: {x: VALUE}, emits: OK}\n"


async def echo(ctx: Context, x: Any = None) -> Any:
    return x


def chain(*tasks: str) -> str:
    steps = [f"  s{n}: {{task: {task}{f', after: s{n - 1}' if n else ''}}}" for n, task in enumerate(tasks)]
    return "penstock: 1\nname: w\nsteps:\n" + "\n".join(steps) + "\n"


def test_a_start_with_a_key_seen_before_gives_the_first_run(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(chain("echo"))
        starts = (engine.start("w", input={"n": 1}, idempotency_key="k") for _ in range(20))
        ids = await asyncio.gather(*starts)
        assert len(set(ids)) == 1
        with pytest.raises(IdempotencyMismatch):
            await engine.start("w", input={"n": 2}, idempotency_key="k")
        assert [row["id"] for row in await engine.runs()] == [ids[0]]

    place.run(main, {"echo": echo})


def test_bad_starts_say_what_is_wrong_and_change_nothing(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(
            chain("echo") + "params: {type: object, properties: {n: {type: integer}}, required: [n]}\n"
        )
        with pytest.raises(UnknownWorkflow, match="no workflow 'v' is published"):
            await engine.start("v")
        with pytest.raises(UnknownVersion, match="'w' has no version 7: its versions are 1 to 1"):
            await engine.start("w", version=7, input={"n": 1})
        with pytest.raises(InvalidInput):
            await engine.start("w", input={"n": "one"})
        with pytest.raises(BadPayload, match="bytes of JSON, 262144 at most"):
            await engine.start("w", input={"n": 1, "long": "x" * 300_000})
        with pytest.raises(UnknownRun):
            await engine.cancel("nobody")
        assert (await engine.runs(), sum((await engine.counts()).values())) == ([], 0)

    place.run(main, {"echo": echo})


def test_runs_stay_on_their_version(place: Place) -> None:
    async def main(engine: Engine) -> None:
        assert await engine.publish(WAITS.replace("VALUE", "1")) == 1
        id = await engine.start("w")
        assert await engine.publish(WAITS.replace("VALUE", "2")) == 2
        other, old = await engine.start("w"), await engine.start("w", version=1)
        for run in (id, other, old):
            await engine.emit("go", run=run)
        views = [await engine.wait(run) for run in (id, other, old)]
        assert [(view["version"], view["steps"]["a"]["output"]) for view in views] == [(1, 1), (2, 2), (1, 1)]

    place.run(main, {"echo": echo})


def test_a_paused_run_dispatches_nothing_until_it_is_resumed(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITS.replace("VALUE", "1"))
        id = await engine.start("w")
        await engine.pause(id)
        await engine.emit("go", run=id)
        view = await engine.show(id)
        assert (view["status"], view["steps"]["a"]["reason"]) == ("paused", "pause")
        await engine.resume(id)
        assert (await engine.wait(id))["status"] == "succeeded"

    place.run(main, {"echo": echo})


def test_a_pause_holds_tasks_that_nobody_has_begun_and_their_time_outs(place: Place) -> None:
    busy, began = asyncio.Event(), list[str]()

    async def hold(ctx: Context) -> None:
        began.append(ctx.run["subject"])
        await busy.wait()

    text = (
        f"penstock: 1\nname: w\nsteps:\n  a: {{task: hold, timeouts: {{schedule_to_start: {place.unit}s}}}}\n"
    )

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        first = await engine.start("w", subject="first")
        await until(lambda: began, "the first task")
        second = await engine.start("w", subject="second")  # waits: the worker has room for one
        await engine.pause(second)
        await nothing_happens(2 * place.unit)  # its time-out is over by then
        assert (await engine.show(second))["status"] == "paused"
        busy.set()
        assert (await engine.wait(first))["status"] == "succeeded"
        await nothing_happens(place.unit / 4)
        assert began == ["first"]
        await engine.resume(second)
        assert (await engine.wait(second))["status"] == "succeeded"

    place.run(main, {"hold": hold}, concurrency=1)


def test_a_paused_workflow_holds_its_runs_old_and_new(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITS.replace("VALUE", "1"))
        await engine.publish(WAITS.replace("VALUE", "1").replace("name: w", "name: free"))
        old, free = await engine.start("w"), await engine.start("free")
        await engine.pause_workflow("w")
        new = await engine.start("w")
        for run in (old, new, free):
            await engine.emit("go", run=run)
        assert (await engine.wait(free))["status"] == "succeeded"
        for run in (old, new):
            await until(
                partial(engine.show, run), "the run to be held", so=lambda view: view["status"] == "paused"
            )
        await engine.pause(old)
        await engine.resume_workflow("w")
        assert (await engine.wait(new))["status"] == "succeeded"
        assert (await engine.show(old))["status"] == "paused"  # its own pause still holds it
        await engine.resume(old)
        assert (await engine.wait(old))["status"] == "succeeded"
        with pytest.raises(UnknownWorkflow):
            await engine.pause_workflow("nobody")

    place.run(main, {"echo": echo})


def test_cancel_reaches_the_task_and_the_clean_up_runs(place: Place) -> None:
    began, cleaned = asyncio.Event(), list[str]()

    async def stuck(ctx: Context) -> None:
        began.set()
        await asyncio.sleep(3600)  # it never ends by itself

    async def clean() -> None:
        cleaned.append("clean")

    text = "penstock: 1\nname: w\nsteps:\n  a: {task: stuck}\n  c: {task: clean, after: CANCEL}\n"

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        id = await engine.start("w")
        await began.wait()
        await engine.cancel(id)
        view = await engine.wait(id)
        assert (view["status"], view["steps"]["a"]["status"], cleaned) == ("canceled", "canceled", ["clean"])
        with pytest.raises(RunEnded):
            await engine.cancel(id)

    place.run(main, {"stuck": stuck, "clean": clean})


def test_retry_goes_on_and_rerun_begins_anew(place: Place) -> None:
    fail = [True]

    async def sometimes() -> str:
        if fail:
            fail.clear()
            raise Fatal("not today")
        return "well"

    async def main(engine: Engine) -> None:
        await engine.publish(chain("echo", "sometimes"))
        id = await engine.start("w", input={"n": 1}, subject="s", tags={"k": "v"})
        assert (await engine.wait(id))["status"] == "failed"
        await engine.retry(id)
        view = await engine.wait(id)
        assert (view["status"], view["steps"]["s0"]["firings"]) == ("succeeded", 1)
        with pytest.raises(NotRetryable):
            await engine.retry(id)
        again = await engine.wait(await engine.rerun(id))
        assert (again["status"], again["rerun_of"], again["input"], again["subject"], again["tags"]) == (
            "succeeded",
            id,
            {"n": 1},
            "s",
            {"k": "v"},
        )

    place.run(main, {"echo": echo, "sometimes": sometimes})


def test_a_fan_keeps_the_order_of_its_items(place: Place) -> None:
    async def double(n: int) -> int:
        return 2 * n

    text = """
penstock: 1
name: w
steps:
  fan: {task: double, each: data.items, with: {n: "${ item }"}, emits: OK}
"""

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        view = await engine.wait(await engine.start("w", input={"items": list(range(300))}))
        assert view["steps"]["fan"]["output"] == [2 * n for n in range(300)]
        assert view["steps"]["fan"]["elements"] == {"total": 300, "done": 300, "failed": 0}

    place.run(main, {"double": double})


def test_large_payloads_come_through_and_are_kept_once(place: Place) -> None:
    async def make() -> dict[str, str]:
        return {"text": "x" * 100_000}

    async def size(ctx: Context) -> int:
        return len(ctx.input["s0"]["text"])

    async def main(engine: Engine) -> None:
        await engine.publish(chain("make", "size"))
        id = await engine.start("w", input={"long": "y" * 50_000})
        view = await engine.wait(id)
        assert (view["steps"]["s1"]["output"], len(view["data"]["long"])) == (100_000, 50_000)
        ended = [entry for entry in await engine.history(id) if entry["kind"] == "ended"]
        assert len(ended[0]["data"]["text"]) == 100_000

    place.run(main, {"make": make, "size": size})


CHILD = """
penstock: 1
name: child
params: {type: object, required: [n]}
result: steps.a.output
steps:
  a: {task: inc}
"""
PARENT = """
penstock: 1
name: parent
steps:
  call: {task: workflow, with: {name: child, input: "${ data }"}}
  after: {task: note, after: call, emits: OK}
"""


async def inc(ctx: Context) -> int:
    return int(ctx.data["n"]) + 1


async def note(ctx: Context) -> Any:
    return ctx.input["call"]["result"]


def test_a_step_starts_a_child_run_and_waits_for_it(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(CHILD)
        await engine.publish(PARENT)
        id = await engine.start("parent", input={"n": 4})
        view = await engine.wait(id)
        assert (view["status"], view["steps"]["after"]["output"]) == ("succeeded", 5)
        child = await engine.show(view["steps"]["call"]["output"]["run"])
        assert (child["parent"], child["workflow"], child["status"]) == (id, "child", "succeeded")
        assert [row["id"] for row in await engine.runs(parent=id)] == [child["id"]]

    place.run(main, {"inc": inc, "note": note})


@pytest.mark.parametrize(
    ("input", "publish", "message"),
    [
        ({"n": 1}, False, "no workflow 'child' is published"),
        ({}, True, "the input does not fit the params of 'child'"),
        ({"n": "x"}, True, "ended as failed"),
    ],
)
def test_a_child_run_that_does_not_succeed_fails_its_step(
    place: Place, input: Any, publish: bool, message: str
) -> None:
    async def main(engine: Engine) -> None:
        if publish:
            await engine.publish(CHILD)
        await engine.publish(PARENT)
        view = await engine.wait(await engine.start("parent", input=input))
        assert (view["status"], view["error"]["kind"]) == ("failed", "child")
        assert message in view["error"]["message"]

    place.run(main, {"inc": inc, "note": note})


def test_a_step_that_waits_for_a_child_run_has_time_outs_too(place: Place) -> None:
    child = CHILD.replace("steps:\n  a: {task: inc}", "external: [go]\nsteps:\n  a: {task: inc, after: go}")
    limits = f"timeouts: {{start_to_close: {place.unit}s}}, timeout_retries: []"
    parent = PARENT.replace("call: {task: workflow,", f"call: {{task: workflow, {limits},")

    async def main(engine: Engine) -> None:
        await engine.publish(child)
        await engine.publish(parent)
        id = await engine.start("parent", input={"n": 4})
        view = await engine.wait(id)
        assert (view["status"], view["error"]["kind"]) == ("failed", "timeout")
        assert (await engine.wait((await engine.runs(parent=id))[0]["id"]))["status"] == "canceled"

    place.run(main, {"inc": inc, "note": note})


def test_a_canceled_parent_cancels_its_child_run(place: Place) -> None:
    child = CHILD.replace("steps:\n  a: {task: inc}", "external: [go]\nsteps:\n  a: {task: inc, after: go}")

    async def main(engine: Engine) -> None:
        await engine.publish(child)
        await engine.publish(PARENT)
        id = await engine.start("parent", input={"n": 4})
        rows = await until(
            lambda: engine.runs(parent=id),
            "a child run that waits",
            so=lambda rows: rows and rows[0]["status"] == "waiting",
        )
        await engine.cancel(id)
        assert (await engine.wait(rows[0]["id"]))["status"] == "canceled"

    place.run(main, {"inc": inc, "note": note})


def test_runs_are_listed_by_what_is_asked(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITS.replace("VALUE", "1"))
        first = await engine.start("w", subject="a", labels={"team": "x"})
        second = await engine.start("w", subject="b", labels={"team": "y"})
        await engine.wait(first, rest=True)
        await engine.wait(second, rest=True)
        assert [row["id"] for row in await engine.runs()] == [second, first]
        page = await engine.list_runs(limit=1)
        assert ([row["id"] for row in page["items"]], page["next"] is None) == ([second], False)
        last = await engine.list_runs(limit=1, cursor=page["next"])
        assert ([row["id"] for row in last["items"]], last["next"]) == ([first], None)
        for cursor in (page["next"][:-1], "x" + page["next"], "", "é", page["next"] + "="):
            with pytest.raises(BadCursor):
                await engine.list_runs(limit=1, cursor=cursor)
        with pytest.raises(BadCursor):
            await engine.list_runs(limit=1, cursor=page["next"], sort="oldest")
        assert [row["id"] for row in await engine.runs(subject="a")] == [first]
        assert [row["id"] for row in await engine.runs(label=("team", "y"))] == [second]
        assert [row["waiting_for"] for row in await engine.runs(waiting_for="go")] == [["go"], ["go"]]
        assert (await engine.counts(workflow="w"))["waiting"] == 2

    place.run(main, {"echo": echo})


def test_a_run_outlives_its_timeout_and_is_cleaned_up(place: Place) -> None:
    async def stuck() -> None:
        await asyncio.sleep(3600)  # it never ends by itself

    steps = "steps:\n  a: {task: stuck}\n  t: {task: echo, after: TIMEOUT}\n"
    text = f"penstock: 1\nname: w\ntimeout: {place.unit}s\n{steps}"

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        view = await engine.wait(await engine.start("w"))
        assert (view["status"], view["steps"]["t"]["status"]) == ("timed_out", "complete")

    place.run(main, {"stuck": stuck, "echo": echo})


def test_higher_priorities_come_first(place: Place) -> None:
    served: list[str] = []
    gate = asyncio.Event()

    async def work(ctx: Context) -> None:
        served.append(ctx.step)
        await gate.wait()

    text = """
penstock: 1
name: w
steps:
  low: {task: work, priority: -1}
  high: {task: work, priority: 5}
  plain: {task: work}
"""

    async def main(engine: Engine) -> None:
        await engine.publish("penstock: 1\nname: blocker\nsteps:\n  busy: {task: work}\n")
        await engine.publish(text)
        await engine.start("blocker")
        await until(lambda: served, "the first task")
        id = await engine.start("w")
        gate.set()
        await engine.wait(id)

    place.run(main, {"work": work}, concurrency=1)

    assert served == ["busy", "high", "plain", "low"]
