"""The writer: one thread, in which all waiting work shares one transaction and one fsync."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import apsw

from penstock.store.call_outcome import note_change
from penstock.store.errors import StoreAway, StoreBusy, StoreFailing
from penstock.store.sqlite.session import Result, Session, Work
from penstock.store.sqlite.switch_interval import SHORT_SWITCH_INTERVAL
from penstock.store.sqlite.transaction_runner import (
    SUSPECT,
    Served,
    TransactionRunner,
    let_go,
    look,
    recover,
    watched,
)

MAX_WORKS = 256
"""Pieces of work that share one transaction: more would make the first wait too long."""

Asked = tuple[Work[Any], "asyncio.Future[Any]"]
Answer = tuple["asyncio.Future[Any]", Any, BaseException | None]


class Writer(Protocol):
    """Does work on the rows."""

    async def write(self, work: Work[Result]) -> Result:
        """What the work answers, once it is durable; if it raises, nothing of it stays."""
        ...

    async def write_here(self, work: Work[Result], brief: bool = False) -> Result:
        """The same of work that takes the caller's thread no longer than handing it over would.

        `brief`: somebody waits for little, and the thread may wait a moment for a disk that was quick of late.
        """
        ...

    async def read(self, work: Work[Result]) -> Result:
        """What the work answers; it sees all that was durable when it was asked for, and changes nothing."""
        ...

    async def apart(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Something long, beside everything else, on a connection that only reads."""
        ...

    def close(self) -> None:
        """Finish what waits, and let go of the connections."""
        ...


class BatchWriter:
    """A thread that takes whatever waits, as many pieces at a time as there are, and answers them together."""

    def __init__(self, name: str, serve: Callable[[list[Work[Any]]], list[Served]]) -> None:
        self._queue: SimpleQueue[Asked | None] = SimpleQueue()
        self._serve = serve
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def ask(self, work: Work[Any]) -> asyncio.Future[Any]:
        future = asyncio.get_running_loop().create_future()
        self._queue.put((work, future))
        return future

    def stop(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        going = True
        while going:
            asked = [self._queue.get()]
            try:
                while len(asked) < MAX_WORKS:
                    asked.append(self._queue.get_nowait())
            except Empty:
                pass
            jobs = [job for job in asked if job is not None]
            going = len(jobs) == len(asked)
            if jobs:
                _answer(jobs, self._serve_all([work for work, _ in jobs]))

    def _serve_all(self, works: list[Work[Any]]) -> list[Served]:
        """A thread that dies would leave everybody waiting for ever."""
        try:
            return self._serve(works)
        except BaseException as error:
            return [(None, error)] * len(works)


def _answer(asked: list[Asked], served: list[Served]) -> None:
    """Wake each loop once for all its answers: a wake-up costs more than a row."""
    loops: defaultdict[asyncio.AbstractEventLoop, list[Answer]] = defaultdict(list)
    for (_, future), (answer, error) in zip(asked, served, strict=True):
        loops[future.get_loop()].append((future, answer, error))
    for loop, mine in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, mine)
        except RuntimeError:
            continue  # the loop is closed: no caller is left


def _settle(answers: list[Answer]) -> None:
    for future, answer, error in answers:
        if future.done():
            continue  # its caller was canceled meanwhile
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)


