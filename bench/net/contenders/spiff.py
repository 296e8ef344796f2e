"""SpiffWorkflow, through its Python specifications (lighter than its BPMN), with the data in one shared map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from SpiffWorkflow.operators import Operator
from SpiffWorkflow.specs import Join, MultiChoice, Simple
from SpiffWorkflow.specs.WorkflowSpec import WorkflowSpec
from SpiffWorkflow.workflow import Workflow

from bench.net.runs import MIXED, SMALL, Call, Script, State, run_name
from bench.net.work import Work, Works

PACKAGE = "SpiffWorkflow"
BRANCHES = ("thumbnail", "transcode", "describe")


def works() -> Works:
    specs = {SMALL.name: _small(), MIXED.name: _mixed()}
    return {
        run_name(script): Work(_running(specs[script.name]), len(script.calls)) for script in (SMALL, MIXED)
    }


class _Keeping:
    """A step that calls its function."""

    call: Call

    def _run_hook(self, task: Any) -> bool:
        state: State = task.workflow.data["state"]
        state.keep(self.call)
        return True


class _Step(_Keeping, Simple):  # type: ignore[misc]
    pass


class _Choice(_Keeping, MultiChoice):  # type: ignore[misc]
    def _run_hook(self, task: Any) -> bool:
        super()._run_hook(task)
        return bool(MultiChoice._run_hook(self, task))


class _Gather(_Keeping, Join):  # type: ignore[misc]
    pass


class _Size(Operator):  # type: ignore[misc]
    """Whether the size is over 1, or is not."""

    def __init__(self, wanted: bool) -> None:
        super().__init__(wanted)
        self.wanted = wanted

    def _matches(self, task: Any) -> bool:
        return (task.workflow.data["state"].data["size"] > 1) is self.wanted


def _calls(script: Script) -> Mapping[str, Call]:
    return {call.step: call for call in script.calls}


def _made(kind: type[_Keeping], spec: Any, call: Call, *args: Any) -> Any:
    made: Any = kind(spec, call.step, *args)  # type: ignore[call-arg]
    made.call = call
    return made


def _chain(spec: Any, before: Any, calls: tuple[Call, ...]) -> None:
    for call in calls:
        step = _made(_Step, spec, call)
        before.connect(step)
        before = step


def _small() -> Any:
    spec = WorkflowSpec(name=SMALL.name, addstart=True)
    _chain(spec, spec.start, SMALL.calls)
    return spec


def _mixed() -> Any:
    spec, calls = WorkflowSpec(name=MIXED.name, addstart=True), _calls(MIXED)
    measure = _made(_Step, spec, calls["measure"])
    spec.start.connect(measure)
    choice = _made(_Choice, spec, calls["large"])
    measure.connect(choice)
    gather = _made(_Gather, spec, calls["gather"], choice.name)
    for name in BRANCHES:
        branch = _made(_Step, spec, calls[name])
        choice.connect_if(_Size(True), branch)
        branch.connect(gather)
    choice.connect_if(_Size(False), Simple(spec, "refuse"))
    _chain(spec, gather, tuple(calls[name] for name in ("total", "mark", "store", "notify")))
    return spec


def _running(spec: Any) -> Callable[[], dict[str, Any]]:
    def run() -> dict[str, Any]:
        state = State()
        workflow = Workflow(spec)
        workflow.data["state"] = state
        workflow.run_all()
        if not workflow.is_completed():
            raise RuntimeError("the workflow did not complete")
        return state.answer()

    return run
