"""Small changes for the tests of the file: runs of one workflow, a task each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.store.rows.change import Change, EndedTask, NewRun, NewTask

T0 = datetime(2026, 1, 1, tzinfo=UTC)
BEAT = timedelta(seconds=30)


def run_id(number: int) -> str:
    return f"{number:020x}"


def a_task(firing: int, worker: str | None = "me") -> NewTask:
    return NewTask(
        firing=firing,
        index=-1,
        attempt=1,
        task="task",
        task_list="default",
        priority=0,
        schedule_to_start=None,
        start_to_close=None,
        schedule_to_close=None,
        heartbeat=BEAT,
        worker=worker,
    )


def begin(number: int, size: int = 300, tasks: tuple[NewTask, ...] = (a_task(1),)) -> Change:
    """A run is made, with one task under way."""
    new = NewRun(
        workflow="flow", version=1, subject=None, parent=None, labels="{}", started_at=T0, header=b"header"
    )
    return Change(
        run=run_id(number),
        base=0,
        revision=1,
        seq=1,
        status="running",
        ended_at=None,
        waiting=None,
        head=b"h" * size,
        new=new,
        page=b"p" * 100,
        page_from=1,
        tasks=tasks,
    )


def turn(number: int, base: int, size: int = 300, over: bool = False) -> Change:
    """The task of firing `base` has ended, and the next is under way; or the run is over."""
    return Change(
        run=run_id(number),
        base=base,
        revision=base + 1,
        seq=base + 1,
        status="succeeded" if over else "running",
        ended_at=T0 if over else None,
        waiting=None,
        head=b"h" * size,
        page=b"p" * 100,
        page_from=base + 1,
        ended=(EndedTask(base, -1, 1, 1),),
        tasks=() if over else (a_task(base + 1),),
        over=over,
    )
