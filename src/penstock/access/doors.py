"""`Access`: all that the service asks about who may come in. It only delegates."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from penstock.access.admission import APART, Admission
from penstock.access.audit import digest_of, verify_audit
from penstock.access.caller import Caller
from penstock.access.errors import (
    InvalidAccess,
    SecretKeyError,
    Unauthenticated,
    UnknownAccessToken,
    UnknownSecret,
)
from penstock.access.redacting import Redactor
from penstock.access.secrets import Keyring, Keys
from penstock.access.sessions import IDLE, LONGEST, caller_of_session, new_cookie, session_of
from penstock.access.tokens import TokenWish, digest, make_token
from penstock.store.access_rows import AccessToken, AccessTokenRow, Audited, SecretRow
from penstock.store.errors import StoreError
from penstock.store.people import Doors

_SECRET_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
LONGEST_SECRET = 64 * 1024


class Place(Doors, Protocol):
    """What is needed of a store."""

    async def now(self) -> datetime: ...


class TokenView(Struct, frozen=True, kw_only=True):
    """A token as people see it: never what it is made of."""

    id: str
    role: str
    name: str
    workflows: tuple[str, ...] | None
    task_lists: tuple[str, ...] | None
    concurrency: int | None
    expires_at: datetime | None
    made_by: str
    made_at: datetime
    used_at: datetime | None
    revoked_at: datetime | None
    state: str


class MadeToken(Struct, frozen=True):
    """A new token; `token` is shown this once."""

    token: str
    view: TokenView


class SecretView(Struct, frozen=True):
    """A secret as people see it: that it is there."""

    name: str
    version: int
    updated_at: datetime


class Access:
    """The doors of one installation. `own` is the token of the settings, an admin's; `clock` counts seconds."""

    def __init__(
        self,
        store: Place,
        keys: Keys,
        own: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._keys = store, keys
        self._admission = Admission(store, own, clock)
        self.redactor = Redactor()

    # Tokens

    async def authenticate(self, bearer: str | None, ip: str | None = None) -> Caller:
        """Whose token it is. Raises Unauthenticated."""
        if bearer is None:
            raise Unauthenticated
        return replace(await self._admission.by_token(bearer), ip=ip)

    async def create(self, by: Caller, wish: TokenWish) -> MadeToken:
        """A new token. Raises Forbidden, InvalidAccess."""
        by.require("admin")
        now = await self._store.now()
        while True:
            text, token = make_token(wish, by.name, now)
            audit = by.audit("token.create", token.id, after=digest_of(_said(token)))
            if await self._store.add_access_token(token, audit):
                break
        row = AccessTokenRow(token=token, made_at=now, used_at=None, revoked_at=None, state="live")
        return MadeToken(text, _view(row))

    async def list(self, before: str | None, limit: int) -> tuple[TokenView, ...]:
        """Newest first, those made before one."""
        return tuple(_view(row) for row in await self._store.access_tokens(before, limit))

    async def revoke(self, by: Caller, id: str) -> None:
        """From now on it does not count. Raises Forbidden, UnknownAccessToken."""
        by.require("admin")
        if not await self._store.revoke_access_token(id, by.audit("token.revoke", id)):
            raise UnknownAccessToken(id)
        self._admission.forget(id)

    # Sessions

    async def sign_in(self, caller: Caller, instead: str | None = None) -> str:
        """Begin a session of somebody who showed who it is; the cookie. The one it had before ends."""
        if caller.role == "worker":
            raise Unauthenticated("a worker's token is not for people")
        cookie = new_cookie()
        before = None if instead is None else digest(instead)
        audit = caller.audit("session.begin", caller.name)
        await self._store.add_session(session_of(caller, cookie), LONGEST, before, audit)
        return cookie

    async def session(self, cookie: str, ip: str | None = None) -> Caller:
        """Whose session it is. Raises Unauthenticated: it ended, or the token that it was begun with does not count."""
        key = digest(cookie)
        row = await self._store.session(key, IDLE)
        if row is None:
            raise Unauthenticated("the session has ended")
        token_id = row.session.token_id
        if token_id is not None and not await self._admission.is_live(token_id):
            raise Unauthenticated("the token of this session does not count any more")
        if self._admission.is_time(key):
            with contextlib.suppress(
                StoreError
            ):  # who may look must be able to, also where nothing can be written
                await self._store.use_sessions([key], APART)
        return replace(caller_of_session(row), ip=ip)

    async def sign_out(self, caller: Caller, cookie: str) -> None:
        """End a session; there is no harm in ending it twice."""
        await self._store.drop_sessions([digest(cookie)], (), caller.audit("session.end", caller.name))

    # Secrets

    async def set_secret(self, by: Caller, name: str, value: str) -> SecretView:
        """Raises Forbidden, InvalidAccess, SecretKeyError."""
        by.require("admin")
        _check_secret(name, value)
        key_id, sealed = self._keys.ring(make=True).seal(name, value)
        self.redactor.learn([value])
        # Of what is sealed: the hash of a short value would tell it to whoever tries them all.
        audit = by.audit("secret.set", name, after=digest_of(sealed))
        return _shown(await self._store.put_secret(name, key_id, sealed, audit))

    async def list_secrets(self, after: str, limit: int) -> tuple[SecretView, ...]:
        """By name, those after one."""
        return tuple(_shown(row) for row in await self._store.secrets(after, limit))

    async def delete_secret(self, by: Caller, name: str) -> None:
        """Raises Forbidden, UnknownSecret."""
        by.require("admin")
        if not await self._store.drop_secret(name, by.audit("secret.delete", name)):
            raise UnknownSecret(name)

    async def resolve(self, names: Sequence[str]) -> dict[str, str]:
        """Values, for the dispatch of a task and nothing else. Raises UnknownSecret, SecretKeyError."""
        rows = await self._store.secrets_named(names)
        # Before the keys: where no secret was ever set there are none.
        for name, row in zip(names, rows, strict=True):
            if row is None:
                raise UnknownSecret(name)
        ring = self._keys.ring() if names else None
        found = {name: _value(name, row, ring) for name, row in zip(names, rows, strict=True)}
        self.redactor.learn(found.values())
        return found

    async def learn(self) -> int:
        """Let the redactor know every secret there is; how many could not be opened."""
        after, closed = "", 0
        found: list[str] = []
        while page := await self._store.secrets(after, 200):
            after = page[-1].name
            for row in page:
                try:
                    found.append(self._keys.ring().unseal(row.name, row.key_id, row.sealed))
                except SecretKeyError:
                    closed += 1
        self.redactor.learn(found)
        return closed

    async def secret(self, name: str) -> str | None:
        """The value of one secret, for a check that happens here; None: there is none. Raises SecretKeyError."""
        try:
            return (await self.resolve([name]))[name]
        except UnknownSecret:
            return None

    async def rotate_key(self, by: Caller) -> int:
        """Make a new key and seal all secrets with it; how many. Old keys stay, for backups. Raises SecretKeyError."""
        by.require("admin")
        ring = self._keys.add()
        await self._store.note([by.audit("key.rotate", ring.current)])
        return await self.reseal(ring)

    async def renew_seals(self, by: Caller) -> int:
        """Seal all secrets with the first key of those there are; how many were sealed anew. Raises SecretKeyError."""
        by.require("admin")
        ring = self._keys.ring(make=True)
        await self._store.note([by.audit("key.reseal", ring.current)])
        return await self.reseal(ring)

    async def reseal(self, ring: Keyring | None = None) -> int:
        """Seal with the first key all that is sealed with another; how many. Raises SecretKeyError."""
        ring = ring or self._keys.ring()
        after, done = "", 0
        while page := await self._store.secrets(after, 200):
            after = page[-1].name
            for row in page:
                if row.key_id != ring.current:
                    key_id, sealed = ring.reseal(row.name, row.key_id, row.sealed)
                    done += await self._store.reseal_secret(row.name, row.sealed, key_id, sealed)
        return done

    # Audit

    async def audit(self, before: int | None, limit: int) -> tuple[Audited, ...]:
        """What people did, newest first."""
        return tuple(await self._store.newest_audits(before, limit))

    async def verify_audit(self) -> str | None:
        """None: the record is whole; otherwise the first thing that is wrong."""
        return await verify_audit(self._store)


def _check_secret(name: str, value: str) -> None:
    if not _SECRET_NAME.fullmatch(name):
        raise InvalidAccess(f"'{name[:128]}' cannot name a secret: use 1 to 128 letters, digits, _ . or -")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidAccess(f"the value of '{name}' has half a surrogate pair: leave it out") from None
    if not 1 <= size <= LONGEST_SECRET:
        raise InvalidAccess(f"the value of '{name}' has {size} bytes: use 1 to {LONGEST_SECRET}")


def _value(name: str, row: SecretRow | None, ring: Keyring | None) -> str:
    if row is None or ring is None:
        raise UnknownSecret(name)
    return ring.unseal(name, row.key_id, row.sealed)


def _shown(row: SecretRow) -> SecretView:
    return SecretView(row.name, row.version, row.updated_at)


def _said(token: AccessToken) -> dict[str, object]:
    """What a token is, without what it is made of."""
    names = ("id", "role", "name", "workflows", "task_lists", "concurrency", "expires_at", "made_by")
    return {name: getattr(token, name) for name in names}


def _view(row: AccessTokenRow) -> TokenView:
    token = row.token
    return TokenView(
        id=token.id,
        role=token.role,
        name=token.name,
        workflows=token.workflows,
        task_lists=token.task_lists,
        concurrency=token.concurrency,
        expires_at=token.expires_at,
        made_by=token.made_by,
        made_at=row.made_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
        state=row.state,
    )
