"""Flows whose steps are played by others: boxes that wait for a stub instead of doing their own work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from penstock.expression import Expression, Template, compile_expression
from penstock.flow.compile.compile import Flow, FlowStep, TaskBox
from penstock.flow.model.box import Box, Finish, Queue, Reaction, View
from penstock.flow.model.retry_policy import RetryPolicy, Timeouts


class StubBox(Struct, frozen=True):
    """Hands the step to the executor, whatever its task is; without ports it ends at once."""

    ports: tuple[str | None, ...]

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {}

    def enter(self, view: View) -> Reaction:
        return _NO_PORT if None in self.ports else _QUEUE


def with_stubs(flow: Flow, stubbed: Callable[[FlowStep], bool]) -> Flow:
    """The same flow, in which built-in tasks that are stubbed are played like any other task."""
    wanted = [
        step
        for step in flow.steps.values()
        if step.ports and stubbed(step) and not isinstance(step.box, TaskBox)
    ]
    played = {step.name: replace(step, box=_stub_box(step)) for step in wanted}
    steps = {**flow.steps, **played}
    return _with_steps(flow, steps)


def unpromised(flow: Flow, names: Collection[str]) -> Flow:
    """The same flow, in which some steps may give anything: they are not played, and give nothing."""
    if not names:
        return flow
    steps = {
        name: replace(step, promise=None) if name in names else step for name, step in flow.steps.items()
    }
    return _with_steps(flow, steps)


def _with_steps(flow: Flow, steps: Mapping[str, FlowStep]) -> Flow:
    return Flow(
        flow.definition,
        flow.net,
        steps,
        flow.wiring,
        flow.result,
        flow.version,
        flow.bad_settings,
        flow.offers,
    )


def relaxed(flow: Flow) -> Flow:
    """Only the net is left: each step ends once, on any port, whatever data, keys and budgets there are."""
    steps = {name: _relaxed(step) for name, step in flow.steps.items()}
    # A generated run has no input and its events carry nothing: no schema may refuse them.
    events = [replace(event, schema=None) for event in flow.definition.external or ()]
    definition = replace(flow.definition, params=None, external=tuple(events) or None)
    return Flow(definition, flow.net, steps, flow.wiring, None, flow.version, flow.bad_settings, flow.offers)


def _relaxed(step: FlowStep) -> FlowStep:
    return replace(
        step,
        box=_stub_box(step),
        each=None,
        match=None if step.match is None else _ANY_KEY,
        serialize=None,
        retry=RetryPolicy(0, ()),
        timeouts=Timeouts(heartbeat=None),
        parallel=1 if step.each is not None else step.parallel,
        promise=None,
    )


def _stub_box(step: FlowStep) -> Box:
    return StubBox(tuple(step.ways))


_QUEUE, _NO_PORT = Queue({}), Finish(port=None, output={"message": "the workflow says so"})
_ANY_KEY = compile_expression("'any'", ("event", "data"))
