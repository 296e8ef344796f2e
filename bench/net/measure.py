"""Rounds: each contender in its own process, asked in turn, so that all see the same moment of the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[2]


class Sample(Struct, frozen=True):
    """What one contender needed for one work: microseconds a step, round by round."""

    micros: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.micros)

    @property
    def median(self) -> float:
        return median(self.micros)


class Stopped(RuntimeError):
    """A contender ended, or was ended, before it had answered."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the contender '{name}' stopped; what it wrote is above")
        self.name = name


class Contender:
    """A process that does works on request. One that is not installed has `missing` set and no works.

    At `until` (by `time.monotonic`) it is killed: whoever waits for it then has a Stopped.
    """

    def __init__(self, name: str, python: str = sys.executable, until: float | None = None) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [python, "-m", "bench.net.process", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            # A contender may have an environment of its own, in which Penstock is not installed.
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        left = None if until is None else max(0.0, until - time.monotonic())
        self._end = None if left is None else threading.Timer(left, self._process.kill)
        if self._end is not None:
            self._end.daemon = True
            self._end.start()
        hello = self._read()
        self.missing: str | None = hello.get("missing")
        self.version: str | None = hello.get("version")
        self.steps: Mapping[str, int] = hello.get("steps", {})
        self.answers: Mapping[str, Any] = hello.get("answers", {})
        self._repeats: dict[str, int] = {}

    def __enter__(self) -> Contender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        """Its input ends, and so does the process."""
        self._process.communicate()
        if self._end is not None:
            self._end.cancel()

    def prepare(self, work: str, seconds: float) -> None:
        """Warm up, and find how often the work is done in one round."""
        self._repeats[work] = self._ask({"work": work, "seconds": seconds})["repeats"]

    def measure(self, work: str) -> float:
        """One round: microseconds a step."""
        count = self._repeats[work]
        spent: int = self._ask({"work": work, "repeats": count})["ns"]
        return spent / 1000 / count / self.steps[work]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._leave()
            raise Stopped(self.name)
        answer: dict[str, Any] = json.loads(line)
        return answer


def rounds(work: str, contenders: Iterable[Contender], count: int, seconds: float) -> dict[str, Sample]:
    """A B C, A B C, ...: the work by every contender that has it, by name."""
    able = [each for each in contenders if work in each.steps]
    for each in able:
        each.prepare(work, seconds)
    spent: dict[str, list[float]] = {each.name: [] for each in able}
    for _ in range(count):
        for each in able:
            spent[each.name].append(each.measure(work))
    return {name: Sample(tuple(micros)) for name, micros in spent.items()}


def ratio(ours: Sample, theirs: Sample) -> float:
    """The median over the rounds of ours to theirs in the same round."""
    return median(mine / other for mine, other in zip(ours.micros, theirs.micros, strict=True))
