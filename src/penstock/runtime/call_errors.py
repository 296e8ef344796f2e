"""Why a workflow could not run inside one call. One sentence each, with the remedy.

PenstockError
├── Invalid
│   └── CannotCall           the workflow has steps that cannot run inside a call
└── CallTimedOut             a call took too long
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from penstock.flow.errors import PenstockError
from penstock.runtime.errors import Invalid


class CannotCall(Invalid):
    """The workflow cannot run inside one call."""

    code = "cannot_call"

    def __init__(self, workflow: str, reasons: Sequence[str]) -> None:
        super().__init__(f"'{workflow}' cannot be called: {'; '.join(reasons)}; start a run instead")
        self.workflow, self.reasons = workflow, tuple(reasons)


class CallTimedOut(PenstockError):
    """A call took longer than its time limit."""

    code = "call_timed_out"

    def __init__(self, workflow: str, limit: timedelta) -> None:
        super().__init__(
            f"the call of '{workflow}' took longer than {limit}: start a run instead, or allow more time"
        )
        self.workflow, self.limit = workflow, limit
