"""A command that stays: started, read line by line, signalled, ended with the test."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock import Engine
from tests.cli.command import Said, command, environment

HELLO = """\
penstock: 1
name: hello
steps:
  greet: {task: greet}
  again: {task: greet, after: greet}
"""
GREETER = """\
import sys

from penstock import task


@task
def greet():
    print("greeted", file=sys.stderr, flush=True)
    return "hello"
"""
GATED = """\
import sys

from penstock import task


@task
def greet():
    print("begun", file=sys.stderr, flush=True)
    with open({gate!r}) as gate:
        return gate.read()
"""
"""A task that ends with what is written into a pipe."""


LONGEST = 60.0
"""Seconds after which a process is killed: a test that waits for its words must fail, not hang."""


class Serving:
    """The process; what it said on stderr is read up to the words that are waited for."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.err = ""
        self._unread: list[str] = []  # lines that came before others that were waited for

    def until(self, words: str) -> None:
        """Wait for a line with these words, each line once; fails where the process ends without it."""
        assert self.process.stderr is not None
        for line in self._unread:
            if words in line:
                self._unread.remove(line)
                return
        while line := self.process.stderr.readline():
            self.err += line
            if words in line:
                return
            self._unread.append(line)
        raise AssertionError(f"it ended without saying '{words}':\n{self.err}")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> Said:
        """How it ended, and all that it said."""
        out, err = self.process.communicate(timeout=60)
        return Said(self.process.returncode, out, self.err + err)

    def stop(self) -> Said:
        self.signal(signal.SIGTERM)
        return self.end()


@contextmanager
def serving(
    *args: object,
    cwd: Path,
    ready: bool = True,
    longest: float = LONGEST,
    program: Path | None = None,
    **variables: str,
) -> Iterator[Serving]:
    """A command, ours or that of another place, in a process and group of its own, which does not outlive the test."""
    process = subprocess.Popen(
        [str(program), *map(str, args)] if program else command(*args),
        cwd=cwd,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    served, end = Serving(process), threading.Timer(longest, process.kill)
    end.start()
    try:
        if ready:
            served.until("is ready")
        yield served
    finally:
        end.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def started(db: str, workflow: Path) -> str:
    """A run that nobody has worked on yet; its id."""
    with Engine.sync(db, tasks={}, work=False) as engine:
        engine.publish(workflow)
        return str(engine.start("hello"))


def shown(db: str, run: str) -> dict[str, Any]:
    """A run as the database has it."""
    with Engine.sync(db, tasks={}, work=False) as engine:
        view: dict[str, Any] = engine.show(run)
        return view
