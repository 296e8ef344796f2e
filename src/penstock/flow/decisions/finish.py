"""An attempt, an element, a firing ends: budgets, data, tags, and the events of the port (R3, R7, R11)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec.structs import asdict, replace

from penstock.flow.compile.compile import FlowStep, Way
from penstock.flow.decisions.dispatch import dispatch, hold, limits, refill
from penstock.flow.decisions.emit import put_event
from penstock.flow.decisions.end import end_early
from penstock.flow.decisions.state import DecisionState
from penstock.flow.decisions.withdraw import close_element, close_firing, drop_results, withdraw_elements
from penstock.flow.model.box import Finish
from penstock.flow.model.plan import Answer, Timer
from penstock.flow.model.run import Element, Failure, Firing, Origin, Result, attempts_of
from penstock.flow.model.run_input import Done, Failed, Parked, Rang, Reported, TimedOut
from penstock.flow.model.tags import TagChange, change
from penstock.flow.values.merge_patch import merge_patch
from penstock.flow.values.payload import TooLarge, is_storable, length_problem, validate_data_size
from penstock.kernel.net import CANCEL, FAIL, OK

MAX_VIOLATIONS, MAX_MESSAGE = 5, 2000
"""Of an output that does not fit: things that are told, and characters of the sentence."""
UNDER_WAY = ("running", "parked")


def report(decision: DecisionState, reported: Reported) -> Answer:
    """How an attempt ended; a report of an attempt that is not the current one changes nothing."""
    element = decision.elements.get((reported.firing, reported.index))
    if element is None or element.attempt != reported.attempt or element.state not in UNDER_WAY:
        return "superseded"
    firing, step = decision.firings[element.firing], decision.flow.steps[element.step]
    outcome = reported.outcome
    if isinstance(outcome, Done) and step.promise is not None:
        fits = step.promise.fits.get(outcome.port)
        if fits is None or not fits(outcome.output):
            outcome = broken_promise(step, outcome) or outcome
    if reported.outside and element.state == "running":
        decision.withdrawn += (element.id,)  # it was faster than the worker that hands the work over
    if isinstance(outcome, Done):
        _complete(decision, step, firing, element, outcome)
    elif isinstance(outcome, Failed):
        _retry_failure(decision, step, firing, element, outcome)
    elif isinstance(outcome, Parked):
        return _park(decision, step, firing, element, outcome)
    else:
        _retry_timeout(decision, step, firing, element, outcome)
    return "accepted"


def broken_promise(step: FlowStep, done: Done) -> Failed | None:
    """The failure of a task that gave what does not fit its offer, for good: the same code gives the same again."""
    if step.promise is None:
        return None
    wrong = step.promise.broken(done.port, done.output, done.set)[:MAX_VIOLATIONS]
    if not wrong:
        return None
    message = f"what task '{step.task}' gave does not fit what it offers: {'; '.join(wrong)}"
    return Failed(error=Failure("fatal", message[:MAX_MESSAGE], {"errors": wrong}), retry=False)


def _park(
    decision: DecisionState, step: FlowStep, firing: Firing, element: Element, parked: Parked
) -> Answer:
    """The attempt goes on without a worker: whoever was given the work reports its end."""
    if element.state != "running":
        return "superseded"
    decision.keep_element(replace(element, state="parked"))
    decision.timers += limits(step.timeouts.times(element.multiplier), element, decision.now)
    data = {"parked": parked.waits, "index": element.index}
    decision.record("attempt", step.name, attempt=element.attempt, data=data, firing=firing.number)
    return "accepted"


def _complete(decision: DecisionState, step: FlowStep, firing: Firing, element: Element, done: Done) -> None:
    if done.port not in step.ways:
        fail_element(decision, step, firing, element, Failure("error", unknown_port(step.name, step.ports)))
        return
    if done.port == "failed":
        message = f"the task of step '{step.name}' ended on port `failed`"
        fail_element(decision, step, firing, element, Failure("error", message, done.output))
        return
    if done.correlate and (wrong := _wrong_key(step, done.correlate)) is not None:
        fail_element(decision, step, firing, element, wrong)
        return
    if (large := _too_large(decision, done.set)) is not None:
        fail_element(decision, step, firing, element, large)
        return
    if done.correlate:
        correlate(decision, step, firing, done.correlate)
    finish_element(decision, step, firing, element, done.port, done.output, tag_change(done), done.set)


def unknown_port(step: str, ports: Iterable[str | None], port: str | None = None) -> str:
    """What is said of a task that ended on a port that its step does not have.

    It names the `port` only where secrets are still taken out of what is said: a task may have put one there.
    """
    named = "a port" if port is None else f"port '{port[:80]}'"
    return (
        f"the task ended on {named} that step '{step}' does not have; it has {', '.join(filter(None, ports))}"
    )


def tag_change(done: Done) -> TagChange | None:
    """What a task does to the tags; None: nothing."""
    if done.tags is None and not done.replace_tags:
        return None
    return TagChange.of(done.tags or {}, done.replace_tags)


def _wrong_key(step: FlowStep, keys: dict[str, str]) -> Failure | None:
    """Why the database could not keep some correlation key: the run would never get on."""
    for name, value in keys.items():
        if not (is_storable(name) and is_storable(value)):
            message = "has a character that cannot be kept (NUL, or half of a pair): leave it out"
            return Failure("error", f"`correlate` of the task of step '{step.name}' {message}")
        for what, text in (("name", name), ("value", value)):
            if (problem := length_problem(text)) is not None:
                return Failure("too_large", f"a {what} in `correlate` of step '{step.name}' {problem}")
    return None


def correlate(
    decision: DecisionState, step: FlowStep, firing: Firing, keys: dict[str, str]
) -> Failure | None:
    """Give the run keys by which outside events find it; or why it cannot have them."""
    if (wrong := _wrong_key(step, keys)) is not None:
        return wrong
    for key, value in keys.items():
        number = decision.record("correlated", step.name, data={key: value}, firing=firing.number)
        decision.keys = decision.keys.set((key, value), number)
        decision.correlations += ((key, value),)
    return None


def finish_inline(
    decision: DecisionState, step: FlowStep, firing: Firing, element: Element, finish: Finish
) -> None:
    """A box that needs no worker has ended."""
    decision.keep_element(element)
    if (large := _too_large(decision, finish.set)) is not None:
        fail_element(decision, step, firing, element, large)
        return
    if finish.emission is not None:
        decision.emissions += (finish.emission,)
    finish_element(decision, step, firing, element, finish.port, finish.output, finish.tags, finish.set)


def finish_element(
    decision: DecisionState,
    step: FlowStep,
    firing: Firing,
    element: Element,
    port: str | None,
    output: Any,
    tags: TagChange | None = None,
    set: dict[str, Any] | None = None,
) -> None:
    """An element ended well: its data and tags are applied, then the firing ends or goes on."""
    close_element(decision, element)
    if set is not None:
        apply_set(decision, set, step.name, firing.number)
    if tags is not None:
        changed = change(firing.tags, tags, firing.number)
        decision.tags = (
            changed if decision.tags is firing.tags else change(decision.tags, tags, firing.number)
        )
        firing = replace(firing, tags=changed)
    if firing.total is None:
        end_firing(decision, step, firing, port, output, element.attempt or None, tags=tags)
    else:
        _element_ended(decision, step, firing, element, port, output, tags)


def _too_large(decision: DecisionState, patch: dict[str, Any] | None) -> Failure | None:
    """Why the run's data cannot take a `set`; None: it can."""
    if not patch:
        return None
    try:
        validate_data_size(merge_patch(decision.data, patch))
    except TooLarge as error:
        return Failure("too_large", f"with this `set` the run's data {error}")
    return None


