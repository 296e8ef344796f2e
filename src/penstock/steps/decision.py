"""`decide` and `switch`: a run goes one way or another by conditions on its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.box import BadParameter, Finish, Reaction, View
from penstock.flow.model.names import wrong_name
from penstock.flow.model.offer import Offer
from penstock.steps.parameters import PureKind, condition, mapping, schema, text


class DecideBox(Struct, frozen=True):
    """Ends on `then` where the condition holds, else on `else`."""

    condition: Expression

    ports: ClassVar[tuple[str | None, ...]] = ("then", "else", "failed")

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {"if": self.condition}

    def enter(self, view: View) -> Reaction:
        holds = self.condition.holds(view.scope(self.condition))
        return _THEN if holds else _ELSE


def _decide(params: Mapping[str, Any]) -> DecideBox:
    if "if" not in params:
        raise BadParameter("if", "`decide` needs a condition: with: {if: data.size > 1000}")
    return DecideBox(condition(params["if"], "if"))


DECIDE = PureKind(
    Offer(
        name="decide",
        title="Decide",
        doc="Go one way where a condition holds, else the other.",
        ports=("then", "else", "failed"),
        parameters=schema(
            ("if",),
            if_=text("Condition", format="cel", description="an expression such as data.size > 1000"),
        ),
    ),
    _decide,
)


class SwitchBox(Struct, frozen=True):
    """Ends on the port of the first case that holds, else on `else`."""

    cases: tuple[tuple[str, Expression], ...]

    @property
    def ports(self) -> tuple[str | None, ...]:
        return (*(port for port, _ in self.cases), "else", "failed")

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {f"cases.{port}": case for port, case in self.cases}

    def enter(self, view: View) -> Reaction:
        for port, case in self.cases:
            if case.holds(view.scope(case)):
                return Finish(port=port)
        return _ELSE


def _switch(params: Mapping[str, Any]) -> SwitchBox:
    cases = params.get("cases")
    if not isinstance(cases, dict) or not cases:
        raise BadParameter("cases", "`switch` needs cases: with: {cases: {big: data.size > 1000}}")
    for port in cases:
        if port in ("else", "failed"):
            raise BadParameter(
                f"cases.{port}", f"a case cannot be called '{port}': every switch has that port"
            )
        wrong = wrong_name(port)
        if wrong:
            raise BadParameter(f"cases.{port}", f"the case {port!r} {wrong}")
    return SwitchBox(tuple((port, condition(case, f"cases.{port}")) for port, case in cases.items()))


SWITCH = PureKind(
    Offer(
        name="switch",
        title="Switch",
        doc="Go the way of the first condition that holds, else `else`.",
        ports=("else", "failed"),
        parameters=schema(
            ("cases",),
            cases=mapping(
                "Cases",
                description="port and condition, in the order in which they are looked at",
                additionalProperties={"type": "string", "format": "cel"},
            ),
        ),
    ),
    _switch,
)

_THEN, _ELSE = Finish(port="then"), Finish(port="else")
