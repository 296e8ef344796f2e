"""Commands against a real server: one process for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.command import Said, penstock, write
from tests.cli.serving import serving
from tests.cli.test_front import base_of

WAITING = """\
penstock: 1
name: waiting
external: [go]
steps:
  greet: {task: greet}
  again: {task: greet, after: [greet, go]}
"""
TASKS = """\
from penstock import Context, task


@task
def greet(ctx: Context):
    ctx.log("hello from greet")
    return "hello"


@task
def breaks():
    raise RuntimeError("no")
"""
FAILING = "penstock: 1\nname: failing\nsteps: {only: {task: breaks}}\n"


class Place:
    """A server, and a folder for files."""

    def __init__(self, base: str, folder: Path) -> None:
        self.base, self.folder = base, folder

    def __call__(self, *args: object, stdin: str = "") -> Said:
        return penstock(*args, "--server", self.base, stdin=stdin)

    def run(self, workflow: str = "waiting", *more: object) -> str:
        """A new run; its id."""
        return self("start", workflow, *more).out.strip()


@contextmanager
def a_place(folder: Path) -> Iterator[Place]:
    """A server with two workflows and their tasks."""
    write(folder, "tasks.py", TASKS)
    files = [
        write(folder, f"{name}.yaml", text) for name, text in (("waiting", WAITING), ("failing", FAILING))
    ]
    with serving("up", "--tasks", "tasks.py", cwd=folder) as up:
        place = Place(base_of(up), folder)
        said = place("publish", *files)
        assert said.code == 0, said.err
        yield place
        up.stop()
