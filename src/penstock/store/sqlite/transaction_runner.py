"""Runs transactions on the writing connection, and recovers from a failed COMMIT; also the simplest writer."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, TypeVar

import apsw

from penstock.store.call_outcome import current_call, note_change
from penstock.store.errors import OutcomeUnknown, StoreFailing, StoreRefused
from penstock.store.sqlite.errors import meaning, store_error
from penstock.store.sqlite.session import SQL, Numbers, Result, Session, Ticks, Work
from penstock.store.sqlite.write_ahead_log import Log

MAX_LOOP_WAIT = 0.002
"""Seconds for which a loop may wait for the disk itself: to have a thread wait and tell takes as long."""
MAX_COUNTED_WAIT = 20 * MAX_LOOP_WAIT
"""Whatever took longer counts as this."""
NEWEST_WEIGHT = 0.1
"""Weight of the last commit in the estimate of the next one's duration."""

MEMORY = ":memory:"
BUSY_TIMEOUT, REOPEN_TIMEOUT = 10_000, 200
"""Milliseconds to wait for another process that uses the file: usually, and during a reopening, which holds up all."""
REOPEN_PAUSE = 0.5
"""Seconds between two tries to reopen."""

SUSPECT = "a commit before this call failed, and what it held may still be there"

log = logging.getLogger("penstock.store")

Source = TypeVar("Source")
Served = tuple[Any, BaseException | None]
"""What became of a piece of work."""


class TransactionRunner:
    """Runs work in transactions on the writing connection; `transactions` counts those that were committed.

    After a COMMIT that failed it is `suspect`: the log may hold the transaction, whole, and a crash would bring it
    back. Nothing is begun then until `reopen` has settled what is in the file.
    """

    def __init__(
        self,
        db: apsw.Connection,
        path: str,
        ticks: Ticks,
        numbers: Numbers,
        follow: Callable[[apsw.Connection], Log],
        again: Callable[[], apsw.Connection],
    ) -> None:
        """`follow` begins the log of a connection; `again` opens another connection that writes."""
        self.db, self.path, self.ticks, self.numbers = db, path, ticks, numbers
        self.log, self._follow, self._again = follow(db), follow, again
        self.transactions = 0
        self.suspect, self.reopen_after = False, 0.0
        self._pace = 2 * MAX_LOOP_WAIT  # seconds that a commit takes of late
        self._begun = False

    @property
    def is_quick(self) -> bool:
        """Whether the next commit is expected to take no longer than a moment."""
        return self._pace < MAX_LOOP_WAIT

    def session(self) -> Session:
        return Session(self.db, self.numbers, self.ticks.now(), self.numbers.fence)

    def transact(self, works: list[Work[Any]]) -> list[Served]:
        """Each in a savepoint of its own, all in one transaction; what failed for lack of room failed for all."""
        return self.finish(self.begin(works))

    def begin(self, works: list[Work[Any]]) -> list[Served]:
        """All but the COMMIT, which `finish` does. After a failure of the database itself nothing is begun.

        A savepoint copies every page that is changed: one that is alone needs none.
        """
        if self.suspect:
            return [(None, StoreFailing(SUSPECT)) for _ in works]
        try:
            self._back()  # where the disk failed while it was taken back
            self.db.execute("BEGIN IMMEDIATE")
            session = self.session()
            session.alone = len(works) == 1
            if session.alone:
                answers: list[Served] = [(works[0](session), None)]
            else:
                answers = [self._one(session, work) for work in works]
        except BaseException as error:
            return self._given_up(works, error)
        self._begun = True
        return answers

    def finish(self, answers: list[Served]) -> list[Served]:
        """Make durable what was begun: the answers, or why there are none."""
        if not self._begun:
            return answers
        self._begun = False
        began = perf_counter()
        try:
            self.db.execute("COMMIT")
        except (apsw.FullError, apsw.BusyError) as error:  # before the log had all of it
            return self._given_up(answers, error)
        except BaseException as error:
            if self.path == MEMORY:  # there is nothing that a crash could bring back
                return self._given_up(answers, error)
            self.suspect = True
            self.log.let_be()
            log.error("a commit failed: %r", error)
            return [(None, OutcomeUnknown(str(error) or type(error).__name__)) for _ in answers]
        self.transactions += 1
        # One that took some moments, as any may where others use the disk, too, changes little; after one that took
        # longer than a loop should stand still, a thread waits for the next ones.
        self._pace += NEWEST_WEIGHT * (min(perf_counter() - began, MAX_COUNTED_WAIT) - self._pace)
        return answers

    def reopen(self) -> None:
        """Settle what a failed COMMIT left behind, by reading the file as after a crash. Raises apsw.Error.

        Whoever else has a connection of this process must have closed it. The disk may have dropped what it failed
        to write although it can still be read: so the log is folded into the file and begun anew. Only when a commit
        has succeeded after that is there one truth, in memory and on the disk.
        """
        with contextlib.suppress(apsw.Error):
            self.db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self.db.close()
        db = self._again()
        try:
            db.set_busy_timeout(REOPEN_TIMEOUT)
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            db.execute(SQL["put_setting"], ("clean", "no"))
            db.set_busy_timeout(BUSY_TIMEOUT)
        except apsw.Error:
            let_go(db)
            raise
        self.db, self.log, self.suspect = db, self._follow(db), False

    def _given_up(self, works: Sequence[object], error: BaseException) -> list[Served]:
        with contextlib.suppress(apsw.Error):
            self._back()
        return [(None, meaning(error, self.path)) for _ in works]

    def _one(self, session: Session, work: Work[Any]) -> Served:
        self.db.execute("SAVEPOINT work")
        try:
            answer = work(session)
        except BaseException as error:
            meant = meaning(error, self.path)
            if meant is not error and not isinstance(meant, StoreRefused):
                raise  # the database itself failed: it may have taken back the whole transaction already
            self.db.execute("ROLLBACK TO work")
            self.db.execute("RELEASE work")
            return None, meant
        self.db.execute("RELEASE work")
        return answer, None

    def _back(self) -> None:
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")


