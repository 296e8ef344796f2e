"""`time-outs`: times that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import chain

from penstock.flow.checks.findings import Finding, warning
from penstock.flow.model.defaults import pick, written
from penstock.flow.model.definition import Definition, Policy, Step
from penstock.flow.values.duration import format_duration, parse_duration

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
