"""The processes of one measurement, each asked and heard by lines."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import msgspec

from bench.engine.workloads import NotDone
from bench.http.load import Ask, Heard


class Process:
    """A module that runs, with its input and output."""

    def __init__(self, process: subprocess.Popen[str], name: str) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._in: IO[str] = process.stdin
        self._out: IO[str] = process.stdout
        self._name = name

    def hear(self) -> str:
        """Its next line. Raises NotDone where it ended."""
        line = self._out.readline()
        if not line:
            raise NotDone(f"{self._name} ended: what it said is above")
        return line.strip()

    def say(self, line: str) -> None:
        self._in.write(line + "\n")
        self._in.flush()


@contextmanager
def process(module: str, *args: str) -> Iterator[Process]:
    """A module of this package in a process of its own; it ends when its input does."""
    command = [sys.executable, "-m", f"bench.http.{module}", *args]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Process(child, f"{module} {' '.join(args)}")
        child.communicate(timeout=30)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()


def load(client: Process, ask: Ask) -> Heard:
    """What the load heard. Raises NotDone where some answers were not good."""
    client.say(msgspec.json.encode(ask).decode())
    heard = msgspec.json.decode(client.hear(), type=Heard)
    if heard.wrong:
        raise NotDone(f"{ask.method} {ask.path} was answered: {heard.wrong[0][:500]}")
    return heard
