"""A person mends a run: events are put into slots or taken out, a step is skipped, a run is given up."""

from __future__ import annotations

from msgspec.structs import asdict

from penstock.flow.compile.compile import Flow, FlowStep
from penstock.flow.decisions.begin import begin_firing, wake_all
from penstock.flow.decisions.emit import match_key, record_refused
from penstock.flow.decisions.end import end_early, finish_run, withdraw_all
from penstock.flow.decisions.finish import end_firing, fire_way
from penstock.flow.decisions.retry import retry
from penstock.flow.decisions.state import DecisionState
from penstock.flow.decisions.withdraw import drop_results, withdraw_elements
from penstock.flow.model.plan import Answer
from penstock.flow.model.run import NEVER_FIRED, Failure, Firing, Origin, StepState
from penstock.flow.model.run_input import GivenUp, Put, Repaired, Retried, Skipped, Take
from penstock.kernel.firing import MutableMarking
from penstock.kernel.marking import Taken, Token
from penstock.kernel.net import FAIL, WiredSlot


def repair(decision: DecisionState, request: Repaired) -> Answer:
    """Change the marking as a whole, or not at all; steps that are enabled then begin by the usual rules."""
    if request.expect is not None and request.expect != decision.seq:
        return "superseded"
    if decision.ended or repair_error(decision, request) is not None:
        return "refused"
    for take in request.take:
        slot = slot_of(decision.flow, take)
        assert slot is not None
        gone = decision.marking.remove(slot, take.number)
        name = None if gone is None else gone.name
        data = {"take": take.slot, "number": take.number, "reason": request.reason}
        decision.record("repaired", take.step, name, data=data)
    for put in request.put:
        put_into(decision, put, request.reason)
    return "accepted"


def repair_error(decision: DecisionState, request: Repaired) -> str | None:
    """Why a repair cannot be done; None: it can."""
    marking = decision.marking.look()
    for take in request.take:
        slot = slot_of(decision.flow, take)
        if slot is None:
            return f"there is no slot {take.slot} at a step '{take.step}'"
        if not any(
            token.number == take.number
            for place, tokens in marking.tokens.items()
            if (place if isinstance(place, int) else place[0]) == slot.index
            for token in tokens
        ):
            return f"no event {take.number} waits in slot {take.slot} of step '{take.step}'"
    return next((wrong for put in request.put if (wrong := _wrong_put(decision, put)) is not None), None)


def _wrong_put(decision: DecisionState, put: Put) -> str | None:
    slot = slot_of(decision.flow, put)
    if slot is None:
        return f"there is no slot {put.slot} at a step '{put.step}'"
    if put.event not in slot.events:
        return f"slot {put.slot} of step '{put.step}' takes {' or '.join(slot.events)}, not '{put.event}'"
    token = Token(0, put.event, Origin(put.data, decision.tags, decision.now))
    if slot.keyed and not isinstance(
        match_key(decision.flow, decision.flow.steps[put.step].wired, token, decision.data), str
    ):
        return f"the event '{put.event}' gets no key by the `match` of step '{put.step}'"
    return None


def slot_of(flow: Flow, where: Put | Take) -> WiredSlot | None:
    step = flow.wiring.by_name.get(where.step)
    return step.slots[where.slot] if step is not None and 0 <= where.slot < len(step.slots) else None


def put_into(decision: DecisionState, put: Put, reason: str | None) -> None:
    """Put one event into one slot, and record it."""
    data = {"put": put.slot, "data": put.data, "reason": reason}
    number = decision.record("repaired", put.step, put.event, data=data)
    source = put.event if put.event in decision.flow.steps else None
    token = Token(number, put.event, Origin(put.data, decision.tags, decision.now, source))
    add(decision.flow, decision.marking, put, token, decision.data)
    record_refused(decision, {})


def add(flow: Flow, marking: MutableMarking, put: Put, token: Token, data: object) -> None:
    """Put one event into one slot."""
    slot = slot_of(flow, put)
    assert slot is not None
    key = match_key(flow, flow.wiring.by_name[put.step], token, data) if slot.keyed else None
    marking.add(slot, token, key if isinstance(key, str) else None)


# -- skipping ------------------------------------------------------------------------------------------------


