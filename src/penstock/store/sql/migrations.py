"""Numbered migrations: forward only, one file each, with the same names in both dialects."""

from __future__ import annotations

import re
from importlib.resources import files

from msgspec import Struct

from penstock.store.errors import NeedsMigration, NewerSchema

_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")


class Migration(Struct, frozen=True):
    """One step of the schema: `number` is the schema that it leads to."""

    number: int
    name: str
    sql: str


def read_migrations(package: str) -> tuple[Migration, ...]:
    """The migrations in `<package>/migrations`, in order; ValueError where the numbers are not 1, 2, 3 …"""
    found: list[Migration] = []
    for file in sorted((files(package) / "migrations").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            match = _FILE.fullmatch(file.name)
            if match is None or int(match[1]) != len(found) + 1:
                raise ValueError(
                    f"{package}/migrations/{file.name}: the next is {len(found) + 1:04}_what.sql"
                )
            found.append(Migration(len(found) + 1, file.name, file.read_text(encoding="utf-8")))
    return tuple(found)


def missing(migrations: tuple[Migration, ...], schema: int, migrate: bool) -> tuple[Migration, ...]:
    """What a database at `schema` lacks. Raises NewerSchema, and NeedsMigration where it may not be done now.

    An empty database (schema 0) is not old: it may always be made.
    """
    wanted = len(migrations)
    if schema > wanted:
        raise NewerSchema(schema, wanted)
    if 0 < schema < wanted and not migrate:
        raise NeedsMigration(schema, wanted)
    return migrations[schema:]
