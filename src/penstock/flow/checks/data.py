"""`wrong-type` of the ticks of a clock, and `time-outs`: times that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import chain

from penstock.flow.checks.findings import Finding, warning
from penstock.flow.compile.compile import pick, written
from penstock.flow.model.definition import Definition, Policy, Step
from penstock.flow.values.defaults import TooManyDefaults, with_defaults
from penstock.flow.values.duration import format_duration, parse_duration
from penstock.flow.values.schema_validation import violations

SOME_TICK = "2026-01-01T00:00:00Z"


def rejected_ticks(definition: Definition) -> Iterator[Finding]:
    """A clock starts runs with an input that `params` rejects: no tick would ever make a run."""
    if definition.source is None or definition.source.kind != "schedule":
        return
    some = {"scheduled_at": SOME_TICK, "previous": SOME_TICK, "timezone": "UTC"}
    try:
        wrong = violations(definition.params, with_defaults(definition.params, some))
    except TooManyDefaults as error:
        wrong = [str(error)]
    if wrong:
        yield warning("wrong-type", (), "params", variant="ticks", problem=wrong[0])


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
