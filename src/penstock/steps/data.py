"""`set`: its parameters are set on the run's data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.box import Finish, Reaction, View
from penstock.flow.model.offer import Offer
from penstock.steps.parameters import template


class SetBox(Struct, frozen=True):
    """Applies its parameters as a JSON Merge Patch; they are its output too."""

    params: Template

    @property
    def ports(self) -> tuple[str | None, ...]:
        return ("done", "failed")

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {"": self.params}

    def enter(self, view: View) -> Reaction:
        patch = self.params(view.scope(self.params))
        return Finish(output=patch, set=patch)


class SetData:
    """`set`: any parameters."""

    offer = Offer(
        name="set",
        title="Set data",
        doc="Set values on the run's data.",
        parameters={"type": "object", "description": "names and values; null removes a name"},
    )

    def box(self, params: Mapping[str, Any]) -> SetBox:
        return SetBox(template(dict(params), ""))
