"""Who may come in, made once: their tokens are the same in every seed."""

from __future__ import annotations

from functools import cache

from penstock.access.tokens import TokenRequest, make_token
from penstock.store.rows.access import AccessToken, AuditRow
from tests.simulation.evidence import BEGIN

NAMES = ("ann", "ben", "cem")
FIRST = AuditRow(actor="settings", token_id=None, ip=None, action="token.create", target="people")


@cache
def tokens() -> dict[str, tuple[str, AccessToken]]:
    """By name: the token as it is sent, and as it is kept."""
    return {
        name: make_token(TokenRequest(name=name, role="admin", expires_in="never"), "settings", BEGIN)
        for name in NAMES
    }
