"""What the checks say: findings and the report, as people and programs read them, and the proof in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from penstock.flow.model.names import quoted
from penstock.kernel.net import CANCEL, FAIL, START, Exit, Net, Step
from penstock.kernel.proof.analysis import Analysis, Deadlock
from penstock.kernel.proof.structure import Graph, reach, step_graph, takers
from penstock.kernel.proof.trace import Event, Fire, Trace

Severity = Literal["error", "warning", "info"]
Verdict = Literal["proved", "refuted", "undecided"]
ORDER: dict[str, int] = {"error": 0, "warning": 1, "info": 2}


class Finding(Struct, frozen=True, kw_only=True):
    """One thing to know about a workflow: a plain sentence, what to do about it, and the path that shows it."""

    code: str
    severity: Severity
    step: str | None = None
    event: str | None = None
    message: str
    hint: str
    line: int | None = None
    trace: Trace = ()

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Finding:
        """One that `to_plain` wrote, here or at a server."""
        trace = tuple(
            Event(item["event"]) if "event" in item else Fire(item["fire"], item["port"])
            for item in plain["trace"]
        )
        return cls(**{**plain, "trace": trace})

    def to_plain(self) -> dict[str, Any]:
        return {**asdict(self), "trace": [plain_item(item) for item in self.trace]}


def error(code: str, message: str, hint: str, **where: Any) -> Finding:
    """A finding that refutes a workflow; `where` are its step, event and trace."""
    return Finding(code=code, severity="error", message=message, hint=hint, **where)


def warning(code: str, message: str, hint: str, **where: Any) -> Finding:
    """A finding that refutes nothing."""
    return Finding(code=code, severity="warning", message=message, hint=hint, **where)


class Report(Struct, frozen=True, kw_only=True):
    """The answer of a check: proved, refuted or undecided, and why."""

    file: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    states: int
    seconds: float
    covered: str
    assumes: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        findings = [finding.to_plain() for finding in self.findings]
        return {**asdict(self), "findings": findings, "assumes": list(self.assumes)}

    def worst(self) -> Severity | None:
        """The gravest severity among the findings."""
        return min((finding.severity for finding in self.findings), key=ORDER.__getitem__, default=None)


def plain_item(item: Any) -> dict[str, str | None]:
    """One item of a trace as JSON."""
    if isinstance(item, Event):
        return {"event": item.name}
    return {"fire": item.step, "port": item.port}


# -- the proof in words: each finding says what to do about it ----------------------------------------------


def dead_steps(net: Net, analysis: Analysis, excused: set[str]) -> Iterator[Finding]:
    """`dead-step`, with the cause; a step that misses an event has been told already."""
    for name in analysis.dead:
        if name not in excused:
            why, hint = _cause(net, net.by_name[name], set(analysis.dead))
            yield error("dead-step", f"Step '{name}' can never fire: {why}.", hint, step=name)


def _cause(net: Net, step: Step, dead: set[str]) -> tuple[str, str]:
    for slot in step.slots:
        firing = {
            one.name: None for one in net.steps for way in one.exits if set(slot.events) & set(way.fires)
        }
        given = {START, CANCEL, FAIL, *net.outside_names()} & set(slot.events)
        if slot.need > 1 or given or not firing or set(firing) - dead:
            continue
        waits = f"it waits for {quoted(slot.events, 'or')}, which only "
        if set(firing) == {step.name}:
            return f"{waits}it fires itself", f"Let another step fire {quoted(slot.events, 'or')} first."
        verb, they = ("fires", quoted(firing)) if len(firing) == 1 else ("fire", "none of them")
        can = "can never fire" if len(firing) == 1 else "can ever fire"
        return f"{waits}{quoted(firing)} {verb}, and {they} {can}", f"Mend {quoted(firing)} first."
    names = [" | ".join(slot.events) for slot in step.slots]
    if len(names) > 1:
        either = " | ".join(names)
        return f"no run brings {quoted(names)} together", (
            f"If one of them is enough, make this an either/or join: write `{either}`."
        )
    return f"no run brings what it waits for ({quoted(names)})", "Look at the steps that fire these events."


def standstill(net: Net, found: Deadlock) -> Finding:
    """`deadlock`, naming who starves and the join that should be an either/or."""
    if not found.starving:
        return error(
            "deadlock",
            "The run can come to a standstill: nothing is left to do, and OK was never fired.",
            "List OK for the last step of this path, or FAIL if the path is a failure.",
            trace=found.trace,
        )
    name, missing = next(iter(found.starving.items()))
    decision = _decision_above(net, net.by_name[name], missing)
    return error(
        "deadlock",
        f"The run can come to a standstill: '{name}' still waits for {_waited(net.by_name[name], missing)}, "
        "which will not come.",
        decision or _other_remedy(net.by_name[name], missing),
        step=name,
        event=missing[0] if missing else None,
        trace=found.trace,
    )


def _waited(step: Step, missing: tuple[str, ...]) -> str:
    """What a step misses, slot by slot: of `q | r` either is enough."""
    either = [slot.events for slot in step.slots if not slot.need and len(slot.events) > 1]
    choices = [events for events in either if set(events) <= set(missing)]
    chosen = {event for events in choices for event in events}
    said = [quoted([event]) for event in missing if event not in chosen]
    said += [" or ".join(quoted([event]) for event in events) for events in choices]
    return " and ".join(filter(None, [", ".join(said[:-1]), said[-1]]))


def _other_remedy(step: Step, missing: tuple[str, ...]) -> str:
    held = [event for slot in step.slots for event in slot.events if event not in missing]
    either = " | ".join(dict.fromkeys([*held, *missing]))
    waited = _waited(step, missing)
    return f"Fire {waited} on every path that leads here, or, if one of them is enough, write `{either}`."


def _decision_above(net: Net, step: Step, missing: tuple[str, ...]) -> str | None:
    """The hint for a join below a decision: its events come from different ports of one step."""
    taken = [event for slot in step.slots for event in slot.events]
    held = [event for event in dict.fromkeys(taken) if event not in missing]
    graph, taking = step_graph(net), takers(net)
    for one in net.steps:
        if len(one.exits) < 2:
            continue
        ways = [(way.port, names_after(net, graph, taking, way)) for way in one.exits if not way.failure]
        for event in missing:
            ports = [port for port, names in ways if event in names]
            rivals = [e for e in held if any(e in names and event not in names for _, names in ways)]
            if ports and len(ports) < len(ways) and rivals:
                both = quoted([rivals[0], event])
                return (
                    f"{both} come from different ports of '{one.name}', so only one of them comes: "
                    f"make this an either/or join: write `{rivals[0]} | {event}`."
                )
    return None


def names_after(net: Net, graph: Graph, taking: dict[str, list[int]], way: Exit) -> set[str]:
    """Every event that an exit may bring about."""
    steps = reach(graph, {taker for name in way.fires for taker in taking.get(name, ())})
    return set(way.fires) | {
        name for index in steps for other in net.steps[index].exits for name in other.fires
    }


def endless_run(net: Net, analysis: Analysis) -> Iterator[Finding]:
    """`no-end`: a point of no return."""
    if analysis.no_end is None:
        return
    many = [event.name for event in net.outside if event.many]
    said = "The run can reach a point from which it never ends, as long as no step fails."
    hint = "Give the loop a way out that leads to an end, or write `endless: true` if it is meant to run for ever."
    if many and not net.names_ok:
        said = f"The run never ends: it waits for ever for {quoted(many)}, which may come again and again."
        hint = "Let a step fire OK when the run is done, or write `endless: true` if it is meant to run for ever."
    yield error("no-end", said, hint, trace=analysis.no_end)


def piling_events(analysis: Analysis) -> Iterator[Finding]:
    """`unbounded`: a loop that leaves more behind each turn."""
    found = analysis.unbounded
    if found is not None:
        yield error(
            "unbounded",
            f"Event '{found.event}' can pile up at step '{found.step}' without limit: "
            "each turn of a loop leaves more of them behind.",
            f"Let each turn of the loop fire only what it uses up, or let '{found.step}' be part of the loop.",
            step=found.step,
            event=found.event,
            trace=found.trace,
        )


def failing_unasked(analysis: Analysis) -> Iterator[Finding]:
    """`fail-without-failure`: FAIL though all is well."""
    trace = analysis.fail_without_failure
    if trace is not None:
        last = trace[-1]
        assert isinstance(last, Fire)
        yield error(
            "fail-without-failure",
            f"The run can fail although no step failed: '{last.step}' fires FAIL "
            "when all steps before it are done.",
            f"Let '{last.step}' wait for the event that your steps fire when they fail, or fire OK instead.",
            step=last.step,
            event=FAIL,
            trace=trace,
        )


def firing_twice(net: Net, analysis: Analysis) -> Iterator[Finding]:
    """`fires-twice`: an either/or join below a parallel split."""
    for name, trace in analysis.fires_twice.items():
        slot = max(net.by_name[name].slots, key=lambda slot: len(slot.events))
        listed = ", ".join(slot.events)
        hint = "Look at the trace: the events it waits for come more than once."
        if len(slot.events) > 1 and not slot.need:
            hint = (
                f"To wait for all of them write `after: [{listed}]`; "
                f"to take only the first write `after: [{{need: 1, of: [{listed}]}}]`."
            )
        yield warning(
            "fires-twice", f"Step '{name}' can fire more than once in a run.", hint, step=name, trace=trace
        )


def left_over(analysis: Analysis) -> Iterator[Finding]:
    """`leftover-events`: success with something still waiting."""
    found = analysis.leftover
    if found is not None:
        yield warning(
            "leftover-events",
            f"The run can succeed while {quoted(found.events)} still waits at '{found.step}'.",
            f"Fire OK only after '{found.step}', or end that branch with a step that takes what waits.",
            step=found.step,
            event=found.events[0],
            trace=found.trace,
        )
