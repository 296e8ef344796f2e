"""The states that remote services report: which of them end a step, and on which port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock.boxes.failures import wrong

UNTIL, FAILED, CANCELED = ("staged", "published", "done", "complete"), ("failed", "rejected"), ("canceled",)
ANY = "*"
"""In `until`: any answer that is accepted."""
_SPELLINGS = {"cancelled": "canceled", "cancelling": "canceling"}


def spelled(state: str) -> str:
    """One spelling of a state: some services say `Cancelled`."""
    small = state.strip().lower()
    return _SPELLINGS.get(small, small)


class States(Struct, frozen=True):
    """The end states of one step."""

    until: tuple[str, ...] = UNTIL
    failed: tuple[str, ...] = FAILED
    canceled: tuple[str, ...] = CANCELED
    goes_on: tuple[str, ...] | None = None  # states in which it still works; None: any

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> States:
        """Those that the parameters name. Raises Failing."""
        return cls(
            _names(params.get("until", UNTIL), "until"),
            _names(params.get("failed", FAILED), "failed"),
            _names(params.get("canceled", CANCELED), "canceled"),
            None if params.get("goes_on") is None else _names(params["goes_on"], "goes_on"),
        )

    def broken(self, state: str) -> bool:
        """Whether it means that the service will not do the work, or has stopped."""
        return spelled(state) in (*self.failed, *self.canceled)

    def strange(self, state: str | None) -> bool:
        """Whether a state that ends nothing is impossible while the service works."""
        if self.goes_on is None or self.port(state) is not None:
            return False
        return state is None or spelled(state) not in self.goes_on

    @property
    def any(self) -> bool:
        """Whether every answer that is accepted ends the step."""
        return ANY in self.until

    def port(self, state: str | None) -> str | None:
        """The port on which a state ends the step; None if it continues."""
        name = None if state is None else spelled(state)
        for port, names in (("done", self.until), ("failed", self.failed), ("canceled", self.canceled)):
            if name in names:
                return port
        return "done" if self.any else None

    def read(self, body: Any) -> tuple[str | None, Any]:
        """State and progress in an answer; progress may be a number, a text such as 50%, or none."""
        if not isinstance(body, dict):
            return None, None
        state, progress = body.get("state", body.get("status")), body.get("progress")
        shown = progress if isinstance(progress, int | float | str) else None
        return state if isinstance(state, str) else None, shown


def _names(value: Any, what: str) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
        raise wrong(f"`{what}` must be a state or a list of states, such as [done]")
    return tuple(spelled(each) for each in names)
