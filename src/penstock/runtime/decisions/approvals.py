"""Approvals as rows: opened, decided and closed in the change of their run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from penstock.flow.compile.compile import APPROVAL, Flow
from penstock.flow.decisions.dispatch import limits
from penstock.flow.model.plan import Attempt, Timer
from penstock.flow.model.run import Element, ElementKey, Failure, Snapshot
from penstock.flow.model.run_input import Done, Failed, Reminded, Reported
from penstock.flow.views.run_view import time_text
from penstock.runtime.decisions.children import child_id
from penstock.store.rows.change import Asked, Decided

DEFAULT_ROLE = "operator"


def approval_id(run: str, element: Element | Attempt) -> str:
    """The same for the same attempt."""
    return child_id(run, element.firing, element.index, element.attempt)


def asked_by(attempts: Sequence[Attempt]) -> tuple[Asked, ...]:
    """The questions of a decision."""
    return tuple(_asked(each) for each in attempts if each.task == APPROVAL)


def _asked(attempt: Attempt) -> Asked:
    params = attempt.params
    said = {
        "text": params.get("text"),
        "fields": params.get("fields"),
        "separate": bool(params.get("separate")),
        "subject": attempt.run.subject,
        "index": attempt.index,
        "by": attempt.run.by,
    }
    return Asked(
        id=approval_id(attempt.run.id, attempt),
        workflow=attempt.run.workflow,
        step=attempt.step,
        role=params.get("role", DEFAULT_ROLE),
        body=msgspec.json.encode(said),
        due_at=_moment(params.get("due")),
    )


def _moment(text: Any) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def times_of(attempts: Sequence[Attempt], now: datetime) -> Iterator[Timer]:
    """The time-outs of attempts that no worker has, and when the persons among those asked are late."""
    for attempt in attempts:
        yield from limits(attempt.timeouts, attempt, now)
        if attempt.task == APPROVAL:
            yield from _due(attempt)


def _due(attempt: Attempt) -> Iterator[Timer]:
    """When nobody has decided by then the step fails; before that somebody is reminded."""
    place = (attempt.firing, attempt.index, attempt.attempt)
    due, remind = _moment(attempt.params.get("due")), _moment(attempt.params.get("remind"))
    if due is not None:
        late = Failure("timeout", f"nobody decided until {time_text(due)}", {"limit": "due"})
        yield Timer(due, Reported(*place, Failed(error=late, retry=False)))
    if remind is not None:
        yield Timer(remind, Reminded(*place))


def ended_in(
    flow: Flow, was: Snapshot, now: Snapshot, reports: Sequence[tuple[Any, str]]
) -> tuple[Decided, ...]:
    """The questions that a decision answers or withdraws; `reports` are its occurrences, each with its answer."""
    report: dict[tuple[ElementKey, int], Reported] = {
        ((each.firing, each.index), each.attempt): each
        for each, answer in reports
        if isinstance(each, Reported) and answer == "accepted"
    }
    return tuple(
        _decided(was.run.id, element, report.get((key, element.attempt)))
        for key, element in was.elements.items()
        if element.state == "parked"
        and flow.steps[element.step].task == APPROVAL
        and not _still(now.elements.get(key), element)
    )


def _still(element: Element | None, was: Element) -> bool:
    return element is not None and element.state == "parked" and element.attempt == was.attempt


def _decided(run: str, element: Element, report: Reported | None) -> Decided:
    id = approval_id(run, element)
    outcome = None if report is None else report.outcome
    if isinstance(outcome, Done) and isinstance(outcome.output, dict):
        by = outcome.output.get("by")
        return Decided(id=id, status=outcome.port, by=by, decision=msgspec.json.encode(outcome.output))
    return Decided(id=id, status="expired" if outcome is not None else "closed")
