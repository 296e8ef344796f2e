"""What SQLite's errors mean to users of the store."""

from __future__ import annotations

import apsw

from penstock.store.errors import StoreAway, StoreDamaged, StoreError, StoreFailing, StoreFull, StoreRefused

_AWAY = (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError, apsw.NoMemError, apsw.InterruptError)


def meaning(error: BaseException, path: str) -> BaseException:
    """What an error means to whoever asked: one of SQLite becomes one of the store, every other is itself."""
    return store_error(error, path) if isinstance(error, apsw.Error) else error


def store_error(error: apsw.Error, path: str) -> StoreError:
    """What a failure of SQLite means for the caller: always a new error, so that it can be raised from the old one."""
    if isinstance(error, apsw.FullError):
        return StoreFull(str(error))
    if isinstance(error, apsw.IOError | apsw.CantOpenError):
        return StoreFailing(str(error))
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StoreDamaged(path, str(error))
    if isinstance(error, apsw.ConnectionClosedError):
        return StoreAway("it was closed")
    if isinstance(error, _AWAY):
        return StoreAway(str(error))
    return StoreRefused(str(error))
