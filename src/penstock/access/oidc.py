"""Sign-in through an identity provider: OpenID Connect, authorization code with PKCE, nonce and state."""

from __future__ import annotations

import base64
import secrets
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from penstock.access.access import InstallationStore
from penstock.access.caller import Caller
from penstock.access.claims import Expected, OidcSettings, check_claims, grant_of, name_of
from penstock.access.errors import SignInFailed
from penstock.access.provider import Provider
from penstock.access.tokens import digest
from penstock.store.rows.access import Login

SIGN_IN_TIMEOUT = timedelta(minutes=10)
"""How long somebody may take to sign in elsewhere."""


class Sending(Struct, frozen=True):
    """Where to send the browser, and the value of a cookie that it must bring back."""

    url: str
    cookie: str


class Arrival(Struct, frozen=True):
    """Who came back, and the page that it wanted to see."""

    caller: Caller
    back_to: str


class Oidc:
    """Sign-ins through one provider."""

    def __init__(self, settings: OidcSettings, place: InstallationStore, provider: Provider) -> None:
        self._settings, self._place, self._provider = settings, place, provider

    async def begin(self, back_to: str = "/") -> Sending:
        """Begin a sign-in. Raises SignInFailed where the provider does not answer."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        endpoints = await self._provider.endpoints()
        login = Login(digest=digest(state), nonce=nonce, verifier=verifier, back_to=own_path(back_to))
        await self._place.add_login(login, SIGN_IN_TIMEOUT)
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._settings.redirect_uri,
            "scope": " ".join(self._settings.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge(verifier),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in endpoints.authorization_endpoint else "?"
        return Sending(f"{endpoints.authorization_endpoint}{joint}{urlencode(asked)}", state)

    async def finish(self, query: dict[str, str], cookie: str | None, ip: str | None = None) -> Arrival:
        """Who came back with this query. Raises SignInFailed; a sign-in is used up by coming back."""
        state = query.get("state", "")
        if cookie is None or not compare_digest(cookie.encode(), state.encode()):
            raise SignInFailed("it was not begun in this browser")
        login = await self._place.take_login(digest(state))
        if login is None:
            raise SignInFailed("it took too long, or came back before")
        code = self._code(query)
        claims = await self._claims(code, login)
        settings = self._settings
        grant = grant_of(claims, settings.role_claim, settings.roles)
        name = name_of(claims, settings.name_claim)
        if grant is None:
            raise SignInFailed(f"'{name}' has no role here: ask an admin")
        caller = Caller(name=name, role=grant.role, workflows=grant.workflows, ip=ip)
        return Arrival(caller, login.back_to)

    def _code(self, query: dict[str, str]) -> str:
        if query.get("iss", self._settings.issuer) != self._settings.issuer:
            raise SignInFailed("the answer is from another provider")
        if "error" in query:
            raise SignInFailed(f"the provider says '{query['error'][:100]}'")
        if not query.get("code"):
            raise SignInFailed("the provider sent no code")
        return query["code"]

    async def _claims(self, code: str, login: Login) -> dict[str, Any]:
        settings = self._settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": settings.redirect_uri,
            "client_id": settings.client_id,
            "code_verifier": login.verifier,
        }
        claims = await self._provider.redeem(form, settings.client_id, settings.client_secret)
        expected = Expected(issuer=settings.issuer, client_id=settings.client_id, nonce=login.nonce)
        problem = check_claims(claims, expected, await self._place.now())
        if problem is not None:
            raise SignInFailed(problem)
        return claims


def challenge(verifier: str) -> str:
    """What the provider is told beforehand of the verifier (S256)."""
    return base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


def own_path(path: str) -> str:
    """A path on this very host; `/` for all else: nobody is sent to another site by signing in here."""
    safe = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if safe and path.isprintable() and path.isascii() and "\\" not in path else "/"
