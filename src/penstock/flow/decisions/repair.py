"""A person mends a run: events are put into slots or taken out, a step is skipped, a run is given up."""

from __future__ import annotations

from penstock.flow.compile.compile import Flow, FlowStep
from penstock.flow.decisions.begin import begin_firing, wake_all
from penstock.flow.decisions.emit import match_key, record_refused
from penstock.flow.decisions.end import end_early, finish_run, withdraw_all
from penstock.flow.decisions.finish import end_firing, fire_way, plain_failure
from penstock.flow.decisions.retry import retry
from penstock.flow.decisions.state import DecisionState
from penstock.flow.decisions.withdraw import drop_results, withdraw_elements
from penstock.flow.model.plan import Answer
from penstock.flow.model.run import NEVER_FIRED, Failure, Firing, Origin, StepState
from penstock.flow.model.run_input import GivenUp, Put, Repaired, Retried, Skipped, Take
from penstock.kernel.firing import MutableMarking
from penstock.kernel.marking import Taken, Token
from penstock.kernel.net import FAIL
from penstock.kernel.wiring import WiredSlot


def repair(turn: DecisionState, wish: Repaired) -> Answer:
    """Change the marking as a whole, or not at all; steps that are enabled then begin by the usual rules."""
    if wish.expect is not None and wish.expect != turn.seq:
        return "superseded"
    if turn.ended or repair_error(turn, wish) is not None:
        return "refused"
    for take in wish.take:
        slot = slot_of(turn.flow, take)
        assert slot is not None
        gone = turn.board.remove(slot, take.number)
        name = None if gone is None else gone.name
        data = {"take": take.slot, "number": take.number, "reason": wish.reason}
        turn.record("repaired", take.step, name, data=data)
    for put in wish.put:
        put_into(turn, put, wish.reason)
    return "accepted"


def repair_error(turn: DecisionState, wish: Repaired) -> str | None:
    """Why a repair cannot be done; None: it can."""
    marking = turn.board.look()
    for take in wish.take:
        slot = slot_of(turn.flow, take)
        if slot is None:
            return f"there is no slot {take.slot} at a step '{take.step}'"
        if not any(
            token.number == take.number
            for place, tokens in marking.tokens.items()
            if (place if isinstance(place, int) else place[0]) == slot.index
            for token in tokens
        ):
            return f"no event {take.number} waits in slot {take.slot} of step '{take.step}'"
    return next((wrong for put in wish.put if (wrong := _wrong_put(turn, put)) is not None), None)


def _wrong_put(turn: DecisionState, put: Put) -> str | None:
    slot = slot_of(turn.flow, put)
    if slot is None:
        return f"there is no slot {put.slot} at a step '{put.step}'"
    if put.event not in slot.events:
        return f"slot {put.slot} of step '{put.step}' takes {' or '.join(slot.events)}, not '{put.event}'"
    token = Token(0, put.event, Origin(put.data, turn.tags, turn.now))
    if slot.keyed and not isinstance(
        match_key(turn.flow, turn.flow.steps[put.step].wired, token, turn.data), str
    ):
        return f"the event '{put.event}' gets no key by the `match` of step '{put.step}'"
    return None


def slot_of(flow: Flow, where: Put | Take) -> WiredSlot | None:
    step = flow.wiring.by_name.get(where.step)
    return step.slots[where.slot] if step is not None and 0 <= where.slot < len(step.slots) else None


def put_into(turn: DecisionState, put: Put, reason: str | None) -> None:
    """Put one event into one slot, and record it."""
    data = {"put": put.slot, "data": put.data, "reason": reason}
    number = turn.record("repaired", put.step, put.event, data=data)
    source = put.event if put.event in turn.flow.steps else None
    token = Token(number, put.event, Origin(put.data, turn.tags, turn.now, source))
    add(turn.flow, turn.board, put, token, turn.data)
    record_refused(turn, {})


def add(flow: Flow, board: MutableMarking, put: Put, token: Token, data: object) -> None:
    """Put one event into one slot."""
    slot = slot_of(flow, put)
    assert slot is not None
    key = match_key(flow, flow.wiring.by_name[put.step], token, data) if slot.keyed else None
    board.add(slot, token, key if isinstance(key, str) else None)


# -- skipping ------------------------------------------------------------------------------------------------


