"""Why a run, a step or a task list does not go on: one sentence for each reason."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from penstock.flow.model.run_input import Paused
from penstock.runtime.queries.why import Facts, why_list, why_run
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import Lease, LockRow, QueueRow, TaskRow, Worker
from tests.flow.driver import START_TIME, Drive, flow_of

NOW = START_TIME + timedelta(minutes=5)


def worker(name: str = "amy", **more: Any) -> Worker:
    plain: dict[str, Any] = {
        "task_lists": ("default",),
        "tasks": ("t",),
        "concurrency": 2,
        "started_at": START_TIME,
        "seen_at": NOW,
    }
    return Worker(id=f"id-{name}", name=name, **plain | more)


def task_row(drive: Drive, step: str = "a", **more: Any) -> TaskRow:
    attempt = drive.tasks[step]
    plain: dict[str, Any] = {
        "lease": Lease("run", attempt.firing, WHOLE, attempt.attempt, 1),
        "task": "t",
        "task_list": "default",
        "worker": None,
        "held": False,
        "queued_at": START_TIME,
        "started_at": None,
        "progress": None,
    }
    return TaskRow(**plain | more)


def queue(ready: int = 0, leased: int = 0, held: int = 0) -> QueueRow:
    oldest = START_TIME if ready else None
    return QueueRow(task_list="default", ready=ready, held=held, leased=leased, oldest=oldest)


def facts(**more: Any) -> Facts:
    return Facts(now=NOW, **more)


def told(drive: Drive, step: str | None = None, **more: Any) -> list[tuple[str, str, str]]:
    said = why_run(drive.flow, drive.snapshot, facts(**more), step)
    return [(each["step"], each["reason"], each["text"]) for each in said["steps"]]


ONE = flow_of("a: {task: t}")


def test_a_task_that_no_worker_serves_says_so() -> None:
    drive = Drive(ONE)
    row = task_row(drive)

    at = "2026-03-01T12:00:00Z"
    start = f"'a' waits for a worker since {at}: task 't' is on list 'default', and"
    assert told(drive, tasks=[row]) == [("a", "no worker", f"{start} no worker serves that list.")]
    other = [worker(tasks=("other",))]
    assert told(drive, tasks=[row], workers=other) == [
        ("a", "no worker", f"{start} no worker there offers it.")
    ]
    asleep = [worker(seen_at=START_TIME)]
    assert told(drive, tasks=[row], workers=asleep) == [
        ("a", "no worker", f"{start} no worker serves that list.")
    ]


def test_a_task_whose_workers_are_busy_says_how_many_wait() -> None:
    drive = Drive(ONE)

    said = told(drive, tasks=[task_row(drive)], workers=[worker()], queues=[queue(7, 2)])

    text = (
        "'a' waits since 2026-03-01T12:00:00Z on list 'default': 7 tasks wait, and its worker (amy) is busy."
    )
    assert said == [("a", "queued", text)]

    [(_, _, one)] = told(
        drive, tasks=[task_row(drive)], workers=[worker(concurrency=3)], queues=[queue(1, 2)]
    )
    assert one.endswith("1 task waits, and its worker (amy) has 2 of 3 places taken.")


def test_a_running_step_says_since_when_and_where_and_whether_it_is_slow() -> None:
    drive = Drive(flow_of("a: {task: t, warn_after: 2m}"))
    row = task_row(drive, worker="id-amy", started_at=START_TIME + timedelta(seconds=1))

    [said] = why_run(drive.flow, drive.snapshot, facts(tasks=[row], workers=[worker()]))["steps"]

    assert said == {
        "step": "a",
        "reason": "running",
        "since": "2026-03-01T12:00:01Z",
        "worker": "amy",
        "attempt": 1,
        "slow": True,
        "text": "'a' has been running since 2026-03-01T12:00:01Z on worker amy, attempt 1.",
    }


def test_a_backoff_and_a_sleep_say_until_when() -> None:
    drive = Drive(
        flow_of(
            "a: {task: t, retries: 1, backoff: {initial: 10s, jitter: 0}}\nb: {task: wait, with: {for: 1h}}"
        )
    )
    drive.fail("a")
    timers = [(timer.due, timer.input) for timer in drive.timers]

    assert told(drive, timers=timers) == [
        ("a", "backoff", "Attempt 1 of 'a' failed; it is tried again at 2026-03-01T12:00:10Z."),
        ("b", "timer", "'b' sleeps until 2026-03-01T13:00:00Z."),
    ]


def test_a_serialized_step_says_behind_which_run_it_stands() -> None:
    drive = Drive(
        flow_of("a: {task: t, serialize: '\"k\"'}\nb: {task: t, serialize: '\"k\"', serialize_scope: a}")
    )
    number = drive.step("b").latest
    line = LockRow(firing=number, index=WHOLE, key='a/"k"', held=False, ahead=2, holders=("r1",))

    said = told(drive, "b", locks=[line])

    text = "'b' is serialized: run r1 has the key 'a/\"k\"', and 2 more wait before it."
    assert said == [("b", "serialized", text)]
    [(_, _, paused)] = told(drive, "b", locks=[line], paused=["r1"])
    assert paused.startswith("'b' is serialized: run r1 (which is paused) has the key")


def test_a_pause_says_whose_it_is() -> None:
    drive = Drive(flow_of("a: {task: t}\nb: {task: t, after: a}"))
    drive.happen(Paused("workflow"))
    drive.done("a")

    said = why_run(drive.flow, drive.snapshot, facts())

    assert said["text"] == "The workflow is paused; nothing new begins until it is resumed."
    assert told(drive) == [("b", "paused", "'b' could begin: the workflow is paused.")]


def test_missing_events_say_who_could_fire_them() -> None:
    head = "external: [paid]"
    drive = Drive(flow_of("a: {task: t}\nb: {task: t}\nc: {task: t, after: [a, b | paid]}", head))
    drive.done("a")

    [_, (step, reason, text)] = told(drive)

    assert (step, reason) == ("c", "missing events")
    assert text == (
        "'c' waits for 'b' or 'paid'; 'b' can come from step 'b' (running), 'paid' can come from a call from outside."
    )


def test_a_run_that_waits_for_outside_says_for_what() -> None:
    drive = Drive(flow_of("a: {task: t, after: paid}", "external: [paid]"))

    refused = [("job", "7", "other")]
    assert why_run(drive.flow, drive.snapshot, facts(refused=refused)) == {
        "status": "waiting",
        "waiting_for": ["paid"],
        "text": "The run waits for 'paid' from outside.",
        "steps": [
            {
                "step": "a",
                "reason": "missing events",
                "missing": [{"event": "paid", "steps": [], "outside": True, "came": False}],
                "text": "'a' waits for 'paid'; 'paid' can come from a call from outside.",
            }
        ],
        "refused_keys": [
            {
                "key": {"job": "7"},
                "holder": "other",
                "text": "The key job=7 belongs to run 'other' as long as that is live: events with it go there.",
            }
        ],
    }


def test_events_behind_parallel_and_a_failed_step_are_told() -> None:
    drive = Drive(
        flow_of(
            "a: {task: t, after: go}\nb: {task: t, fails: x}\nc: {task: t, after: x}",
            "external: [{name: go, many: true}]",
        )
    )
    drive.event("go")
    drive.event("go")
    drive.fail("b", "broken")

    reasons = [
        (step, reason) for step, reason, _ in told(drive, tasks=[task_row(drive, "a"), task_row(drive, "c")])
    ]

    assert reasons == [("a", "no worker"), ("a", "parallel"), ("b", "failed"), ("c", "no worker")]


def test_elements_of_a_fan_are_told_together() -> None:
    drive = Drive(flow_of("a: {task: t, each: data.xs, parallel: 2}"), {"xs": [1, 2, 3, 4]})

    said = why_run(drive.flow, drive.snapshot, facts())["steps"]

    assert [(each["reason"], each["elements"]) for each in said] == [("running", 2), ("parallel", 2)]


def test_a_task_list_says_why_it_does_not_move() -> None:
    def reason(workers: list[Worker], row: QueueRow) -> tuple[str, str]:
        said = why_list("default", facts(workers=workers, queues=[row]))
        return said["reason"], said["text"]

    assert reason([], queue(3)) == ("no worker", "No worker serves list 'default'; 3 tasks wait.")
    assert reason([], queue(1))[1] == "No worker serves list 'default'; 1 task waits."
    busy = "List 'default': 3 tasks wait, and its worker (amy) is busy."
    assert reason([worker()], queue(3, 2)) == ("busy", busy)
    assert reason([worker()], queue(3, 1))[0] == "moving"
    assert reason([worker()], queue(held=2))[0] == "paused"
    assert reason([worker()], queue()) == ("idle", "Nothing waits on list 'default'.")


def test_a_stalled_run_tells_what_is_missing_and_that_nobody_fires_it() -> None:
    decide = "a: {task: decide, with: {if: 'true'}, emits: {then: x, else: y}}"
    drive = Drive(flow_of(f"{decide}\nb: {{task: t, after: y}}\nc: {{task: t, after: [x, z]}}"))

    assert drive.status == "stalled"
    who = "'y' can come from step 'a' (complete), but nobody will fire it as things are"
    assert told(drive) == [
        ("b", "missing events", f"'b' waits for 'y'; {who}."),
        ("c", "missing events", "'c' waits for 'z'; nothing fires 'z'."),
    ]


LOOPED = "a: {task: t, emits: left}\nj: {task: t, after: [left, up]}\nk: {task: t, after: j, emits: left}"


def test_an_event_that_came_and_counts_once_is_told_as_such() -> None:
    drive = Drive(flow_of(LOOPED, "external: [up]"))
    drive.event("up")
    for step in ("a", "j", "k"):
        drive.done(step)

    assert drive.status == "stalled"
    assert told(drive) == [
        ("j", "missing events", "'j' waits for 'up'; 'up' came from outside before and counts once.")
    ]
    [missing] = why_run(drive.flow, drive.snapshot, facts())["steps"][0]["missing"]
    assert missing == {"event": "up", "steps": [], "outside": False, "came": True}


def test_a_step_whose_events_came_and_were_used_is_not_among_what_waits() -> None:
    drive = Drive(flow_of("j: {task: t, after: up}\nlast: {task: t, after: ok}", "external: [up, ok]"))
    drive.event("up")
    drive.done("j")

    assert drive.status == "waiting"
    assert [step for step, _, _ in told(drive)] == ["last"]


class Counted(list[Any]):
    """A list that counts how often it is gone through."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        self.times += 1
        return super().__iter__()

    def __reversed__(self) -> Iterator[Any]:
        self.times += 1
        return super().__reversed__()


def test_rows_are_gone_through_once_however_many_elements_there_are() -> None:
    """Or else one look at a run of twenty thousand elements holds the server for half a minute."""
    drive = Drive(flow_of("a: {task: t, each: 'data.items'}"), input={"items": [0] * 40})
    row = TaskRow(
        lease=Lease("run", 1, WHOLE, 1, 1),
        task="t",
        task_list="default",
        worker=None,
        held=False,
        queued_at=START_TIME,
        started_at=None,
        progress=None,
    )
    places = [(each.firing, each.index) for each in drive.snapshot.elements.values()]
    rows = Counted(replace(row, lease=Lease("run", firing, index or 0, 1, 1)) for firing, index in places)
    workers, queues = Counted([worker(), worker("bob")]), Counted([queue(40)])

    [said] = why_run(drive.flow, drive.snapshot, facts(tasks=rows, workers=workers, queues=queues))["steps"]

    assert said["reason"] == "queued" and said["elements"] == 40
    assert max(rows.times, workers.times, queues.times) <= 2
