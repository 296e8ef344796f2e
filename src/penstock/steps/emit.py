"""`emit`: fires an event into another run, found by its correlation key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.plan import Emission
from penstock.flow.step import BadParameter, BoxError, Finish, Reaction, View
from penstock.flow.task import Offer
from penstock.steps.parameters import only, template


class EmitBox(Struct, frozen=True):
    """Hands the event over and is done; whether another run takes it does not matter to this one."""

    params: Template

    @property
    def ports(self) -> tuple[str | None, ...]:
        return ("done",)

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {"": self.params}

    def enter(self, view: View) -> Reaction:
        values = self.params(view.scope(self.params))
        key = values["key"]
        if not isinstance(key, dict) or not all(isinstance(value, str | int) for value in key.values()):
            raise BoxError("`key` must be a map of correlation keys to texts")
        emission = Emission(
            event=values["event"],
            key={name: str(value) for name, value in key.items()},
            data=values.get("data"),
            set=values.get("set"),
            id=values.get("id"),
        )
        return Finish(emission=emission)


class Emit:
    """`emit`: `event`, `key`, `data`, `set`, `id`."""

    offer = Offer(
        name="emit",
        title="Emit",
        doc="Fire an event into another run, found by a correlation key.",
        ports=("done",),
        parameters={
            "type": "object",
            "required": ["event", "key"],
            "properties": {
                "event": {"type": "string", "title": "Event"},
                "key": {"type": "object", "title": "Key"},
                "data": {"title": "Data"},
                "set": {"type": "object", "title": "Set"},
                "id": {"type": "string", "title": "Id"},
            },
            "additionalProperties": False,
        },
    )

    def box(self, params: Mapping[str, Any]) -> EmitBox:
        only(params, "emit", ("event", "key", "data", "set", "id"))
        for key, example in (("event", "et_job_finished"), ("key", "{et_job: '${ data.job }'}")):
            if key not in params:
                raise BadParameter(key, f"`emit` needs `{key}`, such as {key}: {example}")
        return EmitBox(template(dict(params), ""))