def apply_set(decision: DecisionState, patch: dict[str, Any], step: str | None, firing: int | None) -> None:
    """`set` is a JSON Merge Patch, applied in history order."""
    decision.data = merge_patch(decision.data, patch)
    decision.record("set", step, data=patch, firing=firing)


# -- budgets -----------------------------------------------------------------------------------------------


def _retry_failure(
    decision: DecisionState, step: FlowStep, firing: Firing, element: Element, failed: Failed
) -> None:
    failures = element.failures + 1
    seed = f"{decision.was.run.id}/{element.firing}/{element.index}"
    delay = step.retry.after_failure(failures, seed, failed.retry_after) if failed.retry else None
    if delay is None:
        fail_element(decision, step, firing, element, failed.error)
        return
    due = decision.now + delay
    _record_attempt(decision, element, failed.error, due)
    hold(decision, replace(element, failures=failures), "backoff")
    decision.timers += (Timer(due, Rang(element.firing, element.index, element.attempt)),)
    decision.withdrawn += (element.id,)


def _retry_timeout(
    decision: DecisionState, step: FlowStep, firing: Firing, element: Element, outcome: TimedOut
) -> None:
    kind = "lost" if outcome.limit == "lost" else "timeout"
    # Else a server that is restarted often enough would fail what is well.
    free = kind == "lost" and step.retry.resumes
    timeouts = element.timeouts if free else element.timeouts + 1
    message = (
        "the worker vanished" if kind == "lost" else f"the attempt outlived its {outcome.limit} time-out"
    )
    error = Failure(kind, outcome.message or message, {"limit": outcome.limit})
    multiplier = element.multiplier if free else step.retry.after_timeout(timeouts)
    decision.withdrawn += (element.id,)
    if multiplier is None:
        fail_element(decision, step, firing, element, error)
        return
    _record_attempt(decision, element, error, decision.now)
    dispatch(decision, step, firing, replace(element, timeouts=timeouts, multiplier=multiplier))


