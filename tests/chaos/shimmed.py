"""`penstock` on a disk that is full or slow, or with a clock that is wrong, as a file says from moment to moment.

Run as `python -m tests.chaos.shimmed ARGS`, with the variable CHAOS_SHIM naming that file.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime, timedelta, tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any

import apsw
import msgspec

CONTROL = "CHAOS_SHIM"
MACHINE = apsw.vfs_names()[0]
WITH_A_CLOCK = (
    "penstock.runtime.node.clock",
    "penstock.workers.worker.worker",
    "penstock.remote.gate",
    "penstock.sources.triggers.trigger",
    "penstock.sources.hooks.hooks",
    "penstock.api.work.worker_registry",
    "penstock.store.sqlite.store",
)
"""Modules that ask this machine for the time; the others are told."""


class Shim(msgspec.Struct, frozen=True):
    """What is wrong just now."""

    sync: float = 0.0  # seconds that the disk takes to write what it holds
    full: bool = False
    failing: bool = False  # the disk reports an error when it is to sync
    clock: float = 0.0  # seconds that the clock is ahead


def _now() -> Shim:
    return msgspec.json.decode(Path(os.environ[CONTROL]).read_bytes(), type=Shim)


class Disk(apsw.VFS):
    """The machine's own, for every file that SQLite opens from now on."""

    def __init__(self) -> None:
        super().__init__("shim", MACHINE, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return File(MACHINE, name, flags)


class File(apsw.VFSFile):
    def xWrite(self, data: bytes, offset: int) -> None:
        if _now().full:
            raise apsw.FullError("the disk is full")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        shim = _now()
        if shim.failing:
            raise apsw.IOError("the disk fails")
        if shim.sync:
            with Path(os.environ[CONTROL]).with_suffix(".slow").open("ab") as file:
                file.write(b".")
            time.sleep(shim.sync)  # the disk is slow
        super().xSync(flags)


class _Type(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, datetime)


class Wrong(datetime, metaclass=_Type):
    """What `datetime` is for those who ask what time it is here."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        return datetime.now(tz) + timedelta(seconds=_now().clock)


def main() -> None:
    """The command, as it would be without."""
    disk = Disk()
    for name in WITH_A_CLOCK:
        module = import_module(name)
        assert module.__dict__["datetime"] is datetime
        module.__dict__["datetime"] = Wrong
    from penstock.cli.main import main as command

    try:
        command()
    finally:
        del disk


if __name__ == "__main__":
    sys.argv[0] = "penstock"
    main()
