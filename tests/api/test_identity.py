"""Signing in through an identity provider that really runs, as a browser does it."""

from __future__ import annotations

import time
from typing import Any

import aiohttp

from penstock.access.claims import Grant, OidcSettings
from penstock.access.oidc import Oidc
from penstock.access.provider import Provider
from tests.access.provider import CLIENT, SECRET, TestProvider, running
from tests.api.conftest import Client, Serve


def test_a_browser_comes_in_through_the_provider_and_goes_where_it_wanted(serve: Serve) -> None:
    provider = TestProvider()

    async def talk(client: Client) -> list[Any]:
        provider.claims = {"iat": time.time() - 5, "exp": time.time() + 300}
        async with (
            running(provider),
            aiohttp.ClientSession() as http,
            aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser,
        ):
            settings = OidcSettings(
                issuer=provider.issuer,
                client_id=CLIENT,
                client_secret=SECRET,
                redirect_uri=f"{client.base}/api/session/callback",
                roles={"flow-authors": Grant("author")},
            )
            client.service.oidc = Oidc(
                settings, (await client.engine.running()).store, Provider(provider.issuer, http)
            )
            async with browser.get(f"{client.base}/api/session") as unknown:
                ways = unknown.status, (await unknown.json())["sign_in"]
            begin = f"{client.base}/api/session/oidc?back_to=/api/session"
            async with browser.get(begin) as answer:
                who, way = await answer.json(), [each.status for each in answer.history]
            async with browser.get(f"{client.base}/api/session/callback?state=x&code=y") as again:
                refused = again.status, (await again.json())["code"]
            return [ways, way, who["name"], who["role"], who["sign_in"], refused]

    assert serve(talk, open=False) == [
        (401, ["token", "oidc"]),
        [302, 302, 302],
        "amy@example.org",
        "author",
        ["token", "oidc"],
        (401, "sign_in_failed"),
    ]


def test_without_a_provider_nobody_is_sent_anywhere(serve: Serve) -> None:
    answer = serve(lambda client: client.get("/api/session/oidc"), open=False)

    assert (answer.status, answer.json["code"]) == (401, "sign_in_failed")
