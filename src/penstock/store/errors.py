"""What can go wrong with the database. One sentence each, with the remedy; nothing is half done.

StoreError
├── BadAddress        the address of the database cannot be used
├── BadText           a change has a text that the database cannot keep
├── StoreUnavailable  it cannot be used just now: try again later
│   ├── StoreAway         it does not answer; nothing was changed
│   │   └── OutcomeUnknown    it may have been done, or a part of it
│   ├── StoreFull         the disk is full; nothing was changed
│   └── StoreFailing      the disk reports an error; this call changed nothing
├── StoreRefused      it rejects a statement: its schema was altered, or Penstock has a bug
├── StoreBusy         another process has the file
├── StoreDamaged      the file is not whole
├── NotLocal          the file is on a network disk
├── NeedsMigration    its schema is older than this program
└── NewerSchema       its schema is newer than this program
"""

from __future__ import annotations

import errno

from penstock.flow.errors import PenstockError

ADDRESSES = "use a path such as penstock.db, sqlite:///path, postgresql://user@host/name or memory:"


class StoreError(PenstockError):
    """Something about the database."""

    code = "store"


class BadAddress(StoreError):
    """The address of the database cannot be used."""

    code = "bad_address"

    def __init__(self, url: str, why: str, remedy: str = ADDRESSES) -> None:
        super().__init__(f"'{url}' {why}: {remedy}")


class BadText(StoreError):
    """A change has a text that the database cannot keep; nothing of its batch was done. `runs`: whose it is."""

    code = "bad_text"

    def __init__(self, runs: list[str]) -> None:
        names = ", ".join(f"'{run}'" for run in runs)
        super().__init__(
            f"the run {names} has a subject, label, key or id with a character that the database cannot keep "
            "(U+0000 or half a surrogate pair); nothing was changed: leave the character out"
        )
        self.runs = runs


class StoreUnavailable(StoreError):
    """The database cannot be used just now; nobody who asked is at fault. `why` is what the database said."""

    code = "store_unavailable"
    why = ""

    def __init__(self, sentence: str, why: str) -> None:
        super().__init__(sentence)
        self.why = why


class StoreAway(StoreUnavailable):
    """The database does not answer; nothing was changed."""

    code = "store_away"
    unsure = False

    def __init__(self, why: str) -> None:
        super().__init__(f"the database does not answer ({why}); nothing was changed: try again", why)


class OutcomeUnknown(StoreAway):
    """The commit may or may not have happened; or, where it had `begun`, a part of the call was done before."""

    code = "outcome_unknown"
    unsure = True

    def __init__(self, why: str, begun: bool = False) -> None:
        what = (
            "this call changed something, then the database failed"
            if begun
            else "whether it was done is not known"
        )
        StoreUnavailable.__init__(
            self,
            f"{what} ({why}): repeat it with the same idempotency key or event id, or look before you repeat it",
            why,
        )


class StoreFull(StoreUnavailable):
    """The disk is full; nothing was changed."""

    code = "store_full"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the database cannot write ({why}); nothing was changed: make room and try again", why
        )


class StoreFailing(StoreUnavailable):
    """The disk reports an error; this call changed nothing, which says nothing of one before it."""

    code = "store_failing"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the disk of the database fails ({why}); this call changed nothing: check the disk and try again",
            why,
        )


def disk_error(error: OSError) -> StoreFull | StoreFailing:
    """What an error of the file system means: no room, or a disk that fails."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return (StoreFull if full else StoreFailing)(str(error))


class StoreRefused(StoreError):
    """The database rejects a statement: its schema was altered, or Penstock has a bug."""

    code = "store_refused"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the database rejected a statement ({why}); nothing was changed: "
            "restore a backup if its schema was altered by hand, or report it as a bug"
        )
        self.why = why


class StoreBusy(StoreError):
    """Another process has the file."""

    code = "store_busy"

    def __init__(self, path: str, holder: str) -> None:
        super().__init__(
            f"'{path}' is in use by {holder}: only one process may open a SQLite database; stop it, or use PostgreSQL"
        )
        self.path = path


class StoreDamaged(StoreError):
    """The file is not whole."""

    code = "store_damaged"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"'{path}' is damaged ({why}): restore it with `penstock db restore BACKUP --db {path}`"
        )


class NotLocal(StoreError):
    """The file is on a network disk."""

    code = "not_local"

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(
            f"'{path}' is on a network disk ({kind}), where SQLite loses data: use a local disk, or PostgreSQL"
        )


class NeedsMigration(StoreError):
    """The schema is older than this program."""

    code = "needs_migration"

    def __init__(self, found: int, wanted: int) -> None:
        super().__init__(
            f"the database has schema {found}, this Penstock needs {wanted}: run `penstock db migrate` first"
        )


class NewerSchema(StoreError):
    """The schema is newer than this program."""

    code = "newer_schema"

    def __init__(self, found: int, wanted: int) -> None:
        super().__init__(
            f"the database has schema {found}, this Penstock knows {wanted}: use a newer Penstock"
        )
