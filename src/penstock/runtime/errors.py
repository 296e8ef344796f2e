"""Errors of callers. One sentence each, with the remedy; nothing is changed. `call_errors` has those of calls.

PenstockError
├── NotFound
│   ├── UnknownWorkflow
│   ├── UnknownVersion
│   ├── UnknownRun
│   ├── UnknownApproval      nobody is asked that
│   └── UnknownCallback      no step waits for that call
├── Invalid
│   ├── InvalidInput         the input does not fit `params`
│   ├── BadPayload           it is not JSON
│   │   └── PayloadTooLarge  it is over the limit
│   ├── UndeclaredEvent      the event is not declared `external`
│   ├── OtherWorkflow        the run with the event's key is of another workflow
│   ├── InvalidEvent         the event's data does not fit its `schema`
│   ├── InvalidFields        what a person filled in does not fit the form
│   ├── NameMismatch         the definition is of another workflow
│   ├── IdempotencyMismatch  the key was used before for another start
│   └── BadCursor            the cursor of a list was not given by it
├── Conflict
│   ├── UnreadableRun        a later Penstock wrote it, or it is damaged
│   ├── RunEnded             the run has ended
│   ├── NotRetryable         only a failed run can be retried
│   ├── NotSkippable         the step has nothing to skip
│   ├── SlotFull             too many events wait at a step already
│   ├── AlreadyDecided       somebody decided before
│   │   └── ApprovalExpired  nobody did in time
│   ├── AlreadyOver          what was called back is over
│   ├── Managed              only the application that the workflow belongs to may
│   └── Changed              it is not any more as it was expected to be
├── PreconditionFailed
│   └── DraftChanged         the draft is not what the caller has seen
├── NotSeparate              who asks may not decide that too
└── NoTask                   no task of that name is offered here
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from penstock.flow.errors import PenstockError
from penstock.flow.model.names import is_reserved


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

    def visible_to(self, sees: Callable[[str], bool]) -> UnknownWorkflow:
        """The error for somebody who must not learn of other workflows than those they see."""
        return UnknownWorkflow(self.name, filter(sees, self.known))


class UnknownVersion(NotFound):
    """The workflow has no such version."""

    code = "unknown_version"

    def __init__(self, name: str, version: int, latest: int) -> None:
        super().__init__(f"'{name}' has no version {version}: its versions are 1 to {latest}")


class UnknownRun(NotFound):
    """No run has that id."""

    code = "unknown_run"

    def __init__(self, run: str) -> None:
        super().__init__(f"there is no run '{run}'")
        self.run = run


class UnreadableRun(Conflict):
    """A run that a later Penstock wrote, or that is damaged: it is left alone."""

    code = "unreadable_run"

    def __init__(self, run: str, why: BaseException) -> None:
        super().__init__(
            f"run '{run}' cannot be read, and is left alone: a later Penstock may have written it ({why})"
        )


class UnknownApproval(NotFound):
    """Nobody is asked to decide that."""

    code = "unknown_approval"

    def __init__(self, id: str) -> None:
        super().__init__(f"there is no approval '{id[:200]}': `penstock approvals` lists them")


class UnknownCallback(NotFound):
    """No step waits for that call, or ever did."""

    code = "unknown_callback"

    def __init__(self) -> None:
        super().__init__(
            "no step of any run gave this address away: call the one that the function was handed"
        )


class UnknownStep(NotFound):
    """The workflow of the run has no such step."""

    code = "unknown_step"

    def __init__(self, workflow: str, step: str, known: Iterable[str]) -> None:
        super().__init__(f"'{workflow}' has no step '{step}': its steps are {', '.join(known)}")


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


class OtherWorkflow(Invalid):
    """The run that has the event's key is of another workflow than the event is for."""

    code = "other_workflow"

    def __init__(self, event: str, wanted: str, found: str) -> None:
        super().__init__(
            f"the event '{event}' is for a run of '{wanted}', and the one with its key is of '{found}'"
        )


class InvalidEvent(Invalid):
    """The event's data does not fit its `schema`."""

    code = "invalid_event"

    def __init__(self, event: str, problems: Sequence[str]) -> None:
        super().__init__(f"the data of event '{event}' does not fit its schema: {'; '.join(problems)}")
        self.problems = tuple(problems)


class InvalidFields(Invalid):
    """What a person filled in does not fit the form of the approval."""

    code = "invalid_fields"

    def __init__(self, step: str, problems: Sequence[str]) -> None:
        super().__init__(f"the fields do not fit the form of '{step}': {'; '.join(problems)}")
        self.problems = tuple(problems)


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


class BadCursor(Invalid):
    """The cursor of a list was not given by it."""

    code = "bad_cursor"

    def __init__(self, cursor: str) -> None:
        shown = cursor if len(cursor) <= 60 else cursor[:60] + "…"
        super().__init__(f"the cursor '{shown}' is not one that this list gave: begin without one")


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


class AlreadyDecided(Conflict):
    """The approval was decided before, or is closed. `decision` is the first decision, if there is one."""

    code = "already_decided"
    decision: dict[str, Any] | None = None

    def __init__(
        self, id: str, status: str, by: str | None, at: str | None, decision: dict[str, Any] | None = None
    ) -> None:
        who = f"{status} by {by}" if by else status
        super().__init__(f"approval '{id}' was {who} at {at}: one decision counts, the first")
        self.decision = decision


class ApprovalExpired(AlreadyDecided):
    """Nobody decided in time."""

    code = "approval_expired"

    def __init__(self, id: str, at: str | None) -> None:
        Conflict.__init__(
            self, f"approval '{id}' ran out of time at {at}, and its step has failed: retry the run"
        )


class AlreadyOver(Conflict):
    """What was called back has ended otherwise."""

    code = "already_over"

    def __init__(self) -> None:
        super().__init__("this call is ignored: the step has ended, or waits for another attempt")


class NotSkippable(Conflict):
    """The step has nothing to skip."""

    code = "not_skippable"

    def __init__(self, run: str, step: str, why: str) -> None:
        super().__init__(f"step '{step}' of run '{run}' cannot be skipped: {why}")


class Changed(Conflict):
    """The state is no longer what the caller expected."""

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

    def __init__(self, run: str, event: str, step: str, limit: int) -> None:
        super().__init__(
            f"{limit} events wait at step '{step}' of run '{run}': send '{event}' again when it has taken some"
        )


class PreconditionFailed(PenstockError):
    """What the caller saw is outdated."""

    code = "precondition_failed"


class DraftChanged(PreconditionFailed):
    """The draft is not what the caller has seen."""

    code = "draft_changed"

    def __init__(self, workflow: str) -> None:
        super().__init__(
            f"the draft of '{workflow}' was changed meanwhile, or does not exist: read it again, then save"
        )


class NotSeparate(PenstockError):
    """Four eyes: who started the run, or decided in it before, may not decide this."""

    code = "not_separate"

    def __init__(self, by: str, what: str) -> None:
        super().__init__(
            f"'{by}' {what}, so somebody else must decide this: sign in as another person. Where nobody signs in all "
            f"are '{by}': there leave `separate` out of the step"
        )


class NoTask(PenstockError):
    """No task of that name is offered here."""

    code = "no_task"

    def __init__(self, names: Sequence[str], known: Iterable[str] = ()) -> None:
        listed = ", ".join(f"'{name}'{_near(name, known)}" for name in names)
        super().__init__(f"no task is defined for {listed}: pass a module that defines it with @task")
