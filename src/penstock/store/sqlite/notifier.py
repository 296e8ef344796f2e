"""Hints to other nodes: none, because no other process has the file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta


class SqliteNotifier:
    """See `store.protocol.Notifier`."""

    async def notify(self, what: str, runs: Sequence[str] = ()) -> None:
        return None

    async def listen(self, timeout: timedelta) -> str | None:
        await asyncio.sleep(timeout.total_seconds())
        return None
