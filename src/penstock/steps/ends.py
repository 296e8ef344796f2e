"""`terminate` and `fail`: a branch ends without any action, or the run ends as failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.box import Finish, Reaction, View
from penstock.flow.model.offer import Offer
from penstock.steps.parameters import PureKind, schema, template, text


class EndBox(Struct, frozen=True):
    """Has no ports: nothing follows. A run that fails without a message has the failure that led here."""

    message: Template | None = None

    ports: ClassVar[tuple[str | None, ...]] = (None,)

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {} if self.message is None else {"message": self.message}

    def enter(self, view: View) -> Reaction:
        if self.message is None:
            return Finish(port=None)
        return Finish(port=None, output={"message": self.message(view.scope(self.message))})


def _fail(params: Mapping[str, Any]) -> EndBox:
    return EndBox(template(params["message"], "message") if "message" in params else None)


TERMINATE = PureKind(
    Offer(
        name="terminate",
        title="Terminate",
        doc="End this branch without any action.",
        ports=(),
        parameters={"type": "object", "additionalProperties": False},
    ),
    lambda _: EndBox(),
)

FAIL = PureKind(
    Offer(
        name="fail",
        title="Fail",
        doc="End the run as failed.",
        ports=(),
        parameters=schema(message=text("Message", description="why the run fails")),
    ),
    _fail,
)
