"""What one piece of work uses: the connection, the named queries, times as numbers, fresh ids.

And how the methods of the store are made of such pieces of work.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, wraps
from itertools import chain
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

import apsw
import msgspec
from msgspec import Struct

from penstock.store.sql.queries import read_queries

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = 9_000_000_000_000_000_000
"""Later than every time: an absent limit. A null would hide its row from every comparison."""

_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The edges of the calendar."""


def micros(when: datetime) -> int:
    """A time as it is stored."""
    return length(when - EPOCH)


def length(span: timedelta) -> int:
    """A duration as it is stored."""
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def length_or_none(span: timedelta | None) -> int | None:
    """A duration that may be absent."""
    return None if span is None else length(span)


def moment(stored: int) -> datetime:
    """A stored time. One beyond the calendar comes as its edge: it must not keep the others from being read."""
    return EPOCH + timedelta(microseconds=min(max(stored, _FIRST), _LAST))


def moment_or_none(stored: int | None) -> datetime | None:
    """A stored time that may be absent."""
    return None if stored is None or stored >= NEVER else moment(stored)


def after(now: int, span: timedelta | None) -> int:
    """When a limit strikes that counts from now; NEVER where there is none."""
    return NEVER if span is None else now + length(span)


Row = tuple[Any, ...]
Result = TypeVar("Result")
Kind = TypeVar("Kind", bound=Struct)
P = ParamSpec("P")
Conversion = Callable[[Any], Any]
Method = Callable[Concatenate[Any, P], Coroutine[Any, Any, Result]]

SQL = read_queries("penstock.store.sqlite.tables")

MIN_ROWS, MAX_ROWS = 4, 512
"""Rows that one statement takes: a power of two, so that there are few sizes and each is prepared once."""

MAX_STATEMENT = 16_000
"""Characters of a statement; one that is much longer would be prepared anew at every use."""

_ROW = re.compile(r"VALUES \((:\w+(?:,\s+:\w+)*)\)")


class Statement(NamedTuple):
    """A named query, to be run for each of the rows; a `guard` must change as many as it is given.

    `shared` is in front of every row; one that is `wide` can be given many rows at once, see `Session.at_once`.
    """

    query: str
    rows: Sequence[Row]
    shared: Row = ()
    guard: bool = False
    wide: bool = True


class Clock(Protocol):
    """Where the store's time comes from."""

    def now(self) -> datetime: ...


class Numbers:
    """Numbers that rise, and are never used twice: also not after a restart, since they start at the time.

    `fence` is the one of a task that was never leased: above all that were given before the last restore.
    """

    __slots__ = ("_last", "fence")

    def __init__(self, last: int = 0, fence: int = 0) -> None:
        self._last, self.fence = last, fence

    def take(self, count: int, now: int) -> range:
        """The next `count` numbers."""
        first = max(self._last + 1, now)
        self._last = first + count - 1
        return range(first, first + count)


class Ticks:
    """The store's time in microseconds: it may stand still, but it never goes back. For any thread."""

    __slots__ = ("_clock", "_guard", "_last")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._last = 0

    def now(self) -> int:
        with self._guard:
            self._last = max(self._last, micros(self._clock.now()))
            return self._last


