"""What expressions see: the variables of a firing, made only as far as an expression reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from immutables import Map
from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.run import Header, Origin, StepState
from penstock.flow.model.tags import Tags, visible
from penstock.kernel.marking import Token

NO_ITEM: Any = object()


class FiringView(Struct, frozen=True, gc=False):
    """The scope of one element of one firing, as values of the moment in which it begins."""

    header: Header
    data: Any
    tags: Tags
    tokens: tuple[Token, ...]
    steps: Map[str, StepState]
    now: datetime
    item: Any = NO_ITEM
    index: int | None = None

    def scope(self, reader: Expression | Template) -> Mapping[str, Any]:
        known = _VARIABLES if self.item is not NO_ITEM else _OUTSIDE_EACH
        return {name: known[name](self, reader) for name in reader.roots if name in known}


def run_variable(header: Header) -> dict[str, Any]:
    return {
        "id": header.id,
        "workflow": header.workflow,
        "version": header.version,
        "subject": header.subject,
    }


def event_variable(token: Token) -> dict[str, Any]:
    origin: Origin = token.load
    return {"name": token.name, "data": origin.data, "id": origin.id or str(token.number), "at": origin.at}


def events_of(tokens: tuple[Token, ...]) -> dict[str, Any]:
    """Event name → data, of each event that a firing consumed."""
    return {token.name: token.load.data for token in tokens}


def inputs_of(tokens: tuple[Token, ...]) -> dict[str, Any]:
    """Step name → output, for each firing that a firing follows."""
    return {token.load.step: token.load.data for token in tokens if token.load.step is not None}


def steps_variable(steps: Map[str, StepState], reader: Expression | Template) -> dict[str, Any]:
    """The outputs of the steps that the expression mentions, or of all where it does not name them."""
    paths = [path for path in (*reader.reads, *reader.guards) if path[0] == "steps"]
    named = {path[1] for path in paths if len(path) > 1}
    names = steps if any(len(path) == 1 for path in paths) else named
    known = ((name, steps[name]) for name in names if name in steps)
    return {name: {"output": state.output} for name, state in known if state.spoke}


_VARIABLES: dict[str, Callable[[FiringView, Expression | Template], Any]] = {
    "run": lambda view, _: run_variable(view.header),
    "data": lambda view, _: view.data,
    "tags": lambda view, _: visible(view.tags),
    "events": lambda view, _: events_of(view.tokens),
    "event": lambda view, _: event_variable(max(view.tokens, key=lambda token: token.number)),
    "steps": lambda view, reader: steps_variable(view.steps, reader),
    "item": lambda view, _: view.item,
    "index": lambda view, _: view.index,
    "now": lambda view, _: view.now,
}
_OUTSIDE_EACH = {name: make for name, make in _VARIABLES.items() if name not in ("item", "index")}
