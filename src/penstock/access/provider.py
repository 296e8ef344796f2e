"""Calls to an identity provider: its endpoints and keys, and the exchange of codes for verified tokens."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus, urlsplit

import aiohttp
import msgspec
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey
from msgspec import Struct

from penstock.access.errors import InvalidAccess, SignInFailed
from penstock.access.origin import is_loopback_host

KINDS: dict[Any, type[RSAKey | ECKey]] = {"RSA": RSAKey, "EC": ECKey}
ALGORITHMS = ["RS256", "ES256"]
"""Nothing else is believed: not `none`, and nothing that is signed with what everybody knows."""
TIMEOUT = aiohttp.ClientTimeout(total=10, connect=5)
MAX_ANSWER = 1024 * 1024
REMEMBERED, LEAST = 3600.0, 10.0
"""Seconds: how long the provider's ends and keys are kept, and how often a key that is not known lets us look again."""


class Endpoints(Struct, frozen=True):
    """Where the provider says that its ends are."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


class Answer(Struct, frozen=True):
    """What it gives for a code."""

    id_token: str


class Provider:
    """One identity provider, by its issuer. `http` is the caller's; `clock` counts seconds."""

    def __init__(
        self, issuer: str, http: aiohttp.ClientSession, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not _is_shut(issuer):
            raise InvalidAccess(f"the issuer '{issuer}' is no https address")
        self.issuer, self._http, self._clock = issuer, http, clock
        self._endpoints: tuple[Endpoints, float] | None = None
        self._keys: tuple[KeySet, float] | None = None
        self._lock = asyncio.Lock()

    async def endpoints(self) -> Endpoints:
        """Where its ends are. Raises SignInFailed."""
        if self._endpoints is not None and self._clock() - self._endpoints[1] < REMEMBERED:
            return self._endpoints[0]
        body = await self._get(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        found: Endpoints = _read(body, Endpoints)
        if found.issuer != self.issuer:
            raise SignInFailed("the provider says that it is another one")
        ends = (found.authorization_endpoint, found.token_endpoint, found.jwks_uri)
        if not all(_is_shut(end) for end in ends):
            raise SignInFailed("an end of the provider is no https address")
        self._endpoints = (found, self._clock())
        return found

    async def redeem(self, form: dict[str, str], client: str, secret: str | None) -> dict[str, Any]:
        """The claims that the provider gives for a code, signed by one of its keys. Raises SignInFailed."""
        endpoints = await self.endpoints()
        headers = {} if secret is None else {"Authorization": _basic(client, secret)}
        body = await self._ask("POST", endpoints.token_endpoint, headers, form)
        return await self._verified(_read(body, Answer).id_token)

    async def _verified(self, token: str) -> dict[str, Any]:
        for look_again in (False, True):
            keys = await self._key_set(look_again)
            try:
                claims = jwt.decode(token, keys, algorithms=ALGORITHMS).claims
            except (JoseError, ValueError, TypeError):
                continue
            if isinstance(claims, dict):
                return claims
        raise SignInFailed("the token is not signed by the provider")

    async def _key_set(self, look_again: bool) -> KeySet:
        """Its keys; they are looked up again where one that is not known may be new, but not at every try."""
        async with self._lock:
            now = self._clock()
            if self._keys is not None and now - self._keys[1] < (LEAST if look_again else REMEMBERED):
                return self._keys[0]
            body = await self._get((await self.endpoints()).jwks_uri)
            self._keys = (_key_set(body), now)
            return self._keys[0]

    async def _get(self, url: str) -> bytes:
        return await self._ask("GET", url, {})

    async def _ask(
        self, method: str, url: str, headers: dict[str, str], form: dict[str, str] | None = None
    ) -> bytes:
        """The body of a good answer, not larger than it may be; no redirect is followed."""
        headers = {"Accept": "application/json", **headers}
        try:
            async with self._http.request(
                method, url, data=form, headers=headers, timeout=TIMEOUT, allow_redirects=False
            ) as answer:
                body = await answer.content.read(MAX_ANSWER + 1)
                while len(body) <= MAX_ANSWER and (
                    piece := await answer.content.read(MAX_ANSWER + 1 - len(body))
                ):
                    body += piece
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SignInFailed(f"the provider does not answer ({type(error).__name__})") from error
        if answer.status != 200:
            raise SignInFailed(f"the provider answers with status {answer.status}")
        if len(body) > MAX_ANSWER:
            raise SignInFailed("the provider's answer is too large")
        return body


def _basic(client: str, secret: str) -> str:
    """Who we are, as RFC 6749 wants it: each part encoded before they are put together."""
    return "Basic " + base64.b64encode(f"{quote_plus(client)}:{quote_plus(secret)}".encode()).decode()


def _read(body: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, ValueError) as error:
        raise SignInFailed(f"the provider's answer cannot be read ({error})") from error


def _key_set(body: bytes) -> KeySet:
    """The keys to sign with; those of other kinds or uses are left out."""
    listed = _read(body, dict[str, Any]).get("keys")
    keys: list[RSAKey | ECKey] = []
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("use", "sig") == "sig":
            try:
                if (kind := KINDS.get(one.get("kty"))) is not None:
                    keys.append(kind.import_key(one))
            except (JoseError, ValueError, TypeError, KeyError):
                continue  # one that is broken must not keep out those who are signed with another
    return KeySet(list(keys))


def _is_shut(url: str) -> bool:
    """Whether nobody on the way can read along: https, or this very machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if not parts.netloc or parts.fragment or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback_host(parts.netloc))
