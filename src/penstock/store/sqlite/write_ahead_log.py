"""The write-ahead log: space is allocated in advance, and a full log is checkpointed.

A commit that makes the log longer has the disk write down its new length as well, which takes as long again. A log
that was written to its end keeps its length until the file is closed, and commits go over what is there.
"""

from __future__ import annotations

import logging
import math

import apsw

log = logging.getLogger("penstock.store")

HEADER, FRAME = 32, 24
"""Bytes before the first page of a log, and before each."""

INITIAL_PAGES = 1_000
"""Pages that are allocated with the first commit to a new file."""

ZEROS = bytes(65_536)
"""What is written at a time: a file of SQLite takes less than 128 KiB in one call."""


class Log:
    """Knows how many pages are in the log; `limit` of them come together before it begins anew.

    Room for the `first` of them is taken with the first commit, and when they are used up for all.
    """

    def __init__(self, db: apsw.Connection, vfs: str | None, first: int, limit: int) -> None:
        self._db, self._vfs, self._first, self._max_pages = db, vfs or "", min(first, limit), limit
        self._path = db.filename  # a connection that was closed does not say it
        self._pages = self._room = 0
        self._failing = False  # and it was logged
        self._full: float = 1  # pages at which there is something to do
        db.set_wal_hook(self._hear)  # in place of SQLite's own, which folds the log as part of some COMMIT

    @property
    def is_full(self) -> bool:
        """Whether somebody who has the time should tend it, as the only one who writes."""
        return self._pages >= self._full

    def tend(self) -> None:
        """Take room, or fold the log into the file. What a disk has no room for is done without until the log is full:
        nothing of it is for keeping what was committed, and it never fails. Who calls has committed already, and holds
        what all others wait for."""
        if not self.is_full:
            return
        try:
            if self._pages >= self._max_pages:
                self._full = self._max_pages if self._room >= self._max_pages else 1
                self._db.wal_checkpoint()
            else:
                self._take_room(self._max_pages if self._room else self._first)
        except Exception as error:
            if not self._failing:
                log.warning(
                    "the log of '%s' cannot be folded into the file, or made longer (%s): it grows until the disk "
                    "lets it; nothing is lost",
                    self._path,
                    error,
                )
            self._failing = True
        else:
            self._failing = False

    def let_be(self) -> None:
        """Do no more to it: a commit failed, and its connection will be closed."""
        self._full = math.inf

    def _hear(self, db: apsw.Connection, name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _take_room(self, pages: int) -> None:
        """Fill the log up with zeros, which SQLite takes for its end."""
        self._full = self._max_pages  # also where it fails: whoever commits waits for each try
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_WAL
        # As SQLite calls it: a name that was given may be a link, or mean another file since the folder was changed.
        log = apsw.VFSFile(self._vfs, self._db.filename_wal, [flags, 0])
        try:
            _fill(log, HEADER + pages * (FRAME + self._db.pragma("page_size")))
            self._room = pages
            if pages < self._max_pages:
                self._full = pages
        finally:
            log.xClose()


def _fill(log: apsw.VFSFile, end: int) -> None:
    at = before = log.xFileSize()
    try:
        while at < end:
            log.xWrite(ZEROS[: end - at], at)
            at += len(ZEROS)
        log.xSync(apsw.SQLITE_SYNC_NORMAL)
    except apsw.Error:
        log.xTruncate(before)
        raise
