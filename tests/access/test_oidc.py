"""Sign-in through an identity provider that really runs, and all that it must not let through."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from joserfc import jwt

from penstock.access.caller import Caller
from penstock.access.claims import Grant, OidcSettings, grant_of, name_of
from penstock.access.errors import InvalidAccess, SignInFailed
from penstock.access.oidc import Arrival, Oidc, own_path
from penstock.access.provider import Provider
from penstock.store.protocol import Store
from tests.access.conftest import Seconds
from tests.access.provider import (
    CLIENT,
    EC,
    OTHER_RSA,
    RSA,
    SECRET,
    TestProvider,
    query_of,
    running,
    signed_with_what_everybody_knows,
    unsigned,
)
from tests.store.builders import NOON
from tests.store.conftest import Clock

REDIRECT = "https://flow.example/api/access/callback"
NOW = NOON.timestamp()
TIMES = {"iat": NOW - 5, "exp": NOW + 300}
GRANTS = {"flow-authors": Grant("author"), "flow-viewers": Grant("viewer")}
AMY = Caller(name="amy@example.org", role="author", ip="10.0.0.1")


class Browser:
    """Somebody's browser: it goes where it is sent, and brings back what it got."""

    def __init__(self, oidc: Oidc, http: aiohttp.ClientSession) -> None:
        self.oidc, self.http = oidc, http

    async def leave(self, back_to: str = "/app/runs") -> tuple[dict[str, str], str]:
        """Sign in at the provider; the query that it comes back with, and the cookie."""
        sending = await self.oidc.begin(back_to)
        async with self.http.get(sending.url, allow_redirects=False) as answer:
            location = answer.headers["location"]
        assert location.startswith(f"{REDIRECT}?")
        return query_of(location), sending.cookie

    async def sign_in(self) -> Arrival:
        query, cookie = await self.leave()
        return await self.oidc.finish(query, cookie, "10.0.0.1")

    async def refusal(self) -> str:
        with pytest.raises(SignInFailed) as refused:
            await self.sign_in()
        return (
            str(refused.value)
            .removeprefix("sign-in failed: ")
            .removesuffix("; begin again from the sign-in page")
        )


@contextlib.asynccontextmanager
async def browsing(
    provider: TestProvider, store: Store, seconds: Seconds | None = None, **more: Any
) -> AsyncIterator[Browser]:
    provider.claims = TIMES | provider.claims
    async with running(provider), aiohttp.ClientSession() as http:
        plain: dict[str, Any] = {"client_secret": SECRET, "roles": GRANTS}
        settings = OidcSettings(
            issuer=provider.issuer, client_id=CLIENT, redirect_uri=REDIRECT, **plain | more
        )
        known = Provider(provider.issuer, http, seconds or Seconds())
        yield Browser(Oidc(settings, store, known), http)


@pytest.fixture
def provider() -> TestProvider:
    return TestProvider()


in_memory = pytest.mark.parametrize("kind", ["model"])


async def test_who_the_provider_vouches_for_comes_in_with_the_role_of_the_claim(
    provider: TestProvider, store: Store
) -> None:
    async with browsing(provider, store) as browser:
        assert await browser.sign_in() == Arrival(AMY, "/app/runs")
        assert await browser.sign_in() == Arrival(AMY, "/app/runs")
    assert provider.asked == ["configuration", "jwks"]


@in_memory
async def test_the_provider_is_asked_for_a_code_with_state_nonce_and_challenge(
    provider: TestProvider, store: Store
) -> None:
    async with browsing(provider, store) as browser:
        one, two = [query_of((await browser.oidc.begin()).url) for _ in range(2)]

    fixed = {"response_type", "client_id", "redirect_uri", "scope", "code_challenge_method"}
    assert {name: one[name] for name in fixed} == {
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": REDIRECT,
        "scope": "openid profile email",
        "code_challenge_method": "S256",
    }
    assert one.keys() - fixed == {"state", "nonce", "code_challenge"}
    assert all(one[name] != two[name] and len(one[name]) >= 43 for name in one.keys() - fixed)


@in_memory
async def test_a_key_on_a_curve_is_believed_too(provider: TestProvider, store: Store) -> None:
    provider.signs, provider.algorithm = EC, "ES256"

    async with browsing(provider, store) as browser:
        assert (await browser.sign_in()).caller == AMY


@in_memory
async def test_a_new_key_of_the_provider_is_looked_up(
    provider: TestProvider, store: Store, seconds: Seconds
) -> None:
    provider.keys = [RSA]
    async with browsing(provider, store, seconds) as browser:
        await browser.sign_in()
        provider.keys, provider.signs, provider.algorithm = [RSA, EC], EC, "ES256"
        at_once = await browser.refusal()
        seconds.now += 10

        assert (at_once, (await browser.sign_in()).caller) == ("the token is not signed by the provider", AMY)
    assert provider.asked == ["configuration", "jwks", "jwks"]


