"""The caller of the current operation, for the audit log: set where a call begins, written with its change."""

from __future__ import annotations

from contextvars import ContextVar
from hashlib import sha256

from msgspec.structs import replace

from penstock.store.rows.access import AuditRow

AUDIT: ContextVar[AuditRow | None] = ContextVar("penstock_by", default=None)
"""What goes into the record with whatever this code changes; None: nobody need know later who did it."""


CALLER_NAME: ContextVar[str | None] = ContextVar("penstock_who", default=None)
"""The name of the person or program whose call this is, where one signed in: runs remember who started them."""


def audit_for(target: str, before: str | None = None, after: str | None = None) -> AuditRow | None:
    """The record of what is done to one thing; of its texts, as they were and will be, the hashes are kept."""
    by = AUDIT.get()
    return None if by is None else replace(by, target=target, before=_hash(before), after=_hash(after))


def _hash(text: str | None) -> bytes | None:
    return None if text is None else sha256(text.encode()).digest()
