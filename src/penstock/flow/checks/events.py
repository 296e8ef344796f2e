"""What the drawing alone shows: events that nobody fires, takes or can send, ports that lead nowhere, failure loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.flow.checks.findings import Finding, error, info, warning
from penstock.flow.checks.wording import Argument
from penstock.flow.model.definition import Definition
from penstock.flow.model.names import Hints
from penstock.flow.model.offer import Offer
from penstock.kernel.net import CANCEL, FAIL, OK, RESERVED, START, TIMEOUT, Net, Slot, Step
from penstock.kernel.proof.structure import ends_run, reach, step_graph, takers

TAKEN = frozenset(["callback", "s3"])
"""Names for which `/hooks/<name>/…` is for something else than the events of a workflow."""


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
                yield error(
                    "missing-event", **_unfilled(step, slot, absent), **_remedy(absent[0], known, hints)
                )
            elif absent:
                also = {"variant": "also", "step": step.name, "event": absent[0], "events": absent}
                yield warning("missing-event", **also, **_remedy(absent[0], known, hints))


def _unfilled(step: Step, slot: Slot, absent: list[str]) -> dict[str, Argument]:
    where: dict[str, Argument] = {"step": step.name, "event": absent[0]}
    if slot.need > 1:
        return {"variant": "needs", **where, "n": slot.need, "all": slot.events, "events": absent}
    return (
        {"variant": "waits", **where} if len(absent) == 1 else {"variant": "any", **where, "events": absent}
    )


REMEDIES = {TIMEOUT: "timeout", FAIL: "fail"}


def _remedy(name: str, known: set[str], hints: Hints) -> dict[str, str | None]:
    if name in RESERVED:
        return {"remedy": REMEDIES.get(name, "reserved")}
    return {"remedy": "fire", "near": hints.nearest(name, known - RESERVED)}


def unused_events(net: Net, definition: Definition) -> Iterator[Finding]:
    """`unused-event`: a listed event that nothing waits for."""
    firing: dict[str, list[str]] = {}
    for name, step in definition.steps.items():
        for events in (step.emits or {}).values():
            for event in events:
                if event not in net.awaited and event not in RESERVED:
                    firing.setdefault(event, []).append(name)
    for event, steps in firing.items():
        who = list(dict.fromkeys(steps))
        if len(who) <= 3:
            yield info("unused-event", variant="few", step=who[0], event=event, steps=who)
        else:
            yield info("unused-event", variant="many", step=who[0], event=event, n=len(who))


def unused_externals(net: Net, definition: Definition) -> Iterator[Finding]:
    """`unused-external`: an event from outside that no step waits for and that changes nothing."""
    announced = {name for notice in definition.notify or () for name in notice.events or ()}
    for number, event in enumerate(definition.external or ()):
        sets = event.from_ is not None and event.from_.set is not None
        if event.name not in net.awaited and event.name not in announced and not sets:
            yield warning("unused-external", (), f"external[{number}]", event=event.name)


def isolated_steps(net: Net) -> Iterator[Finding]:
    """`isolated-step`: one that is wired to nothing, in a workflow of several."""
    for step in net.steps if len(net.steps) > 1 else ():
        waits = {name for slot in step.slots for name in slot.events} != {START}
        fires = {name for way in step.exits for name in way.fires}
        ends = any({OK, FAIL, CANCEL} & set(way.fires) for way in step.exits if not way.failure)
        if not waits and not ends and not fires & net.awaited:
            yield warning("isolated-step", step=step.name)


def unhandled_ports(net: Net) -> Iterator[Finding]:
    """`unhandled-port`: a way out that leads nowhere, beside one that leads on."""
    for step in net.steps:
        ports = [way for way in step.exits if way.port not in (None, "failed")]
        led = [way for way in ports if net.awaited & set(way.fires) or {OK, FAIL, CANCEL} & set(way.fires)]
        for way in ports if led else ():
            if way not in led:
                event = f"{step.name}.{way.port}"
                yield warning("unhandled-port", step=step.name, event=event, port=way.port)


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
            event = next(name for name in way.fires if taking.get(name))
            if index in fed:
                yield warning("failure-loop", variant="itself", step=step.name, event=event)
            else:
                through = [net.steps[other].name for other in sorted(fed)]
                yield warning("failure-loop", variant="through", step=step.name, event=event, steps=through)


def unknown_tasks(definition: Definition, offers: Mapping[str, Offer]) -> Iterator[Finding]:
    """`unknown-task`: nobody has offered to run it yet."""
    told: set[str] = set()
    hints = Hints()
    for name, step in definition.steps.items():
        if step.task in offers or step.task in told:
            continue
        told.add(step.task)
        yield warning("unknown-task", step=name, task=step.task, near=hints.nearest(step.task, offers))


def taken_addresses(definition: Definition) -> Iterator[Finding]:
    """`taken-address`: an event whose hook would be at an address that is for something else."""
    name = definition.name
    for event in definition.external or () if name in TAKEN else ():
        if event.from_ is not None and event.from_.kind == "webhook":
            yield error("taken-address", variant=name, event=event.name, workflow=name)