FORGERIES: dict[str, tuple[dict[str, Any], str]] = {
    "nobody signed it": ({"forge": unsigned}, "the token is not signed by the provider"),
    "signed with the public key": (
        {"forge": signed_with_what_everybody_knows},
        "the token is not signed by the provider",
    ),
    "another key": ({"signs": OTHER_RSA}, "the token is not signed by the provider"),
    "an algorithm that is not on the list": (
        {"algorithm": "RS512"},
        "the token is not signed by the provider",
    ),
    "a key in the token itself": (
        {
            "forge": lambda claims: jwt.encode(
                {"alg": "RS256", "jwk": OTHER_RSA.as_dict(private=False)}, claims, OTHER_RSA, ["RS256"]
            )
        },
        "the token is not signed by the provider",
    ),
    "no token": ({"forge": lambda claims: "x.y.z"}, "the token is not signed by the provider"),
    "for somebody else": ({"claims": {"aud": "other"}}, "the token is for somebody else"),
    "for several, and not for us to use": (
        {"claims": {"aud": [CLIENT, "other"]}},
        "the token is for somebody else",
    ),
    "used by another party": (
        {"claims": {"aud": CLIENT, "azp": "other"}},
        "the token is for somebody else",
    ),
    "for nobody": ({"claims": {"aud": None}}, "the token is for somebody else"),
    "from another issuer": ({"claims": {"iss": "https://evil.example"}}, "the token is from another issuer"),
    "expired": ({"claims": {"exp": NOW - 61}}, "the token has expired"),
    "without an end": (
        {"claims": {"exp": None}},
        "the token does not say when it was made and how long it counts",
    ),
    "with an end that is no number": (
        {"claims": {"exp": float("nan")}},
        "the token does not say when it was made and how long it counts",
    ),
    "of the future": (
        {"claims": {"iat": NOW + 61}},
        "the token is of the future: set the clock of this machine or of the provider",
    ),
    "not yet": (
        {"claims": {"nbf": NOW + 61}},
        "the token is of the future: set the clock of this machine or of the provider",
    ),
    "of another sign-in": ({"claims": {"nonce": "other"}}, "the token belongs to another sign-in"),
    "without a nonce": ({"claims": {"nonce": None}}, "the token belongs to another sign-in"),
    "about nobody": ({"claims": {"sub": ""}}, "the token names nobody"),
    "about somebody without a role": (
        {"claims": {"roles": ["staff"]}},
        "'amy@example.org' has no role here: ask an admin",
    ),
    "the code is not accepted": ({"token_status": 400}, "the provider answers with status 400"),
    "the provider is broken": ({"token_status": 500}, "the provider answers with status 500"),
    "another provider": (
        {"configuration": {"issuer": "https://evil.example"}},
        "the provider says that it is another one",
    ),
    "keys over an open line": (
        {"configuration": {"jwks_uri": "http://evil.example/jwks"}},
        "an end of the provider is no https address",
    ),
    "no ends": (
        {"configuration": {"jwks_uri": 1}},
        "the provider's answer cannot be read (Expected `str`, got `int` - at `$.jwks_uri`)",
    ),
}


@in_memory
@pytest.mark.parametrize("name", FORGERIES)
async def test_what_is_forged_or_wrong_lets_nobody_in(
    provider: TestProvider, store: Store, name: str
) -> None:
    given, said = FORGERIES[name]
    for field, value in given.items():
        setattr(provider, field, value)

    async with browsing(provider, store) as browser:
        assert await browser.refusal() == said


async def test_a_sign_in_comes_back_once(provider: TestProvider, store: Store) -> None:
    async with browsing(provider, store) as browser:
        query, cookie = await browser.leave()
        await browser.oidc.finish(query, cookie)

        with pytest.raises(SignInFailed, match="came back before"):
            await browser.oidc.finish(query, cookie)


async def test_a_sign_in_that_took_too_long_does_not_count(
    provider: TestProvider, store: Store, clock: Clock
) -> None:
    async with browsing(provider, store) as browser:
        query, cookie = await browser.leave()
        await clock.forward(timedelta(minutes=10).total_seconds())

        with pytest.raises(SignInFailed, match="it took too long"):
            await browser.oidc.finish(query, cookie)


@in_memory
async def test_a_sign_in_counts_in_the_browser_that_began_it_alone(
    provider: TestProvider, store: Store
) -> None:
    async with browsing(provider, store) as browser:
        query, cookie = await browser.leave()

        for other in (None, "", "x", (await browser.leave())[1]):
            with pytest.raises(SignInFailed, match="not begun in this browser"):
                await browser.oidc.finish(query, other)
        for made_up in ({}, {"state": ""}, {"state": "x", "code": "c"}):
            with pytest.raises(SignInFailed):
                await browser.oidc.finish(made_up, made_up.get("state"))
        assert (await browser.oidc.finish(query, cookie, "10.0.0.1")).caller == AMY


