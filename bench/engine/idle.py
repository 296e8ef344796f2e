"""One node by itself: how soon its first run is done, and what it costs while nothing happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter, sleep

from msgspec import Struct

from bench.engine.workloads import NotDone


class Idle(Struct, frozen=True):
    """Seconds to the first run, processor in percent and megabytes at rest; None where this system does not tell."""

    first_run: float
    cpu: float | None
    memory: float | None


def idle(url: str, seconds: float) -> Idle:
    """Launch a node on a store, and watch it for so long."""
    began = perf_counter()
    command = [sys.executable, "-m", "bench.engine.node", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        first_run = perf_counter() - began
        if said != "succeeded":
            raise NotDone(f"the first run of a node ended as '{said}'")
        before = _processor(process.pid)
        sleep(seconds)
        after = _processor(process.pid)
        memory = _memory(process.pid)
        process.communicate()
    cpu = None if before is None or after is None else 100 * (after - before) / seconds
    return Idle(first_run, cpu, memory)


def _processor(process: int) -> float | None:
    """Seconds of processor that a process has used."""
    text = _read(process, "stat")
    if text is None:
        return None
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(process: int) -> float | None:
    """Megabytes that a process has in memory."""
    text = _read(process, "status")
    if text is None:
        return None
    lines = dict(line.split(":", 1) for line in text.splitlines())
    return int(lines["VmRSS"].split()[0]) / 1024


def _read(process: int, name: str) -> str | None:
    try:
        return Path(f"/proc/{process}/{name}").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
