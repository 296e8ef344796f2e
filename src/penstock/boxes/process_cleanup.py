"""Processes that outlive a command, including those that left its group and session."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress

MARK = "PENSTOCK_COMMAND"
"""The variable by which whatever a command starts is known: it is handed down, a parent that died is not."""

PROC = "/proc"


def kill_all(pid: int, mark: str, *, lives: bool) -> None:
    """End the group of `pid`, and on Linux every process that it started; `lives`: the number is still its own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    killed: set[int] = set()
    # A process may start another one during the search.
    while found := _descent({pid} if lives else set(), mark) - killed:
        for each in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        killed |= found


def _descent(roots: set[int], mark: str) -> set[int]:
    """Those that carry the mark, and the children of all that are found; empty where there is no /proc."""
    sign = f"{MARK}={mark}".encode()
    parents = dict(_parents())
    found = {pid for pid in parents if pid in roots or sign in _read(f"{PROC}/{pid}/environ").split(b"\0")}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return found


def _parents() -> Iterator[tuple[int, int]]:
    """Every process that is not dead, with its parent."""
    try:
        names = os.listdir(PROC)
    except OSError:
        return
    for name in names:
        if name.isdigit():
            fields = _read(f"{PROC}/{name}/stat").rpartition(b")")[2].split()
            if len(fields) > 1 and fields[0] not in (b"Z", b"X"):
                yield int(name), int(fields[1])


def _read(path: str) -> bytes:
    """Empty for a process that no longer exists or belongs to another user."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
