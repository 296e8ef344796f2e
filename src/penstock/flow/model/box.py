"""Kinds of steps: what a box does when it is entered. A new kind needs no change of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.offer import Offer
from penstock.flow.model.plan import Emission
from penstock.flow.model.tags import TagChange

TIMES = ("due", "remind")
"""The parameters of a question to people that become moments when it is asked."""


class Finish(Struct, frozen=True, gc=False, kw_only=True):
    """End at once on `port`; None is a task without ports."""

    port: str | None = "done"
    output: Any = None
    tags: TagChange | None = None
    set: dict[str, Any] | None = None
    emission: Emission | None = None


class Sleep(Struct, frozen=True):
    """End on `done` at `until`."""

    until: datetime
    output: Any = None


class Queue(Struct, frozen=True, gc=False):
    """Hand the parameters to a worker; the run has these correlation keys from then on."""

    params: Any = None
    correlate: dict[str, str] | None = None


Reaction = Finish | Sleep | Queue


class View(Protocol):
    """What a box may look at when it is entered."""

    @property
    def now(self) -> datetime: ...

    def scope(self, reader: Expression | Template) -> Mapping[str, Any]:
        """The variables that an expression or template reads."""


class Box(Protocol):
    """One step's task, with its parameters compiled."""

    @property
    def ports(self) -> tuple[str | None, ...]: ...

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        """Every expression in the parameters, by its path below `with`."""

    def enter(self, view: View) -> Reaction: ...


class BoxError(Exception):
    """What the parameters came to is not usable: a failure of kind `expression`, with a plain sentence."""


SETTING_CODES = frozenset({"missing-setting", "unknown-setting", "wrong-type"})
"""What can be wrong with a setting that the checks report: the definition can be kept, but not published."""


class BadParameter(Exception):
    """A parameter of a box is wrong: the path below `with`, a plain sentence, and a code.

    With any code but those of settings, the definition is invalid.
    """

    def __init__(self, path: str, message: str, code: str = "wrong-type") -> None:
        super().__init__(message)
        self.path, self.message, self.code = path, message, code


class Kind(Protocol):
    """A built-in task: its palette entry, and how its parameters become a box."""

    @property
    def offer(self) -> Offer: ...

    def box(self, params: Mapping[str, Any]) -> Box:
        """Raises BadParameter or ExpressionError."""

    def offer_for(self, params: Mapping[str, Any]) -> Offer:
        """The offer as these parameters make it, before they are filled in: its ports, what it gives and sets."""
