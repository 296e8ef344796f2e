"""From what happened to a run to what must be written: `advance`, and its plan as a change of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from penstock.flow.advance import advance
from penstock.flow.occurrence import (
    Canceled,
    CleanupTimedOut,
    Continued,
    Granted,
    Occurrence,
    Outside,
    Retried,
    RunTimedOut,
    Skipped,
)
from penstock.flow.plan import Answer, Attempt, Emission, Plan
from penstock.flow.rest import starving, waiting_for
from penstock.flow.run import Element, ElementKey, Pauser, Snapshot
from penstock.runtime.children import TASK, cancel_post, end_post, limits, start_posts
from penstock.runtime.codec.messages import encode_message
from penstock.runtime.codec.pages import encode_page
from penstock.runtime.codec.snapshots import encode_header, encode_parts
from penstock.runtime.errors import Invalid, SlotFull
from penstock.runtime.host import checked_event
from penstock.runtime.inbox import KEPT_FOR, NO_RUN
from penstock.runtime.limits import refuse_full
from penstock.runtime.memory import Live
from penstock.runtime.request import Request
from penstock.runtime.resting import RESTS, new_rest
from penstock.store.change import (
    WHOLE,
    Change,
    EndedTask,
    Kept,
    Lock,
    NewRun,
    NewTask,
    Post,
    Seen,
    Unlock,
)

HEARTBEAT = timedelta(seconds=60)
_ENDINGS = (Canceled, RunTimedOut, CleanupTimedOut)
_CONTINUED = Continued()


class Desk(Protocol):
    """Where a worker of this process waits for work."""

    @property
    def worker(self) -> str: ...


Reserve = Callable[[Attempt], Desk | None]
"""A desk that will take the attempt as soon as it is durable."""


class Desks(Protocol):
    """Where work is promised to workers before it is durable."""

    def reserve(self, attempt: Attempt) -> Desk | None: ...

    def free(self, desks: Sequence[tuple[Attempt, Desk]]) -> None:
        """What was promised came to nothing."""
        ...


Reserved = list[tuple[Attempt, Desk]]
"""Work, and who is to get it once it is durable."""


class Decision:
    """What was decided about one run, and what is to be written."""

    __slots__ = ("answers", "change", "desks", "live", "now", "parked", "plan", "requests")

    def __init__(
        self,
        live: Live,
        requests: Sequence[Request],
        answers: list[Answer],
        plan: Plan,
        now: datetime,
        parked: tuple[Kept, ...] = (),
    ) -> None:
        self.live, self.requests, self.answers, self.plan, self.now = live, requests, answers, plan, now
        self.parked = parked  # events that did not fit the workflow
        self.change: Change | None = None  # None: nothing is to be written
        self.desks: Reserved = []


def decide(live: Live, requests: Sequence[Request], now: datetime) -> Decision:
    """Decide about all that happened to one run, in order."""
    occurrences, parked = _occurrences(live, requests, now)
    plan = advance(live.flow, live.snapshot, occurrences, now)
    if not parked:
        return Decision(live, requests, plan.answers, plan, now)
    answers = _answers(requests, parked, plan.answers)
    return Decision(live, requests, answers, plan, now, tuple(parked.values()))


def write_down(decision: Decision, desks: Desks) -> None:
    """Say what is to be written, with the work promised to who will do it.

    Apart from deciding, so that many are decided and then many written down: few lines that are run again and
    again are faster by a quarter than all of them in turn.
    """
    if (
        decision.plan.snapshot is not decision.live.snapshot
        or decision.requests[0].new is not None
        or _uses_up(decision)
    ):
        try:
            decision.change = _change(decision, desks.reserve)
        except BaseException:
            desks.free(decision.desks)
            decision.desks = []
            raise


def _occurrences(
    live: Live, requests: Sequence[Request], now: datetime
) -> tuple[list[Occurrence], dict[int, Kept]]:
    """What happened, in order; an event that does not fit the workflow is parked for a person to look at."""
    occurrences: list[Occurrence] = []
    parked: dict[int, Kept] = {}
    for number, request in enumerate(requests):
        occurrence = request.occurrence
        if isinstance(occurrence, Outside):
            try:
                if request.check:
                    occurrence = checked_event(live.flow, occurrence)
                    refuse_full(live.flow, live.snapshot, occurrence)
            except (Invalid, SlotFull) as error:
                parked[number] = Kept(
                    keys=(),
                    event=occurrence.event,
                    body=encode_message(occurrence),
                    reason=str(error),
                    until=now + KEPT_FOR,
                )
                continue
            if occurrence.id is not None:
                occurrence = replace(occurrence, once=True)  # its id lies in a row of its own
        occurrences.append(occurrence)
    # What happens to a run whose decision stopped half-way must not be taken for its rest.
    if live.snapshot.agenda and not (occurrences and isinstance(occurrences[-1], _ENDINGS)):
        occurrences.append(_CONTINUED)
    return occurrences, parked


def _answers(requests: Sequence[Request], parked: dict[int, Kept], given: list[Answer]) -> list[Answer]:
    answers = iter(given)
    return ["recorded" if number in parked else next(answers) for number in range(len(requests))]


def _uses_up(decision: Decision) -> bool:
    """Whether something is to be deleted although the run stays as it is: a timer, a message, a task."""
    used_up = any(each.rung is not None or each.read is not None for each in decision.requests)
    return used_up or bool(_ended(decision))


def _ended(decision: Decision) -> list[EndedTask]:
    """The task rows that go: of leases whose report counts, and of those that were found to be overdue."""
    ended: list[EndedTask] = []
    for request, answer in zip(decision.requests, decision.answers, strict=False):
        lease = request.lease
        if lease is not None and (answer == "accepted" or request.overdue):
            ended.append(EndedTask(lease.firing, lease.index, lease.attempt, lease.fence))
    return ended


def _change(decision: Decision, reserve: Reserve) -> Change:
    live, plan = decision.live, decision.plan
    was, snapshot = live.snapshot, plan.snapshot
    live.pack.begin()
    change = Change(
        run=snapshot.run.id,
        base=plan.base,
        revision=snapshot.revision,
        seq=snapshot.seq,
        status=snapshot.status,
        ended_at=snapshot.ended_at,
        waiting=None if snapshot.status == "running" else _waiting(live, snapshot),
        head=live.encode(snapshot),
        page=encode_page(plan.history, live.pack) if plan.history else None,
        page_from=was.seq + 1,
        tasks=_tasks(decision, reserve) if plan.attempts else (),
        ended=tuple(_ended(decision)),
        # A retry that ends at once ends the run anew: it had asked for its keys again.
        over=snapshot.ended and (not was.ended or snapshot.epoch != was.epoch),
    )
    rare = _rare_of_requests(decision)
    _add_rare_of_plan(rare, decision, change)
    if live.pack.fresh:  # the last: whatever is encoded above may find something large
        rare["payloads"] = tuple(live.pack.fresh)
    return replace(change, **rare) if rare else change


def _rare_of_requests(decision: Decision) -> dict[str, Any]:
    """The fields of a change that say what its requests use up: most decisions have none of them."""
    rare: dict[str, Any] = {}
    live, requests = decision.live, decision.requests
    if requests[0].new is not None:
        rare["new"] = _new_run(live, requests[0], decision.now)
    for request, answer in zip(requests, decision.answers, strict=False):
        if request.lease is not None:
            continue  # it ends an attempt, and uses up nothing else
        if request.audit is not None and answer == "accepted":
            rare["audits"] = (*rare.get("audits", ()), request.audit)
        if request.rung is not None:
            rare["rung"] = (*rare.get("rung", ()), request.rung)
        if request.read is not None:
            rare["read"] = (*rare.get("read", ()), request.read)
        if isinstance(request.occurrence, Retried | Skipped) and request.occurrence.paused is not None:
            rare["revived"] = live.snapshot.run.workflow, _wider(request.occurrence.paused)
        if request.seen is not None:
            rare["seen"] = (*rare.get("seen", ()), request.seen)
    return rare


def _add_rare_of_plan(rare: dict[str, Any], decision: Decision, change: Change) -> None:
    """The fields of a change that say what follows for others: most decisions have none of them."""
    live, plan = decision.live, decision.plan
    was, snapshot = live.snapshot, plan.snapshot
    # What is no task for a worker is a child run.
    children = len(change.tasks) < len(plan.attempts) and [
        each for each in plan.attempts if each.task == TASK
    ]
    canceled = _cancel_posts(decision) if plan.withdrawn else ()
    if posts := _posts(decision, children or (), canceled, change.over):
        rare["posts"] = tuple(posts)
    if plan.withdrawn:
        rare["unbegun"] = tuple([post.run for post in canceled])
        rare["void"] = tuple([_place(element) for element in plan.withdrawn])
    if live.flow.fans:
        rare["parts"] = tuple(encode_parts(was, snapshot, plan.touched, live.pack))
    if (was.paused or snapshot.paused) and _held(was) != _held(snapshot):
        rare["hold"] = _held(snapshot)
    if plan.timers or children:
        timers = [(timer.due, encode_message(timer.occurrence)) for timer in plan.timers]
        rare["timers"] = (
            *timers,
            *(limit for each in children or () for limit in limits(each, decision.now)),
        )
    if plan.acquires or plan.releases or plan.correlations:
        _add_keys(rare, plan)
    if was.status in RESTS or snapshot.status in RESTS or snapshot.aside:
        rare["rest"] = new_rest(live.flow, was, snapshot)
    if decision.parked or plan.emissions:
        rare["kept"] = (*decision.parked, *(_kept(each, decision.now) for each in plan.emissions))


def _add_keys(rare: dict[str, Any], plan: Plan) -> None:
    """The keys that a decision asks for and gives back."""
    # An element that was withdrawn in the same decision must not queue: nobody would give its key back.
    queuing = [each for each in plan.acquires if each.element in plan.snapshot.elements]
    rare["locks"] = tuple([_lock(each.key, each.limit, each.element) for each in queuing])
    rare["unlocks"] = tuple([Unlock(each.key, *_place(each.element)) for each in plan.releases])
    rare["keys"] = plan.correlations


def _posts(
    decision: Decision, children: Sequence[Attempt], canceled: Sequence[Post], over: bool
) -> list[Post]:
    """What other runs are told."""
    plan, snapshot = decision.plan, decision.plan.snapshot
    ends = over and snapshot.run.parent is not None
    if not (decision.requests[0].posts or children or canceled or ends or plan.unfinished):
        return []
    posts = [*decision.requests[0].posts]
    for attempt in children:
        posts += start_posts(attempt)
    if ends and (post := end_post(snapshot)) is not None:
        posts.append(post)
    posts += canceled
    if plan.unfinished:
        posts.append(Post(snapshot.run.id, encode_message(_CONTINUED)))
    return posts


def _tasks(decision: Decision, reserve: Reserve) -> tuple[NewTask, ...]:
    tasks: list[NewTask] = []
    # A pause that is decided together with what it holds: nobody may get it in between. A clean-up goes on.
    held = _held(decision.plan.snapshot)
    for attempt in decision.plan.attempts:
        if attempt.task == TASK:
            continue  # a child run does it
        desk = None if held else reserve(attempt)
        if desk is not None:
            decision.desks.append((attempt, desk))
        tasks.append(_new_task(attempt, desk, held))
    return tuple(tasks)


def _held(snapshot: Snapshot) -> bool:
    """Whether a pause holds the run's tasks; it does not hold a clean-up (R6)."""
    return bool(snapshot.paused) and snapshot.ending is None


