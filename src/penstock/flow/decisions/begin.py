"""A step begins: what it takes, what it withdraws, and what it reads, once (R1, R4, R9 to R11)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from penstock.expression import EvaluationError
from penstock.flow.compile.compile import FlowStep
from penstock.flow.decisions.dispatch import dispatch_plain, hold, refill, start
from penstock.flow.decisions.emit import record_withdrawn
from penstock.flow.decisions.finish import correlate, end_failed, end_firing, fail_element, finish_inline
from penstock.flow.decisions.scope import NO_ITEM, FiringView
from penstock.flow.decisions.state import DecisionState
from penstock.flow.decisions.withdraw import withdraw_step
from penstock.flow.format.nodes import Node, describe
from penstock.flow.model.box import BoxError, Queue, Reaction, Sleep
from penstock.flow.model.plan import Timer
from penstock.flow.model.run import NEVER_FIRED, Element, Failure, Firing, Result, StepState
from penstock.flow.model.run_input import Rang, Skipped
from penstock.flow.model.tags import Tags, merge
from penstock.flow.values.key_text import key_text
from penstock.flow.values.payload import length_problem
from penstock.kernel.marking import Taken, Token

INLINE_FIRINGS = 1_000
"""How many firings without a task one decision may make: a loop of decisions alone must not hold the engine."""

MAX_TASKS = 20_000
"""Tasks that a run may have pending: every item of an `each` is one."""


def begin_woken(decision: DecisionState) -> None:
    """Begin every step that became enabled, in the order in which it did."""
    woken = decision.marking.woken
    at = 0
    while at < len(woken) and not decision.ended and not decision.unfinished:
        begin_step(decision, decision.flow.by_index[woken[at]])
        at += 1
    if decision.unfinished and not decision.ended:
        decision.agenda = (*decision.agenda, *woken[at - 1 :])
    woken.clear()


def go_on(decision: DecisionState) -> None:
    """Look at the steps that a decision left because it had gone on for long enough."""
    decision.marking.woken.extend(decision.agenda)
    decision.agenda = ()
    begin_woken(decision)


def wake_all(decision: DecisionState) -> None:
    """Look at every step again: after a pause or a repair."""
    marking = decision.marking
    marking.woken.extend(step.index for step in decision.flow.wiring.steps if marking.enabled(step))
    begin_woken(decision)


def begin_step(decision: DecisionState, step: FlowStep) -> None:
    """R4: begin as many firings as the events and `parallel` allow."""
    room = 1 if step.each is not None else step.parallel or 1
    marking, wired, name = decision.marking, step.wired, step.name
    while decision.open:
        if len(decision.steps.get(name, NEVER_FIRED).live) >= room:
            return
        if decision.inline >= INLINE_FIRINGS:
            decision.unfinished = decision.unfinished or marking.enabled(wired)
            return
        taken = marking.take_if_enabled(wired)
        if taken is None:
            return
        begin_firing(decision, step, taken)


def begin_firing(
    decision: DecisionState, step: FlowStep, taken: Taken, skipped: Skipped | None = None
) -> None:
    """One firing begins with what it took; one that is skipped ends at once."""
    name, tokens = step.name, taken.tokens()
    consumed = [tokens[0].number] if len(tokens) == 1 else [token.number for token in tokens]
    number = decision.record("fired", name, None, None, None, {"consumed": consumed})
    for _, token in taken.dropped:
        record_withdrawn(decision, name, token, "not needed")
    for index in step.wired.cancels:
        withdraw_step(decision, decision.flow.by_index[index], number, f"cancelled by '{name}'")
    tags = tokens[0].load.tags if len(tokens) == 1 else _merged_tags(decision, step, tokens)
    firing = Firing(number, name, taken, decision.now, tags)
    decision.firings = decision.firings.set(number, firing)
    before = decision.steps.get(name, NEVER_FIRED)
    state = StepState(
        status="running",
        firings=before.firings + 1,
        live=(*before.live, number),
        latest=number,
        output=before.output,
        spoke=before.spoke,
    )
    decision.steps = decision.steps.set(name, state)
    port = decision.disabled.get(name, step.disabled) if decision.disabled else step.disabled
    if skipped is not None:
        end_firing(decision, step, firing, skipped.port, skipped.output, None)
    elif port:
        decision.inline += 1
        end_firing(decision, step, firing, port, None, None, disabled=True)
    elif step.each is not None:
        _begin_each(decision, step, firing)
    elif step.fixed is not None:
        dispatch_plain(decision, step, firing, step.fixed.params)
    else:
        _react(decision, step, firing, None, _evaluate(decision, step, firing))


def _evaluate(
    decision: DecisionState, step: FlowStep, firing: Firing, index: int | None = None, item: Any = NO_ITEM
) -> tuple[Reaction, str | None] | Failure:
    """What the box says and the `serialize` key, or why they cannot be told."""
    run, tokens = decision.was.run, firing.taken.tokens()
    view = FiringView(run, decision.data, firing.tags, tokens, decision.steps, decision.now, item, index)
    try:
        reaction = step.box.enter(view)
        if step.serialize is None:
            return reaction, None
        value = step.serialize(view.scope(step.serialize))
        return (reaction, None) if value is None else _with_key(reaction, step, key_text(value))
    except (EvaluationError, BoxError) as error:
        return Failure("expression", str(error))
    except Exception as error:
        # A box with a defect must fail its step: else nobody would see why the run stays.
        return Failure("expression", f"what step '{step.name}' is to do cannot be told: {_named(error)}")


def _with_key(reaction: Reaction, step: FlowStep, key: str) -> tuple[Reaction, str] | Failure:
    problem = length_problem(key)
    if problem is not None:
        return Failure("too_large", f"the `serialize` key of step '{step.name}' {problem}")
    return reaction, f"{step.serialize_scope}/{key}"


def _react(
    decision: DecisionState,
    step: FlowStep,
    firing: Firing,
    index: int | None,
    said: tuple[Reaction, str | None] | Failure,
) -> None:
    if isinstance(said, Failure):
        decision.inline += 1
        fail_element(decision, step, firing, Element(firing.number, index, step.name, "running"), said)
        return
    reaction, key = said
    if isinstance(reaction, Queue):
        if (
            reaction.correlate
            and (wrong := correlate(decision, step, firing, reaction.correlate)) is not None
        ):
            fail_element(decision, step, firing, Element(firing.number, index, step.name, "running"), wrong)
            return
        element = Element(firing.number, index, step.name, "queued", reaction.params, key=key)
        if index is None:
            start(decision, step, firing, element)
        else:
            decision.keep_element(element)
        return
    decision.inline += 1
    if isinstance(reaction, Sleep):
        asleep = Element(firing.number, index, step.name, "sleep", output=reaction.output)
        hold(decision, asleep, "sleep")
        decision.timers += (Timer(reaction.until, Rang(firing.number, index, 0)),)
    else:
        finish_inline(decision, step, firing, Element(firing.number, index, step.name, "running"), reaction)


def _begin_each(decision: DecisionState, step: FlowStep, firing: Firing) -> None:
    """R11: one element for each item of the list; those that a retried firing has finished are kept."""
    items = _items(decision, step, firing)
    if isinstance(items, Failure):
        decision.inline += 1
        end_failed(decision, step, firing, items, 0, None)
        return
    firing = replace(firing, total=len(items), items=tuple(items))
    kept = _earlier_results(decision, firing)
    firing = replace(firing, done=len(kept))
    for index, output in kept.items():
        decision.keep_result(firing.number, index, Result(output))
    decision.firings = decision.firings.set(firing.number, firing)
    state = decision.steps[step.name]
    decision.steps = decision.steps.set(step.name, replace(state, elements=(len(items), len(kept), 0)))
    if len(kept) == len(items):
        outputs = [kept[index] for index in range(len(items))]
        decision.inline += 1
        end_firing(decision, step, firing, "done", outputs, None)
        return
    said = {
        index: _evaluate(decision, step, firing, index, item)
        for index, item in enumerate(items)
        if index not in kept
    }
    _begin_elements(decision, step, firing, said)


def _begin_elements(
    decision: DecisionState,
    step: FlowStep,
    firing: Firing,
    said: dict[int, tuple[Reaction, str | None] | Failure],
) -> None:
    """Queue what needs a worker first: one that ends at once may start others or end the whole firing."""
    queued = {index for index, word in said.items() if isinstance(word, tuple) and isinstance(word[0], Queue)}
    for index in sorted(said, key=lambda each: each not in queued):
        if firing.number not in decision.firings:
            return
        _react(decision, step, decision.firings[firing.number], index, said[index])
    if firing.number in decision.firings:
        refill(decision, step, decision.firings[firing.number])


def _items(decision: DecisionState, step: FlowStep, firing: Firing) -> list[Any] | Failure:
    assert step.each is not None
    run, tokens = decision.was.run, firing.taken.tokens()
    view = FiringView(run, decision.data, firing.tags, tokens, decision.steps, decision.now)
    try:
        items = step.each(view.scope(step.each))
    except EvaluationError as error:
        return Failure("expression", f"`each`: {error}")
    except Exception as error:
        return Failure("expression", f"`each` cannot be told: {_named(error)}")
    if not isinstance(items, list):
        return Failure("expression", f"`each` must give a list; it gave {describe(Node(items))}")
    if len(items) > MAX_TASKS - len(decision.elements):
        others = f" beside {len(decision.elements)} tasks that are pending" if decision.elements else ""
        message = f"`each` has {len(items)} items{others}, a run may have {MAX_TASKS} at most: split the list"
        return Failure("too_large", message)
    return items


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _earlier_results(decision: DecisionState, firing: Firing) -> dict[int, Any]:
    consumed = tuple(token.number for token in firing.taken.tokens())
    old = decision.reused.get(consumed)
    if old is None:
        return {}
    decision.reused = decision.reused.delete(consumed)
    kept = {}
    for index in range(old.total or 0):
        result = decision.results.get((old.number, index))
        if result is None:
            continue
        decision.drop_result(old.number, index)
        if not result.failed and old.items[index : index + 1] == firing.items[index : index + 1]:
            kept[index] = result.entry
    return kept


def _merged_tags(decision: DecisionState, step: FlowStep, tokens: tuple[Token, ...]) -> Tags:
    tags, conflicts = merge([token.load.tags for token in tokens])
    for clash in conflicts:
        decision.record(
            "conflict", step.name, data={"tag": clash.tag, "kept": clash.kept, "lost": clash.lost}
        )
    return tags
