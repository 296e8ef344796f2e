"""The types of what expressions read: by the schemas of `params`, events and tasks, and by what runs before what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain
from typing import Any

from msgspec.structs import replace

from penstock.expression.types import Scope, check_expression, check_template, read_schema
from penstock.expression.types.types import (
    DYN,
    INT,
    MAP,
    NEVER,
    NULL,
    STRING,
    TIMESTAMP,
    Field,
    List,
    Object,
    Type,
    members_of,
    union,
)
from penstock.flow.checks.precedence import Facts, Precedence
from penstock.flow.model.definition import Definition, External
from penstock.flow.model.offer import Offer
from penstock.flow.model.shapes import ANY, ENDINGS, INPUTS, failed_shape
from penstock.kernel.net import START, Exit, Net, Slot
from penstock.kernel.proof.structure import finishing_order, step_graph

SET, NOTHING = "set", Object({})
OF_OBJECTS = frozenset({"object", "search"})
"""Sources whose runs always have a subject: the object."""


class Scopes:
    """The types of the variables at each place of a workflow."""

    def __init__(self, definition: Definition, net: Net, offers: Mapping[str, Offer]) -> None:
        """`offers`: by step, as its settings make them; a step that is missing may give and set anything."""
        self.definition, self.net, self.offers = definition, net, offers
        self.precedence = Precedence(net)
        self._outputs: dict[tuple[int, str | None], Type] = {}
        self._events: dict[str, Type] = {}

    def of_step(self, name: str, *, items: bool = False, outputs: Set[str] | None = None) -> Scope:
        """What the settings of a step may read, of one with `each` the item too; of outputs only these, if known."""
        step, number = self.net.by_name[name], self.precedence.index[name]
        found: dict[str, Type] = {
            "run": self.run,
            "data": self.data(number),
            "tags": MAP,
            "events": Object(self._consumed(step.slots)),
            "event": self._latest(step.slots),
            "steps": self._steps(number, outputs),
            "now": TIMESTAMP,
        }
        return found | {"item": self._item(name, found), "index": INT} if items else found

    def of_match(self, name: str) -> Scope:
        """What `match` may read: the event that arrives, and the data of that moment."""
        step, number = self.net.by_name[name], self.precedence.index[name]
        return {"event": self._latest(step.slots), "data": self.data(number, early=True)}

    def of_result(self) -> Scope:
        """What `result` may read once the run has ended."""
        end = self.precedence.end
        data, steps = self.data(end), self._steps(end)
        return {"run": self.run, "data": data, "tags": MAP, "steps": steps, "now": TIMESTAMP}

    @cached_property
    def run(self) -> Type:
        """The variable `run`; a run that somebody starts by hand need not have a subject."""
        source = self.definition.source
        subject = STRING if source is not None and source.kind in OF_OBJECTS else union((STRING, NULL))
        fields = {"id": STRING, "workflow": STRING, "version": INT, "subject": subject}
        return Object({name: Field(each) for name, each in fields.items()})

    # -- events ------------------------------------------------------------------------------------------------

    def event(self, name: str) -> Type:
        """The type of what an event carries."""
        if name not in self._events:
            self._events[name] = self._event(name)
        return self._events[name]

    def _event(self, name: str) -> Type:
        if name == START:
            return self.input
        if name in ENDINGS:
            return union([read_schema(each).type for each in ENDINGS[name]] + self._fired(name))
        outside = next((each for each in self.definition.external or () if each.name == name), None)
        if outside is not None:
            return DYN if outside.schema is None else read_schema(outside.schema).type
        return union(self._fired(name)) if name in self.precedence.producers else DYN

    def _fired(self, name: str) -> list[Type]:
        return [self._given(number, way) for number, way in self.precedence.producers.get(name, ())]

    def _given(self, number: int, way: Exit) -> Type:
        if way.port != "failed":
            return self.output(number, way.port)
        step = self.definition.steps[self.net.steps[number].name]
        return read_schema(failed_shape(None if step.each is None else ANY)).type

    def _consumed(self, slots: Iterable[Slot]) -> dict[str, Field]:
        """Event -> its data, for sure where its slot takes nothing else."""
        return {
            name: Field(self.event(name), required=len(slot.events) == 1)
            for slot in slots
            for name in slot.events
        }

    def _latest(self, slots: Iterable[Slot]) -> Type:
        data = union(self.event(name) for slot in slots for name in slot.events)
        fields = {"name": STRING, "data": data, "id": STRING, "at": TIMESTAMP}
        return Object({name: Field(each) for name, each in fields.items()})

    # -- outputs -----------------------------------------------------------------------------------------------

    def output(self, number: int, port: str | None) -> Type:
        """The type of what a step gives on a port."""
        if (number, port) not in self._outputs:
            self._outputs[number, port] = self._output(self.net.steps[number].name, port)
        return self._outputs[number, port]

    def _output(self, name: str, port: str | None) -> Type:
        step, offer = self.definition.steps[name], self.offers.get(name)
        if step.disabled:
            return NULL
        schema = None if offer is None or port is None else offer.schemas.get(port)
        if step.task == SET and port == "done":
            found = self._set_by(name)
        else:
            found = DYN if schema is None else read_schema(schema).type
        if step.each is None:
            return found
        return List(DYN if step.each_failure == "collect" else found) if port == "done" else DYN

    def _set_by(self, name: str) -> Type:
        """What a `set` step gives: the type of its settings, unless they read what it sets itself."""
        number = self.precedence.index[name]
        step = self.definition.steps[name]
        self._outputs[number, "done"] = Object({key: Field(DYN) for key in step.params or {}})  # to itself
        return check_template(dict(step.params or {}), self.of_step(name, items=step.each is not None)).type

    def _steps(self, reader: int, names: Set[str] | None = None) -> Object:
        """The outputs that exist when a step begins, those that need not exist as optional."""
        fields: dict[str, Field] = {}
        index = self.precedence.index
        wanted = (
            index.values() if names is None or not names <= index.keys() else [index[each] for each in names]
        )
        for number in wanted:
            step = self.net.steps[number]
            if not self.precedence.may_precede(number, reader):
                continue
            found = union(
                self.output(number, way.port) for way in self.precedence.outputs_from(number, reader)
            )
            if found is not NEVER:
                output = Object({"output": Field(found)})
                fields[step.name] = Field(output, self.precedence.must_precede(number, reader))
        return Object(fields)

    def _item(self, name: str, scope: Scope) -> Type:
        each = self.definition.steps[name].each
        found = DYN if each is None else check_expression(each, scope).type
        return union(member.item if isinstance(member, List) else DYN for member in members_of(found))

    # -- data --------------------------------------------------------------------------------------------------

    @cached_property
    def input(self) -> Type:
        """The type of the input of a run, as `params` takes it and fills it in."""
        params, source = self.definition.params, self.definition.source
        if params is None and source is not None and source.kind in INPUTS:
            return read_schema(INPUTS[source.kind]).type
        return DYN if params is None else read_schema(_filled(params)).type

    def _patch(self, number: int) -> Type:
        """The type of what a step sets on the run's data."""
        name = self.net.steps[number].name
        step, offer = self.definition.steps[name], self.offers.get(name)
        if step.disabled:
            return NOTHING
        if step.task == SET:
            return self.output(number, "done") if step.each is None else DYN
        return DYN if offer is None or offer.sets is None else read_schema(offer.sets).type

    @cached_property
    def _setters(self) -> list[int]:
        """The steps that may set data, those that come first before others."""
        order = reversed(finishing_order(step_graph(self.net)))
        return [number for number in order if self._may_set(self.net.steps[number].name)]

    def _may_set(self, name: str) -> bool:
        step, offer = self.definition.steps[name], self.offers.get(name)
        nothing = offer is not None and offer.sets is not None and read_schema(offer.sets).type == NOTHING
        return not (step.disabled or nothing)

    @cached_property
    def _outside_patches(self) -> list[Type]:
        """The types of what events from outside may set: those that anybody may fire may set anything."""
        return [_patch_of(each) for each in self.definition.external or ()]

    @cached_property
    def _sure_fields(self) -> tuple[dict[str, int], list[Facts]]:
        """The bits of the fields that steps set, and which of them have been set whenever a step begins."""
        sets = {number: self._sets_for_sure(number) for number in self._setters}
        bits = {name: 1 << at for at, name in enumerate(dict.fromkeys(chain.from_iterable(sets.values())))}
        adds = {number: sum(bits[name] for name in names) for number, names in sets.items()}
        failure = ("failed", None)
        return bits, self.precedence.facts(
            lambda number, way: adds.get(number, 0) if way.port not in failure else 0
        )

    def _sets_for_sure(self, number: int) -> list[str]:
        """The fields that a step always sets; where an expression sets them, null may still remove them."""
        step = self.definition.steps[self.net.steps[number].name]
        if step.task == SET and step.each is None:
            return [name for name, value in (step.params or {}).items() if value is not None]
        patch = self._patch(number)
        fields = patch.fields if isinstance(patch, Object) else {}
        return [name for name, field in fields.items() if field.required]

    def data(self, reader: int, *, early: bool = False) -> Type:
        """The type of the run's data when a step begins.

        With `early` when an event arrives for it: what its other events follow need not have run by then.
        """
        setters = [number for number in self._setters if self.precedence.may_precede(number, reader)]
        patches = [self._patch(number) for number in setters]
        bits, facts = self._sure_fields
        there = 0 if early else facts[reader]
        sure = {name for name, bit in bits.items() if there & bit}
        return with_patches(self.input, [*self._outside_patches, *patches], sure)


