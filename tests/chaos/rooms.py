"""Rooms: threads with a network or mounts of their own. Whatever is begun from inside is in there, too.

A room has no name, so that nothing of it can be left behind: the kernel drops it with the last process inside,
however the test ends. Where rooms cannot be made, `can_make` says so, and tests take another way.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

NETWORK, MOUNTS = 0x4000_0000, 0x0002_0000
"""CLONE_NEWNET, CLONE_NEWNS."""


def enter(kinds: int) -> None:
    """Move the calling thread into a new room, whose own machine is all it reaches. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(kinds) != 0:
        raise OSError(ctypes.get_errno(), "no room of its own can be made")
    if kinds & MOUNTS:  # else what is mounted in here would be seen outside
        subprocess.run(["mount", "--make-rprivate", "/"], check=True, capture_output=True)
    if kinds & NETWORK:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True, capture_output=True)


def thread_in(kinds: int) -> ThreadPoolExecutor:
    """One thread that stays in a new room."""
    return ThreadPoolExecutor(1, initializer=enter, initargs=(kinds,))


def run_in(kinds: int, work: Callable[[], T]) -> T:
    """What `work` answers, done in a new room; `kinds` 0: in no room, but in a thread as well."""
    with ThreadPoolExecutor(1) if kinds == 0 else thread_in(kinds) as room:
        return room.submit(work).result()


def where() -> str:
    """The network of the calling thread, as other programs can name it."""
    return f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns/net"


@functools.cache
def can_make(kinds: int) -> bool:
    """Whether this machine lets us make such a room, and furnish it; CHAOS_ROOMS=off says that it does not."""
    if os.environ.get("CHAOS_ROOMS") == "off":
        return False
    furnish = {
        NETWORK: ["ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"],
        MOUNTS: ["mount", "-t", "tmpfs", "-o", "size=1m", "probe", "/mnt"],
    }[kinds]
    if shutil.which(furnish[0]) is None:
        return False

    def furnished() -> None:
        enter(kinds)
        subprocess.run(furnish, check=True, capture_output=True)

    try:
        run_in(0, furnished)  # a thread of its own: it stays in its room until it ends
    except (OSError, subprocess.CalledProcessError):
        return False
    return True
