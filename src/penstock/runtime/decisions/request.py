"""Something that happened to a run and waits to be decided about, with what its decision uses up."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Answer
from penstock.flow.model.run import Snapshot
from penstock.flow.model.run_input import RunInput
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import Post, Seen
from penstock.store.rows.rows import Lease

OnResult = Callable[["Request", Answer | None, BaseException | None], None]
"""How a request ended: the answer, or the error. Called once."""


class Request(Struct, eq=False):
    """One occurrence on its way. `run` is the id; `new` a run that does not exist yet."""

    run: str
    occurrence: RunInput
    on_result: OnResult | None = None
    lease: Lease | None = None  # of the attempt that this ends
    rung: int | None = None  # the timer that this is
    read: int | None = None  # the message that this is
    seen: Seen | None = None
    new: Snapshot | None = None
    flow: Flow | None = None  # of `new`
    start_key: tuple[str, bytes] | None = None
    latest: int | None = None  # of `new`: it must still be the newest version of its workflow
    posts: tuple[Post, ...] = ()  # of `new`: what others are told when the run is there
    check: bool = False  # an event that nobody has held against the workflow yet
    overdue: bool = False  # the lease was found to have outlived a limit
    audit: AuditRow | None = None  # who does it, where that is to be known later
    alone: bool = False  # decided by itself, so that its conflict is its own
    fresh: bool = False  # decided on what the store has now, not on what is remembered
    tries: int = 0

    @property
    def from_store(self) -> bool:
        """Whether it will be found again in the store if it is not decided now."""
        return self.rung is not None or self.read is not None or self.overdue

    def tell(self, answer: Answer | None, error: BaseException | None = None) -> None:
        told, self.on_result = self.on_result, None
        if told is not None:
            told(self, answer, error)
