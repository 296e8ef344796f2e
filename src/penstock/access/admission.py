"""Letting in by token: rows are remembered for a second, so that a busy client costs one look a second."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import timedelta
from hmac import compare_digest

from penstock.access.caller import Caller
from penstock.access.errors import InvalidAccess, Unauthenticated
from penstock.access.tokens import admit, digest, parse_token
from penstock.store.errors import StoreError
from penstock.store.protocol import AccessStore
from penstock.store.rows.access import AccessTokenRow

REMEMBERED = 1.0
"""Seconds: a token that was revoked on another node counts for so long here, and not longer."""
APART = timedelta(minutes=1)
"""How often the use of a token or session is written down."""
SHORTEST_OWN = 20
MAX_TOKENS = 10_000


class Admission:
    """Tokens of one store, and one of its own that is in the settings. `clock` counts seconds."""

    def __init__(self, doors: AccessStore, own: str | None, clock: Callable[[], float]) -> None:
        if own is not None and len(own) < SHORTEST_OWN:
            raise InvalidAccess(
                f"the token in the settings has {len(own)} characters, {SHORTEST_OWN} at least: "
                "make one with `penstock access create`, or `openssl rand -hex 32`"
            )
        self._doors, self._clock = doors, clock
        self._own = None if own is None else digest(own)
        self._rows: dict[str, tuple[AccessTokenRow, float]] = {}
        self._noted: dict[str | bytes, float] = {}

    async def by_token(self, text: str) -> Caller:
        """Whose token it is. Raises Unauthenticated."""
        if self._own is not None and compare_digest(digest(text), self._own):
            return Caller(name="settings", role="admin", token_id=self._own_id)
        presented = parse_token(text)
        caller = admit(presented, await self._row(presented.id))
        if self.is_time(presented.id):
            with contextlib.suppress(
                StoreError
            ):  # who may look must be able to, also where nothing can be written
                await self._doors.note_use(APART, tokens=[presented.id])
        return caller

    async def is_live(self, id: str) -> bool:
        """Whether a token that somebody signed in with still counts."""
        if id == self._own_id:
            return True
        row = await self._row(id)
        return row is not None and row.state == "live"

    def forget(self, id: str) -> None:
        """It was revoked here: from now on it does not count."""
        self._rows.pop(id, None)

    def is_time(self, key: str | bytes) -> bool:
        """Whether a use should be written down; asked again at once, it should not."""
        now = self._clock()
        if now - self._noted.get(key, -APART.total_seconds()) < APART.total_seconds():
            return False
        if len(self._noted) >= MAX_TOKENS:
            self._noted.clear()
        self._noted[key] = now
        return True

    @property
    def _own_id(self) -> str | None:
        """It goes with the token: who changes the settings ends the sessions that were begun with the old one."""
        return None if self._own is None else f"settings-{self._own.hex()[:8]}"

    async def _row(self, id: str) -> AccessTokenRow | None:
        now = self._clock()
        row, until = self._rows.get(id, (None, 0.0))
        if row is not None and now < until:
            return row
        found = await self._doors.access_tokens([id])
        if not found:
            return None  # not remembered: who tries ids must not fill the memory
        if len(self._rows) >= MAX_TOKENS:
            self._rows.clear()
        self._rows[id] = (found[0], now + REMEMBERED)
        return found[0]


def bearer(header: str | None) -> str | None:
    """The token in the header `Authorization`; None where there is none. Raises Unauthenticated for another scheme."""
    if header is None:
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("the header 'Authorization' has no bearer token")
    return token.strip()