def with_patches(data: Type, patches: Sequence[Type], sure: Collection[str]) -> Type:
    """The type of data to which any of these merge patches may have been applied, in any order.

    `sure` are the fields that some of them have set by now: they are there unless another patch may remove them.
    """
    for patch in patches:
        data = union(_patched(member, patch) for member in members_of(data)) if data is not DYN else DYN
    removed = {name for patch in patches for name in _removed(patch)}
    return union(_with_fields(member, set(sure) - removed) for member in members_of(data))


def _with_fields(data: Type, names: Collection[str]) -> Type:
    if not isinstance(data, Object):
        return data
    there = {name: replace(field, required=True) for name, field in data.fields.items() if name in names}
    return Object({**data.fields, **there}, data.rest, data.declared)


def _patched(data: Type, patch: Type) -> Type:
    if not isinstance(data, Object) or not isinstance(patch, Object):
        return _opened(data)
    fields = dict(data.fields)
    for name, given in patch.fields.items():
        if given.type is not NEVER:
            fields[name] = _patched_field(data.field(name), given)
    return Object(fields, data.rest if patch.rest is None else DYN, data.declared and patch.rest is None)


def _patched_field(before: Field | None, given: Field) -> Field:
    """A value replaces what was there, a map is merged into it, and null removes it."""
    olds = members_of(before.type) if before is not None else ()
    maps = [each for each in olds if isinstance(each, Object)] or [Object({})]
    news = [
        _patched(old, each) if isinstance(each, Object) else each
        for each in members_of(given.type)
        if each is not NULL
        for old in maps
    ]
    required = before is not None and before.required and NULL not in members_of(given.type)
    return Field(union((*olds, *news)), required, given.doc or (before.doc if before is not None else ""))


def _removed(patch: Type) -> list[str]:
    """The fields that a patch may remove."""
    fields = patch.fields if isinstance(patch, Object) else {}
    return [name for name, field in fields.items() if NULL in members_of(field.type)]


def _opened(found: Type) -> Type:
    """The same where anything may have been set: known fields stay as they are declared."""
    return Object(found.fields, DYN) if isinstance(found, Object) else found


def _patch_of(event: External) -> Type:
    if event.from_ is None:
        return DYN
    if event.from_.set is None:
        return Object({})
    anything: Scope = dict.fromkeys(("body", "headers", "query", "event"), DYN)
    return check_expression(event.from_.set, anything).type


def _filled(schema: Any) -> Any:
    """A schema in which what has a default is required: it is filled in before anybody reads it."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        return schema
    properties = {name: _filled(part) for name, part in schema["properties"].items()}
    given = [name for name, part in properties.items() if isinstance(part, Mapping) and "default" in part]
    required = [name for name in schema.get("required", ()) if name not in given]
    return {**schema, "properties": properties, "required": [*required, *given]}
