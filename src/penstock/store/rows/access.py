"""Rows of access, secrets and audit: plain values."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct


class AuditRow(Struct, frozen=True, kw_only=True):
    """What somebody does, as it goes into the record. `before` and `after` are hashes of what was changed."""

    actor: str
    token_id: str | None
    ip: str | None
    action: str
    target: str
    before: bytes | None = None
    after: bytes | None = None
    reason: str | None = None


class Audited(Struct, frozen=True, kw_only=True):
    """An entry of the record: `hash` covers the row, its number and time, and the hash of the entry before."""

    number: int
    at: datetime
    row: AuditRow
    hash: bytes


class AuditHead(Struct, frozen=True):
    """Where the record ends: kept apart, so that an entry cut off at the end is missed."""

    number: int
    hash: bytes


class AuditPage(Struct, frozen=True):
    """Entries of the record, and where it ended before they were read."""

    entries: list[Audited]
    head: AuditHead


class AccessToken(Struct, frozen=True, kw_only=True):
    """A token as it is made; only the digest of what is shown once is kept. `expires_at` None: never."""

    id: str
    role: str
    name: str
    digest: bytes
    workflows: tuple[str, ...] | None
    task_lists: tuple[str, ...] | None
    concurrency: int | None
    expires_at: datetime | None
    made_by: str


class AccessTokenRow(Struct, frozen=True, kw_only=True):
    """A token as it is: `state` is judged by the store's time."""

    token: AccessToken
    made_at: datetime
    used_at: datetime | None
    revoked_at: datetime | None
    state: Literal["live", "expired", "revoked"]


class NewSession(Struct, frozen=True, kw_only=True):
    """Somebody signed in with a browser; only the digest of the cookie is kept."""

    digest: bytes
    name: str
    role: str
    token_id: str | None
    workflows: tuple[str, ...] | None
    ip: str | None


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session that is alive, by the store's time."""

    session: NewSession
    made_at: datetime
    seen_at: datetime
    until: datetime


class Login(Struct, frozen=True, kw_only=True):
    """A sign-in that was sent to the identity provider and has not come back; used up once."""

    digest: bytes  # of the state
    nonce: str
    verifier: str
    back_to: str


class SecretRow(Struct, frozen=True, kw_only=True):
    """A secret, sealed. `version` rises with every new value, `key_id` names the key that seals it."""

    name: str
    version: int
    key_id: str
    sealed: bytes
    updated_at: datetime
