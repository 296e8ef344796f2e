"""A worker asks its server who it is before it begins."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from penstock.cli.io.problems import Wrong
from penstock.cli.serve.http_worker import _validate_token
from penstock.remote.connection import Connection


def asked(answer: dict[str, Any]) -> None:
    """Let a server answer so to who asks for its session."""

    class Server:
        async def get(self, path: str) -> dict[str, Any]:
            return answer

    asyncio.run(_validate_token(cast(Connection, Server())))


def test_a_server_of_an_earlier_release_tells_not_what_one_may_do_and_is_worked_for() -> None:
    asked({"name": "w", "role": "worker"})


def test_who_may_not_work_is_refused() -> None:
    with pytest.raises(Wrong, match="needs one of"):
        asked({"name": "v", "role": "viewer", "may": ["read"]})
