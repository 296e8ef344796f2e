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
    "unused-external": "Event '{event}' may come from outside, but no step waits for it.",
    "unused-external.hint": "Let a step wait for '{event}', or remove it from `external`.",
    "isolated-step": "Step '{step}' waits for nothing, and no step waits for it.",
    "isolated-step.hint": "Let '{step}' wait for an event, or let another step wait for '{step}'.",
    # -- settings --
    "missing-setting": "Step '{step}' is not filled in: `{task}` needs '{setting}'.",
    "missing-setting.hint": "Fill in '{setting}' in its settings (`with`).",
    "missing-setting.box": "Step '{step}' is not filled in: {problem}.",
    "missing-setting.box.hint": "Fill in its settings (`with`).",
    "unknown-setting": "Step '{step}' has the setting '{setting}', which `{task}` does not take.",
    "unknown-setting.takes.hint": "It takes {settings, and}.",
    "unknown-setting.near.hint": "Rename it, or remove it.",
    "unknown-setting.none.hint": "It takes no settings: remove it.",
    "unknown-setting.box": "Step '{step}' has a setting that its task does not take: {problem}.",
    "unknown-setting.box.hint": "Remove one of its settings (`with`).",
    "wrong-type": "Setting '{setting}' of step '{step}' does not fit: {problem}.",
    "wrong-type.hint": "Change '{setting}', or fill it in from data with ${ }.",
    "wrong-type.box": "The settings of step '{step}' do not fit: {problem}.",
    "wrong-type.box.hint": "Change the settings of the step.",
    "wrong-type.ticks": "Ticks make no runs: `params` rejects the input that a clock gives ({problem}).",
    "wrong-type.ticks.hint": "A scheduled run has `scheduled_at`, `previous` and `timezone`: "
    "let `params` take them, and no more.",
    "bad-default.default": "The default of `{place}` does not fit its own schema: {problem}.",
    "bad-default.example": "An example of `{place}` does not fit its own schema: {problem}.",
    "bad-default.hint": "Change it, or the schema around it.",
    # -- expressions: the place comes first --
    "in-step": "In '{setting}' of step '{step}': ",
    "in-workflow": "In `{setting}`: ",
    "unknown-field.no-step": "no step is called '{name}'.",
    "unknown-field.no-step.hint": "Name a step of this workflow.",
    "unknown-field.later": "step '{name}' need not have run by then.",
    "unknown-field.later.hint": "Let this step wait for '{name}', directly or through others, "
    "or test `'{name}' in steps` first.",
    "unknown-field.never": "step '{name}' cannot have run by then.",
    "unknown-field.never.hint": "Let this step wait for '{name}', or read something else.",
    "unknown-field.event": "it reads the event '{name}', which the step does not wait for.",
    "unknown-field.event.hint": "Let the step wait for '{name}', or read {names, or}.",
    "unknown-field.data": "nothing provides `data.{name}`.",
    "unknown-field.data.hint": "Add '{name}' to `params`, or set it in a step before.",
    "unknown-field.maybe-data": "`data.{name}` may be missing.",
    "unknown-field.maybe-data.hint": "Test it with `has(data.{name})`, require it in `params`, or give it a default.",
    "unknown-field.each": "only a step with `each` has `{name}`.",
    "unknown-field.each.hint": "Add `each` to the step, or read something else.",
    "unknown-field.no-field": "`{owner}` has no field `{name}`.",
    "unknown-field.optional-field": "`{owner}` may lack the field `{name}`.",
    "unknown-field.optional-field.hint": "Test it with `has` first.",
    "unknown-field.undeclared-field": "nothing declares the field `{name}` of `{owner}`.",
    "unknown-field.undeclared-field.hint": "Declare it, or test it with `has` first.",
    "unknown-field.never-present": "`{owner}` never has a field `{name}`, so this is always false.",
    "unknown-field.no-fields": "`{owner}` is {found}, which has no field `{name}`.",
    "unknown-field.maybe-no-fields": "`{owner}` may be {found}, which has no field `{name}`.",
    "unknown-field.has.hint": "There are {names, and}.",
    "unknown-field.hint": "Change the expression.",
    "wrong-type.operator": "`{name}` is not defined for {found}.",
    "wrong-type.maybe-operator": "`{name}` is not defined for {found}, which this may be.",
    "wrong-type.argument": "`{name}` does not take {found}.",
    "wrong-type.maybe-argument": "`{name}` does not take {found}, which this may be.",
    "wrong-type.condition": "`{name}` needs true or false, not {found}.",
    "wrong-type.maybe-condition": "`{name}` needs true or false, and this may be {found}.",
    "wrong-type.loop": "`{name}` goes over a list or a map, not {found}.",
    "wrong-type.maybe-loop": "`{name}` goes over a list or a map, and this may be {found}.",
    "wrong-type.index": "`{owner}` is {found}, which has no item at {name}.",
    "wrong-type.maybe-index": "`{owner}` may be {found}, which has no item at {name}.",
    "wrong-type.key": "{found} cannot be the key of a map.",
    "wrong-type.maybe-key": "{found} cannot be the key of a map, and this may be one.",
    "wrong-type.never-equal": "{found} never equals {expected}.",
    "wrong-type.gives": "it gives {found}, where {expected} is needed.",
    "wrong-type.gives-inside": "it gives {found} at `{name}`, where {expected} is needed.",
    "wrong-type.may-give": "it may give {found}, where {expected} is needed.",
    "wrong-type.may-give-inside": "it may give {found} at `{name}`, where {expected} is needed.",
    "wrong-type.missing": "`{name}` is missing in what it gives.",
    "wrong-type.optional": "`{name}` may be missing in what it gives.",
    "wrong-type.unexpected": "it gives `{name}`, which is not taken.",
    "wrong-type.expression.hint": "Change the expression.",
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
    return _place(args) + filled(_text(code, "", variant), args), hint + near


def _place(args: Mapping[str, Argument]) -> str:
    """Which expression it is about, if it is about one."""
    if "expression" not in args:
        return ""
    return filled(TEXTS["in-step" if "step" in args else "in-workflow"], args)


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
