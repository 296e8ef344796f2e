"""What a process says when it is ready: what is where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from rich.text import Text

from penstock.cli.admin.database import address_in
from penstock.cli.io.console import out, print_json, printable
from penstock.cli.serve.process import Post
from penstock.engine.services import EngineServices
from penstock.server.build import Front
from penstock.workers.worker.worker import Worker


class Shown(Struct, frozen=True):
    """A workflow that is published: its version, and the file it came from."""

    name: str
    version: int
    file: str

    def words(self) -> str:
        return f"{printable(self.name)} version {self.version} ({printable(self.file)})"


async def show_post(
    running: EngineServices, post: Post, workflows: Sequence[Shown], json: bool, base: str | None = None
) -> None:
    """Tell where it answers, where runs are kept, what is published, which tasks are done here, how to stop."""
    facts = await running.store.facts()
    worker = running.worker
    if json:
        print_json(
            {
                "server": base,
                "db": address_in(facts),
                "schema": facts["schema"],
                "workflows": [msgspec.to_builtins(each) for each in workflows],
                **_worker_view(worker),
            }
        )
        return
    if base is not None and post.front is not None:
        _line("server", f"{base} {_sign_in(post.front)}")
    _line("store", f"{printable(address_in(facts))} (schema {facts['schema']})")
    for each in workflows:
        _line("workflow", each.words())
    if worker is None:
        _line("tasks", "none are done here: workers do them")
    else:
        _worker_lines(worker)
    _stop_line(post)


def show_worker(worker: Worker, server: str, post: Post, json: bool) -> None:
    """Tell for whom a worker works, what it does, and how to stop it."""
    if json:
        print_json({"server": server, **_worker_view(worker)})
        return
    _line("server", printable(server))
    _worker_lines(worker)
    _stop_line(post)


def _worker_view(worker: Worker | None) -> dict[str, Any]:
    if worker is None:
        return {"worker": None, "task_lists": [], "tasks": []}
    return {"worker": worker.name, "task_lists": list(worker.task_lists), "tasks": sorted(worker.tasks)}


def _worker_lines(worker: Worker) -> None:
    _line("worker", printable(worker.name))
    _line("lists", printable(", ".join(worker.task_lists)))
    _line("tasks", printable(", ".join(sorted(worker.tasks))))


def _stop_line(post: Post) -> None:
    _line("stop", f"Ctrl-C or SIGTERM; tasks that run have {post.grace.total_seconds():g}s to end")


def _sign_in(front: Front) -> str:
    return "(no sign-in: only this machine can reach it)" if front.open else "(sign-in: a token is needed)"


def _line(name: str, words: str) -> None:
    out().print(Text.assemble((f"{name:<9}", "faint"), words))
