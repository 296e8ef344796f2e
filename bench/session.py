"""One session: a contestant's program is launched, does its workloads, and is gone. It always ends."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from tests.postgres_server import die_with_us

ROOT = Path(__file__).resolve().parent.parent
NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody is: whoever wants to call home or to look for news cannot."""
LAST_WORDS = 400


class Line(Struct, frozen=True, kw_only=True):
    """One figure, or why there is none."""

    work: str
    variant: str = ""
    value: float | None = None
    unit: str = ""
    error: str | None = None


class Heard(Struct, frozen=True):
    """All that a session said."""

    lines: tuple[Line, ...]
    facts: dict[str, Any]


def session(
    python: str,
    module: str,
    orders: Mapping[str, Any],
    disk: Path,
    seconds: float,
    environment: Mapping[str, str] | None = None,
) -> Heard:
    """Run a program with its orders in a folder of its own; after `seconds` it is killed with all that it started."""
    folder = Path(tempfile.mkdtemp(prefix="session-", dir=disk))
    asked = json.dumps({**orders, "folder": str(folder), "began": time.time()})
    with (folder / "errors.log").open("wb") as errors:
        child = subprocess.Popen(
            [python, "-m", module, asked],
            cwd=ROOT,
            env=_environment(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: die_with_us(signal.SIGKILL),
        )
    try:
        heard = _heard(_lines(child, seconds), seconds)
        if not heard.lines:
            heard = Heard((Line(work="all", error=_last(folder / "errors.log")),), heard.facts)
        return heard
    finally:
        end(child)
        shutil.rmtree(folder, ignore_errors=True)


def end(child: subprocess.Popen[str]) -> None:
    """Kill a program and its whole group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    proxies = {name: NOWHERE for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
    direct = {name: "127.0.0.1,localhost,::1" for name in ("NO_PROXY", "no_proxy")}
    return {**os.environ, **proxies, **direct, "PYTHONPATH": str(ROOT / "src"), **more}


def _lines(child: subprocess.Popen[str], seconds: float) -> Iterator[str | None]:
    """What the program says, line by line; None when its time is over."""
    said: queue.Queue[str] = queue.Queue()
    stream = child.stdout
    assert stream is not None

    def listen() -> None:
        with contextlib.suppress(ValueError, OSError):
            for line in stream:
                said.put(line)
        said.put("")

    threading.Thread(target=listen, daemon=True).start()
    until = time.monotonic() + seconds
    while True:
        try:
            line = said.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            yield None
            return
        if not line:
            return
        yield line


def _heard(said: Iterable[str | None], seconds: float) -> Heard:
    lines: list[Line] = []
    facts: dict[str, Any] = {}
    for text in said:
        if text is None:
            lines.append(Line(work="all", error=f"not done within {seconds:.0f} seconds"))
            break
        try:
            found = json.loads(text)
        except ValueError:
            continue  # a library that prints
        if not isinstance(found, dict):
            continue
        if "facts" in found:
            facts.update(found["facts"])
        elif "work" in found:
            lines.append(Line(**found))
    return Heard(tuple(lines), facts)


def _last(log: Path) -> str:
    said = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return said[-1][-LAST_WORDS:] if said else "it ended without a word"
