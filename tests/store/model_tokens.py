"""The tokens of the reference model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from penstock.store.rows.access import AuditRow
from penstock.store.rows.rows import TokenChange, TokenRow


class ModelTokens:
    """By name; no version is used twice."""

    clock: Callable[[], datetime]
    _record: Callable[..., None]

    def __init__(self) -> None:
        self.kept: dict[str, TokenRow] = {}
        self.last = 0

    async def tokens(self, prefix: str, after: str, limit: int) -> list[TokenRow]:
        names = sorted(name for name in self.kept if name.startswith(prefix) and name > after)
        return [self.kept[name] for name in names[:limit]]

    async def change_tokens(
        self, changes: Sequence[TokenChange], audits: Sequence[AuditRow] = ()
    ) -> list[TokenRow] | str:
        for one in changes:
            found = self.kept.get(one.name)
            if (None if found is None else found.version) != one.expect:
                return one.name
        for one in changes:
            self.last += 1
            if one.gone:
                del self.kept[one.name]
            else:
                self.kept[one.name] = TokenRow(
                    name=one.name,
                    version=self.last,
                    owner=one.owner,
                    expires=one.expires,
                    priority=one.priority,
                    data=one.data,
                )
        self._record(*audits)
        return [self.kept[one.name] for one in changes if not one.gone]

    async def claim_tokens(
        self, owner: str, prefix: str, lease: timedelta, limit: int, audit: AuditRow | None = None
    ) -> list[TokenRow]:
        now = self.clock()
        free = [
            token
            for token in self.kept.values()
            if token.name.startswith(prefix)
            and (token.owner is None or (token.expires is not None and token.expires <= now))
        ]
        claimed = []
        for token in sorted(free, key=lambda one: (-one.priority, one.name))[:limit]:
            self.last += 1
            self.kept[token.name] = replace(token, owner=owner, expires=now + lease, version=self.last)
            claimed.append(self.kept[token.name])
        self._record(audit if claimed else None)
        return claimed
