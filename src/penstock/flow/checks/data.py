"""`missing-data`: what an expression reads and nothing provides; `time-outs`: times that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import chain
from typing import Any

from penstock.flow.checks.findings import Finding, warning
from penstock.flow.compile.compile import BOXES, pick, written
from penstock.flow.model.definition import Definition, External, Policy, Step
from penstock.flow.model.names import Hints, quoted
from penstock.flow.model.offer import Offer
from penstock.flow.values.defaults import TooManyDefaults, with_defaults
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
            if found is not None:
                said, hint = found
                where = f"An expression of step '{step}'" if step is not None else f"`{path}`"
                yield warning("missing-data", f"{where} reads {said}.", hint, step=step)


def missing_parameters(definition: Definition, offers: Mapping[str, Offer]) -> Iterator[Finding]:
    """A built-in task without what it cannot do its work without; nothing but `with` gives it that."""
    for name, step in definition.steps.items():
        offer = offers.get(step.task)
        if offer is None or step.disabled or not (offer.task_list == BOXES or step.task in ENGINES_OWN):
            continue
        given = step.params or {}
        wanted = [each for each in _required(offer.parameters, given) if given.get(each) is None]
        if wanted:
            yield Finding(
                code="missing-data",
                severity="error" if step.task in ENGINES_OWN else "warning",
                step=name,
                message=f"Step '{name}' does not say {quoted(wanted)} in `with`: `{step.task}` would fail.",
                hint=f"Write `with: {{{wanted[0]}: …}}`.",
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
    try:
        wrong = violations(definition.params, with_defaults(definition.params, some))
    except TooManyDefaults as error:
        wrong = [str(error)]
    if wrong:
        yield warning(
            "missing-data",
            f"Ticks make no runs: `params` refuses the input that a clock gives ({wrong[0]}).",
            "A scheduled run has `scheduled_at`, `previous` and `timezone`: let `params` take them, and no more.",
        )


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

    def at(self, step: str | None, read: tuple[str, ...]) -> tuple[str, str] | None:
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
            said = f"`{root}`, which only a step with `each` has"
            return said, "Add `each` to the step, or read something else."
        return None

    def output(self, step: str | None, other: str) -> tuple[str, str] | None:
        if other not in self.index:
            near = self.hints.nearest(other, self.index)
            meant = f"Did you mean '{near}'?" if near else "Name a step of this workflow."
            return f"the output of '{other}', which is no step of this workflow", meant
        if step is None or other in self.before[step]:
            return None
        said = f"the output of '{other}', which need not come before it"
        return said, f"Let '{step}' wait for '{other}', directly or through others."

    def event(self, step: str, name: str) -> tuple[str, str] | None:
        taken = [event for slot in self.net.by_name[step].slots for event in slot.events]
        if name in taken:
            return None
        said = f"the event '{name}', which the step does not wait for"
        return said, f"Add '{name}' to its `after`, or read {quoted(dict.fromkeys(taken), 'or')}."

    def datum(self, step: str | None, key: str) -> tuple[str, str] | None:
        if step not in self.known:
            self.known[step] = self.keys_before(step)
        known = self.known[step]
        if known is None or key in known:
            return None
        near = self.hints.nearest(key, known)
        meant = f" Did you mean `data.{near}`?" if near else ""
        said = f"`data.{key}`, which nothing before it provides"
        return said, f"Add '{key}' to `params`, or set it before.{meant}"

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
        for said, hint in chain(own, _late_reminder(step)):
            yield warning("time-outs", f"Step '{name}': {said}.", hint, step=name)


def times_of(step: Step, defaults: Policy) -> Times:
    """The times in force that are written down, the step's own before the workflow's defaults."""
    found: Times = written(step.policy.timeouts, defaults.timeouts)
    warn = pick(step.policy.warn_after, defaults.warn_after, None)
    if warn is not None:
        found["warn_after"] = warn
    return found


def _contradictions(times: Times, run: timedelta | None) -> Iterator[tuple[str, str]]:
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
        said = f"`schedule_to_start` and `start_to_close` add up to {format_duration(start + close)}"
        yield (
            f"{said}, longer than `schedule_to_close` ({format_duration(whole)})",
            "Raise `schedule_to_close` to their sum.",
        )
    if close and heartbeat and heartbeat >= close:
        yield _beyond("heartbeat", heartbeat, "start_to_close", close)
    limit = min((time for time in (whole, close) if time), default=None)
    if warn and limit and warn >= limit:
        late, over = format_duration(warn), format_duration(limit)
        yield (
            f"`warn_after` ({late}) comes only after the attempt has timed out ({over})",
            f"Make `warn_after` shorter than {over}.",
        )
    longest = whole or close
    if run and longest and longest > run:
        spans = format_duration(longest), format_duration(run)
        said = "an attempt may take {}, longer than the whole run (`timeout: {}`)".format(*spans)
        yield said, "Raise the workflow's `timeout` or lower the step's time-outs."


def _late_reminder(step: Step) -> Iterator[tuple[str, str]]:
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


def _beyond(inner: str, time: timedelta, outer: str, limit: timedelta) -> tuple[str, str]:
    said = f"`{inner}` ({format_duration(time)}) never matters, because `{outer}` ({format_duration(limit)}) ends first"
    return said, f"Make `{inner}` shorter than `{outer}`, or leave one of them out."
