"""`Access`: sign-in, permissions, secrets and audit behind one object. It only delegates."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from penstock.access.audit import digest_of, verify_audit
from penstock.access.caller import Caller
from penstock.access.errors import InvalidAccess, Unauthenticated, UnknownAccessToken
from penstock.access.sessions import IDLE, MAX_SESSION, caller_of_session, new_cookie, session_of
from penstock.access.tokens import Admission, TokenRequest, digest, make_token
from penstock.secrets.errors import UnknownSecret
from penstock.secrets.vault import Vault
from penstock.store.call_outcome import note_change
from penstock.store.protocol import AccessStore, AuditLog, Secrets
from penstock.store.rows.access import AccessToken, AccessTokenRow, Audited, AuditRow, SecretRow

_SECRET_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
MAX_SECRET = 64 * 1024


class InstallationStore(AccessStore, Secrets, AuditLog, Protocol):
    """What is needed of a store."""


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
    key: str  # the id of the key that it is sealed with


class Access:
    """Who may do what in one installation. `own` is the token of the settings, an admin's; `clock` counts seconds."""

    def __init__(
        self,
        store: InstallationStore,
        vault: Vault,
        own: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self.vault = store, vault
        self._admission = Admission(store, own, clock)
        self.authenticate = self._admission.authenticate

    # Tokens

    async def create(self, by: Caller, request: TokenRequest) -> MadeToken:
        """A new token. Raises Forbidden, InvalidAccess."""
        by.require("admin")
        now = await self._store.now()
        while True:
            text, token = make_token(request, by.name, now)
            audit = by.audit("token.create", token.id, after=digest_of(_said(token)))
            if await self._store.add_access_token(token, audit):
                break
        row = AccessTokenRow(token=token, made_at=now, used_at=None, revoked_at=None, state="live")
        return MadeToken(text, _view(row))

    async def list(self, before: str | None, limit: int) -> tuple[TokenView, ...]:
        """Newest first, those made before one."""
        return tuple(_view(row) for row in await self._store.access_tokens(before=before, limit=limit))

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
        await self._store.add_session(session_of(caller, cookie), MAX_SESSION, before, audit)
        return cookie

    async def session(self, cookie: str, ip: str | None = None) -> Caller:
        """Whose session it is. Raises Unauthenticated: it ended, or the token that it was begun with does not count."""
        key = digest(cookie)
        row = await self._store.session(key, IDLE)
        if row is None:
            raise Unauthenticated("the session has ended")
        token_id = row.session.token_id
        if token_id is not None and not await self._admission.is_live(token_id):
            raise Unauthenticated("the token of this session is no longer valid")
        await self._admission.note_use(key)
        return replace(caller_of_session(row), ip=ip)

    async def sign_out(self, caller: Caller, cookie: str) -> None:
        """End a session; there is no harm in ending it twice."""
        await self._store.drop_sessions([digest(cookie)], (), caller.audit("session.end", caller.name))

    # Secrets

    async def set_secret(self, by: Caller, name: str, value: str) -> SecretView:
        """Raises Forbidden, InvalidAccess, SecretKeyError."""
        by.require("admin")
        _check_secret(name, value)

        def audit(sealed: bytes) -> AuditRow:
            # Of what is sealed: the hash of a short value would tell it to whoever tries them all.
            return by.audit("secret.set", name, after=digest_of(sealed))

        return _shown(await self.vault.put(name, value, audit))

    async def list_secrets(self, after: str, limit: int) -> tuple[SecretView, ...]:
        """By name, those after one."""
        return tuple(_shown(row) for row in await self._store.secrets(after=after, limit=limit))

    async def delete_secret(self, by: Caller, name: str) -> None:
        """Raises Forbidden, UnknownSecret."""
        by.require("admin")
        if not await self._store.drop_secret(name, by.audit("secret.delete", name)):
            raise UnknownSecret(name)

    async def rotate_key(self, by: Caller) -> int:
        """Make a new key and seal all secrets with it; how many. Old keys stay, for backups. Raises SecretKeyError."""
        by.require("admin")
        await self.vault.check()  # a key that others lack must not be added to
        ring = self.vault.add_key()
        note_change()  # of the key file
        await self._store.record([by.audit("key.rotate", ring.current)])
        return await self.vault.reseal(ring)

    async def reseal_secrets(self, by: Caller) -> int:
        """Seal all secrets with the first key of those there are; how many were sealed anew. Raises SecretKeyError."""
        by.require("admin")
        ring = await self.vault.keyring_for_sealing()
        await self._store.record([by.audit("key.reseal", ring.current)])
        return await self.vault.reseal(ring)

    # Audit

    async def audit(self, before: int | None, limit: int) -> tuple[Audited, ...]:
        """What people did, newest first."""
        return tuple((await self._store.audits(limit, before=before)).entries)

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
    if not 1 <= size <= MAX_SECRET:
        raise InvalidAccess(f"the value of '{name}' has {size} bytes: use 1 to {MAX_SECRET}")


def _shown(row: SecretRow) -> SecretView:
    return SecretView(row.name, row.version, row.updated_at, row.key_id)


def _said(token: AccessToken) -> dict[str, Any]:
    """What a token is, without what it is made of."""
    names = ("id", "role", "name", "workflows", "task_lists", "concurrency", "expires_at", "made_by")
    return {name: getattr(token, name) for name in names}


def _view(row: AccessTokenRow) -> TokenView:
    return TokenView(
        **_said(row.token),
        made_at=row.made_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
        state=row.state,
    )
