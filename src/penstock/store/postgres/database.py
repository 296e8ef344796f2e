"""The connection to PostgreSQL: a pool, transactions that are retried where that is safe, and typed errors.

Nothing is kept in a session: no setting, no lock and no LISTEN outlives a transaction here, so that a pooler may
hand each transaction to another server process.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import asyncpg
from msgspec import Struct

from penstock.store.address_redaction import without_password
from penstock.store.call_outcome import note_change
from penstock.store.errors import BadAddress, OutcomeUnknown, StoreAway, StoreFailing, StoreFull, StoreRefused
from penstock.store.postgres.commit.column_arrays import columns
from penstock.store.sql.queries import read_queries

T = TypeVar("T")

CONNECT_TIMEOUT, COMMAND_TIMEOUT = 5.0, 30.0
"""Seconds after which a connection, or an answer, is given up."""

SPARE_TIMEOUT = 1.0
"""Seconds for which a connection is waited for that would only be of use."""

MAX_WARMED = 2
"""Connections that are rehearsed: one run by itself seldom uses more."""

MAX_TRIES = 50
"""How often a transaction that lost a race is retried."""

_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
_WRITES = re.compile(r"\b(INSERT|(?<!FOR )UPDATE|DELETE)\b")
_AGAIN = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError)
_UNPREPARED = (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError)
_FULL = (asyncpg.DiskFullError, asyncpg.OutOfMemoryError)
_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.ReadOnlySQLTransactionError,
    OSError,
    TimeoutError,
)
_REFUSED = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.ClientConfigurationError,
)


class Address(Struct, frozen=True):
    """Where the database is, and what the address says about how to speak with it."""

    dsn: str
    shown: str  # without its password
    pool: int
    prepared: bool


def read_address(url: str) -> Address:
    """`postgresql://user@host/name`, with `?pool=N` and `?prepared=off` if wanted. Raises BadAddress."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadAddress("postgresql:", "has an address that cannot be read") from None
    shown = without_password(url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise BadAddress(shown, "is no address of a PostgreSQL database")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    pool, prepared = options.pop("pool", "4"), options.pop("prepared", "on")
    if not (pool.isascii() and pool.isdigit() and 1 <= int(pool) <= 1000):
        raise BadAddress(shown, "has a 'pool' that is no number from 1 to 1000")
    if prepared not in ("on", "off"):
        raise BadAddress(shown, "has a 'prepared' that is neither on nor off")
    dsn = urlunsplit(parts._replace(query=urlencode(options)))
    return Address(dsn, shown, int(pool), prepared == "on")


class Query(Struct, frozen=True):
    """A statement as asyncpg wants it: its parameters by number, and the names that the numbers stand for."""

    text: str
    names: tuple[str, ...]
    writes: bool  # it may change rows
    returns: bool  # and returns what it changed

    def changed(self, rows: Sequence[Any]) -> bool:
        """Whether it has changed something, by what it returned."""
        return self.writes and (bool(rows) or not self.returns)


def numbered(text: str) -> Query:
    """`:name` becomes `$1`, the same name the same number."""
    names = list(dict.fromkeys(_PARAMETER.findall(text)))
    numbers = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", text)
    return Query(numbers, tuple(names), _WRITES.search(text) is not None, "RETURNING" in text)


SQL = {name: numbered(text) for name, text in read_queries("penstock.store.postgres.tables").items()}


class Session(asyncpg.Connection):
    """A connection that leaves nothing behind, so that there is nothing to reset when it goes back to the pool."""

    def get_reset_query(self) -> str:
        return ""


class Work:
    """One transaction; `changed` says whether it has changed a row."""

    __slots__ = ("changed", "connection")

    def __init__(self, connection: Any) -> None:
        self.connection, self.changed = connection, False

    async def rows(self, query: str, **values: object) -> list[Any]:
        """All rows of a named query."""
        found = SQL[query]
        answer: list[Any] = await self.connection.fetch(found.text, *(values[name] for name in found.names))
        self.changed = self.changed or found.changed(answer)
        return answer

    async def many(self, query: str, names: str, rows: Collection[Any], **values: object) -> list[Any]:
        """All rows of a named query that is given many rows at once; it is not asked where there are none."""
        return await self.rows(query, **columns(names, rows), **values) if rows else []

    async def asked(self, sql: str, values: Sequence[object]) -> list[Any]:
        """All rows of a statement that was put together, planned for these very values."""
        statement = await self.connection.prepare(sql)
        answer: list[Any] = await statement.fetch(*values)
        return answer

    async def value(self, query: str, **values: object) -> Any:
        """The first column of the first row; None where there is none."""
        rows = await self.rows(query, **values)
        return rows[0][0] if rows else None


Warmup = Callable[[Any], Awaitable[None]]
"""What makes a connection ready."""


class Database:
    """Connections to one database. It outlives restarts of the server: the next call connects again."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.prepared = address.prepared
        self.retried = 0  # transactions retried after a deadlock or the like
        self._pool: Any = None

    async def open(self) -> None:
        """Connect for the first time. Raises StoreAway, BadAddress."""
        self._pool = asyncpg.create_pool(
            self.address.dsn,
            min_size=0,
            max_size=self.address.pool,
            connection_class=Session,
            **self.options(),
        )
        with self._translated(lambda: False):
            await self._pool
        await self.transact(_nothing)

    async def warm_up(self, does: Warmup) -> None:
        """Make those connections that can be had ready by what will be used first and most; it never fails."""
        if not self.prepared:
            return
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(contextlib.suppress(*_AWAY, asyncpg.PostgresError))
            lines: list[Any] = []
            # The server may have no room for another.
            with contextlib.suppress(*_AWAY, asyncpg.PostgresError):
                for _ in range(min(MAX_WARMED, self.address.pool)):
                    lines.append(await stack.enter_async_context(self._pool.acquire(timeout=SPARE_TIMEOUT)))
            # All have ended before any is given back.
            await asyncio.gather(*map(does, lines), return_exceptions=True)

    async def close(self) -> None:
        """Let go of all connections, also of those that do not answer."""
        if self._pool is not None:
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    await self._pool.close()
            except (*_AWAY, asyncpg.PostgresError):
                self._pool.terminate()

    def options(self) -> dict[str, Any]:
        """How to connect."""
        found: dict[str, Any] = {"timeout": CONNECT_TIMEOUT, "command_timeout": COMMAND_TIMEOUT}
        if not self.prepared:
            return found | {"statement_cache_size": 0}
        # Without limit: the driver would prepare each again every five minutes, and PostgreSQL plan it again.
        return found | {"max_cached_statement_lifetime": 0}

    async def rows(self, query: str, **values: object) -> list[Any]:
        """All rows of a named query, as a transaction of its own."""
        return await self.transact(lambda work: work.rows(query, **values), alone=self.prepared)

    async def read(self, query: str, **values: object) -> list[Any]:
        """As `rows`, for what changes nothing: it is never left unsure."""
        return await self.transact(
            lambda work: work.rows(query, **values), alone=self.prepared, changes=False
        )

    async def asked(self, sql: str, values: Sequence[object]) -> list[Any]:
        """As `read`, for a statement that was put together."""
        return await self.transact(lambda work: work.asked(sql, values), changes=False)

    async def transact(
        self,
        do: Callable[[Work], Awaitable[T]],
        *,
        alone: bool = False,
        changes: bool = True,
        isolation: str | None = None,
    ) -> T:
        """What `do` answers, once it is committed; it is called again where the transaction lost a race.

        `alone`: it is one statement, and needs no BEGIN. Without `changes` it only reads.
        """
        for tried in range(1, MAX_TRIES):
            try:
                return await self._once(do, alone, changes, isolation)
            except _AGAIN:
                self.retried += 1
                await asyncio.sleep(random.random() * 0.005 * min(tried, 10))
            except _UNPREPARED:
                # Also where another has noticed it already: this one was on a connection from before.
                await self._unprepare()
        raise StoreAway(f"a transaction lost a race {MAX_TRIES} times")

    async def _once(
        self, do: Callable[[Work], Awaitable[T]], alone: bool, changes: bool, isolation: str | None
    ) -> T:
        unsure = False
        with self._translated(lambda: unsure):
            async with self._pool.acquire(timeout=COMMAND_TIMEOUT) as connection:
                work = Work(connection)
                if alone:
                    unsure = changes
                    return _noted(work, await do(work))
                transaction = connection.transaction(isolation=isolation, readonly=not changes)
                await transaction.start()
                async with _undone(transaction):
                    answer = await do(work)
                unsure = changes
                await transaction.commit()
                return _noted(work, answer)

    async def _unprepare(self) -> None:
        """A pooler gave us a server process that does not know our prepared statements: do without."""
        if not self.prepared:
            return
        self.prepared = False
        self._pool.set_connect_args(self.address.dsn, **self.options())
        await self._pool.expire_connections()

    def _no_database(self) -> BadAddress:
        name = unquote(urlsplit(self.address.dsn).path.lstrip("/")) or "that"
        return BadAddress(
            self.address.shown,
            f"has no database '{name}'",
            f"make it, with `createdb {name}` or CREATE DATABASE, or correct the name",
        )

    @contextlib.contextmanager
    def _translated(self, unsure: Callable[[], bool]) -> Any:
        """Errors of the driver become those of the store; those that are tried again pass."""
        try:
            yield
        except (*_AGAIN, *_UNPREPARED):
            raise
        except _FULL as error:
            raise StoreFull(_why(error)) from error
        except asyncpg.PostgresIOError as error:
            raise (OutcomeUnknown if unsure() else StoreFailing)(_why(error)) from error
        except asyncpg.InvalidCatalogNameError as error:
            raise self._no_database() from error
        except _REFUSED as error:
            raise BadAddress(self.address.shown, f"is refused by the server ({_why(error)})") from error
        except (asyncpg.PostgresError, *_AWAY) as error:
            # A value that the driver cannot send is no outage: who tries again would try for ever.
            if isinstance(error, _AWAY) and not isinstance(error, ValueError):
                raise (OutcomeUnknown if unsure() else StoreAway)(_away(error)) from error
            raise StoreRefused(_why(error)) from error


def _noted(work: Work, answer: T) -> T:
    """The answer of what is committed now."""
    if work.changed:
        note_change()
    return answer


@contextlib.asynccontextmanager
async def _undone(transaction: Any) -> AsyncIterator[None]:
    """Roll back where the block raises; what it raised is what counts, also where the server is gone."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(*_AWAY, asyncpg.PostgresError):
            await transaction.rollback()
        raise


async def _nothing(work: Work) -> None:
    await work.connection.execute("SELECT 1")


def _away(error: BaseException) -> str:
    """Why there is no answer; what the driver says of its own state helps nobody."""
    if isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError):
        return "the connection was closed"
    return "it took too long" if isinstance(error, TimeoutError) else _why(error)


def _why(error: BaseException) -> str:
    """What the server says; not its details, which may quote rows and go to callers with the rest."""
    return " ".join(str(getattr(error, "message", None) or error).split()) or type(error).__name__
