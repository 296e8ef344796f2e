"""Room for the log of a file that is written much, taken ahead.

A commit that makes the log longer has the disk write down its new length as well, which takes as long again. Written
once to its end, the log keeps that length until the file is closed, and commits go over what is there.
"""

from __future__ import annotations

import contextlib

import apsw

HEADER, FRAME = 32, 24
"""Bytes before the first page of a log, and before each."""

PIECE = bytes(65_536)
"""What is written at a time: a file of SQLite takes less than 128 KiB in one call."""


def take_room(db: apsw.Connection, path: str, vfs: str | None, pages: int) -> None:
    """Fill the log up to so many pages with zeros, which SQLite takes for its end; only while nobody writes to it.

    It is for speed alone: where the disk has no room for it, it is given back, and nothing is said.
    """
    with contextlib.suppress(apsw.Error):
        size = db.pragma("page_size")
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_WAL
        log = apsw.VFSFile(vfs or "", f"{path}-wal", [flags, 0])
        try:
            _fill(log, HEADER + pages * (FRAME + size))
        finally:
            log.xClose()


def _fill(log: apsw.VFSFile, end: int) -> None:
    at = before = log.xFileSize()
    try:
        while at < end:
            log.xWrite(PIECE[: end - at], at)
            at += len(PIECE)
        log.xSync(apsw.SQLITE_SYNC_NORMAL)
    except apsw.Error:
        log.xTruncate(before)
        raise