class InlineWriter:
    """All in the caller's thread, on one connection: nothing depends on how threads are run."""

    def __init__(self, runner: TransactionRunner) -> None:
        self._runner = runner

    async def write(self, work: Work[Result]) -> Result:
        self._recover()
        work, changed = watched(work)
        [(answer, error)] = self._runner.transact([work])
        self._runner.log.tend()
        if error is not None:
            raise error
        if changed:
            note_change()
        result: Result = answer
        return result

    async def write_here(self, work: Work[Result], brief: bool = False) -> Result:
        return await self.write(work)

    async def read(self, work: Work[Result]) -> Result:
        self._look()
        return look(self._runner.session(), work, self._runner.path)

    async def apart(self, work: Callable[[apsw.Connection], Result]) -> Result:
        self._look()
        return look(self._runner.db, work, self._runner.path)

    def _recover(self) -> None:
        if self._runner.suspect:
            recover(self._runner)

    def _look(self) -> None:
        """Raises StoreFailing where the file could not be reopened."""
        self._recover()
        if self._runner.suspect:
            raise StoreFailing(SUSPECT)

    def close(self) -> None:
        let_go(self._runner.db)


def watched(work: Work[Result]) -> tuple[Work[Result], list[bool]]:
    """For work of a call: the same with a list that says, once it is done, whether it has changed a row."""
    changed: list[bool] = []
    call = current_call()
    if call is None or call.over:
        return work, changed

    def watch(session: Session) -> Result:
        before = session.db.total_changes()
        answer = work(session)
        changed[:] = [True] if session.db.total_changes() > before else []
        return answer

    return watch, changed


def look(at: Source, work: Callable[[Source], Result], path: str) -> Result:
    """Read, with failures of SQLite told in our words."""
    try:
        return work(at)
    except apsw.Error as error:
        raise store_error(error, path) from error


def recover(runner: TransactionRunner, then: Callable[[], None] = lambda: None) -> None:
    """Reopen a suspect runner, and `then` the rest. Where that fails, it stays suspect, and is tried again later."""
    if perf_counter() < runner.reopen_after:
        return
    try:
        runner.reopen()
        then()
        log.warning("the database was reopened after a commit that failed")
    except Exception as error:
        runner.suspect, runner.reopen_after = True, perf_counter() + REOPEN_PAUSE
        log.error("the database cannot be reopened after a commit that failed: %s", error)


def let_go(db: apsw.Connection) -> None:
    """Close a connection. If the log cannot be folded into the file now, the next opening does it."""
    with contextlib.suppress(apsw.Error):
        db.close()
