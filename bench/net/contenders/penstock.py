"""Penstock itself: the bare kernel, and whole runs as `Engine.call` makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bench.net.runs import SCRIPTS, Script, fetch, label, measure, run_name
from bench.net.shapes import SHAPES, SIZES, Shape, shape_of, work_name
from bench.net.work import Work, Works
from penstock.engine.authoring.loader import load
from penstock.flow.compile.compile import Flow
from penstock.flow.model.tags import visible
from penstock.kernel.firing import begin, fire
from penstock.kernel.net import Wiring
from penstock.runtime.inmemory.engine import InMemoryEngine
from penstock.runtime.inmemory.play import play_out
from penstock.runtime.node.clock import VirtualClock
from penstock.runtime.node.ids import new_run_id
from penstock.workers.execute.inline import InlineExecutor
from penstock.workers.task import Out, Task, tasks_of

PACKAGE = "penstock"
GROWING = ("chain", "fork-join")


def _measure() -> Out:
    answer = measure()
    return Out(answer, set=answer)


def _label() -> Out:
    answer = label()
    return Out(answer, tags=answer)


TASKS: Mapping[str, Task] = tasks_of({"fetch": fetch, "measure": _measure, "label": _label})


def works() -> Works:
    made: Works = {}
    for name in SHAPES:
        for size in SIZES:
            shape = shape_of(name, size)
            made[f"fire {work_name(name, size)}"] = Work(_firing(shape), len(shape.order))
    for script in SCRIPTS:
        made[run_name(script)] = Work(_running(_flow(script)), len(script.calls))
    for name in GROWING:
        for size in SIZES:
            shape = shape_of(name, size)
            made[f"run {work_name(name, size)}"] = Work(_running(_flow(_script(shape))), len(shape.order))
    return made


def _firing(shape: Shape) -> Callable[[], int]:
    """Each firing is a new marking, as in a run: the kernel's own working copy is made anew each time."""
    wiring = Wiring(shape.net)

    def run() -> int:
        marking = begin(wiring)
        number = 0
        for step, port in shape.order:
            number += 1
            marking = fire(wiring, marking, step, port, number)
        return number

    return run


def _running(flow: Flow) -> Callable[[], dict[str, Any]]:
    def run() -> dict[str, Any]:
        clock, executor = VirtualClock(), InlineExecutor(TASKS)
        host = InMemoryEngine(clock, executor, new_run_id)
        host.does = executor.outcome  # as a call does its attempts
        snapshot = play_out(host, clock, host.start(flow))
        if snapshot.status != "succeeded":
            raise RuntimeError(f"workflow '{flow.name}' ended as {snapshot.status}")
        return {"data": snapshot.data, "tags": visible(snapshot.tags)}

    return run


def _flow(script: Script) -> Flow:
    return load(script.definition, TASKS).flow


def _script(shape: Shape) -> Script:
    """The shape as a workflow whose every step runs a Python task."""
    after = {step.name: [" | ".join(slot.events) for slot in step.slots] for step in shape.net.steps}
    return Script(shape.name, {name: {"task": "fetch", "after": slots} for name, slots in after.items()}, ())
