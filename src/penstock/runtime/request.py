"""Something that happened to a run and waits to be decided about, with what its decision uses up."""

from __future__ import annotations

from collections.abc import Callable

from penstock.flow.occurrence import Occurrence
from penstock.flow.plan import Answer
from penstock.flow.run import Snapshot
from penstock.store.access_rows import AuditRow
from penstock.store.change import Post, Seen
from penstock.store.rows import Lease

Told = Callable[["Request", Answer | None, BaseException | None], None]
"""How a request ended: the answer, or the error. Called once."""


class Request:
    """One occurrence on its way. `run` is the id; `new` a run that does not exist yet."""

    __slots__ = (
        "alone", "audit", "check", "fresh", "lease", "new", "occurrence", "overdue", "posts", "read", "run", "rung",
        "seen", "start_key", "told", "tries",
    )  # fmt: skip

    def __init__(
        self,
        run: str,
        occurrence: Occurrence,
        told: Told | None = None,
        *,
        lease: Lease | None = None,
        rung: int | None = None,
        read: int | None = None,
        seen: Seen | None = None,
        new: Snapshot | None = None,
        start_key: tuple[str, bytes] | None = None,
        posts: tuple[Post, ...] = (),
        check: bool = False,
        overdue: bool = False,
        audit: AuditRow | None = None,
    ) -> None:
        self.run, self.occurrence, self.told = run, occurrence, told
        self.lease = lease  # of the attempt that this ends
        self.rung, self.read = rung, read  # the timer or message that this is
        self.seen = seen
        self.new, self.start_key = new, start_key
        self.posts = posts  # of `new`: what others are told when the run is there
        self.overdue = overdue  # the lease was found to have outlived a limit
        self.audit = audit  # who does it, where that is to be known later
        self.check = check  # an event that nobody has held against the workflow yet
        self.alone = False  # decided by itself, so that its conflict is its own
        self.fresh = False  # decided on what the store has now, not on what is remembered
        self.tries = 0

    @property
    def from_store(self) -> bool:
        """Whether it will be found again in the store if it is not decided now."""
        return self.rung is not None or self.read is not None or self.overdue

    def tell(self, answer: Answer | None, error: BaseException | None = None) -> None:
        told, self.told = self.told, None
        if told is not None:
            told(self, answer, error)
