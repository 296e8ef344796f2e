"""What findings say: one table of sentences, filled in from the arguments of a finding.

The sentence of a finding is `TEXTS[code]`, or `TEXTS[code.variant]` if its arguments have a `variant`. Its hint is the
text with `.hint` of their `remedy`, else of the variant, else of the code. `make reference` gives the pages the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from penstock.flow.model.names import joined, quoted

Argument = str | int | Sequence[str | Sequence[str]]
"""What fills a place: a name, a number, or a list of names; a name in it may be several, of which any is enough."""

TEXTS: Mapping[str, str] = {
    "near": "Did you mean '{near}'?",
    # -- the drawing --
    "missing-event.waits": "Step '{step}' waits for '{event}', which nothing fires.",
    "missing-event.any": "Step '{step}' waits for {events, or}, and nothing fires any of them.",
    "missing-event.also": "Step '{step}' also takes {events, or}, which nothing fires.",
    "missing-event.needs": "Step '{step}' needs {n} of {all, and}, but nothing fires {events, and}.",
    "missing-event.fire.hint": "Let a step fire '{event}' (`emits`), or let it come from outside (`external`).",
    "missing-event.timeout.hint": "Give the workflow a `timeout`, or let the step wait for CANCEL or FAIL.",
    "missing-event.fail.hint": "Let a step that should end the run fire FAIL, or remove it from `after`.",
    "missing-event.reserved.hint": "Let the step that reaches the goal fire {event}, or remove it from `after`.",
    "unused-event.few": "Event '{event}' is fired by {steps, and}, but no step waits for it.",
    "unused-event.many": "Event '{event}' is fired by {n} steps, but no step waits for it.",
    "unused-event.hint": "Let a step wait for '{event}', or leave it out if it is only for the history.",
    "unhandled-port": "Nothing happens when '{step}' ends on '{port}': no step waits for it.",
    "unhandled-port.hint": "Let a step wait for '{event}', or list OK or FAIL for port '{port}'; "
    "a step with task `terminate` says that the branch is meant to end here.",
    "failure-loop.itself": "When '{step}' fails, it starts itself again: it may fail forever.",
    "failure-loop.through": "When '{step}' fails, it leads back to itself through {steps, and}: it may fail forever.",
    "failure-loop.hint": "Use `retries` to try again, and let another step, or FAIL, take the failure.",
    "unknown-task": "No worker has offered the task '{task}' yet.",
    "unknown-task.hint": "Start a worker that has it, or, on the command line, name its module with `--tasks`.",
    "taken-address.callback": "The hook of '{event}' could never be called: "
    "/hooks/callback/… is for functions that call back.",
    "taken-address.s3": "The hook of '{event}' could never be called: /hooks/s3/… is for object stores.",
    "taken-address.hint": "Give the workflow another name than '{workflow}'.",
    # -- the proof --
    "dead-step.itself": "Step '{step}' can never fire: it waits for {events, or}, which only it fires itself.",
    "dead-step.itself.hint": "Let another step fire {events, or} first.",
    "dead-step.one": "Step '{step}' can never fire: it waits for {events, or}, which only {steps, and} fires, "
    "and {steps, and} can never fire.",
    "dead-step.some": "Step '{step}' can never fire: it waits for {events, or}, which only {steps, and} fire, "
    "and none of them can ever fire.",
    "dead-step.fix.hint": "Fix {steps, and} first.",
    "dead-step.apart": "Step '{step}' can never fire: no run brings {events, and} together.",
    "dead-step.apart.hint": "If one of them is enough, make this an either/or join: write `{events, either}`.",
    "dead-step.never": "Step '{step}' can never fire: no run brings what it waits for ({events, and}).",
    "dead-step.never.hint": "Look at the steps that fire these events.",
    "deadlock.end": "The run can come to a standstill: nothing is left to do, and OK was never fired.",
    "deadlock.end.hint": "Let the last step of this path fire OK, or FAIL if the path is a failure.",
    "deadlock.waits": "The run can come to a standstill: '{step}' still waits for {events, and}, which will not come.",
    "deadlock.decision.hint": "{rivals, and} come from different ports of '{decision}', so only one of them comes: "
    "make this an either/or join: write `{rivals, either}`.",
    "deadlock.paths.hint": "Fire {events, and} on every path that leads here, or, if one of them is enough, "
    "write `{all, either}`.",
    "no-end.loop": "The run can reach a point from which it never ends, as long as no step fails.",
    "no-end.loop.hint": "Give the loop a way out that leads to an end, "
    "or write `endless: true` if it is meant to run forever.",
    "no-end.many": "The run never ends: it waits forever for {events, and}, which may come again and again.",
    "no-end.many.hint": "Let a step fire OK when the run is done, "
    "or write `endless: true` if it is meant to run forever.",
    "unbounded": "Event '{event}' can pile up at step '{step}' without limit: "
    "each turn of a loop leaves more of them behind.",
    "unbounded.hint": "Let each turn of the loop fire only what it uses up, or let '{step}' be part of the loop.",
    "fail-without-failure": "The run can fail although no step failed: '{step}' fires FAIL "
    "when all steps before it are done.",
    "fail-without-failure.hint": "Let '{step}' wait for the event that your steps fire when they fail, "
    "or fire OK instead.",
    "fires-twice": "Step '{step}' can fire more than once in a run.",
    "fires-twice.join.hint": "To wait for all of them write `after: [{events, list}]`; "
    "to take only the first write `after: [{need: 1, of: [{events, list}]}]`.",
    "fires-twice.trace.hint": "Look at the trace: the events it waits for come more than once.",
    "leftover-events": "The run can succeed and leave {events, and} waiting at '{step}'.",
    "leftover-events.hint": "Fire OK only after '{step}', or end that branch with a step that takes what waits.",
    # -- the data --
    "missing-data.lacks": "Step '{step}' is not filled in: `{task}` needs {settings, and}.",
    "missing-data.lacks.hint": "Fill in '{setting}' in its settings (`with`).",
    "missing-data.ticks": "Ticks make no runs: `params` refuses the input that a clock gives ({problem}).",
    "missing-data.ticks.hint": "A scheduled run has `scheduled_at`, `previous` and `timezone`: "
    "let `params` take them, and no more.",
    "missing-data.each": "An expression of step '{step}' reads `{name}`, which only a step with `each` has.",
    "missing-data.each.hint": "Add `each` to the step, or read something else.",
    "missing-data.no-step": "An expression of step '{step}' reads the output of '{other}', "
    "which is no step of this workflow.",
    "missing-data.no-step-at": "`{where}` reads the output of '{other}', which is no step of this workflow.",
    "missing-data.no-step.hint": "Name a step of this workflow.",
    "missing-data.later": "An expression of step '{step}' reads the output of '{other}', "
    "which need not come before it.",
    "missing-data.later.hint": "Let '{step}' wait for '{other}', directly or through others.",
    "missing-data.event": "An expression of step '{step}' reads the event '{name}', "
    "which the step does not wait for.",
    "missing-data.event.hint": "Let the step wait for '{name}', or read {all, or}.",
    "missing-data.key": "An expression of step '{step}' reads `data.{key}`, which nothing before it provides.",
    "missing-data.key-at": "`{where}` reads `data.{key}`, which nothing before it provides.",
    "missing-data.key.hint": "Add '{key}' to `params`, or set it before.",
    # -- times --
    "time-outs.beyond": "Step '{step}': `{inner}` ({time}) never matters, because `{outer}` ({limit}) ends first.",
    "time-outs.beyond.hint": "Make `{inner}` shorter than `{outer}`, or leave one of them out.",
    "time-outs.sum": "Step '{step}': `{first}` and `{inner}` add up to {time}, longer than `{outer}` ({limit}).",
    "time-outs.sum.hint": "Raise `{outer}` to their sum.",
    "time-outs.warn": "Step '{step}': `{inner}` ({time}) comes only after the attempt has timed out ({limit}).",
    "time-outs.warn.hint": "Make `{inner}` shorter than {limit}.",
    "time-outs.run": "Step '{step}': an attempt may take {time}, longer than the whole run (`timeout: {limit}`).",
    "time-outs.run.hint": "Raise the workflow's `timeout` or lower the step's time-outs.",
}
"""A place is `{name}`, or `{names, and}`, `{names, or}`, `{names, list}`, `{names, either}` of a list."""

PLACE = re.compile(r"\{(\w+)(?:, (and|or|list|either))?\}")


def worded(code: str, args: Mapping[str, Argument]) -> tuple[str, str]:
    """The sentence of a finding, and what to do about it."""
    variant, remedy = args.get("variant"), args.get("remedy")
    hint = filled(_text(code, ".hint", remedy, variant), args)
    near = f" {filled(TEXTS['near'], args)}" if "near" in args else ""
    return filled(_text(code, "", variant), args), hint + near


def _text(code: str, end: str, *names: Argument | None) -> str:
    keys = [f"{code}.{name}{end}" for name in names if name is not None]
    return TEXTS[next((key for key in keys if key in TEXTS), code + end)]


def filled(text: str, args: Mapping[str, Argument]) -> str:
    """A text of the table with its places filled in."""
    return PLACE.sub(lambda place: _shown(args[place[1]], place[2]), text)


def _shown(value: Argument, way: str | None) -> str:
    if isinstance(value, str | int):
        return str(value)
    if way in ("and", "or"):
        return joined(
            [f"'{each}'" if isinstance(each, str) else f"either {quoted(each, 'or')}" for each in value], way
        )
    names = [name for each in value for name in ([each] if isinstance(each, str) else each)]
    return (" | " if way == "either" else ", ").join(names)
