"""`emit`: fires an event into another run, found by its correlation key."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.flow.compile.compile import TemplateBox
from penstock.flow.model.box import BoxError, Finish, Reaction, View
from penstock.flow.model.offer import Offer
from penstock.flow.model.plan import Emission
from penstock.flow.model.shapes import NULL
from penstock.flow.values.payload import EVENT, KEY, length_problem
from penstock.steps.outputs import NO_DATA
from penstock.steps.parameters import PureKind, mapping, schema, template, text


class EmitBox(TemplateBox, frozen=True):
    """Hands the event over and is done; whether another run takes it does not matter to this one."""

    ports: ClassVar[tuple[str | None, ...]] = ("done",)

    def enter(self, view: View) -> Reaction:
        values = self.filled(view)
        event, set, id = values.get("event"), values.get("set"), values.get("id")
        if not isinstance(event, str) or not event:
            raise BoxError(f"`event` must be the name of an event, it is {_kind(event)}")
        if set is not None and not isinstance(set, dict):
            raise BoxError(f"`set` must be a map of what to change in the data, it is {_kind(set)}")
        if id is not None and not isinstance(id, str):
            raise BoxError(f"`id` must be a text, it is {_kind(id)}")
        _validate_length("`event`", event, EVENT)
        _validate_length("`id`", id or "", KEY)
        emission = Emission(event=event, key=_key(values.get("key")), data=values.get("data"), set=set, id=id)
        return Finish(emission=emission)


def _key(key: Any) -> dict[str, str]:
    if not isinstance(key, dict) or not key:
        raise BoxError("`key` must be a map of correlation keys to texts")
    for name, value in key.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise BoxError(f"`key` must be a map of correlation keys to texts, '{name}' is {_kind(value)}")
        _validate_length("a name in `key`", name, KEY)
        _validate_length(f"`key`: that of '{name}'", str(value), KEY)
    return {name: str(value) for name, value in key.items()}


def _validate_length(what: str, text: str, limit: int) -> None:
    if (problem := length_problem(text, limit)) is not None:
        raise BoxError(f"{what} {problem}")


def _kind(value: Any) -> str:
    kinds = (
        (bool, "true or false"),
        (int | float, "a number"),
        (str, "a text"),
        (dict, "a map"),
        (list, "a list"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


EMIT = PureKind(
    Offer(
        name="emit",
        title="Emit",
        doc="Fire an event into another run, found by a correlation key.",
        ports=("done",),
        parameters=schema(
            ("event", "key"),
            event=text("Event", minLength=1, description="one that the other workflow declares as external"),
            key=mapping(
                "Key",
                description="correlation key and value, by which the other run is found",
                additionalProperties={"type": ["string", "integer"]},
                minProperties=1,
            ),
            data={"title": "Data", "description": "what the event carries"},
            set=mapping("Set", description="changed in the other run's data"),
            id=text("Id", description="a repeat with the same id changes nothing"),
        ),
        output=NULL,
        sets=NO_DATA,
    ),
    lambda params: EmitBox(template(dict(params), "")),
)
"""What is missing is an error of the check: a draft may lack it."""
