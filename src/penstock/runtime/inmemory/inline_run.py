"""A run in memory, in one call: each attempt is executed when it is due, and its outcome decided at once.

Most of it goes the fast path; from where something rare follows, the rules of `advance` go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.advance import MAX_INLINE_ATTEMPTS, Do, advance_through
from penstock.flow.model.plan import Attempt, Entry, Plan
from penstock.flow.model.run import Snapshot
from penstock.flow.model.run_input import Reported, RunInput
from penstock.runtime.decisions.fast.fast_path import plain_plan


def play_through(flow: Flow, was: Snapshot, events: Sequence[RunInput], now: datetime, do: Do) -> Plan:
    """The plan of `advance_through`, but for the revision of its snapshot, which counts the decisions."""
    if len(events) != 1:
        return advance_through(flow, was, events, now, do)
    event, snapshot = events[0], was
    history: list[Entry] = []
    line: deque[Attempt] = deque()
    for _ in range(MAX_INLINE_ATTEMPTS):
        plan = plain_plan(flow, snapshot, event, now)
        if plan is None:
            break
        snapshot = plan.snapshot
        history += plan.history
        line += plan.attempts
        if not line:
            return replace(plan, base=was.revision, history=history)
        attempt = line.popleft()
        event = Reported(attempt.firing, attempt.index, attempt.attempt, do(attempt))
    rest = advance_through(flow, snapshot, [event], now, do, line)
    return replace(rest, base=was.revision, history=history + rest.history)
