"""Every call, asked by nobody and by each role, over the wire: default deny, and no call without a line in the list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.access.roles import ROLES, allows
from penstock.api.table import CALLS
from tests.api.conftest import OWN, Client, Serve

LIST = Path(__file__).parent / "permissions.txt"
BOUND = {"name": "bound", "role": "author", "workflows": ["1"]}
ADMIN = {"authorization": f"Bearer {OWN}"}


def listed() -> list[tuple[str, str, str, bool]]:
    lines = [line.split() for line in LIST.read_text().splitlines() if not line.startswith("#")]
    return [(method, path, action, more == ["everywhere"]) for method, path, action, *more in lines]


def test_every_call_is_in_the_list_with_its_action() -> None:
    served = sorted((call.method, call.path, call.action, call.everywhere) for call in CALLS)

    assert sorted(listed()) == served, "a call is new, gone, or for others: change permissions.txt with care"


def filled(path: str) -> str:
    for name in ("name", "id", "step", "v", "number", "workflow", "event"):
        path = path.replace("{" + name + "}", "1")
    return f"{path}?prefix=/runs/1/" if path == "/api/tokens" else path  # whose they are stands there


async def tokens(client: Client) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {"nobody": {}, "nonsense": {"authorization": "Bearer nothing"}}
    for role in ROLES:
        made = await client.post("/api/access", {"name": role, "role": role}, headers=dict(ADMIN))
        found[role] = {"authorization": f"Bearer {made.json['token']}"}
    made = await client.post("/api/access", BOUND, headers=dict(ADMIN))
    found["bound"] = {"authorization": f"Bearer {made.json['token']}"}
    return found


@pytest.mark.parametrize("who", ["nobody", "nonsense", "bound", *ROLES])
def test_each_role_reaches_what_it_may_and_nothing_else(serve: Serve, who: str) -> None:
    """A call that is let through may fail for its path or body, but never for who asks."""

    async def talk(client: Client) -> list[Any]:
        headers = (await tokens(client))[who]
        wrong = []
        role = "author" if who == "bound" else who
        for method, path, action, everywhere in listed():
            if path.endswith("stream") or path.startswith(("/hooks", "/api/session")):
                continue  # streams never end; hooks and sessions say themselves who it is
            client.service.limiters.tokens._buckets.clear()
            answer = await client.ask(method, filled(path), headers=dict(headers))
            allowed = action == "public" or (role in ROLES and allows(role, action))  # type: ignore[arg-type]
            allowed = allowed and not (everywhere and who == "bound")
            refused = answer.status == (403 if role in ROLES else 401)
            if allowed == refused or (not allowed and answer.status not in (401, 403)):
                wrong.append((method, path, answer.status))
        return wrong

    assert serve(talk, open=False) == []


@pytest.mark.parametrize("path", ["/api/stream", "/api/runs/x/stream"])
def test_streams_are_for_those_who_may_read(serve: Serve, path: str) -> None:
    async def talk(client: Client) -> list[int]:
        everybody = await tokens(client)
        whos = ("nobody", "nonsense", "worker")
        return [(await client.get(path, headers=dict(everybody[who]))).status for who in whos]

    assert serve(talk, open=False) == [401, 401, 403]
