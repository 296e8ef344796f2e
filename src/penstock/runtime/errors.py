"""What a caller can do wrong. One sentence each, with the remedy; nothing is changed.

PenstockError
├── NotFound
│   ├── UnknownWorkflow
│   ├── UnknownVersion
│   └── UnknownRun
├── Invalid
│   ├── InvalidInput         the input does not fit `params`
│   ├── BadPayload           it is not JSON
│   │   └── PayloadTooLarge  it is over the limit
│   ├── UndeclaredEvent      the event is not declared `external`
│   ├── OtherWorkflow        the run with the event's key is of another workflow
│   ├── InvalidEvent         the event's data does not fit its `schema`
│   ├── NameMismatch         the definition is of another workflow
│   ├── IdempotencyMismatch  the key was used before for another start
│   ├── CannotCall           the workflow has steps that cannot run inside a call
│   └── BadCursor            the cursor of a list was not given by it
├── Conflict
│   ├── RunEnded             the run has ended
│   ├── NotRetryable         only a failed run can be retried
│   ├── NotSkippable         the step has nothing to skip
│   ├── SlotFull             too many events wait at a step already
│   └── Changed              it is not any more as it was expected to be
├── PreconditionFailed
│   └── DraftChanged         the draft is not what the caller has seen
├── CallTimedOut             a call took too long
└── NoTask                   no task of that name is offered here
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from difflib import get_close_matches

from penstock.flow.errors import PenstockError
from penstock.flow.names import is_reserved


class NotFound(PenstockError):
    """What was named does not exist."""

    code = "not_found"


class Invalid(PenstockError):
    """What was given can be read and is not right."""

    code = "invalid"


class Conflict(PenstockError):
    """What was asked does not fit the state of the run."""

    code = "conflict"


def _near(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), 1)
    return f"; did you mean '{close[0]}'?" if close else ""


class UnknownWorkflow(NotFound):
    """No workflow of that name is published."""

    code = "unknown_workflow"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"no workflow '{name}' is published{_near(name, self.known)}")

    def told_to(self, sees: Callable[[str], bool]) -> UnknownWorkflow:
        """The error for somebody who must not learn of other workflows than those they see."""
        return UnknownWorkflow(self.name, filter(sees, self.known))


class UnknownVersion(NotFound):
    """The workflow has no such version."""

    code = "unknown_version"

    def __init__(self, name: str, version: int, latest: int) -> None:
        super().__init__(f"'{name}' has no version {version}: its versions are 1 to {latest}")
        self.name, self.version = name, version


class UnknownRun(NotFound):
    """No run has that id."""

    code = "unknown_run"

    def __init__(self, run: str) -> None:
        super().__init__(f"there is no run '{run}'")
        self.run = run


class UnknownStep(NotFound):
    """The workflow of the run has no such step."""

    code = "unknown_step"

    def __init__(self, workflow: str, step: str, known: Iterable[str]) -> None:
        super().__init__(f"'{workflow}' has no step '{step}': its steps are {', '.join(known)}")
        self.workflow, self.step = workflow, step


class UnknownToken(NotFound):
    """There is no token of that name."""

    code = "unknown_token"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no token '{name}': nothing was changed")
        self.name = name


class InvalidInput(Invalid):
    """The input does not fit the workflow's `params`."""

    code = "invalid_input"

    def __init__(self, workflow: str, problems: Sequence[str]) -> None:
        super().__init__(f"the input does not fit the params of '{workflow}': {'; '.join(problems)}")
        self.workflow, self.problems = workflow, tuple(problems)


class BadPayload(Invalid):
    """A payload is not JSON, or over the limit."""

    code = "bad_payload"


class PayloadTooLarge(BadPayload):
    """A payload is over the limit."""

    code = "payload_too_large"


class UndeclaredEvent(Invalid):
    """The workflow does not take that event from outside; None: no workflow does."""

    code = "undeclared_event"

    def __init__(self, workflow: str | None, event: str, known: Iterable[str]) -> None:
        names = list(known)
        takes = f"it takes {', '.join(names)}" if names else "it takes none"
        if is_reserved(event):
            why = f"'{event}' is fired by Penstock itself and cannot come from outside"
        elif workflow is None:
            near = _near(event, names)
            why = f"no published workflow takes the event '{event}' from outside{near}; list it under `external`"
        else:
            why = f"'{workflow}' takes no event '{event}' from outside: {takes}; list it under `external`"
        super().__init__(why)
        self.workflow, self.event = workflow, event


class OtherWorkflow(Invalid):
    """The run that has the event's key is of another workflow than the event is for."""

    code = "other_workflow"

    def __init__(self, event: str, wanted: str, found: str) -> None:
        super().__init__(
            f"the event '{event}' is for a run of '{wanted}', and the one with its key is of '{found}'"
        )
        self.event, self.wanted, self.found = event, wanted, found


