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
from penstock.runtime.errors import Invalid
from penstock.runtime.host import checked_event
from penstock.runtime.inbox import KEPT_FOR, NO_RUN
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


class Decision:
    """What was decided about one run, and what is to be written."""

    __slots__ = ("answers", "change", "desks", "live", "now", "plan", "requests")

    def __init__(
        self, live: Live, requests: Sequence[Request], answers: list[Answer], plan: Plan, now: datetime
    ) -> None:
        self.live, self.requests, self.answers, self.plan, self.now = live, requests, answers, plan, now
        self.change: Change | None = None  # None: nothing is to be written
        self.desks: list[tuple[Attempt, Desk]] = []


def decide(live: Live, requests: Sequence[Request], now: datetime, desks: Desks) -> Decision:
    """Decide about all that happened to one run, in order."""
    occurrences, parked = _occurrences(live, requests, now)
    plan = advance(live.flow, live.snapshot, occurrences, now)
    answers = _answers(requests, parked, plan.answers)
    decision = Decision(live, requests, answers, plan, now)
    if plan.snapshot is not live.snapshot or requests[0].new is not None or _uses_up(decision):
        try:
            decision.change = _change(decision, tuple(parked.values()), now, desks.reserve)
        except BaseException:
            desks.free(decision.desks)
            raise
    return decision


def _occurrences(
    live: Live, requests: Sequence[Request], now: datetime
) -> tuple[list[Occurrence], dict[int, Kept]]:
    """What happened, in order; an event that does not fit the workflow is parked for a person to look at."""
    occurrences: list[Occurrence] = []
    parked: dict[int, Kept] = {}
    for number, request in enumerate(requests):
        occurrence = request.occurrence
        if request.check and isinstance(occurrence, Outside):
            try:
                occurrence = checked_event(live.flow, occurrence)
            except Invalid as error:
                parked[number] = Kept(
                    keys=(),
                    event=occurrence.event,
                    body=encode_message(occurrence),
                    reason=str(error),
                    until=now + KEPT_FOR,
                )
                continue
        if isinstance(occurrence, Outside) and occurrence.id is not None:
            occurrence = replace(occurrence, once=True)  # its id lies in a row of its own
        occurrences.append(occurrence)
    # What happens to a run whose decision stopped half-way must not be taken for its rest.
    if live.snapshot.agenda and not (occurrences and isinstance(occurrences[-1], _ENDINGS)):
        occurrences.append(_CONTINUED)
    return occurrences, parked


def _answers(requests: Sequence[Request], parked: dict[int, Kept], given: list[Answer]) -> list[Answer]:
    if not parked:
        return given
    answers = iter(given)
    return ["recorded" if number in parked else next(answers) for number in range(len(requests))]


def _uses_up(decision: Decision) -> bool:
    """Whether something is to be deleted although the run stays as it is: a timer, a message, a task."""
    used_up = any(each.rung is not None or each.read is not None for each in decision.requests)
    return used_up or any(_ended(request, answer) for request, answer in _told(decision))


def _told(decision: Decision) -> zip[tuple[Request, Answer]]:
    return zip(decision.requests, decision.answers, strict=False)


def _ended(request: Request, answer: Answer) -> bool:
    """Whether the task row of the request's lease goes: its report counts, or the row was found to be overdue."""
    return request.lease is not None and (answer == "accepted" or request.overdue)