class Session(Struct):
    """One piece of work inside a transaction (`alone` in it, or in a savepoint); `now` does not move meanwhile."""

    db: apsw.Connection
    number_source: Numbers
    now: int
    fence: int = 0  # of a task that was never leased
    alone: bool = False

    def undo(self) -> None:
        """Take back all that this piece of work has written, so that it can begin again."""
        if self.alone:
            self.db.execute("ROLLBACK")
            self.db.execute("BEGIN IMMEDIATE")
        else:
            self.db.execute("ROLLBACK TO work")

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a named query; values are bound in the order in which its parameters appear."""
        return self.db.execute(SQL[query], values).fetchall()

    def rows_of_runs(self, query: str, runs: Sequence[str]) -> list[Row]:
        """All rows of a query about several runs at once."""
        return self.db.execute(SQL[query], (json_list(runs),)).fetchall() if runs else []

    def named(self, query: str, values: dict[str, Any]) -> list[Row]:
        """All rows of a named query; values are bound by name, for a query that names one more than once."""
        return self.db.execute(SQL[query], values).fetchall()

    def walk(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Rows one by one, for who may stop before the last."""
        return iter(self.db.execute(SQL[query], values))

    def row(self, query: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row, if there is one."""
        found: Row | None = self.db.execute(SQL[query], values).fetchone()
        return found

    def row_changed(self, query: str, values: Sequence[Any] = ()) -> Row | None:
        """What a statement that changes at most one row tells of it. It runs to its end: a half is not done."""
        rows = self.rows(query, values)
        return rows[0] if rows else None

    def run(self, query: str, values: Sequence[Any] = ()) -> int:
        """How many rows a named statement changed."""
        before = self.db.total_changes()
        self.db.execute(SQL[query], values).fetchall()
        return self.db.total_changes() - before

    def many(self, query: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run a named statement for each of the rows; how many rows it changed."""
        if not rows:
            return 0
        before = self.db.total_changes()
        self.db.executemany(SQL[query], rows)
        return self.db.total_changes() - before

    def write(self, statements: Iterable[Statement]) -> bool:
        """Run them in their order, up to the first guard that does not hold; whether all of them do."""
        for query, rows, shared, guard, wide in statements:
            if not rows:
                continue
            changed = self.at_once(query, rows, shared) if wide else self.many(query, rows)
            if guard and changed != len(rows):
                return False
        return True

    def at_once(self, query: str, rows: Sequence[Sequence[Any]], shared: Row = ()) -> int:
        """The same in few statements, for a query whose parameters are all in its `VALUES`, but for those `shared`,
        and that passes over rows of nulls: with such the last statement is filled up.

        Every statement gives the interpreter away and must get it back: one for each row would have the writing
        thread wait, row by row, for a loop that decides meanwhile. And each of them takes a place among the
        statements that are kept prepared (`connection.MAX_PREPARED`).
        """
        if len(rows) < MIN_ROWS:
            return self.many(query, [(*shared, *row) for row in rows] if shared else rows)
        done, before, sql = 0, self.db.total_changes(), SQL[query]
        limit, columns = _max_rows(sql), len(rows[0])
        while (left := len(rows) - done) > 0:
            width = _width(left, limit)
            values = [
                *shared,
                *chain.from_iterable(rows[done : done + width]),
                *[None] * ((width - left) * columns),
            ]
            self.db.execute(_widened(sql, width), values)
            done += width
        return self.db.total_changes() - before

    def numbers(self, count: int) -> range:
        """Fresh numbers."""
        return self.number_source.take(count, self.now)


Work = Callable[[Session], Result]
"""Something to do in a transaction."""


def reads(work: Callable[Concatenate[Session, P], Result]) -> Method[P, Result]:
    """A method that does this work with `Writer.read`."""

    @wraps(work)
    async def method(store: Any, /, *args: P.args, **values: P.kwargs) -> Result:
        answer: Result = await store._writer.read(lambda session: work(session, *args, **values))
        return answer

    return method


def writes(work: Callable[Concatenate[Session, P], Result]) -> Method[P, Result]:
    """A method that does this work with `Writer.write`."""

    @wraps(work)
    async def method(store: Any, /, *args: P.args, **values: P.kwargs) -> Result:
        answer: Result = await store._writer.write(lambda session: work(session, *args, **values))
        return answer

    return method


def struct(kind: type[Kind], row: Row, **conversions: Conversion) -> Kind:
    """A row as a struct; the columns named in `conversions` are converted."""
    values = dict(zip(kind.__struct_fields__, row, strict=True))
    for name, converted in conversions.items():
        values[name] = converted(values[name])
    return kind(**values)


def structs(kind: type[Kind], rows: Iterable[Row], **conversions: Conversion) -> list[Kind]:
    """Each row as a struct."""
    return [struct(kind, row, **conversions) for row in rows]


def _width(left: int, limit: int) -> int:
    """How many rows the next statement takes: not fewer than there are, where that leaves little of it empty."""
    width = max(MIN_ROWS, 1 << (left - 1).bit_length())
    if width > limit:
        return limit
    return width if width - left <= max(left // 4, MIN_ROWS - 1) else width // 2


@cache
def _widened(sql: str, rows: int) -> str:
    """A statement that takes so many rows of values."""
    found = _ROW.search(sql)
    assert found is not None, f"no rows of values: {sql}"
    row = f"({','.join('?' * found[1].count(':'))})"
    return f"{sql[: found.start()]}VALUES {','.join([row] * rows)}{sql[found.end() :]}"


@cache
def _max_rows(sql: str) -> int:
    """How many rows a statement takes that is not too long."""
    rows = MAX_ROWS
    while len(_widened(sql, rows)) > MAX_STATEMENT:
        rows //= 2
    return rows


def json_list(items: Sequence[str]) -> str:
    """A list as one parameter, for `json_each`."""
    return msgspec.json.encode(items).decode()


def unique(items: Iterable[Result]) -> list[Result]:
    """Each once, in the order of their first coming."""
    return list(dict.fromkeys(items))
