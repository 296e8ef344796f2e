"""The box of every task that a worker runs: its parameters are a template, filled in when the firing begins."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from penstock.expression import Expression, Template, compile_template
from penstock.flow.model.box import Queue, Reaction, View


class TaskBox(Struct, frozen=True):
    """Hands its parameters to a worker."""

    params: Template
    constant: Queue | None

    @classmethod
    def of(cls, params: Mapping[str, Any], names: Collection[str]) -> TaskBox:
        template = compile_template(dict(params), names)
        return cls(template, Queue(dict(params)) if template.constant else None)

    @property
    def ports(self) -> tuple[str | None, ...]:
        return ("done", "failed")

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {"": self.params}

    def enter(self, view: View) -> Reaction:
        return self.constant or Queue(self.params(view.scope(self.params)))
