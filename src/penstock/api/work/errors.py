"""Errors that a worker may receive. One sentence each, with the remedy.

Conflict
├── AttemptSuperseded   the lease is lost
└── AlreadyCompleted    another report ended the attempt
PayloadTooLarge
└── ResultTooLarge      the lease is kept
Forbidden
├── OtherList           a token of other task lists
└── OtherOffer          a task of other workers
TooManyRequests
├── TooManyPolls        of this node
├── TooManyWorkers      of one token
└── TooManyTasks        at once, for this token or for anybody
NotFound
└── UnknownTask         the id is not that of the lease
Invalid
├── InvalidPort         the task has no such port; the lease is kept
└── InvalidOutput       the task gave what does not fit its offer; the attempt has failed
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.access.errors import Forbidden, TooManyRequests
from penstock.flow.errors import PenstockError
from penstock.runtime.errors import Conflict, Invalid, NotFound, PayloadTooLarge

MAX_SENTENCE = 1500
"""Characters of an invalid value that the sentence quotes."""


class AttemptSuperseded(Conflict):
    """The lease is lost: the run was canceled, or another worker has the task, or its time is over."""

    code = "attempt_superseded"

    def __init__(self, id: str) -> None:
        super().__init__(
            f"task '{id}' is no longer yours under that lease: nothing was changed; stop the work"
        )


class AlreadyCompleted(Conflict):
    """Another report ended this very attempt before."""

    code = "already_completed"

    def __init__(self, id: str) -> None:
        super().__init__(f"another report ended this attempt of task '{id}' before: nothing was changed")


class ResultTooLarge(PayloadTooLarge):
    """What a task gave is over the limit; it is still leased."""

    code = "result_too_large"

    def __init__(self, limit: int, unread: bool = False) -> None:
        self.unread = unread  # the rest of the body is not read
        super().__init__(
            f"the result has more than {limit} bytes of JSON: keep it elsewhere and complete with a reference; "
            "the lease is kept"
        )


class OtherList(Forbidden):
    """The token is for other task lists."""

    def __init__(self, task_list: str) -> None:
        PenstockError.__init__(
            self, f"this token may not serve the task list '{task_list}': use one that is bound to it"
        )


class OtherOffer(Forbidden):
    """The task is offered otherwise by workers of other lists, or by the node itself."""

    def __init__(self, task: str) -> None:
        PenstockError.__init__(
            self,
            f"task '{task}' is offered by others already, and otherwise: this token may not change it; "
            "name yours otherwise, or offer the same",
        )


class TooManyPolls(TooManyRequests):
    """All places for waiting workers of this node are taken, or all that one token may take."""

    code = "too_many_polls"

    def __init__(self, limit: int, whose: str = "") -> None:
        PenstockError.__init__(
            self, f"{limit} polls {whose}wait here already: try again, or ask another node"
        )
        self.retry_after = 1.0


class TooManyWorkers(TooManyRequests):
    """As many workers of one token are known as this node remembers."""

    code = "too_many_workers"

    def __init__(self, limit: int) -> None:
        PenstockError.__init__(
            self, f"{limit} workers of this token are here already: keep one name each, or use another token"
        )
        self.retry_after = 60.0


class TooManyTasks(TooManyRequests):
    """More tasks at once than are handed out."""

    code = "too_many_tasks"

    def __init__(self, why: str) -> None:
        PenstockError.__init__(self, why)
        self.retry_after = 1.0


class UnknownTask(NotFound):
    """The id is not that of the lease."""

    code = "unknown_task"

    def __init__(self, id: str) -> None:
        super().__init__(f"no task '{id}' goes with that lease: send the `id` and `lease` of one poll")


class InvalidPort(Invalid):
    """The task ended on a port that it does not have; it is still leased."""

    code = "invalid_port"

    def __init__(self, id: str, port: str, ports: Sequence[str]) -> None:
        super().__init__(
            f"task '{id}' has no port '{port[:80]}': complete it on {' or '.join(ports)}; the lease is kept"
        )


class InvalidOutput(Invalid):
    """What a task gave is not what it offers: the attempt has failed for good. `problems`: a sentence each."""

    code = "invalid_output"

    def __init__(self, message: str, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__(f"{message[:MAX_SENTENCE]}; the attempt has failed")