def skip(turn: DecisionState, wish: Skipped) -> Answer:
    """A step ends on a port without its task, with an output that a person gives. See `unskippable`."""
    step = turn.flow.steps.get(wish.step)
    if step is None or unskippable(turn, step, wish) is not None:
        return "refused"
    state = turn.steps.get(step.name, NEVER_FIRED)
    if turn.ended:
        return _skip_failed(turn, step, wish)
    if state.live:
        for number in state.live:
            _skip_live(turn, step, turn.firings[number], wish)
    elif turn.board.enabled(step.wired):
        turn.record("repaired", step.name, port=wish.port, data=_said(wish))
        begin_firing(turn, step, turn.board.take(step.wired), wish)
    else:
        _skip_starving(turn, step, wish)
    return "accepted"


def no_way(step: FlowStep, wish: Skipped) -> str | None:
    """Why a step cannot end on the port that is wished for; None: it can."""
    if wish.port in step.ways and wish.port != "failed":
        return None
    offered = ", ".join(port for port in step.ports if port != "failed") or "none"
    return f"it cannot end on port '{wish.port}': its ports are {offered}"


def unskippable(turn: DecisionState, step: FlowStep, wish: Skipped) -> str | None:
    """Why a step cannot be skipped; None: it can."""
    if (why := no_way(step, wish)) is not None:
        return why
    failed = any(firing.step == step.name for firing in turn.failed.values())
    if turn.ended:
        return None if turn.status == "failed" and failed else f"the run has ended as {turn.status}"
    if turn.steps.get(step.name, NEVER_FIRED).live or turn.board.enabled(step.wired):
        return None
    if turn.status != "stalled":
        return "it is not running; events that it waits for may still come"
    marking = turn.board.look()
    mine = {slot.index for slot in step.wired.slots}
    held = any((place if isinstance(place, int) else place[0]) in mine for place in marking.tokens)
    return None if held else "nothing waits at it"


def _said(wish: Skipped) -> dict[str, object]:
    return {"skip": wish.port, "output": wish.output, "reason": wish.reason}


def _skip_live(turn: DecisionState, step: FlowStep, firing: Firing, wish: Skipped) -> None:
    turn.record("repaired", step.name, port=wish.port, data=_said(wish), firing=firing.number)
    withdraw_elements(turn, firing)
    drop_results(turn, firing)
    end_firing(turn, step, firing, wish.port, wish.output, None)


def _skip_failed(turn: DecisionState, step: FlowStep, wish: Skipped) -> Answer:
    """The run goes on as after a retry, but the failed firings of the step end on the port instead."""
    count = sum(firing.step == step.name for firing in turn.failed.values())
    answer = retry(turn, Retried(step.name, wish.paused))
    if answer != "accepted":
        return answer
    turn.record("repaired", step.name, port=wish.port, data=_said(wish))
    for _ in range(count):
        begin_firing(turn, step, turn.board.take(step.wired), wish)
    wake_all(turn)
    return "accepted"


def _skip_starving(turn: DecisionState, step: FlowStep, wish: Skipped) -> None:
    """In a stalled run: what waits at the step is withdrawn, and the events of the port are fired."""
    number = turn.record("repaired", step.name, port=wish.port, data=_said(wish) | {"cleared": True})
    turn.board.clear(step.wired)
    state = turn.steps.get(step.name, NEVER_FIRED)
    shown = StepState(
        "complete", state.firings, (), number, 0, wish.output, None, wish.port, "skipped", None, True
    )
    turn.steps = turn.steps.set(step.name, shown)
    firing = Firing(number, step.name, Taken(()), turn.now, turn.tags)
    fire_way(turn, step, firing, step.ways[wish.port], wish.output, None)


# -- giving up -----------------------------------------------------------------------------------------------


def give_up(turn: DecisionState, wish: GivenUp) -> Answer:
    """The run is made to fail; its clean-up steps still run, unless it is forced."""
    if turn.ended:
        return "refused"
    if turn.ending is not None and not wish.force:
        return "duplicate"
    message = wish.reason or "a person let the run fail"
    turn.record("repaired", data={"fail": True, "reason": wish.reason})
    error = Failure("error", message)
    if wish.force:
        turn.ending, turn.error = turn.ending or "failed", turn.error or error
        withdraw_all(turn, "the run was given up", keep=True)
        finish_run(turn, turn.ending)
    else:
        end_early(turn, FAIL, {"step": None, "error": plain_failure(error)}, error)
    return "accepted"
