"""Task lists and workers on the wire."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Queue(Struct):
    """A task list."""

    task_list: str
    ready: int
    held: int
    running: int
    oldest: str | None


class SettingSeen(Struct):
    """A setting that is in force, and who says so."""

    name: str
    value: Any
    origin: str


class Settings(Struct):
    """What this server is told, and what it is."""

    version: str
    open: bool  # nobody needs to sign in, on this machine
    paused: bool  # the whole installation is
    store: dict[str, Any]
    settings: list[SettingSeen]


class WorkerSeen(Struct):
    """A worker that is there."""

    id: str
    name: str
    task_lists: list[str]
    tasks: list[str]
    concurrency: int
    started_at: str
    seen_at: str | None
