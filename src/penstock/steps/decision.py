"""`decide` and `switch`: a run goes one way or another by conditions on its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.box import BadParameter, Finish, Reaction, View
from penstock.flow.model.names import wrong_name
from penstock.flow.model.offer import Offer
from penstock.flow.model.shapes import NULL
from penstock.steps.outputs import NO_DATA
from penstock.steps.parameters import PureKind, condition, mapping, schema

CONDITION: dict[str, Any] = {"type": ["string", "boolean"], "format": "cel"}
"""The schema of bare CEL; true and false may stand for it."""


class BranchBox(Struct, frozen=True):
    """Ends as the first case whose condition holds, else on `else`."""

    ports: tuple[str | None, ...]
    cases: tuple[tuple[Finish, str, Expression], ...]  # with the path of each condition below `with`

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {path: case for _, path, case in self.cases}

    def enter(self, view: View) -> Reaction:
        for end, _, case in self.cases:
            if case.holds(view.scope(case)):
                return end
        return _ELSE


def _box(cases: Mapping[str, tuple[str, Any]]) -> BranchBox:
    """Of the cases by their ports, each the path and the text of a condition."""
    made = [(Finish(port=port), path, condition(case, path)) for port, (path, case) in cases.items()]
    return BranchBox((*cases, "else", "failed"), tuple(made))


def _decide(params: Mapping[str, Any]) -> BranchBox:
    if "if" not in params:
        raise BadParameter(
            "if", "`decide` needs a condition: with: {if: data.size > 1000}", "missing-setting"
        )
    return _box({"then": ("if", params["if"])})


DECIDE = PureKind(
    Offer(
        name="decide",
        title="Decide",
        doc="Go one way where a condition holds, else the other.",
        ports=("then", "else", "failed"),
        parameters=schema(
            ("if",),
            if_=CONDITION | {"title": "Condition", "description": "an expression such as data.size > 1000"},
        ),
        outputs={"then": NULL, "else": NULL},
        sets=NO_DATA,
    ),
    _decide,
)


def _switch(params: Mapping[str, Any]) -> BranchBox:
    cases = params.get("cases")
    if not isinstance(cases, dict) or not cases:
        message = "`switch` needs cases: with: {cases: {big: data.size > 1000}}"
        raise BadParameter("cases", message, "wrong-type" if cases else "missing-setting")
    for port in cases:
        if port in ("else", "failed"):
            message = f"a case cannot be called '{port}': every switch has that port"
            raise BadParameter(f"cases.{port}", message, "bad_port")
        wrong = wrong_name(port)
        if wrong:
            raise BadParameter(f"cases.{port}", f"the case {port!r} {wrong}", "bad_port")
    return _box({port: (f"cases.{port}", case) for port, case in cases.items()})


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
                additionalProperties=CONDITION,
                propertyNames={"not": {"enum": ["else", "failed"]}},
                minProperties=1,
            ),
        ),
        outputs={"else": NULL},
        sets=NO_DATA,
    ),
    _switch,
)

_ELSE = Finish(port="else")