class ThreadWriter:
    """One thread writes, another reads, a third waits for the disk. They end with `close`.

    A loop that decides and a thread that writes take the interpreter from each other, which costs both more than a
    few rows. So the loop writes small batches itself, and only the COMMIT is left to a thread.
    """

    def __init__(
        self, runner: TransactionRunner, reader: apsw.Connection, another: Callable[[], apsw.Connection]
    ) -> None:
        self._runner, self._reader, self._another = runner, reader, another
        self._process = os.getpid()
        self._closed = False
        self._write_lock = threading.Lock()  # its holder may use the writing connection
        self._read_lock = threading.Lock()  # its holder may use the reading connection
        self._apart: set[apsw.Connection] = set()  # those of long work that reads
        self._here: deque[Asked] = deque()
        self._writing = BatchWriter("penstock-sqlite-write", self._transact)
        self._disk = ThreadPoolExecutor(1, "penstock-sqlite-commit")
        self._reading = BatchWriter("penstock-sqlite-read", self._look)

    async def write(self, work: Work[Result]) -> Result:
        self._check()
        work, changed = watched(work)
        answer: Result = await self._writing.ask(work)
        if changed:
            note_change()
        return answer

    async def write_here(self, work: Work[Result], brief: bool = False) -> Result:
        if self._runner.suspect:
            return await self.write(work)  # a thread reopens the file first, which takes long
        self._check()
        future = asyncio.get_running_loop().create_future()
        work, changed = watched(work)
        self._here.append((work, future))
        self._begin_here(future if brief else None)
        answer: Result = await future
        if changed:
            note_change()
        return answer

    def _begin_here(self, brief: asyncio.Future[Any] | None = None) -> None:
        """Write what waits for this thread, unless another has the pen: it calls again when it lays it down.

        Where nothing but what is `brief` waits, and the disk was quick of late, nobody else is asked to wait for it.
        """
        runner = self._runner
        if not self._here or not self._write_lock.acquire(blocking=False):
            return
        if self._closed:
            self._write_lock.release()
            left = [self._here.popleft() for _ in range(len(self._here))]
            _answer(left, [(None, StoreAway("it was closed")) for _ in left])
            return
        asked = [self._here.popleft() for _ in range(min(len(self._here), MAX_WORKS))]
        served = runner.begin([work for work, _ in asked])
        if len(asked) == 1 and asked[0][1] is brief and runner.is_quick and not runner.log.is_full:
            served = runner.finish(served)
            if not runner.suspect:
                self._lay_down()
                [(answer, error)] = served
                _settle([(brief, answer, error)])
                return
        self._disk.submit(self._finish, asked, served)

    def _finish(self, asked: list[Asked], served: list[Served]) -> None:
        served = self._runner.finish(served)
        self._recover()
        if self._runner.log.is_full:
            _answer(asked, served)  # before: nobody need wait for the log
            self._runner.log.tend()
            self._lay_down()
        else:
            self._lay_down()
            _answer(asked, served)

    def _lay_down(self) -> None:
        """Release the right to write; wake the next waiter on a loop."""
        self._write_lock.release()
        while self._here:
            try:
                self._here[0][1].get_loop().call_soon_threadsafe(self._begin_here)
                return
            except RuntimeError:
                self._here.popleft()  # the loop is closed: no caller is left
            except IndexError:
                return  # they are being written already

    async def read(self, work: Work[Result]) -> Result:
        self._check()
        answer: Result = await self._reading.ask(work)
        return answer

    def _recover(self) -> None:
        """With the pen: reopen all connections where a commit failed. Whoever looks meanwhile waits."""
        if not self._runner.suspect:
            return
        with self._read_lock:
            let_go(self._reader)
            for db in tuple(self._apart):
                with contextlib.suppress(apsw.Error):  # it was closed this moment
                    db.interrupt()
            recover(self._runner, self._read_again)

    def _read_again(self) -> None:
        self._reader = self._another()

    async def apart(self, work: Callable[[apsw.Connection], Result]) -> Result:
        self._check()
        if self._runner.suspect:
            await self.read(lambda _: None)  # reopens the file, or says why not

        def do(another: Callable[[], apsw.Connection]) -> Result:
            db = another()
            self._apart.add(db)
            try:
                return work(db)
            finally:
                self._apart.discard(db)
                db.close()

        return await asyncio.to_thread(look, self._another, do, self._runner.path)

    def close(self) -> None:
        if self._closed or os.getpid() != self._process:
            return
        self._closed = True
        self._reading.stop()
        self._writing.stop()
        self._disk.shutdown()
        let_go(self._reader)
        let_go(self._runner.db)  # the last one: it folds the log into the file

    def _check(self) -> None:
        if os.getpid() != self._process:
            raise StoreBusy(self._runner.path, f"process {self._process}, from which this one was forked")
        if self._closed:
            raise StoreAway("it was closed")

    def _transact(self, works: list[Work[Any]]) -> list[Served]:
        self._write_lock.acquire()
        try:
            self._recover()
            with SHORT_SWITCH_INTERVAL:
                return self._runner.transact(works)
        finally:
            self._recover()
            self._runner.log.tend()
            self._lay_down()

    def _look(self, works: list[Work[Any]]) -> list[Served]:
        if self._runner.suspect:
            self._write_lock.acquire()
            self._recover()
            self._lay_down()
        with self._read_lock:
            if self._runner.suspect:
                return [(None, StoreFailing(SUSPECT)) for _ in works]
            numbers = self._runner.numbers
            session = Session(self._reader, numbers, self._runner.ticks.now(), numbers.fence)
            return [_looked(session, work, self._runner.path) for work in works]


def _looked(session: Session, work: Work[Any], path: str) -> Served:
    try:
        return look(session, work, path), None
    except BaseException as error:
        return None, error