@in_memory
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"iss": "https://evil.example"}, "from another provider"),
        ({"error": "access_denied"}, "the provider says 'access_denied'"),
        ({"code": ""}, "the provider sent no code"),
        ({"code": "stolen"}, "status 400"),
    ],
)
async def test_an_answer_without_a_good_code_lets_nobody_in(
    provider: TestProvider, store: Store, change: dict[str, str], said: str
) -> None:
    async with browsing(provider, store) as browser:
        query, cookie = await browser.leave()

        with pytest.raises(SignInFailed, match=said):
            await browser.oidc.finish(query | change, cookie)


@in_memory
async def test_a_code_of_another_sign_in_is_of_no_use(provider: TestProvider, store: Store) -> None:
    async with browsing(provider, store) as browser:
        (mine, cookie), (stolen, _) = await browser.leave(), await browser.leave()

        with pytest.raises(SignInFailed, match="status 400"):
            await browser.oidc.finish(mine | {"code": stolen["code"]}, cookie)


@in_memory
async def test_a_provider_that_does_not_answer_is_told(store: Store) -> None:
    async with aiohttp.ClientSession() as http:
        settings = OidcSettings(
            issuer="http://127.0.0.1:9", client_id=CLIENT, redirect_uri=REDIRECT, roles=GRANTS
        )
        oidc = Oidc(settings, store, Provider(settings.issuer, http))

        with pytest.raises(SignInFailed, match="the provider does not answer"):
            await oidc.begin()


@in_memory
async def test_an_issuer_over_an_open_line_is_refused(store: Store) -> None:
    async with aiohttp.ClientSession() as http:
        for issuer in (
            "http://id.example",
            "ftp://id.example",
            "id.example",
            "https://a@id.example",
            "https:///",
        ):
            with pytest.raises(InvalidAccess, match="is no https address"):
                Provider(issuer, http)


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("/app/runs?a=b#c", "/app/runs?a=b#c"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/a\\b", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("", "/"),
    ],
)
def test_nobody_is_sent_to_another_site(path: str, safe: str) -> None:
    assert own_path(path) == safe


BOUND = {
    "a": Grant("author", ("a*",)),
    "b": Grant("author", ("b",)),
    "all": Grant("author"),
    "see": Grant("viewer"),
}


@pytest.mark.parametrize(
    ("claims", "grant"),
    [
        ({"g": "see"}, Grant("viewer")),
        ({"g": ["see", "a"]}, Grant("author", ("a*",))),
        ({"g": ["b", "a", "a"]}, Grant("author", ("b", "a*"))),
        ({"g": ["a", "all"]}, Grant("author")),
        ({"g": ["other", 7, None, ["see"]]}, None),
        ({"g": {"see": True}}, None),
        ({}, None),
    ],
)
def test_the_highest_role_counts_for_all_that_it_is_granted_for(
    claims: dict[str, Any], grant: Grant | None
) -> None:
    assert grant_of(claims, "g", BOUND) == grant


def test_a_claim_may_lie_inside_another() -> None:
    nested = {"realm_access": {"roles": ["see"]}}

    assert grant_of(nested, "realm_access.roles", BOUND) == Grant("viewer")
    assert grant_of({"https://x.org/roles": "see"}, "https://x.org/roles", BOUND) == Grant("viewer")
    assert grant_of({"realm_access": "see"}, "realm_access.roles", BOUND) is None


def test_somebody_whose_address_is_not_verified_is_known_by_the_subject() -> None:
    people: list[dict[str, Any]] = [
        {"sub": "u1", "email": "amy@x.org"},
        {"sub": "u1", "email": "amy@x.org", "email_verified": "true"},
        {"sub": "u1", "email": "amy@x.org", "email_verified": False},
        {"sub": "u1", "email": "amy@x.org", "email_verified": "false"},
        {"sub": "u1", "email": "amy@x.org", "email_verified": None},
        {"sub": "u1", "email": 7},
        {"sub": "u1"},
    ]

    assert [name_of(claims, "email") for claims in people] == ["amy@x.org"] * 2 + ["u1"] * 5


@pytest.mark.parametrize(
    ("role", "workflows"),
    [("worker", None), ("root", None), ("admin", ("a",)), ("viewer", ("a?",)), ("viewer", ())],
)
def test_what_people_cannot_be_is_not_granted(role: Any, workflows: tuple[str, ...] | None) -> None:
    with pytest.raises(ValueError, match=r"is no role of people|cannot be bound|is no name|no entries"):
        Grant(role, workflows)
