"""`wait`: holds the run for a duration or until a time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.box import BadParameter, BoxError, Reaction, Sleep, View
from penstock.flow.model.offer import Offer
from penstock.flow.model.shapes import NULL
from penstock.flow.values.duration import parse_duration
from penstock.steps.outputs import NO_DATA
from penstock.steps.parameters import PureKind, schema, span, template, text

EARLIEST, LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)


class WaitBox(Struct, frozen=True):
    """Sleeps; a time that has passed is no wait."""

    until: bool
    time: Template

    ports: ClassVar[tuple[str | None, ...]] = ("done",)

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {"until" if self.until else "for": self.time}

    def enter(self, view: View) -> Reaction:
        value = self.time(view.scope(self.time))
        return Sleep(_moment(value) if self.until else view.now + _duration(value))


def _wait(params: Mapping[str, Any]) -> WaitBox:
    if ("for" in params) == ("until" in params):
        code = "unknown-setting" if "for" in params else "missing-setting"
        raise BadParameter("for", "`wait` needs either `for` a duration or `until` a time", code)
    key = "for" if "for" in params else "until"
    box = WaitBox(key == "until", template(params[key], key))
    if box.time.constant:
        try:
            _moment(params[key]) if box.until else _duration(params[key])
        except BoxError as error:
            raise BadParameter(key, str(error)) from error
    return box


WAIT = PureKind(
    Offer(
        name="wait",
        title="Wait",
        doc="Wait for a duration, or until a time.",
        ports=("done",),
        parameters=schema(
            for_=span("For", description="a duration such as 90s or 2d"),
            until=text("Until", format="date-time", description="a time such as 2026-05-01T12:00:00Z"),
        )
        | {"oneOf": [{"required": ["for"]}, {"required": ["until"]}]},
        output=NULL,
        sets=NO_DATA,
    ),
    _wait,
)


def _duration(value: Any) -> Any:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise BoxError(f"`for` {value!r} {error}") from error


def _moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise BoxError(f"`until` must be a time such as 2026-05-01T12:00:00Z, not {value!r}") from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # Beyond them a time zone would lead out of the calendar: no store could keep it, nor anybody compare it.
    if not EARLIEST <= moment <= LATEST:
        raise BoxError(
            f"`until` must lie between {EARLIEST:%Y-%m-%d} and {LATEST:%Y-%m-%d} in UTC; {value!r} does not"
        )
    return moment.astimezone(UTC)
