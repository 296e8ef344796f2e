"""A small identity provider that really runs: it signs what a test tells it to, also forgeries."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import json
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import uvicorn
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from penstock.access.oidc import challenge

RSA = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"}, auto_kid=False)
OTHER_RSA = RSAKey.generate_key(2048, {"kid": "rsa"}, auto_kid=False)
EC = ECKey.generate_key("P-256", {"kid": "ec"}, auto_kid=False)
CLIENT, SECRET = "penstock", "pro+vider secret"


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def unsigned(claims: dict[str, Any]) -> str:
    """A token that nobody signed."""
    return f"{encoded({'alg': 'none', 'kid': 'rsa'})}.{encoded(claims)}."


def signed_with_what_everybody_knows(claims: dict[str, Any]) -> str:
    """The public key taken for a shared one."""
    text = f"{encoded({'alg': 'HS256', 'kid': 'rsa'})}.{encoded(claims)}"
    made = hmac.digest(RSA.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(made).decode().rstrip('=')}"


class TestProvider:
    """What it will answer is set by the test before the browser comes."""

    __test__ = False

    def __init__(self) -> None:
        self.issuer = ""
        self.keys: list[Any] = [RSA, EC]
        self.signs: Any = RSA
        self.algorithm = "RS256"
        self.claims: dict[str, Any] = {}  # instead of the right ones
        self.forge: Any = None  # makes the token of the claims
        self.configuration: dict[str, Any] = {}
        self.token_status = 200
        self.asked: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.configure),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/jwks", self.jwks),
            ]
        )

    async def configure(self, request: Request) -> Response:
        self.asked.append("configuration")
        ends = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
        }
        return JSONResponse(ends | self.configuration)

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        back = urlencode({"code": code, "state": asked["state"], "iss": self.issuer})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}", 302)

    async def token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        asked = self.codes.pop(form["code"], None)
        wanted = base64.b64encode(b"penstock:pro%2Bvider+secret").decode()
        is_right = asked is not None and (
            challenge(form["code_verifier"]) == asked["code_challenge"]
            and form["redirect_uri"] == asked["redirect_uri"]
            and asked["code_challenge_method"] == "S256"
            and request.headers.get("authorization") == f"Basic {wanted}"
        )
        if asked is None or not is_right or self.token_status != 200:
            return JSONResponse({"error": "invalid_grant"}, max(self.token_status, 400))
        return JSONResponse({"id_token": self._sign(self._claims(asked["nonce"])), "token_type": "Bearer"})

    def _claims(self, nonce: str) -> dict[str, Any]:
        right = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "u1",
            "email": "amy@example.org",
            "roles": ["staff", "flow-authors"],
            "nonce": nonce,
        }
        return {name: value for name, value in (right | self.claims).items() if value is not None}

    def _sign(self, claims: dict[str, Any]) -> str:
        if self.forge is not None:
            forged: str = self.forge(claims)
            return forged
        header = {"alg": self.algorithm, "kid": self.signs.kid}
        return jwt.encode(header, claims, self.signs, [self.algorithm])

    async def jwks(self, request: Request) -> Response:
        self.asked.append("jwks")
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.keys]})


@contextlib.asynccontextmanager
async def running(provider: TestProvider) -> AsyncIterator[None]:
    """Serve it on a port of this machine."""
    listening = socket.create_server(("127.0.0.1", 0))
    provider.issuer = f"http://127.0.0.1:{listening.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(provider.app(), log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve([listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
