"""What steps give their tasks, held against what those take; and what `params` says and does not take itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.expression.template import is_open
from penstock.flow.checks.findings import Finding, error
from penstock.flow.model.definition import Definition, Step
from penstock.flow.model.names import Hints
from penstock.flow.model.offer import Offer
from penstock.flow.model.problems import Problem
from penstock.flow.model.secret_references import named
from penstock.flow.values.schema_validation import violations

Schema = Mapping[str, Any]


def wrong_settings(
    definition: Definition, offers: Mapping[str, Offer], refused: Mapping[str, Problem]
) -> Iterator[Finding]:
    """`missing-setting`, `unknown-setting` and `wrong-type` of what is written down in `with`.

    `refused` is what the boxes themselves do not take, by step: it is reported where the schema finds nothing.
    """
    hints = Hints()
    for name, step in definition.steps.items():
        offer = offers.get(step.task)
        found = [] if offer is None else [*_of_step(name, step, offer, hints)]
        if not found and name in refused:
            found = [_refused(name, refused[name])]
        yield from found


def _of_step(name: str, step: Step, offer: Offer, hints: Hints) -> Iterator[Finding]:
    given, schema = step.params or {}, offer.parameters
    known: Schema = schema.get("properties", {})
    if not step.disabled:
        yield from _missing(name, step.task, given, schema)
    if schema.get("additionalProperties") is False:
        yield from (_unknown(name, step.task, key, known, hints) for key in given if key not in known)
    for key, value in given.items():
        if key in known and not is_open(value) and not any(named(value)):
            yield from _unfitting(name, key, value, schema)


def _missing(step: str, task: str, given: Mapping[str, Any], schema: Schema) -> Iterator[Finding]:
    known = schema.get("properties", {})
    for key in _required(schema, given):
        if key not in given or _is_empty(given[key], known.get(key, {})):
            yield error("missing-setting", (), f"steps.{step}.with", step=step, task=task, setting=key)


def _is_empty(value: Any, schema: Schema) -> bool:
    """Null, an empty text, list or map, where the setting must be more: what a form has before it is filled in."""
    return value in (None, "", [], {}) and bool(violations(schema, value))


def _required(schema: Schema, given: Mapping[str, Any]) -> list[str]:
    """What a schema requires in addition to what is given; of its `if` only what that decides."""
    found = list(schema.get("required", ()))
    if "if" in schema:
        part = "else" if violations(schema["if"], dict(given)) else "then"
        found += schema.get(part, {}).get("required", ())
    return found


def _unknown(step: str, task: str, key: str, known: Schema, hints: Hints) -> Finding:
    near = hints.nearest(key, known)
    return error(
        "unknown-setting",
        (),
        f"steps.{step}.with.{key}",
        step=step,
        task=task,
        setting=key,
        remedy="near" if near else "takes" if known else "none",
        near=near,
        settings=list(known) if known and not near else None,
    )


def _unfitting(step: str, key: str, value: Any, schema: Schema) -> Iterator[Finding]:
    part = schema["properties"][key]
    if _is_empty(value, part) and key in schema.get("required", ()):
        return
    said = violations({"$defs": schema.get("$defs", {}), "properties": {key: part}}, {key: value})
    for sentence in said:
        problem = sentence.removeprefix(f"{key}: ")
        yield error("wrong-type", (), f"steps.{step}.with.{key}", step=step, setting=key, problem=problem)


def _refused(step: str, problem: Problem) -> Finding:
    return error(problem.code, (), problem.path, step=step, variant="box", problem=problem.message)


# -- defaults in `params` -------------------------------------------------------------------------------


def bad_defaults(definition: Definition) -> Iterator[Finding]:
    """`bad-default`: a default or an example in `params` that the schema around it rejects."""
    schema = definition.params
    if not isinstance(schema, dict):
        return
    for path, part in _schemas(schema, "params"):
        shown = [("default", part["default"])] if "default" in part else []
        examples = part.get("examples")
        shown += [
            (f"examples[{at}]", each)
            for at, each in enumerate(examples if isinstance(examples, list) else ())
        ]
        for key, value in shown:
            said = violations({**part, "$defs": schema.get("$defs", {})}, value)
            if said:
                word = key.partition("[")[0].removesuffix("s")
                yield error("bad-default", (), f"{path}.{key}", variant=word, place=path, problem=said[0])


def _schemas(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """A schema and those in it that describe parts of its values, with their paths."""
    todo = [(path, schema)]
    while todo:
        path, part = todo.pop()
        yield path, part
        for key in ("properties", "$defs", "patternProperties"):
            inside = part.get(key)
            if isinstance(inside, dict):
                todo += [
                    (f"{path}.{key}.{name}", each) for name, each in inside.items() if isinstance(each, dict)
                ]
        for key in ("items", "additionalProperties"):
            if isinstance(part.get(key), dict):
                todo.append((f"{path}.{key}", part[key]))
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            if isinstance(part.get(key), list):
                todo += [
                    (f"{path}.{key}[{at}]", each)
                    for at, each in enumerate(part[key])
                    if isinstance(each, dict)
                ]
