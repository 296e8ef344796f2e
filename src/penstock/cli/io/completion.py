"""Names for the shell to complete, from the server where it answers at once; a shell never waits or sees an error."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from penstock.cli.serve.settings import settings_of
from penstock.remote.engine import RemoteEngine

COMPLETION_TIMEOUT = 0.8
"""Seconds: who presses Tab does not wait longer."""
MAX_SUGGESTIONS = 30


def run_ids(incomplete: str) -> list[tuple[str, str]]:
    """The newest runs."""
    rows = _asked(lambda engine: engine.runs(limit=MAX_SUGGESTIONS))
    return [
        (row["id"], f"{row['workflow']} {row['status']}") for row in rows if row["id"].startswith(incomplete)
    ]


def workflow_names(incomplete: str) -> list[str]:
    """The workflows that are published."""
    rows = _asked(lambda engine: engine.workflows())
    return [row["name"] for row in rows if row["name"].startswith(incomplete)]


def _asked(question: Callable[[RemoteEngine], Awaitable[list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    async def ask() -> list[dict[str, Any]]:
        settings = settings_of()
        async with (
            asyncio.timeout(COMPLETION_TIMEOUT),
            RemoteEngine(settings["server"], settings["token"]) as engine,
        ):
            return await question(engine)

    try:
        return asyncio.run(ask())
    except Exception:
        # Whatever it is, a shell in the middle of a line is no place to say so.
        return []
