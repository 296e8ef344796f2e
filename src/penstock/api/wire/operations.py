"""What operators look at."""

from __future__ import annotations

from msgspec import Struct


class Queue(Struct):
    """A task list."""

    task_list: str
    ready: int
    held: int
    running: int
    oldest: str | None


class WorkerSeen(Struct):
    """A worker that is there."""

    id: str
    name: str
    task_lists: list[str]
    tasks: list[str]
    concurrency: int
    started_at: str
    seen_at: str | None
