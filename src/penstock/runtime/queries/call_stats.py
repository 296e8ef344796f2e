"""Counts and durations of calls, in this process only, because nothing of a call is stored."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from penstock.flow.views.run_view import time_text

MAX_SAMPLES = 1_000
"""Call durations that are kept for percentiles."""
MAX_WORKFLOWS = 500
"""Workflows that are counted apart."""


class WorkflowCallStats:
    """The calls of one workflow since a time."""

    __slots__ = ("firings", "missed", "seconds", "since", "statuses")

    def __init__(self, since: datetime) -> None:
        self.since = since
        self.statuses: Counter[str] = Counter()
        self.seconds: deque[float] = deque(maxlen=MAX_SAMPLES)
        self.firings: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()

    def add(self, status: str, seconds: float, steps: Mapping[str, Any]) -> None:
        self.statuses[status] += 1
        self.seconds.append(seconds)
        for name, step in steps.items():
            if step["firings"]:
                self.firings[name] += step["firings"]
                if step["status"] == "failed":
                    self.missed[name] += 1

    def view(self) -> dict[str, Any]:
        """For people: counts by end, and of each step."""
        return {
            "since": time_text(self.since),
            "count": sum(self.statuses.values()),
            "statuses": dict(self.statuses),
            "steps": {
                name: {"firings": count, "failed": self.missed[name]}
                for name, count in sorted(self.firings.items())
            },
        }


class CallStats:
    """Those of all workflows; of too many, the rest is not told apart."""

    def __init__(self) -> None:
        self.workflows: dict[str, WorkflowCallStats] = {}

    def of(self, workflow: str, now: Callable[[], datetime]) -> WorkflowCallStats:
        found = self.workflows.get(workflow)
        if found is None:
            name = workflow if len(self.workflows) < MAX_WORKFLOWS else "other"
            found = self.workflows.setdefault(name, WorkflowCallStats(now()))
        return found

    def counts(self) -> dict[tuple[str, str], float]:
        """By workflow and end."""
        return {
            (workflow, status): count
            for workflow, tally in self.workflows.items()
            for status, count in tally.statuses.items()
        }
