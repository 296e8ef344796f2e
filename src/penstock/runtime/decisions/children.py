"""Child runs: a step `workflow` starts one and waits for it. Its id names its parent."""

from __future__ import annotations

from typing import Any

from penstock.flow.compile.compile import WORKFLOW
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Element, ElementKey, Failure, Snapshot
from penstock.flow.model.run_input import Canceled, Done, Failed, Reported
from penstock.runtime.codec.messages import StartChild, encode_message
from penstock.store.rows.change import Post

TASK = WORKFLOW
"""The task that the engine does by itself."""

MAX_DEPTH = 32
"""How deeply runs may start runs: a run that starts itself must end."""


def child_id(run: str, firing: int, index: int | None, attempt: int) -> str:
    """Derived from the attempt, so repeated requests start one run."""
    place = f"{firing}" if index is None else f"{firing}.{index}"
    return f"{run}-{place}~{attempt}"


def parent_of(child: str) -> tuple[str, int, int | None, int] | None:
    """Run, firing, index and attempt that a child run reports to."""
    parent, dash, rest = child.rpartition("-")
    place, _, attempt = rest.partition("~")
    if not dash or not attempt.isdigit():
        return None
    firing, _, index = place.partition(".")
    return parent, int(firing), int(index) if index else None, int(attempt)


def forebears(child: str) -> list[str]:
    """The runs above the parent of a child run."""
    found: list[str] = []
    place = parent_of(child)
    while place is not None:
        found.append(place[0])
        place = parent_of(place[0])
    return found[1:]


def start_posts(attempt: Attempt) -> list[Post]:
    """The message by which a child run begins, or that says why it cannot."""
    run = attempt.run.id
    child = child_id(run, attempt.firing, attempt.index, attempt.attempt)
    request, wrong = _start_request(run, attempt.params)
    if run.count("~") >= MAX_DEPTH:
        request, wrong = (
            None,
            f"runs start child runs at most {MAX_DEPTH} deep: does '{attempt.step}' start itself?",
        )
    if request is None:
        outcome: Done | Failed = Failed(error=Failure("child", wrong), retry=False)
        return [_report(run, attempt.firing, attempt.index, attempt.attempt, outcome)]
    return [Post(child, encode_message(request))]


def begun_posts(child: str, request: StartChild) -> tuple[Post, ...]:
    """If no step waits for the end of the child, its step ends when the child is created, in one transaction."""
    place = parent_of(child)
    assert place is not None
    return () if request.wait else (_report(*place, Done(output={"run": child})),)


def _start_request(run: str, params: Any) -> tuple[StartChild | None, str]:
    name, subject, wait = params.get("name"), params.get("subject"), params.get("wait", True)
    if not isinstance(name, str) or not name:
        return None, "`with.name` of a `workflow` step must be the name of a published workflow"
    if subject is not None and not isinstance(subject, str):
        return None, "`with.subject` of a `workflow` step must be a text"
    if not isinstance(wait, bool):
        return None, "`with.wait` of a `workflow` step must be true or false"
    return StartChild(run, name, subject, params.get("input"), wait), ""


def cancel_post(run: str, key: ElementKey, element: Element) -> Post:
    """R10: the child run of a withdrawn firing is canceled."""
    child = child_id(run, key[0], key[1], element.attempt)
    return Post(child, encode_message(Canceled(reason=f"its parent run '{run}' withdrew it")))


def end_post(snapshot: Snapshot) -> Post | None:
    """A child run that has ended tells its parent."""
    parent = parent_of(snapshot.run.id) if snapshot.run.parent else None
    if parent is None:
        return None
    run, firing, index, attempt = parent
    if snapshot.status == "succeeded":
        outcome: Done | Failed = Done(output={"run": snapshot.run.id, "result": snapshot.result})
    else:
        error = snapshot.error
        detail = {"run": snapshot.run.id, "status": snapshot.status}
        why = f": {error.message}" if error is not None else ""
        message = f"run '{snapshot.run.id}' of '{snapshot.run.workflow}' ended as {snapshot.status}{why}"
        outcome = Failed(error=Failure("child", message, detail))
    return _report(run, firing, index, attempt, outcome)


def refusal(child: str, why: str) -> Reported:
    """A child run that cannot begin fails its step, and is not tried again."""
    place = parent_of(child)
    assert place is not None
    return Reported(place[1], place[2], place[3], Failed(error=Failure("child", why), retry=False))


def _report(run: str, firing: int, index: int | None, attempt: int, outcome: Done | Failed) -> Post:
    return Post(run, encode_message(Reported(firing, index, attempt, outcome)))