def skip(decision: DecisionState, request: Skipped) -> Answer:
    """A step ends on a port without its task, with an output that a person gives. See `unskippable`."""
    step = decision.flow.steps.get(request.step)
    if step is None or unskippable(decision, step, request) is not None:
        return "refused"
    state = decision.steps.get(step.name, NEVER_FIRED)
    if decision.ended:
        return _skip_failed(decision, step, request)
    if state.live:
        for number in state.live:
            _skip_live(decision, step, decision.firings[number], request)
    elif decision.marking.enabled(step.wired):
        decision.record("repaired", step.name, port=request.port, data=_said(request))
        begin_firing(decision, step, decision.marking.take(step.wired), request)
    else:
        _skip_starving(decision, step, request)
    return "accepted"


def no_way(step: FlowStep, request: Skipped) -> str | None:
    """Why a step cannot end on the port that is wished for; None: it can."""
    if request.port in step.ways and request.port != "failed":
        return None
    offered = ", ".join(port for port in step.ports if port != "failed") or "none"
    return f"it cannot end on port '{request.port}': its ports are {offered}"


def unskippable(decision: DecisionState, step: FlowStep, request: Skipped) -> str | None:
    """Why a step cannot be skipped; None: it can."""
    if (why := no_way(step, request)) is not None:
        return why
    failed = any(firing.step == step.name for firing in decision.failed.values())
    if decision.ended:
        return None if decision.status == "failed" and failed else f"the run has ended as {decision.status}"
    if decision.steps.get(step.name, NEVER_FIRED).live or decision.marking.enabled(step.wired):
        return None
    if decision.status != "stalled":
        return "it is not running; events that it waits for may still come"
    marking = decision.marking.look()
    mine = {slot.index for slot in step.wired.slots}
    held = any((place if isinstance(place, int) else place[0]) in mine for place in marking.tokens)
    return None if held else "nothing waits at it"


def _said(request: Skipped) -> dict[str, object]:
    return {"skip": request.port, "output": request.output, "reason": request.reason}


def _skip_live(decision: DecisionState, step: FlowStep, firing: Firing, request: Skipped) -> None:
    decision.record("repaired", step.name, port=request.port, data=_said(request), firing=firing.number)
    withdraw_elements(decision, firing)
    drop_results(decision, firing)
    end_firing(decision, step, firing, request.port, request.output, None)


def _skip_failed(decision: DecisionState, step: FlowStep, request: Skipped) -> Answer:
    """The run goes on as after a retry, but the failed firings of the step end on the port instead."""
    count = sum(firing.step == step.name for firing in decision.failed.values())
    answer = retry(decision, Retried(step.name, request.paused))
    if answer != "accepted":
        return answer
    decision.record("repaired", step.name, port=request.port, data=_said(request))
    for _ in range(count):
        begin_firing(decision, step, decision.marking.take(step.wired), request)
    wake_all(decision)
    return "accepted"


def _skip_starving(decision: DecisionState, step: FlowStep, request: Skipped) -> None:
    """In a stalled run: what waits at the step is withdrawn, and the events of the port are fired."""
    number = decision.record(
        "repaired", step.name, port=request.port, data=_said(request) | {"cleared": True}
    )
    decision.marking.clear(step.wired)
    state = decision.steps.get(step.name, NEVER_FIRED)
    shown = StepState(
        status="complete",
        firings=state.firings,
        latest=number,
        output=request.output,
        port=request.port,
        reason="skipped",
        spoke=True,
    )
    decision.steps = decision.steps.set(step.name, shown)
    firing = Firing(number, step.name, Taken(()), decision.now, decision.tags)
    fire_way(decision, step, firing, step.ways[request.port], request.output, None)


# -- giving up -----------------------------------------------------------------------------------------------


def give_up(decision: DecisionState, request: GivenUp) -> Answer:
    """The run is made to fail; its clean-up steps still run, unless it is forced."""
    if decision.ended:
        return "refused"
    if decision.ending is not None and not request.force:
        return "duplicate"
    message = request.reason or "a person let the run fail"
    decision.record("repaired", data={"fail": True, "reason": request.reason})
    error = Failure("error", message)
    if request.force:
        decision.ending, decision.error = decision.ending or "failed", decision.error or error
        withdraw_all(decision, "the run was given up", keep=True)
        finish_run(decision, decision.ending)
    else:
        end_early(decision, FAIL, {"step": None, "error": asdict(error)}, error)
    return "accepted"
