"""Why a run, a step or a task list makes no progress: one plain sentence each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from penstock.flow.compile.compile import APPROVAL, Flow, FlowStep
from penstock.flow.decisions.quiescence import missing_slots, waiting_for
from penstock.flow.model.run import NEVER_FIRED, Element, Firing, Snapshot
from penstock.flow.model.run_input import Rang
from penstock.flow.views.run_view import time_text
from penstock.kernel.firing import enabled
from penstock.runtime.decisions.approvals import DEFAULT_ROLE, approval_id
from penstock.runtime.decisions.children import TASK, child_id
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import WORKER_TIMEOUT, LockRow, QueueRow, TaskRow, Worker

ElementPlace = tuple[int, int | None]
"""A firing and an index in it, as rows have them."""


class Facts(Struct, frozen=True, kw_only=True, dict=True):
    """What is known in addition to the run itself, at `now`.

    It is asked for every element of a run: whatever is looked for is sorted once, since looking through the rows of
    twenty thousand elements for each of them held the whole server for half a minute.
    """

    now: datetime
    tasks: Sequence[TaskRow] = ()
    timers: Sequence[tuple[datetime, Any]] = ()
    locks: Sequence[LockRow] = ()
    paused: Sequence[str] = ()  # of those that hold a key: runs that do not go on by themselves
    workers: Sequence[Worker] = ()
    queues: Sequence[QueueRow] = ()
    # Correlation keys that other live runs have: name, value, run.
    refused: Sequence[tuple[str, str, str]] = ()

    @cached_property
    def task_at(self) -> dict[ElementPlace, TaskRow]:
        return {(each.lease.firing, each.lease.index): each for each in reversed(self.tasks)}

    @cached_property
    def lock_at(self) -> dict[ElementPlace, LockRow]:
        return {(each.firing, each.index): each for each in reversed(self.locks)}

    @cached_property
    def wakes_at(self) -> dict[ElementPlace, datetime]:
        """When each element is woken, the first time where there are several."""
        rings = [((what.firing, what.index), due) for due, what in self.timers if isinstance(what, Rang)]
        return dict(sorted(rings, key=lambda each: each[1], reverse=True))

    @cached_property
    def names(self) -> dict[str, str]:
        return {each.id: each.name for each in reversed(self.workers)}

    @cached_property
    def present(self) -> list[Worker]:
        return [
            each for each in self.workers if each.seen_at is None or self.now - each.seen_at < WORKER_TIMEOUT
        ]

    @cached_property
    def _served(self) -> dict[tuple[str, str | None], list[Worker]]:
        return {}

    @cached_property
    def loads(self) -> dict[str, str]:
        """How busy each task list is, in words, as far as it was asked."""
        return {}

    def serving(self, task_list: str, task: str | None = None) -> list[Worker]:
        """The workers that take tasks of that list, and of that name where one is given."""
        asked = (task_list, task)
        if asked not in self._served:
            self._served[asked] = [
                each
                for each in self.present
                if task_list in each.task_lists and (task is None or not each.tasks or task in each.tasks)
            ]
        return self._served[asked]

    def name_of(self, worker: str) -> str:
        return self.names.get(worker, worker)


Reason = dict[str, Any]
"""`reason`, `text`, and what belongs to it."""


def why_run(flow: Flow, snapshot: Snapshot, facts: Facts, step: str | None = None) -> dict[str, Any]:
    """Why a run is where it is, and each of its steps that has something to say; or one step alone."""
    steps = [
        {"step": name, **reason}
        for name, each in flow.steps.items()
        if step in (None, name)
        for reason in _reasons(flow, snapshot, each, facts, asked=name == step)
    ]
    waits = list(waiting_for(flow, snapshot)) if snapshot.status == "waiting" else []
    return {
        "status": snapshot.status,
        "waiting_for": waits,
        "text": _of_run(snapshot, waits, steps),
        "steps": steps,
        "refused_keys": [_refused(*each) for each in facts.refused],
    }


def _refused(name: str, value: str, holder: str) -> Reason:
    text = (
        f"The key {name}={value} belongs to run '{holder}' as long as that is live: events with it go there."
    )
    return {"key": {name: value}, "holder": holder, "text": text}


def _of_run(snapshot: Snapshot, waits: list[str], steps: list[dict[str, Any]]) -> str:
    if snapshot.ended:
        why = f": {snapshot.error.message}" if snapshot.error is not None else ""
        return f"The run has ended as {snapshot.status}{why}."
    if snapshot.ending is not None:
        return f"The run is being cleaned up and then ends as {snapshot.ending}."
    if snapshot.paused:
        return f"{_paused(snapshot)}; nothing new begins until it is resumed."
    if waits:
        return f"The run waits for {_either(waits)} from outside."
    if snapshot.status == "waiting":
        return "The run waits for somebody outside: a person, or a service that was given work."
    if snapshot.status == "stalled":
        return "The run is stalled: nothing is in motion, and nothing from outside can move it on; repair or cancel it."
    return "The run is in motion." if steps else "The run is about to go on."


def _paused(snapshot: Snapshot) -> str:
    words = {"run": "The run", "workflow": "The workflow", "installation": "The whole installation"}
    return f"{words[snapshot.paused[0]]} is paused"


# -- a step --------------------------------------------------------------------------------------------------


def _reasons(flow: Flow, snapshot: Snapshot, step: FlowStep, facts: Facts, asked: bool) -> Iterator[Reason]:
    state = snapshot.steps.get(step.name, NEVER_FIRED)
    for number in state.live:
        yield from _under_way(flow, snapshot, step, snapshot.firings[number], facts)
    if not state.live and state.status == "failed":
        why = state.error.message if state.error is not None else "it gave no reason"
        yield {"reason": "failed", "text": f"'{step.name}' failed: {why}."}
    if not snapshot.ended:
        yield from _not_begun(flow, snapshot, step, bool(state.live), asked)


def _not_begun(flow: Flow, snapshot: Snapshot, step: FlowStep, live: bool, asked: bool) -> Iterator[Reason]:
    """What waits at a step that has not begun with it."""
    if step.name in enabled(flow.wiring, snapshot.marking):
        if snapshot.paused and snapshot.ending is None:
            text = f"'{step.name}' could begin: {_paused(snapshot).lower()}."
            yield {"reason": "paused", "by": list(snapshot.paused), "text": text}
        elif live:
            most = 1 if step.each is not None else step.parallel or 1
            text = f"More events wait at '{step.name}': it runs {most} at a time."
            yield {"reason": "parallel", "parallel": most, "text": text}
        return
    held, missing = missing_slots(step.wired, snapshot.marking)
    stalled = snapshot.status == "stalled"
    never = stalled and step.name not in snapshot.steps
    sources = [_source(flow, snapshot, name) for slot in missing for name in slot]
    waited_for = snapshot.status in ("waiting", "stalled") and any(each["outside"] for each in sources)
    if missing and (held or waited_for or never or (asked and not live)):
        wanted = " and ".join(_either(slot) for slot in missing)
        text = f"'{step.name}' waits for {wanted}; {_who(sources, stalled)}."
        yield {"reason": "missing events", "missing": sources, "text": text}


def _source(flow: Flow, snapshot: Snapshot, event: str) -> dict[str, Any]:
    """Who could fire an event: steps, with what they are now, and outside, unless it came and counts once."""
    steps = [each.name for each in flow.net.steps if any(event in way.fires for way in each.exits)]
    outside = flow.outside.get(event)
    may_come = outside is not None and (outside.many or event not in snapshot.came)
    return {
        "event": event,
        "steps": [{"step": name, "status": snapshot.steps.get(name, NEVER_FIRED).status} for name in steps],
        "outside": may_come,
        "came": outside is not None and not may_come,
    }


def _who(sources: list[dict[str, Any]], stalled: bool) -> str:
    """Who could fire what is missing, as the end of a sentence; in a run that is stalled no step will."""
    told = []
    for each in sources:
        ways = [f"step '{one['step']}' ({one['status']})" for one in each["steps"]]
        ways += ["a call from outside"] if each["outside"] else []
        but = ", but nobody will fire it as things are" if stalled and not each["outside"] else ""
        event = f"'{each['event']}'"
        none = (
            f"{event} came from outside before and counts once" if each["came"] else f"nothing fires {event}"
        )
        told.append(f"{event} can come from {_either(ways, '')}{but}" if ways else none)
    return ", ".join(told)


def _either(names: Sequence[str], quote: str = "'") -> str:
    return " or ".join(f"{quote}{name}{quote}" for name in names)


# -- a firing ------------------------------------------------------------------------------------------------


def _under_way(
    flow: Flow, snapshot: Snapshot, step: FlowStep, firing: Firing, facts: Facts
) -> Iterator[Reason]:
    """Each different reason of the elements of a firing, with how many there are."""
    indexes: Sequence[int | None] = [None] if firing.total is None else range(firing.total)
    found: dict[tuple[Any, ...], Reason] = {}
    for index in indexes:
        element = snapshot.elements.get((firing.number, index))
        if element is None:
            continue
        reason = _of_element(snapshot, step, element, facts)
        same = (reason["reason"], reason.get("worker"), reason.get("behind"))
        found.setdefault(same, reason | {"elements": 0})["elements"] += 1
    slow = _slow(flow, step, firing, facts.now)
    for reason in found.values():
        if firing.total is None:
            del reason["elements"]
        yield reason | slow if slow else reason


def _slow(flow: Flow, step: FlowStep, firing: Firing, now: datetime) -> Reason:
    """`warn_after` marks a firing as slow that has taken longer."""
    limit = warn_after(flow, step.name)
    return {} if limit is None or now - firing.at <= limit else {"slow": True}


def warn_after(flow: Flow, step: str) -> timedelta | None:
    """After how long a firing of the step is slow."""
    own, default = flow.definition.steps[step].policy, flow.definition.defaults
    return own.warn_after if own.warn_after is not None or default is None else default.warn_after


def _of_element(snapshot: Snapshot, step: FlowStep, element: Element, facts: Facts) -> Reason:
    if element.state in ("backoff", "sleep"):
        return _sleeping(step, element, facts)
    if element.state == "key":
        return _behind(step, element, facts)
    if element.state == "paused":
        text = f"'{step.name}' is ready: {_paused(snapshot).lower() if snapshot.paused else 'it is about to go on'}."
        return {"reason": "paused", "by": list(snapshot.paused), "text": text}
    if element.state == "queued":
        text = f"Elements of '{step.name}' wait: it runs {step.parallel} at a time."
        return {"reason": "parallel", "parallel": step.parallel, "text": text}
    if element.state == "parked":
        return _outside(snapshot, step, element)
    if step.task == TASK:
        child = child_id(snapshot.run.id, *element.id, element.attempt)
        return {"reason": "child", "run": child, "text": f"'{step.name}' waits for its child run {child}."}
    return _with_a_worker(snapshot, step, element, facts)


def _outside(snapshot: Snapshot, step: FlowStep, element: Element) -> Reason:
    """The work is with somebody else, who has not reported yet."""
    if step.task != APPROVAL:
        text = f"'{step.name}' waits for whoever it handed its work to, since attempt {element.attempt}."
        return {"reason": "callback", "attempt": element.attempt, "text": text}
    id, role = approval_id(snapshot.run.id, element), element.params.get("role", DEFAULT_ROLE)
    due = element.params.get("due")
    until = f", until {due}" if due else ""
    text = f"'{step.name}' waits for a person: somebody with the role {role} or above can decide {id}{until}."
    return {"reason": "approval", "approval": id, "role": role, "due": due, "text": text}


def _sleeping(step: FlowStep, element: Element, facts: Facts) -> Reason:
    until = time_text(facts.wakes_at.get(element.id))
    if element.state == "sleep":
        return {"reason": "timer", "until": until, "text": f"'{step.name}' sleeps until {until}."}
    text = f"Attempt {element.attempt} of '{step.name}' failed; it is tried again at {until}."
    return {"reason": "backoff", "until": until, "attempt": element.attempt, "text": text}


def _behind(step: FlowStep, element: Element, facts: Facts) -> Reason:
    place = (element.firing, WHOLE if element.index is None else element.index)
    line = facts.lock_at.get(place)
    runs = list(line.holders) if line is not None else []
    ahead = line.ahead if line is not None else 0
    more = f", and {ahead} more wait before it" if ahead else ""
    shown = [f"{run} (which is paused)" if run in facts.paused else run for run in runs]
    text = f"'{step.name}' is serialized: run {', '.join(shown) or '(unknown)'} has the key '{element.key}'{more}."
    behind = runs[0] if runs else None
    return {
        "reason": "serialized",
        "key": element.key,
        "behind": behind,
        "holders": runs,
        "ahead": ahead,
        "text": text,
    }


def _with_a_worker(snapshot: Snapshot, step: FlowStep, element: Element, facts: Facts) -> Reason:
    place = (element.firing, WHOLE if element.index is None else element.index)
    row = facts.task_at.get(place)
    if row is None:
        return {"reason": "running", "text": f"'{step.name}' is being dispatched."}
    if row.worker is not None:
        since, name = time_text(row.started_at), facts.name_of(row.worker)
        text = f"'{step.name}' has been running since {since} on worker {name}, attempt {row.lease.attempt}."
        told = {} if row.progress is None else {"progress": msgspec.json.decode(row.progress)}
        return {
            "reason": "running",
            "since": since,
            "worker": name,
            "attempt": row.lease.attempt,
            **told,
            "text": text,
        }
    if row.held:
        text = (
            f"'{step.name}' is ready: {_paused(snapshot).lower() if snapshot.paused else 'a pause holds it'}."
        )
        return {"reason": "paused", "by": list(snapshot.paused), "text": text}
    return _waiting_task(step, row, facts)


def _waiting_task(step: FlowStep, row: TaskRow, facts: Facts) -> Reason:
    since = time_text(row.queued_at)
    about = {"since": since, "task": row.task, "task_list": row.task_list}
    if not facts.serving(row.task_list, row.task):
        others = (
            "no worker serves that list" if not facts.serving(row.task_list) else "no worker there offers it"
        )
        where = f"task '{row.task}' is on list '{row.task_list}', and {others}"
        text = f"'{step.name}' waits for a worker since {since}: {where}."
        return {"reason": "no worker", **about, "text": text}
    text = f"'{step.name}' waits since {since} on list '{row.task_list}': {_load(row.task_list, facts)}."
    return {"reason": "queued", **about, "text": text}


# -- a task list ---------------------------------------------------------------------------------------------


def why_list(task_list: str, facts: Facts) -> dict[str, Any]:
    """Why a task list does not move: no worker, all busy, or nothing to do."""
    row = _queue(task_list, facts)
    workers = facts.serving(task_list)
    if not workers:
        reason, text = "no worker", f"No worker serves list '{task_list}'; {_wait(row.ready)}."
    elif row.ready and row.leased >= sum(each.concurrency for each in workers):
        reason, text = "busy", f"List '{task_list}': {_load(task_list, facts)}."
    elif row.ready:
        reason, text = "moving", f"List '{task_list}': {_load(task_list, facts)}."
    elif row.held:
        reason, text = "paused", f"A pause holds what waits on list '{task_list}' ({_tasks(row.held)})."
    else:
        reason, text = "idle", f"Nothing waits on list '{task_list}'."
    return {
        "task_list": task_list,
        "reason": reason,
        "text": text,
        "ready": row.ready,
        "held": row.held,
        "running": row.leased,
        "oldest": time_text(row.oldest),
        "workers": [each.name for each in workers],
    }


def _queue(task_list: str, facts: Facts) -> QueueRow:
    empty = QueueRow(task_list=task_list, ready=0, held=0, leased=0, oldest=None)
    return next((each for each in facts.queues if each.task_list == task_list), empty)


def _load(task_list: str, facts: Facts) -> str:
    if task_list not in facts.loads:
        facts.loads[task_list] = _load_text(task_list, facts)
    return facts.loads[task_list]


def _load_text(task_list: str, facts: Facts) -> str:
    row, workers = _queue(task_list, facts), facts.serving(task_list)
    room = sum(each.concurrency for each in workers)
    names, one = ", ".join(each.name for each in workers), len(workers) == 1
    if row.leased >= room:
        busy = "is busy" if one else "are all busy"
    else:
        busy = f"{'has' if one else 'have'} {row.leased} of {room} places taken"
    return f"{_wait(row.ready)}, and its {'worker' if one else 'workers'} ({names}) {busy}"


def _tasks(number: int) -> str:
    return "1 task" if number == 1 else f"{number} tasks"


def _wait(number: int) -> str:
    return f"{_tasks(number)} {'waits' if number == 1 else 'wait'}"