def _record_attempt(decision: DecisionState, element: Element, error: Failure, due: datetime) -> None:
    data = {"error": asdict(error), "retry_at": due, "index": element.index}
    decision.record("attempt", element.step, attempt=element.attempt, data=data, firing=element.firing)


# -- elements of an `each` ----------------------------------------------------------------------------------


def _element_ended(
    decision: DecisionState,
    step: FlowStep,
    firing: Firing,
    element: Element,
    port: str | None,
    output: Any,
    tags: TagChange | None,
) -> None:
    assert element.index is not None
    data = {"index": element.index, "port": port, "output": output}
    attempt = element.attempt or None
    decision.record("attempt", step.name, attempt=attempt, data=data, firing=firing.number, tags=tags)
    if port not in ("done", None) and not step.collect:
        decided = {"item": firing.items[element.index], "index": element.index, "output": output}
        attempts = attempts_of(decision.elements, firing) + element.attempt
        withdraw_elements(decision, firing)
        drop_results(decision, firing)
        end_firing(decision, step, replace(firing, attempts=attempts), port, decided, None)
        return
    _count(decision, step, firing, element, output, failed=False)


def _count(
    decision: DecisionState, step: FlowStep, firing: Firing, element: Element, entry: Any, failed: bool
) -> None:
    """One more element is over: keep its entry, start others, end the firing with the last."""
    assert firing.total is not None and element.index is not None
    decision.keep_result(firing.number, element.index, Result(entry, failed))
    firing = replace(
        firing,
        live=firing.live - (element.attempt > 0),
        attempts=firing.attempts + element.attempt,
        done=firing.done + (not failed),
        failed=firing.failed + failed,
    )
    decision.firings = decision.firings.set(firing.number, firing)
    _show_elements(decision, firing)
    if firing.done + firing.failed == firing.total:
        outputs = [decision.results[firing.number, number].entry for number in range(firing.total)]
        drop_results(decision, firing)
        end_firing(decision, step, firing, "done", outputs, None)
    else:
        refill(decision, step, firing)


def _show_elements(decision: DecisionState, firing: Firing) -> None:
    state = decision.steps[firing.step]
    if state.latest == firing.number:
        counts = (firing.total or 0, firing.done, firing.failed)
        decision.steps = decision.steps.set(firing.step, replace(state, elements=counts))


# -- firings ------------------------------------------------------------------------------------------------