def _cancel_posts(decision: Decision) -> list[Post]:
    """Children of what is withdrawn are canceled."""
    was = decision.live.snapshot
    found = [(key, was.elements.get(key)) for key in decision.plan.withdrawn]
    return [
        cancel_post(was.run.id, key, element)
        for key, element in found
        if element is not None and element.state == "running" and _is_child(decision.live, element)
    ]


def _is_child(live: Live, element: Element) -> bool:
    return live.flow.steps[element.step].task == TASK


def _new_task(attempt: Attempt, desk: Desk | None, held: bool) -> NewTask:
    times = attempt.timeouts
    return NewTask(
        attempt.firing, WHOLE if attempt.index is None else attempt.index, attempt.attempt, attempt.task,
        attempt.task_list, attempt.priority, times.schedule_to_start, times.start_to_close,
        times.schedule_to_close, times.heartbeat or HEARTBEAT, None if desk is None else desk.worker,
        held, attempt.step,
    )  # fmt: skip


def _place(element: ElementKey) -> tuple[int, int]:
    return element[0], WHOLE if element[1] is None else element[1]


def _lock(key: str, most: int, element: ElementKey) -> Lock:
    return Lock(key, most, *_place(element), encode_message(Granted(*element)))


def _kept(emission: Emission, now: datetime) -> Kept:
    event = Outside(event=emission.event, data=emission.data, set=emission.set, id=emission.id)
    return keep(emission.key, event, now)