class InvalidEvent(Invalid):
    """The event's data does not fit its `schema`."""

    code = "invalid_event"

    def __init__(self, event: str, problems: Sequence[str]) -> None:
        super().__init__(f"the data of event '{event}' does not fit its schema: {'; '.join(problems)}")
        self.event, self.problems = event, tuple(problems)


class IdempotencyMismatch(Invalid):
    """The idempotency key was used before with another input, subject, version or other labels."""

    code = "idempotency_mismatch"

    def __init__(self, key: str, run: str) -> None:
        super().__init__(
            f"the key '{key}' started run '{run}' with another input, subject, version or other labels: "
            "use a new key for a new run"
        )
        self.key, self.run = key, run


class NameMismatch(Invalid):
    """The definition is of another workflow than the one that is addressed."""

    code = "name_mismatch"

    def __init__(self, wanted: str, found: str) -> None:
        super().__init__(f"the definition says `name: {found}`, and this is '{wanted}': make them the same")
        self.wanted, self.found = wanted, found


class CannotCall(Invalid):
    """The workflow cannot run inside one call."""

    code = "cannot_call"

    def __init__(self, workflow: str, reasons: Sequence[str]) -> None:
        super().__init__(f"'{workflow}' cannot be called: {'; '.join(reasons)}; start a run instead")
        self.workflow, self.reasons = workflow, tuple(reasons)


class BadCursor(Invalid):
    """The cursor of a list was not given by it."""

    code = "bad_cursor"

    def __init__(self, cursor: str) -> None:
        shown = cursor if len(cursor) <= 60 else cursor[:60] + "…"
        super().__init__(f"the cursor '{shown}' is not one that this list gave: begin without one")
        self.cursor = cursor


class RunEnded(Conflict):
    """The run has ended."""

    code = "run_ended"

    def __init__(self, run: str, status: str) -> None:
        super().__init__(f"run '{run}' has ended as {status}")
        self.run, self.status = run, status


class NotRetryable(Conflict):
    """Only a failed run can be retried."""

    code = "not_retryable"

    def __init__(self, run: str, status: str, step: str | None = None) -> None:
        if step is not None:
            said = f"step '{step}' has nothing to retry: it did not fail in run '{run}'"
        elif status == "failed":
            said = f"run '{run}' failed, and nothing in it can be retried: rerun it"
        else:
            said = f"run '{run}' is {status}, and only a failed run can be retried: rerun it"
        super().__init__(said)
        self.run, self.status, self.step = run, status, step


class NotSkippable(Conflict):
    """The step has nothing to skip."""

    code = "not_skippable"

    def __init__(self, run: str, step: str, why: str) -> None:
        super().__init__(f"step '{step}' of run '{run}' cannot be skipped: {why}")
        self.run, self.step = run, step


class Changed(Conflict):
    """It is not any more as it was expected to be."""

    code = "changed"

    def __init__(self, what: str, expected: object, found: object) -> None:
        if expected is None:
            why = f"{what} exists already, at {found}"
        elif found is None:
            why = f"{what} was at {expected}, and there is none any more"
        else:
            why = f"{what} is at {found}, not at {expected} any more"
        super().__init__(f"{why}: look at it again; nothing was changed")
        self.expected, self.found = expected, found


class SlotFull(Conflict):
    """So many events wait at a step that it takes no more."""

    code = "slot_full"

    def __init__(self, run: str, event: str, step: str, most: int) -> None:
        super().__init__(
            f"{most} events wait at step '{step}' of run '{run}': send '{event}' again when it has taken some"
        )
        self.run, self.event, self.step = run, event, step


class PreconditionFailed(PenstockError):
    """What the caller has seen is not so any more."""

    code = "precondition_failed"


class DraftChanged(PreconditionFailed):
    """The draft is not what the caller has seen."""

    code = "draft_changed"

    def __init__(self, workflow: str) -> None:
        super().__init__(
            f"the draft of '{workflow}' was changed meanwhile, or is not there: read it again, then save"
        )
        self.workflow = workflow


class CallTimedOut(PenstockError):
    """A call took longer than its time limit."""

    code = "call_timed_out"

    def __init__(self, workflow: str, limit: timedelta) -> None:
        super().__init__(
            f"the call of '{workflow}' took longer than {limit}: start a run instead, or allow more time"
        )
        self.workflow, self.limit = workflow, limit


class NoTask(PenstockError):
    """No task of that name is offered here."""

    code = "no_task"

    def __init__(self, names: Sequence[str], known: Iterable[str] = ()) -> None:
        listed = ", ".join(f"'{name}'{_near(name, known)}" for name in names)
        super().__init__(f"no task is defined for {listed}: pass a module that defines it with @task")
        self.names = tuple(names)
