"""Every call about releases, asked by nobody and by each role, over the wire."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from penstock.access.roles import ROLES, allows
from penstock_release.api import CALLS as OURS
from tests.release.conftest import coordinating


def test_each_role_reaches_what_it_may_and_nothing_else(tmp_path: Path) -> None:
    """A call that is let through may fail for its path or body, but never for who asks."""

    async def main() -> list[Any]:
        wrong = []
        async with coordinating(tmp_path) as here:
            whos: dict[str, str | None] = {"nobody": None, "nonsense": "nothing"}
            for role in ROLES:
                made = await here.good("POST", "/api/access", {"name": role, "role": role})
                whos[role] = made["token"]
            bound = {"name": "bound", "role": "author", "workflows": ["release"]}
            whos["bound"] = (await here.good("POST", "/api/access", bound))["token"]
            for call in OURS:
                for who, token in whos.items():
                    body: Any = None if call.method == "GET" else {}
                    status, _ = await here.ask(call.method, call.path.replace("{id}", "X_1"), body, token)
                    allowed = who in ROLES and allows(who, call.action)
                    expected = 401 if token in (None, "nothing") else 403
                    if (
                        allowed == (status == expected)
                        or (not allowed and status != expected)
                        or status >= 500
                    ):
                        wrong.append((call.method, call.path, who, status))
        return wrong

    assert asyncio.run(main()) == []
