"""What the drawing alone shows: events that nobody fires, takes or can send, ports that lead nowhere, failure loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.flow.checks.findings import Finding, error, warning
from penstock.flow.model.definition import Definition
from penstock.flow.model.names import Hints, quoted
from penstock.flow.model.offer import Offer
from penstock.kernel.net import CANCEL, FAIL, OK, RESERVED, START, TIMEOUT, Net, Slot, Step
from penstock.kernel.proof.structure import ends_run, reach, step_graph, takers

TAKEN = {"callback": "functions that call back", "s3": "object stores"}
"""What `/hooks/<name>/…` is for, where it is not for the events of a workflow of that name."""


def available(net: Net) -> set[str]:
    """Every event that may come, from whomever."""
    names = {START, CANCEL, *net.outside_names(), *net.fired}
    if net.has_timeout:
        names.add(TIMEOUT)
    if any(way.put_off for step in net.steps for way in step.exits):
        names.add(FAIL)
    return names


def missing_events(net: Net) -> Iterator[Finding]:
    """`missing-event`: a slot that nothing can fill, or an alternative that nobody fires."""
    known, hints = available(net), Hints()
    for step in net.steps:
        for slot in step.slots:
            absent = [name for name in slot.events if name not in known]
            if len(slot.events) - len(absent) < slot.wanted:
                yield _unfilled(step, slot, absent, _remedy(absent[0], known, hints))
            elif absent:
                yield warning(
                    "missing-event",
                    f"Step '{step.name}' also takes {quoted(absent, 'or')}, which nothing fires.",
                    _remedy(absent[0], known, hints),
                    step=step.name,
                    event=absent[0],
                )


def _unfilled(step: Step, slot: Slot, absent: list[str], remedy: str) -> Finding:
    if slot.need > 1:
        said = f"Step '{step.name}' needs {slot.need} of {quoted(slot.events)}, but nothing fires {quoted(absent)}."
    elif len(absent) == 1:
        said = f"Step '{step.name}' waits for '{absent[0]}', which nothing fires."
    else:
        said = f"Step '{step.name}' waits for {quoted(absent, 'or')}, and nothing fires any of them."
    return error("missing-event", said, remedy, step=step.name, event=absent[0])


def _remedy(name: str, known: set[str], hints: Hints) -> str:
    if name == TIMEOUT:
        return "Give the workflow a `timeout`, or let the step wait for CANCEL or FAIL."
    if name == FAIL:
        return "List FAIL for a step that should end the run, or remove it from `after`."
    if name in RESERVED:
        return f"List {name} for the step that reaches the goal, or remove it from `after`."
    near = hints.nearest(name, known - RESERVED)
    meant = f" Did you mean '{near}'?" if near else ""
    return f"List '{name}' under `emits` of the step that fires it, or declare it under `external`.{meant}"


def unused_events(net: Net, definition: Definition) -> Iterator[Finding]:
    """`unused-event`: a listed event that nothing waits for."""
    firing: dict[str, list[str]] = {}
    for name, step in definition.steps.items():
        for events in (step.emits or {}).values():
            for event in events:
                if event not in net.awaited and event not in RESERVED:
                    firing.setdefault(event, []).append(name)
    for event, steps in firing.items():
        who = dict.fromkeys(steps)
        by = quoted(who) if len(who) <= 3 else f"{len(who)} steps"
        yield Finding(
            code="unused-event",
            severity="info",
            step=steps[0],
            event=event,
            message=f"Event '{event}' is fired by {by}, but no step waits for it.",
            hint=f"Let a step wait for '{event}', or leave it out if it is only for the history.",
        )


def unhandled_ports(net: Net) -> Iterator[Finding]:
    """`unhandled-port`: a way out that leads nowhere, beside one that leads on."""
    for step in net.steps:
        ports = [way for way in step.exits if way.port not in (None, "failed")]
        led = [way for way in ports if net.awaited & set(way.fires) or {OK, FAIL, CANCEL} & set(way.fires)]
        for way in ports if led else ():
            if way not in led:
                yield warning(
                    "unhandled-port",
                    f"Nothing happens when '{step.name}' ends on '{way.port}': no step waits for it.",
                    f"Let a step wait for '{step.name}.{way.port}', or list OK or FAIL for port '{way.port}';"
                    " a step with task `terminate` says that the branch is meant to end here.",
                    step=step.name,
                    event=f"{step.name}.{way.port}",
                )


def failure_loops(net: Net) -> Iterator[Finding]:
    """`failure-loop`: a step whose failure leads back to itself."""
    graph, taking = step_graph(net), takers(net)
    for index, step in enumerate(net.steps):
        for way in step.exits:
            if not way.failure or ends_run(way):
                continue
            fed = {taker for name in way.fires for taker in taking.get(name, ())}
            if index not in reach(graph, fed):
                continue
            through = "itself" if index in fed else quoted(net.steps[other].name for other in sorted(fed))
            yield warning(
                "failure-loop",
                f"When '{step.name}' fails, it leads back to itself through {through}: it may fail for ever."
                if index not in fed
                else f"When '{step.name}' fails, it starts itself again: it may fail for ever.",
                "Use `retries` to try again, and let another step, or FAIL, take the failure.",
                step=step.name,
                event=next(name for name in way.fires if taking.get(name)),
            )


def unknown_tasks(definition: Definition, offers: Mapping[str, Offer]) -> Iterator[Finding]:
    """`unknown-task`: nobody has offered to run it yet."""
    told: set[str] = set()
    hints = Hints()
    for name, step in definition.steps.items():
        if step.task in offers or step.task in told:
            continue
        told.add(step.task)
        near = hints.nearest(step.task, offers)
        meant = f" Did you mean '{near}'?" if near else ""
        yield warning(
            "unknown-task",
            f"No worker has offered the task '{step.task}' yet.",
            f"Name the module that defines it with `--tasks`, or start a worker that has it.{meant}",
            step=name,
        )


def taken_addresses(definition: Definition) -> Iterator[Finding]:
    """`taken-address`: an event whose hook would be at an address that is for something else."""
    user = TAKEN.get(definition.name)
    for event in definition.external or () if user is not None else ():
        if event.from_ is None or event.from_.kind != "webhook":
            continue
        yield error(
            "taken-address",
            f"The hook of '{event.name}' could never be called: /hooks/{definition.name}/… is for {user}.",
            f"Give the workflow another name than '{definition.name}'.",
            event=event.name,
        )
