"""`missing-data`: what an expression reads and nothing provides; `time-outs`: times that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import chain
from typing import Any

from penstock.flow.checks.findings import Finding, error, warning
from penstock.flow.checks.wording import Argument
from penstock.flow.compile.compile import BOXES, pick, written
from penstock.flow.model.definition import Definition, External, Policy, Step
from penstock.flow.model.names import Hints
from penstock.flow.model.offer import Offer
from penstock.flow.values.duration import format_duration, parse_duration
from penstock.flow.values.schema_validation import violations
from penstock.kernel.net import Net
from penstock.kernel.proof.structure import reach, reverse, step_graph

Reads = Mapping[str, tuple[tuple[str, ...], ...]]
SETS_NOTHING = frozenset(
    ["decide", "switch", "tag", "terminate", "wait", "emit", "fail", "mail", "approval", "update"]
)
ENGINES_OWN = frozenset(["emit"])
"""Built-in tasks whose box can be made without what it needs: no worker knows better, so it must not be published."""
Missing = dict[str, Argument | None]
"""The variant and the other arguments of a finding about something that does not exist."""
LITERAL = re.compile(r"\{.*\}", re.DOTALL)
SOME_TICK = "2026-01-01T00:00:00Z"
KEY = re.compile(r"""['"]([^'"]+)['"]\s*:""")


def missing_data(definition: Definition, net: Net, reads: Reads) -> Iterator[Finding]:
    """Every read of an output, an event, an element or a key of the data that cannot be there."""
    yield from _refused_ticks(definition)
    look = _Look(definition, net)
    for path, paths in reads.items():
        step = look.owner(path)
        for read in dict.fromkeys(paths):
            found = look.at(step, read)
            if found is not None and step is not None:
                yield warning("missing-data", step=step, **found)
            elif found is not None:
                variant = str(found["variant"])
                yield warning(
                    "missing-data", **{**found, "variant": f"{variant}-at", "remedy": variant, "where": path}
                )


def missing_parameters(definition: Definition, offers: Mapping[str, Offer]) -> Iterator[Finding]:
    """A built-in task without what it cannot do its work without; nothing but `with` gives it that."""
    for name, step in definition.steps.items():
        offer = offers.get(step.task)
        if offer is None or step.disabled or not (offer.task_list == BOXES or step.task in ENGINES_OWN):
            continue
        given = step.params or {}
        wanted = [each for each in _required(offer.parameters, given) if given.get(each) is None]
        if wanted:
            yield (error if step.task in ENGINES_OWN else warning)(
                "missing-data", variant="lacks", step=name, task=step.task, settings=wanted, setting=wanted[0]
            )


def _required(schema: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """What a schema requires beside what is given; of its `if` only what that decides."""
    found = list(schema.get("required", ()))
    if "if" in schema:
        part = "else" if violations(schema["if"], dict(given)) else "then"
        found += schema.get(part, {}).get("required", ())
    return found


def _refused_ticks(definition: Definition) -> Iterator[Finding]:
    """A clock starts runs with an input that `params` refuses: no tick would ever make a run."""
    if definition.source is None or definition.source.kind != "schedule":
        return
    some = {"scheduled_at": SOME_TICK, "previous": SOME_TICK, "timezone": "UTC"}
    wrong = violations(definition.params, some)
    if wrong:
        yield warning("missing-data", variant="ticks", problem=wrong[0])


class _Look:
    """What is there for the expressions of each step."""

    def __init__(self, definition: Definition, net: Net) -> None:
        self.definition, self.net = definition, net
        self.hints = Hints()
        self.known: dict[str | None, set[str] | None] = {}
        self.index = {step.name: number for number, step in enumerate(net.steps)}
        back = reverse(step_graph(net, lambda step, way: True))
        self.before = {
            name: {net.steps[other].name for other in reach(back, back[number])}
            for name, number in self.index.items()
        }

    def owner(self, path: str) -> str | None:
        """The step that a path of the definition lies in; names may hold dots."""
        names = [name for name in self.index if path.startswith(f"steps.{name}.")]
        return max(names, key=len, default=None)

    def at(self, step: str | None, read: tuple[str, ...]) -> Missing | None:
        root = read[0]
        if root == "steps" and len(read) > 1:
            return self.output(step, read[1])
        if root == "data" and len(read) > 1:
            return self.datum(step, read[1])
        if step is None:
            return None
        if root == "events" and len(read) > 1:
            return self.event(step, read[1])
        if root in ("item", "index") and self.definition.steps[step].each is None:
            return {"variant": "each", "name": root}
        return None

    def output(self, step: str | None, other: str) -> Missing | None:
        if other not in self.index:
            return {"variant": "no-step", "other": other, "near": self.hints.nearest(other, self.index)}
        if step is None or other in self.before[step]:
            return None
        return {"variant": "later", "other": other}

    def event(self, step: str, name: str) -> Missing | None:
        taken = [event for slot in self.net.by_name[step].slots for event in slot.events]
        if name in taken:
            return None
        return {"variant": "event", "name": name, "all": list(dict.fromkeys(taken))}

    def datum(self, step: str | None, key: str) -> Missing | None:
        if step not in self.known:
            self.known[step] = self.keys_before(step)
        known = self.known[step]
        if known is None or key in known:
            return None
        near = self.hints.nearest(key, known)
        return {"variant": "key", "key": key, "near": near and f"data.{near}"}

    def keys_before(self, step: str | None) -> set[str] | None:
        """The keys that the data may have when a step begins; None: any."""
        params, source = self.definition.params, self.definition.source
        known = set(params["properties"]) if isinstance(params, dict) and params.get("properties") else None
        if known is None or (source is not None and source.kind != "api"):
            return None
        for event in self.definition.external or ():
            keys = keys_set_by(event)
            if keys is None:
                return None
            known |= keys
        for name in self.before[step] if step is not None else self.index:
            task, given = self.definition.steps[name].task, self.definition.steps[name].params
            if task == "set":
                known |= set(given or {})
            elif task not in SETS_NOTHING:
                return None
        return known


def keys_set_by(event: External) -> set[str] | None:
    """The keys of the data that an outside event may set; None: any."""
    if event.from_ is None:
        return None
    if event.from_.set is None:
        return set()
    return set(KEY.findall(event.from_.set)) if LITERAL.fullmatch(event.from_.set.strip()) else None


# -- times ----------------------------------------------------------------------------------------------------


Times = dict[str, timedelta]


def contradicting_times(definition: Definition) -> Iterator[Finding]:
    """Every pair of times of a step that cannot both be meant."""
    defaults = definition.defaults or Policy()
    for name, step in definition.steps.items():
        own = _contradictions(times_of(step, defaults), definition.timeout)
        for said in chain(own, _late_reminder(step)):
            yield warning("time-outs", step=name, **said)


def times_of(step: Step, defaults: Policy) -> Times:
    """The times in force that are written down, the step's own before the workflow's defaults."""
    found: Times = written(step.policy.timeouts, defaults.timeouts)
    warn = pick(step.policy.warn_after, defaults.warn_after, None)
    if warn is not None:
        found["warn_after"] = warn
    return found


def _contradictions(times: Times, run: timedelta | None) -> Iterator[dict[str, str]]:
    whole, start = times.get("schedule_to_close"), times.get("schedule_to_start")
    close, heartbeat, warn = times.get("start_to_close"), times.get("heartbeat"), times.get("warn_after")
    alone = False
    if whole and close and close > whole:
        alone = True
        yield _beyond("start_to_close", close, "schedule_to_close", whole)
    if whole and start and start >= whole:
        alone = True
        yield _beyond("schedule_to_start", start, "schedule_to_close", whole)
    if whole and start and close and not alone and start + close > whole:
        summed = _spans("sum", "start_to_close", start + close, "schedule_to_close", whole)
        yield {**summed, "first": "schedule_to_start"}
    if close and heartbeat and heartbeat >= close:
        yield _beyond("heartbeat", heartbeat, "start_to_close", close)
    limit = min((time for time in (whole, close) if time), default=None)
    if warn and limit and warn >= limit:
        yield {
            "variant": "warn",
            "inner": "warn_after",
            "time": format_duration(warn),
            "limit": format_duration(limit),
        }
    longest = whole or close
    if run and longest and longest > run:
        yield {"variant": "run", "time": format_duration(longest), "limit": format_duration(run)}


def _late_reminder(step: Step) -> Iterator[dict[str, str]]:
    """Of an approval; what is filled in later, or is no time, is told elsewhere."""
    given = step.params or {}
    if step.task != "approval" or given.get("due") is None or given.get("remind") is None:
        return
    try:
        due, remind = parse_duration(given["due"]), parse_duration(given["remind"])
    except ValueError:
        return
    if remind >= due:
        yield _beyond("remind", remind, "due", due)


def _beyond(inner: str, time: timedelta, outer: str, limit: timedelta) -> dict[str, str]:
    return _spans("beyond", inner, time, outer, limit)


def _spans(variant: str, inner: str, time: timedelta, outer: str, limit: timedelta) -> dict[str, str]:
    spans = {"time": format_duration(time), "limit": format_duration(limit)}
    return {"variant": variant, "inner": inner, "outer": outer, **spans}
