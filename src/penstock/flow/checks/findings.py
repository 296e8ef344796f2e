"""What the checks say: findings and the report, as people and programs read them, and what the proof finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from penstock.flow.checks.wording import Argument, worded
from penstock.kernel.net import CANCEL, FAIL, START, Exit, Net, Step
from penstock.kernel.proof.analysis import Analysis, Deadlock
from penstock.kernel.proof.structure import Graph, reach, step_graph, takers
from penstock.kernel.proof.trace import Event, Fire, Trace

Severity = Literal["error", "warning", "info"]
Verdict = Literal["proved", "refuted", "undecided"]
ORDER: dict[str, int] = {"error": 0, "warning": 1, "info": 2}


class Finding(Struct, frozen=True, kw_only=True):
    """One thing to know about a workflow: a plain sentence, what to do about it, and the path that shows it.

    `args` are what the sentence and the hint name, for those who say it in other words: see `wording`.
    """

    code: str
    severity: Severity
    step: str | None = None
    event: str | None = None
    message: str
    hint: str
    line: int | None = None
    trace: Trace = ()
    column: int | None = None
    path: str | None = None
    args: Mapping[str, Argument] = {}

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


def _finding(
    severity: Severity, code: str, trace: Trace = (), path: str | None = None, /, **args: Argument | None
) -> Finding:
    """A finding in words, about the part of the definition at a path.

    Its step and event are arguments too; an argument that is None is left out.
    """
    given = {name: _plain(value) for name, value in args.items() if value is not None}
    message, hint = worded(code, given)
    step, event = args.get("step"), args.get("event")
    return Finding(
        code=code,
        severity=severity,
        step=None if step is None else str(step),
        event=None if event is None else str(event),
        message=message,
        hint=hint,
        args=given,
        trace=trace,
        path=path,
    )


def _plain(value: Argument) -> Argument:
    """As JSON has it; several names of which any is enough, but only one, are a name."""
    if isinstance(value, str | int):
        return value
    return [each if isinstance(each, str) else each[0] if len(each) == 1 else list(each) for each in value]


def error(code: str, trace: Trace = (), path: str | None = None, /, **args: Argument | None) -> Finding:
    """A finding that refutes a workflow."""
    return _finding("error", code, trace, path, **args)


def warning(code: str, trace: Trace = (), path: str | None = None, /, **args: Argument | None) -> Finding:
    """A finding that refutes nothing."""
    return _finding("warning", code, trace, path, **args)


def info(code: str, trace: Trace = (), /, **args: Argument | None) -> Finding:
    """A finding that is only good to know."""
    return _finding("info", code, trace, **args)


class DataCount(Struct, frozen=True):
    """How many expressions a workflow has, and of how many the type is known."""

    expressions: int = 0
    typed: int = 0
    unknown: int = 0


class Report(Struct, frozen=True, kw_only=True):
    """The answer of a check: proved, refuted or undecided, and why."""

    file: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    states: int
    seconds: float
    covered: str
    assumes: tuple[str, ...]
    data: DataCount = DataCount()

    def to_plain(self) -> dict[str, Any]:
        findings = [finding.to_plain() for finding in self.findings]
        return {
            **asdict(self),
            "findings": findings,
            "assumes": list(self.assumes),
            "data": asdict(self.data),
        }

    def worst(self) -> Severity | None:
        """The gravest severity among the findings."""
        return min((finding.severity for finding in self.findings), key=ORDER.__getitem__, default=None)


def plain_item(item: Any) -> dict[str, str | None]:
    """One item of a trace as JSON."""
    if isinstance(item, Event):
        return {"event": item.name}
    return {"fire": item.step, "port": item.port}


# -- what the proof finds: each says what to do about it -------------------------------------------------------


def dead_steps(net: Net, analysis: Analysis, excused: set[str]) -> Iterator[Finding]:
    """`dead-step`, with the cause; a step that misses an event has been told already."""
    for name in analysis.dead:
        if name not in excused:
            yield error("dead-step", step=name, **_cause(net, net.by_name[name], set(analysis.dead)))


def _cause(net: Net, step: Step, dead: set[str]) -> dict[str, Argument]:
    for slot in step.slots:
        firing = list(
            dict.fromkeys(
                one.name for one in net.steps for way in one.exits if set(slot.events) & set(way.fires)
            )
        )
        given = {START, CANCEL, FAIL, *net.outside_names()} & set(slot.events)
        if slot.need > 1 or given or not firing or set(firing) - dead:
            continue
        if firing == [step.name]:
            return {"variant": "itself", "events": slot.events}
        variant = "one" if len(firing) == 1 else "some"
        return {"variant": variant, "remedy": "fix", "events": slot.events, "steps": firing}
    return {
        "variant": "apart" if len(step.slots) > 1 else "never",
        "events": [slot.events for slot in step.slots],
    }


def standstill(net: Net, found: Deadlock) -> Finding:
    """`deadlock`, naming who starves and the join that should be an either/or."""
    if not found.starving:
        return error("deadlock", found.trace, variant="end")
    name, missing = next(iter(found.starving.items()))
    step = net.by_name[name]
    remedy = _decision_above(net, step, missing) or _other_remedy(step, missing)
    return error(
        "deadlock",
        found.trace,
        variant="waits",
        step=name,
        event=missing[0],
        events=_waited(step, missing),
        **remedy,
    )


def _waited(step: Step, missing: tuple[str, ...]) -> list[str | Sequence[str]]:
    """What a step misses, slot by slot: of `q | r` either is enough."""
    either = [slot.events for slot in step.slots if not slot.need and len(slot.events) > 1]
    choices = [events for events in either if set(events) <= set(missing)]
    chosen = {event for events in choices for event in events}
    return [*(event for event in missing if event not in chosen), *choices]


def _other_remedy(step: Step, missing: tuple[str, ...]) -> dict[str, Argument]:
    held = [event for slot in step.slots for event in slot.events if event not in missing]
    return {"remedy": "paths", "all": list(dict.fromkeys([*held, *missing]))}


def _decision_above(net: Net, step: Step, missing: tuple[str, ...]) -> dict[str, Argument] | None:
    """The remedy for a join below a decision: its events come from different ports of one step."""
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
                return {"remedy": "decision", "decision": one.name, "rivals": [rivals[0], event]}
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
    if many and not net.names_ok:
        yield error("no-end", analysis.no_end, variant="many", events=many)
    else:
        yield error("no-end", analysis.no_end, variant="loop")


def piling_events(analysis: Analysis) -> Iterator[Finding]:
    """`unbounded`: a loop that leaves more behind each turn."""
    found = analysis.unbounded
    if found is not None:
        yield error("unbounded", found.trace, step=found.step, event=found.event)


def failing_unasked(analysis: Analysis) -> Iterator[Finding]:
    """`fail-without-failure`: FAIL though all is well."""
    trace = analysis.fail_without_failure
    if trace is not None:
        last = trace[-1]
        assert isinstance(last, Fire)
        yield error("fail-without-failure", trace, step=last.step, event=FAIL)


def firing_twice(net: Net, analysis: Analysis) -> Iterator[Finding]:
    """`fires-twice`: an either/or join below a parallel split."""
    for name, trace in analysis.fires_twice.items():
        slot = max(net.by_name[name].slots, key=lambda slot: len(slot.events))
        if len(slot.events) > 1 and not slot.need:
            yield warning("fires-twice", trace, remedy="join", step=name, events=slot.events)
        else:
            yield warning("fires-twice", trace, remedy="trace", step=name)


def left_over(analysis: Analysis) -> Iterator[Finding]:
    """`leftover-events`: success with something still waiting."""
    found = analysis.leftover
    if found is not None:
        yield warning(
            "leftover-events", found.trace, step=found.step, event=found.events[0], events=found.events
        )
