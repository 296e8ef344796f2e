"""Child runs on every store, and what befalls their parents meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from penstock import Engine
from penstock.store.rows.change import Change, Committed
from tests.durable.conftest import Place
from tests.waiting import nothing_happens

CHILD = "penstock: 1\nname: child\nexternal: [go]\nsteps:\n  a: {task: nop, after: go}\n"
PARENT = "penstock: 1\nname: parent\nsteps:\n  call: {task: workflow, with: {name: child}}\n"


async def nop() -> None:
    return None


def test_a_child_run_that_is_about_to_begin_does_not_outlive_its_parent(place: Place) -> None:
    reached, release, written = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def main(engine: Engine) -> None:
        await engine.publish(CHILD)
        await engine.publish(PARENT)
        store: Any = engine._running.store  # type: ignore[union-attr]
        write = store.commit

        async def commit(changes: Sequence[Change]) -> Committed:
            child = any(change.new is not None and change.new.parent is not None for change in changes)
            if child:
                reached.set()
                await release.wait()
            done: Committed = await write(changes)
            if child:
                written.set()
            return done

        store.commit = commit
        id = await engine.start("parent")
        await reached.wait()
        await engine.cancel(id)
        assert (await engine.wait(id, 30))["status"] == "canceled"
        await nothing_happens(place.unit / 3)  # whoever reads messages finds no child run to cancel
        release.set()
        await written.wait()
        assert await engine.runs(parent=id) == []

    place.run(main, {"nop": nop})


UNWATCHED = PARENT.replace("name: child}", "name: child, input: {n: 1}, wait: false}")


def test_a_step_that_does_not_wait_is_done_once_its_child_run_is_there(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(CHILD)
        await engine.publish(UNWATCHED)
        id = await engine.start("parent")
        view = await engine.wait(id, 30)
        assert view["status"] == "succeeded"
        [child] = await engine.runs(parent=id)
        assert view["steps"]["call"]["output"] == {"run": child["id"]}
        await engine.emit("go", run=child["id"])
        assert (await engine.wait(child["id"], 30))["status"] == "succeeded"

    place.run(main, {"nop": nop})


@pytest.mark.parametrize(
    ("child", "message"),
    [
        (None, "no workflow 'child' is published"),
        ("params: {type: object, required: [x]}\n", "the input does not fit the params of 'child'"),
    ],
)
def test_a_step_that_does_not_wait_fails_where_its_child_run_cannot_begin(
    place: Place, child: str | None, message: str
) -> None:
    async def main(engine: Engine) -> None:
        if child is not None:
            await engine.publish(CHILD + child)
        await engine.publish(UNWATCHED)
        view = await engine.wait(await engine.start("parent"), 30)
        assert (view["status"], view["error"]["kind"]) == ("failed", "child")
        assert message in view["error"]["message"]

    place.run(main, {"nop": nop})


RECURSIVE = "penstock: 1\nname: rec\nsteps:\n  again: {task: workflow, with: {name: rec}}\n"


def test_a_workflow_that_starts_itself_comes_to_an_end(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(RECURSIVE)
        id = await engine.start("rec")
        view = await engine.wait(id, 60)
        assert (view["status"], view["error"]["kind"]) == ("failed", "child")
        assert "at most 32 deep" in view["error"]["message"]
        assert (await engine.counts(workflow="rec"))["failed"] == 33

    place.run(main)


def test_no_child_run_begins_below_a_run_that_is_canceled(place: Place) -> None:
    """The one that is about to begin belongs to a run that does not know yet that its parent is canceled."""
    reached, release = asyncio.Event(), asyncio.Event()

    async def main(engine: Engine) -> None:
        await engine.publish(RECURSIVE)
        node: Any = engine._running.node  # type: ignore[union-attr]
        begin, canceling = node.timers.begin_child, []

        def begin_child(message: int, run: str, wish: Any) -> None:
            if run.count("~") < 3:
                begin(message, run, wish)
            elif not reached.is_set():
                canceling.append((message, run, wish))
                reached.set()

        node.timers.begin_child = begin_child
        id = await engine.start("rec")
        await reached.wait()
        submit = node.timers.submit

        def withheld(request: Any) -> None:
            if release.is_set():
                submit(request)
            else:
                request.tell(None, RuntimeError("not yet"))

        node.timers.submit = withheld
        await engine.cancel(id)
        await node.commands._begin_child(*canceling[0])
        release.set()
        node.timers.look()
        for run in await engine.runs(workflow="rec"):
            await engine.wait(run["id"], 60)
        counts = await engine.counts(workflow="rec")
        assert sum(counts.values()) == 3

    place.run(main)
