"""The seam between runs in memory and the executor of their tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import ElementKey, RunId
from penstock.flow.model.run_input import Reported

Report = Callable[[Reported], None]


class Executor(Protocol):
    """Does attempts. It reports each exactly once, or never after it was withdrawn."""

    def begin(self, attempt: Attempt, report: Report) -> None: ...

    def withdraw(self, run: RunId, element: ElementKey) -> None:
        """The attempt is void: tell the task, forget the report."""
        ...