def keep(key: dict[str, str], event: Outside, now: datetime, source: str | None = None) -> Kept:
    """An event that looks for a run by its keys."""
    return Kept(
        keys=tuple(key.items()),
        event=event.event,
        body=encode_message(event),
        reason=NO_RUN,
        until=now + KEPT_FOR,
        seen=seen_by_key(event, now, source),
    )


def seen_by_key(event: Outside, now: datetime, source: str | None = None) -> Seen | None:
    """Found by key, an id is unique within its source and event."""
    scope = f"key/{event.event}" if source is None else f"key/{event.event}/from/{source}"
    return None if event.id is None else Seen(scope, event.id, now + KEPT_FOR)


def _new_run(live: Live, request: Request, now: datetime) -> NewRun | None:
    if request.new is None:
        return None
    header = live.snapshot.run
    return NewRun(
        workflow=header.workflow,
        version=header.version,
        subject=header.subject,
        parent=header.parent,
        labels=msgspec.json.encode(header.labels).decode(),
        started_at=now,
        header=encode_header(header, live.pack),
        start_key=request.start_key,
        paused=_wider(live.snapshot.paused),
    )


def _wider(paused: tuple[Pauser, ...]) -> tuple[bool, bool]:
    return "workflow" in paused, "installation" in paused


def _waiting(live: Live, snapshot: Snapshot) -> str | None:
    """What a run at rest waits for, so that it can be looked for."""
    if snapshot.status == "waiting":
        names = list(waiting_for(live.flow, snapshot))
    elif snapshot.status == "stalled":
        names = sorted({name for each in starving(live.flow, snapshot) for name in each.events()})
    else:
        return None
    return msgspec.json.encode(names).decode()