def _change(decision: Decision, parked: tuple[Kept, ...], now: datetime, reserve: Reserve) -> Change:
    live, plan, requests = decision.live, decision.plan, decision.requests
    was, snapshot = live.snapshot, plan.snapshot
    live.pack.begin()
    head = live.encode(snapshot)
    page = encode_page(plan.history, live.pack) if plan.history else None
    rare = _rare_of_requests(live, requests, now)
    posts = list(requests[0].posts)
    tasks = _tasks(decision, reserve, posts) if plan.attempts else ()
    # A retry that ends at once ends the run anew: it had asked for its keys again.
    over = snapshot.ended and (not was.ended or snapshot.epoch != was.epoch)
    if over and snapshot.run.parent is not None and (post := end_post(snapshot)) is not None:
        posts.append(post)
    _add_rare_of_plan(rare, decision, posts)
    if was.status in RESTS or snapshot.status in RESTS or snapshot.aside:
        rare["rest"] = new_rest(live.flow, was, snapshot)
    if parked or plan.emissions:
        rare["kept"] = (*parked, *(_kept(each, now) for each in plan.emissions))
    if live.pack.fresh:  # the last: whatever is encoded above may find something large
        rare["payloads"] = tuple(live.pack.fresh)
    return Change(
        run=snapshot.run.id,
        base=plan.base,
        revision=snapshot.revision,
        seq=snapshot.seq,
        status=snapshot.status,
        ended_at=snapshot.ended_at,
        waiting=_waiting(live, snapshot),
        head=head,
        page=page,
        page_from=was.seq + 1,
        tasks=tasks,
        ended=tuple([_end(request) for request, answer in _told(decision) if _ended(request, answer)]),
        over=over,
        **rare,
    )


def _rare_of_requests(live: Live, requests: Sequence[Request], now: datetime) -> dict[str, Any]:
    """The fields of a change that say what its requests use up: most decisions have none of them."""
    rare: dict[str, Any] = {}
    if requests[0].new is not None:
        rare["new"] = _new_run(live, requests[0], now)
    for request in requests:
        if request.rung is not None:
            rare["rung"] = (*rare.get("rung", ()), request.rung)
        if request.read is not None:
            rare["read"] = (*rare.get("read", ()), request.read)
        if isinstance(request.occurrence, Retried | Skipped) and request.occurrence.paused is not None:
            rare["revived"] = live.snapshot.run.workflow, _wider(request.occurrence.paused)
        if request.seen is not None:
            rare["seen"] = (*rare.get("seen", ()), request.seen)
    return rare


def _add_rare_of_plan(rare: dict[str, Any], decision: Decision, posts: list[Post]) -> None:
    """The fields of a change that say what follows for others: most decisions have none of them."""
    live, plan = decision.live, decision.plan
    was, snapshot = live.snapshot, plan.snapshot
    if plan.withdrawn:
        canceled = _cancel_posts(decision)
        posts += canceled
        rare["unbegun"] = tuple([post.run for post in canceled])
        rare["void"] = tuple([_place(element) for element in plan.withdrawn])
    if plan.unfinished:
        posts.append(Post(snapshot.run.id, encode_message(_CONTINUED)))
    if posts:
        rare["posts"] = tuple(posts)
    if live.flow.fans:
        rare["parts"] = tuple(encode_parts(was, snapshot, plan.touched, live.pack))
    if _held(was) != _held(snapshot):
        rare["hold"] = _held(snapshot)
    timers = [(timer.due, encode_message(timer.occurrence)) for timer in plan.timers]
    timers += [
        limit for attempt in plan.attempts if attempt.task == TASK for limit in limits(attempt, decision.now)
    ]
    if timers:
        rare["timers"] = tuple(timers)
    # An element that was withdrawn in the same decision must not queue: nobody would give its key back.
    queuing = [each for each in plan.acquires if each.element in snapshot.elements]
    if queuing:
        rare["locks"] = tuple([_lock(each.key, each.limit, each.element) for each in queuing])
    if plan.releases:
        rare["unlocks"] = tuple([Unlock(each.key, *_place(each.element)) for each in plan.releases])
    if plan.correlations:
        rare["keys"] = plan.correlations


def _tasks(decision: Decision, reserve: Reserve, posts: list[Post]) -> tuple[NewTask, ...]:
    tasks: list[NewTask] = []
    snapshot = decision.plan.snapshot
    # A pause that is decided together with what it holds: nobody may get it in between. A clean-up goes on.
    held = _held(snapshot)
    for attempt in decision.plan.attempts:
        if attempt.task == TASK:
            posts += start_posts(attempt)
            continue
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


def _end(request: Request) -> EndedTask:
    lease = request.lease
    assert lease is not None
    return EndedTask(lease.firing, lease.index, lease.attempt, lease.fence)


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
