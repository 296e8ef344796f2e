"""Processes that are killed and begin again: each in a group of its own, none outlives the test."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from tests.cli.command import command, environment
from tests.postgres_server import die_with_us
from tests.waiting import until

AGAIN = 0.7
"""Seconds before a process that ended is begun again."""
LAST = 150.0
"""Seconds that all of them together have to begin, and to stop in good order."""


class Member:
    """One command that is to be there all the time; every start is an incarnation with files of its own.

    `spawn` is one thread that starts it, where it is to be in that thread's room; `program` is what is run.
    """

    def __init__(
        self,
        name: str,
        args: Sequence[object],
        folder: Path,
        variables: Mapping[str, str],
        *,
        spawn: Executor | None = None,
        program: Callable[..., list[str]] = command,
    ) -> None:
        self.name, self._args, self._folder, self.variables = name, args, folder, variables
        self._spawn, self._program = spawn, program
        self.starts = 0
        self.codes: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.starts += 1
        self._process = self._begun() if self._spawn is None else self._spawn.submit(self._begun).result()

    def _begun(self) -> subprocess.Popen[bytes]:
        with (self._folder / f"{self.name}-{self.starts}.log").open("wb") as log:
            return subprocess.Popen(
                self._program(*self._args, "--stats", self._stats),
                env=environment(**self.variables),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=partial(die_with_us, signal.SIGKILL),  # also where it is stopped just then
            )

    @property
    def memory(self) -> int:
        """Bytes that it holds in memory; 0 where it is not there."""
        try:
            status = Path(f"/proc/{self._process.pid if self._process else 0}/status").read_text()
        except OSError:
            return 0
        return next((int(line.split()[1]) << 10 for line in status.splitlines() if "VmRSS" in line), 0)

    @property
    def _stats(self) -> Path:
        return self._folder / f"{self.name}-{self.starts}.stats"

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def notes(self) -> str:
        """What its tasks have noted so far."""
        file = self._folder / "ledger" / str(self._process.pid if self._process else "none")
        return file.read_text() if file.exists() else ""

    @property
    def ready(self) -> bool:
        """Whether it has begun to work: it counts."""
        return self.alive and self._stats.exists()

    def send(self, number: signal.Signals) -> bool:
        """Signal it and whatever it has started; False: it is not there."""
        if not self.alive or self._process is None:
            return False
        os.killpg(self._process.pid, number)
        return True

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code."""
        assert self._process is not None
        return self._process.wait(timeout)

    def tend(self) -> bool:
        """Begin it again where it has ended by itself; True: it had."""
        if self._process is None or self._process.poll() is None:
            return False
        self.codes.append(self._process.returncode)
        self._process = None
        return True


class Crew:
    """All members, kept going while `tending`."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = list(members)
        self.in_vain = 0  # starts that came to nothing because the database was away
        self.wrong_ends: list[str] = []
        self._rolled: set[Member] = set()
        self._tending: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Start all and wait until they work."""
        for member in self.members:
            member.start()
        self._tending = asyncio.create_task(self._tend())
        await self.all_ready()

    async def all_ready(self) -> None:
        """Wait until all work. Raises AssertionError."""
        await until(lambda: all(member.ready for member in self.members), "all to work", LAST)

    async def _tend(self) -> None:
        while True:
            await asyncio.sleep(0.05)  # it looks after them for as long as they live
            for member in self.members:
                if member.tend():
                    self._judge(member)
                    asyncio.get_running_loop().call_later(AGAIN, self._start, member)

    def _start(self, member: Member) -> None:
        if self._tending is not None:
            member.start()

    def _judge(self, member: Member) -> None:
        """Killed by us, or it could not begin; whatever else ends a process is a fault of ours."""
        code = member.codes[-1]
        self.in_vain += code == 2
        if code == 0 and member in self._rolled:
            self._rolled.discard(member)
        elif code not in (2, -signal.SIGKILL):
            self.wrong_ends.append(f"{member.name} ended with exit code {code}")

    async def roll(self, member: Member, variables: Mapping[str, str]) -> None:
        """Stop one in good order, and wait until it has begun again, with other variables."""
        member.variables, starts = variables, member.starts
        self._rolled.add(member)
        member.send(signal.SIGTERM)
        await until(lambda: member.starts > starts and member.ready, f"{member.name} to work again", LAST)

    async def stop(self) -> None:
        """Stop all in good order."""
        if self._tending is not None:
            self._tending.cancel()
            self._tending = None
        for member in self.members:
            member.send(signal.SIGTERM)
        for member in self.members:
            if member.alive or not member.codes:
                code = await asyncio.to_thread(member.wait, LAST)
                if code:
                    self.wrong_ends.append(f"{member.name} stopped with exit code {code}")

    def kill(self) -> None:
        """None is left."""
        if self._tending is not None:
            self._tending.cancel()
            self._tending = None
        for member in self.members:
            if member.send(signal.SIGKILL):
                member.wait()


def read_stats(folder: Path) -> list[dict[str, Any]]:
    """What each incarnation has counted, as far as it came to write it."""
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.stats"))]


def tracebacks(folder: Path) -> list[str]:
    """What logs tell of errors nobody foresaw: the line, and what it ended with."""
    return [
        f"{file.name}: {told}"
        for file in sorted(folder.glob("*.log"))
        for told in unforeseen(file.read_text(errors="replace").splitlines())
    ]


def unforeseen(lines: list[str]) -> list[str]:
    """Each line that begins such an error, with the lines around it that say where and what."""
    return [
        " | ".join(line.strip() for line in lines[max(0, at - 2) : at + 40])
        for at, line in enumerate(lines)
        if "Traceback" in line or "bug in Penstock" in line
    ]
