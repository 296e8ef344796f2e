"""A store with a past: the rows of one finished run, copied, under ids older than every real one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

PIECE = 50_000
"""Runs that are copied in one transaction."""

FIRST = 100_000_000_000
"""Added to each number, so that all ids have the twenty digits of a run's id and sort before those of today."""

COPIES = (f"00000000{FIRST}", f"00000000{9 * FIRST}")
"""The ids between which all copies are."""

KEYS = {"run": "id", "history": "run"}


def statement(table: str, columns: Sequence[str], mark: str) -> str:
    """SQL of both dialects that copies the rows of run 3 of its values under the numbers from value 1 to value 2."""
    key = KEYS[table]
    first, last, run = (f"{mark}{number}" for number in (1, 2, 3))
    copied = ", ".join("'00000000' || CAST(i AS text)" if name == key else name for name in columns)
    return (
        f"WITH RECURSIVE n(i) AS (SELECT CAST({first} AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < {last})"
        f" INSERT INTO {table} ({', '.join(columns)}) SELECT {copied} FROM n, {table} WHERE {key} = {run}"
    )


def pieces(times: int) -> Iterator[tuple[int, int]]:
    """First and last number of each piece."""
    for at in range(FIRST, FIRST + times, PIECE):
        yield at, min(at + PIECE, FIRST + times) - 1
