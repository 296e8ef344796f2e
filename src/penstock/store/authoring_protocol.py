"""The seam to the rows that people make: drafts, notes, who may come in, secrets, and what people did."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Protocol

from penstock.store.rows.access import (
    AccessToken,
    AccessTokenRow,
    Audited,
    AuditHead,
    AuditRow,
    Login,
    NewSession,
    SecretRow,
    SessionRow,
)
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft, NewVersion, VersionLine
from penstock.store.rows.rows import Version


class Notes(Protocol):
    """Small texts by name, such as the lists of runs that people keep."""

    async def notes(self, prefix: str) -> dict[str, str]:
        """All whose name begins so, by name."""
        ...

    async def keep_note(self, name: str, text: str) -> str:
        """Keep a text where there is none of that name; the one that is kept, by whoever came first."""
        ...

    async def put_note(self, name: str, text: str | None, audit: AuditRow | None = None) -> bool:
        """Keep a text, or (None) drop it; whether there was one. `audit` is written where something changes."""
        ...


class AccessStore(Protocol):
    """Who may come in, what is kept under lock, and what people did.

    An `audit` is written in the same transaction, and only where something was changed.
    """

    async def add_access_token(self, token: AccessToken, audit: AuditRow | None = None) -> bool:
        """False: the id is taken."""
        ...

    async def access_token(self, id: str) -> AccessTokenRow | None: ...

    async def access_tokens(self, before: str | None, limit: int) -> list[AccessTokenRow]:
        """Newest first: by id, downwards."""
        ...

    async def revoke_access_token(self, id: str, audit: AuditRow | None = None) -> bool:
        """False: there is no such token, or it is revoked already."""
        ...

    async def use_access_tokens(self, ids: Sequence[str], apart: timedelta) -> None:
        """Note that they are used, where that was noted longer than `apart` ago."""
        ...

    async def add_session(
        self,
        session: NewSession,
        lasts: timedelta,
        instead: bytes | None = None,
        audit: AuditRow | None = None,
    ) -> None:
        """Begin a session, and end the one that it stands `instead` of; those whose time is over go."""
        ...

    async def session(self, digest: bytes, idle: timedelta) -> SessionRow | None:
        """One whose time is not over and that was seen within `idle`."""
        ...

    async def use_sessions(self, digests: Sequence[bytes], apart: timedelta) -> None:
        """Note that they are seen, where that was noted longer than `apart` ago."""
        ...

    async def drop_sessions(
        self, digests: Sequence[bytes], names: Sequence[str] = (), audit: AuditRow | None = None
    ) -> int:
        """End sessions, and all of the people named; how many there were."""
        ...

    async def add_login(self, login: Login, lasts: timedelta) -> None:
        """Somebody is sent to sign in elsewhere; those whose time is over go."""
        ...

    async def take_login(self, digest: bytes) -> Login | None:
        """Use up a sign-in; None: there is none, or its time is over, or it came back before."""
        ...

    async def put_secret(
        self, name: str, key_id: str, sealed: bytes, known: Sequence[str], audit: AuditRow | None = None
    ) -> SecretRow | None:
        """The next version of a secret. None: some secret is sealed with a key that is not `known`, or there are
        secrets and none is sealed with this one; nothing changed."""
        ...

    async def secret_keys(self) -> dict[str, str]:
        """The keys that secrets are sealed with, each with a text that changes with the secrets that it seals."""
        ...

    async def secrets_named(self, names: Sequence[str]) -> list[SecretRow | None]: ...

    async def secrets(self, after: str, limit: int) -> list[SecretRow]:
        """By name, those after one."""
        ...

    async def reseal_secret(self, name: str, was: bytes, key_id: str, sealed: bytes) -> bool:
        """Seal the same value with another key. False: it is not sealed as it `was` any more."""
        ...

    async def drop_secret(self, name: str, audit: AuditRow | None = None) -> bool:
        """False: there is no such secret."""
        ...

    async def note(self, audits: Sequence[AuditRow]) -> None:
        """Record what changes no other row."""
        ...

    async def newest_audits(self, before: int | None, limit: int) -> list[Audited]:
        """Newest first, those with a lower number."""
        ...

    async def next_audits(self, after: int, limit: int) -> list[Audited]:
        """In order, those with a higher number."""
        ...

    async def audit_head(self) -> AuditHead:
        """The number and hash of the last entry, as they are kept apart from it."""
        ...


class Drafts(Protocol):
    """What authors work on. `expect` names, by `etag_of`, what the draft (or else the newest version) may be now.

    An `audit` is written in the same transaction, and only where something was changed.
    """

    async def draft(self, workflow: str) -> DraftRow | None: ...

    async def save_draft(
        self, draft: NewDraft, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> DraftRow | None:
        """The draft as it is kept; None: it is not what was expected, and stays."""
        ...

    async def drop_draft(
        self, workflow: str, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> bool | None:
        """False: there is none. None: it is not what was expected, and stays."""
        ...

    async def publish_draft(
        self, new: NewVersion, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> Version | None:
        """As `Shelf.publish`; a draft with that text is then none any more. None: it is not what was expected."""
        ...

    async def drafts(self) -> list[DraftLine]:
        """All, by the name of their workflow."""
        ...

    async def versions(self, workflow: str, before: int | None, limit: int) -> list[VersionLine]:
        """The newest first, those with a lower number than `before`."""
        ...

    async def counts(self, workflows: Sequence[str]) -> dict[str, dict[str, int]]:
        """Workflow → status → how many runs; a workflow without runs is not in it."""
        ...