def fail_element(
    decision: DecisionState, step: FlowStep, firing: Firing, element: Element, error: Failure
) -> None:
    """An element failed for good."""
    if element.id in decision.elements:
        close_element(decision, element)
    if element.index is not None and step.collect:
        entry = {"error": asdict(error)}
        data = {"index": element.index, **entry}
        decision.record(
            "attempt", step.name, attempt=element.attempt or None, data=data, firing=firing.number
        )
        _count(decision, step, firing, element, entry, failed=True)
        return
    end_failed(decision, step, firing, error, element.attempt, element.index)


def end_failed(
    decision: DecisionState, step: FlowStep, firing: Firing, error: Failure, attempts: int, index: int | None
) -> None:
    """R7: the firing failed. The failure goes to whoever waits for it, is put off, or ends the run."""
    total = attempts if firing.total is None else attempts + attempts_of(decision.elements, firing)
    withdraw_elements(decision, firing)
    if firing.total is not None:
        _show_elements(decision, replace(firing, failed=firing.failed + (index is not None)))
    close_firing(decision, firing, "failed", total, "failed", decision.steps[step.name].output, error)
    if decision.ending is None:
        decision.failed = decision.failed.set(firing.number, firing)
    data: dict[str, Any] = {"step": step.name, "error": asdict(error), "attempts": attempts}
    data["index"] = index
    if index is not None:
        data["item"] = firing.items[index]
    decision.record(
        "ended", step.name, port="failed", attempt=attempts or None, data=data, firing=firing.number
    )
    fire_way(decision, step, firing, _failure_way(decision, step), data, error)


def _failure_way(decision: DecisionState, step: FlowStep) -> Way:
    """A task without a port `failed` cannot have its failure handled."""
    way = step.ways.get("failed")
    if way is not None:
        return way
    put_off = decision.flow.definition.on_failure == "continue"
    return Way("failed", (), ending=None if put_off else FAIL, failure=True, put_off=put_off)


def end_firing(
    decision: DecisionState,
    step: FlowStep,
    firing: Firing,
    port: str | None,
    output: Any,
    attempt: int | None,
    disabled: bool = False,
    tags: TagChange | None = None,
) -> None:
    """The firing ended on a port: its events are fired."""
    attempts = attempt or 0 if firing.total is None else firing.attempts
    close_firing(decision, firing, "disabled" if disabled else "complete", attempts, port, output)
    decision.record(
        "ended", step.name, port=port, attempt=attempt, data=output, firing=firing.number, tags=tags
    )
    fire_way(decision, step, firing, step.ways[port], output, None)


def fire_way(
    decision: DecisionState, step: FlowStep, firing: Firing, way: Way, data: Any, error: Failure | None
) -> None:
    """R3: fire what is listed for the port. OK says that the goal is reached; FAIL and CANCEL end the run."""
    origin = Origin(data, firing.tags, decision.now, step.name, firing=firing.number)
    for name in way.names:
        put_event(decision, name, origin, firing.number)
    if way.ok:
        decision.ok = True
        if OK not in way.names:
            decision.record("event", step.name, OK, data=data, firing=firing.number)
    if way.put_off and decision.ending is None:
        decision.put_off = decision.put_off.set(firing.number, data)
    if way.ending == FAIL:
        end_early(decision, FAIL, data, error or _cause(step, firing, data), step.name)
    elif way.ending == CANCEL:
        end_early(decision, CANCEL, data, None, step.name)


def _cause(step: FlowStep, firing: Firing, data: Any) -> Failure:
    """Why a step that did its work fired FAIL: its own word, else the failure that it was told of."""
    given = (token.load.data for token in firing.taken.tokens())
    errors = (each.get("error") for each in given if isinstance(each, dict))
    failures = (each for each in errors if isinstance(each, dict) and isinstance(each.get("message"), str))
    told = next(failures, None)
    if step.task == "fail" and isinstance(data, dict) and isinstance(data.get("message"), str):
        return Failure("error", data["message"], None if told is None else {"after": told})
    if told is not None:
        return Failure(str(told.get("kind", "error")), told["message"], told.get("detail"))
    return Failure("error", f"step '{step.name}' fired FAIL")
