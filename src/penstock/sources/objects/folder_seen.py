"""What a folder watch has seen: key and state of every file, durable, so none is lost or reported twice.

What is to be told is written down before it is told, with a word that no other telling has: after a crash it is told
again under the same word, and a file that comes a second time comes under another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from secrets import token_hex

import msgspec
from msgspec import Struct

from penstock.objects.context import Event
from penstock.sources.triggers.lease import Lost
from penstock.store.protocol import Tokens
from penstock.store.rows.rows import TokenChange

SEEN_PREFIX = "/feeds/seen/"
SHARDS = 64
"""A change of one file rewrites one of so many parts."""


class Telling(Struct, frozen=True):
    """A notification that a file came or went: `word` is its unique id."""

    key: str
    event: Event
    etag: str
    word: str


def folder_digest(path: str) -> str:
    return blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


class SeenFiles:
    """The files of one folder as the reader of one workflow knows them. Only the holder of the trigger may write.

    A file is kept as `etag@word`; with `?` behind while nobody knows whether it was told, with `-` before if it went.
    """

    def __init__(self, store: Tokens, workflow: str, path: str) -> None:
        self._store = store
        self._prefix = f"{SEEN_PREFIX}{workflow}/{folder_digest(path)}/"
        self._shards: list[dict[str, str]] = [{} for _ in range(SHARDS)]
        self._versions: dict[int, int] = {}
        self._unsure: set[str] = set()

    async def load(self) -> None:
        """Read all of it."""
        for row in await self._store.tokens(self._prefix, "", SHARDS + 1):
            shard = int(row.name.rpartition("/")[2], 16)
            self._shards[shard] = msgspec.json.decode(row.data, type=dict[str, str])
            self._versions[shard] = row.version
        self._unsure = {key for shard in self._shards for key, state in shard.items() if state.endswith("?")}

    def get(self, key: str) -> str | None:
        """The etag with which a file was last seen; None if it never was, or was deleted."""
        state = self._shards[_shard(key)].get(key)
        return None if state is None or state.startswith("-") else state.partition("@")[0]

    def all_keys(self) -> list[str]:
        return [key for shard in self._shards for key, state in shard.items() if not state.startswith("-")]

    def unsure(self) -> list[Telling]:
        """Notifications that an earlier reader did not finish."""
        return [_telling(key, self._shards[_shard(key)][key]) for key in sorted(self._unsure)]

    async def intend(self, found: Iterable[tuple[str, Event, str]]) -> list[Telling]:
        """Store the next notifications: key, event and etag; all earlier ones have been sent. Raises Lost."""
        word = token_hex(6)
        tellings = [Telling(key, event, etag, word) for key, event, etag in found]
        await self._write({**self._settled(), **{each.key: _text(each) for each in tellings}})
        self._unsure = {each.key for each in tellings}
        return tellings

    async def settle(self) -> None:
        """All intended notifications were sent. Raises Lost."""
        await self._write(self._settled())
        self._unsure = set()

    async def skip(self, states: Mapping[str, str | None]) -> None:
        """Mark files as seen without a notification; None: deleted. Raises Lost."""
        await self._write({key: None if etag is None else f"{etag}@" for key, etag in states.items()})

    def _settled(self) -> dict[str, str | None]:
        states = {key: self._shards[_shard(key)][key] for key in self._unsure}
        return {key: None if state.startswith("-") else state.rstrip("?") for key, state in states.items()}

    async def _write(self, states: Mapping[str, str | None]) -> None:
        touched = {_shard(key) for key in states}
        if not touched:
            return
        fresh = {shard: dict(self._shards[shard]) for shard in touched}
        for key, state in states.items():
            if state is None:
                fresh[_shard(key)].pop(key, None)
            else:
                fresh[_shard(key)][key] = state
        changes = [
            TokenChange(
                name=f"{self._prefix}{shard:02x}",
                expect=self._versions.get(shard),
                data=msgspec.json.encode(files),
            )
            for shard, files in fresh.items()
        ]
        done = await self._store.change_tokens(changes)
        if isinstance(done, str):
            raise Lost(done)
        for row in done:
            shard = int(row.name.rpartition("/")[2], 16)
            self._versions[shard], self._shards[shard] = row.version, fresh[shard]


def _text(telling: Telling) -> str:
    return f"{'-' if telling.event == 'deleted' else ''}{telling.etag}@{telling.word}?"


def _telling(key: str, state: str) -> Telling:
    etag, _, word = state.removeprefix("-").removesuffix("?").partition("@")
    return Telling(key, "deleted" if state.startswith("-") else "created", etag, word)


def _shard(key: str) -> int:
    return blake2b(key.encode("utf-8", "surrogateescape"), digest_size=1).digest()[0] % SHARDS
