"""`terminate` and `fail`: a branch ends without any action, or the run ends as failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.box import Finish, Reaction, View
from penstock.flow.model.offer import Offer
from penstock.steps.parameters import only, template


class TerminateBox(Struct, frozen=True):
    """Has no ports: nothing follows."""

    @property
    def ports(self) -> tuple[str | None, ...]:
        return (None,)

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {}

    def enter(self, view: View) -> Reaction:
        return Finish(port=None)


class Terminate:
    """`terminate`: no parameters."""

    offer = Offer(
        name="terminate",
        title="Terminate",
        doc="End this branch without any action.",
        ports=(),
        parameters={"type": "object", "additionalProperties": False},
    )

    def box(self, params: Mapping[str, Any]) -> TerminateBox:
        only(params, "terminate", ())
        return TerminateBox()


class FailBox(Struct, frozen=True):
    """Ends the run as failed, with a message; without one the failure that led here speaks for itself."""

    message: Template | None

    @property
    def ports(self) -> tuple[str | None, ...]:
        return (None,)

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {} if self.message is None else {"message": self.message}

    def enter(self, view: View) -> Reaction:
        if self.message is None:
            return Finish(port=None)
        return Finish(port=None, output={"message": self.message(view.scope(self.message))})


class Fail:
    """`fail`: `message`."""

    offer = Offer(
        name="fail",
        title="Fail",
        doc="End the run as failed.",
        ports=(),
        parameters={
            "type": "object",
            "properties": {
                "message": {"type": "string", "title": "Message", "description": "why the run fails"}
            },
            "additionalProperties": False,
        },
    )

    def box(self, params: Mapping[str, Any]) -> FailBox:
        only(params, "fail", ("message",))
        return FailBox(template(params["message"], "message") if "message" in params else None)
