"""Where a server may listen without sign-in."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.responses import PlainTextResponse

from penstock import Engine
from penstock.access.claims import Grant, OidcSettings
from penstock.server.build import Front, NeedsToken, WeakToken, answering, require_sign_in
from penstock.server.http import bind, serving_on

TOKEN = "0123456789abcdef0123"
OIDC = OidcSettings(
    issuer="https://id.example",
    client_id="p",
    redirect_uri="https://p.example/cb",
    roles={"a": Grant("admin")},
)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    front = Front(host, 7777)

    require_sign_in(front)

    assert front.local and front.open


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("more", [{"token": TOKEN}, {"oidc": OIDC}])
def test_where_a_way_to_sign_in_is_set_it_is_needed_on_this_machine_too(
    host: str, more: dict[str, Any]
) -> None:
    assert not Front(host, 7777, **more).open


def test_a_server_with_a_token_asks_its_own_machine_for_it(tmp_path: Path) -> None:
    """A proxy on the same machine passes on what strangers ask."""

    async def main() -> list[int]:
        db, front = str(tmp_path / "p.db"), Front("127.0.0.1", 0, TOKEN)
        async with (
            Engine(db) as engine,
            answering(await engine.running(), front, bind(front.host, front.port)) as base,
            aiohttp.ClientSession() as session,
        ):
            found = []
            for headers in ({}, {"authorization": f"Bearer {TOKEN}"}):
                async with session.get(f"{base}/api/workflows", headers=headers) as answer:
                    found.append(answer.status)
            return found

    assert asyncio.run(main()) == [401, 200]


@pytest.mark.parametrize(
    ("proxies", "told"), [((), "127.0.0.1 http"), (("127.0.0.0/8",), "203.0.113.9 https")]
)
def test_where_a_request_comes_from_is_told_by_trusted_proxies_alone(
    proxies: tuple[str, ...], told: str
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        text = f"{scope['client'][0]} {scope['scheme']}"
        await PlainTextResponse(text)(scope, receive, send)

    async def main() -> str:
        async with (
            serving_on(app, bind("127.0.0.1", 0), proxies) as base,
            aiohttp.ClientSession() as session,
            session.get(
                base, headers={"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"}
            ) as got,
        ):
            return await got.text()

    assert asyncio.run(main()) == told


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "localhost.example", "db.example", ""])
def test_any_other_address_needs_one(host: str) -> None:
    with pytest.raises(NeedsToken):
        require_sign_in(Front(host, 7777))

    require_sign_in(Front(host, 7777, TOKEN))
    require_sign_in(Front(host, 7777), tokens=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_that_could_be_guessed_is_refused(host: str) -> None:
    with pytest.raises(WeakToken):
        require_sign_in(Front(host, 7777, TOKEN[:-1]))
