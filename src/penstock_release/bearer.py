"""The bearer token that task services are shown: the one in the settings, or one fetched with client credentials."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import msgspec

from penstock import CallFailed, Engine
from penstock_release.options import OAuth, Options

EARLY = timedelta(seconds=60)
LIFE = timedelta(days=1)
"""Of a token that does not say how long it lasts; no token is kept for longer."""
NEVER = datetime.min.replace(tzinfo=UTC)


class Bearer:
    """Makes the header `Authorization`; a fetched token is kept until shortly before it ends."""

    def __init__(self, engine: Engine, options: Options) -> None:
        self._engine, self._options = engine, options
        self._token, self._until, self._ends = "", NEVER, NEVER
        self._fetching = asyncio.Lock()

    async def header(self) -> str:
        """The value of the header. Raises CallFailed."""
        if self._options.token is not None:
            return f"Bearer {self._options.token}"
        assert self._options.oauth is not None
        if datetime.now(UTC) >= self._until:
            async with self._fetching:  # hundreds of services are called at once, and one token does for all
                if datetime.now(UTC) >= self._until:
                    await self._renewed(self._options.oauth)
        return f"Bearer {self._token}"

    def renew(self, header: str) -> None:
        """A service did not accept this header: the next one has another token."""
        if header == f"Bearer {self._token}":
            self._until = self._ends = NEVER

    async def _renewed(self, oauth: OAuth) -> None:
        """Fetch a token; one that is still good does where none can be had. Raises CallFailed."""
        try:
            await self._fetch(oauth)
        except CallFailed:
            if datetime.now(UTC) >= self._ends:
                raise

    async def headers(self) -> dict[str, str]:
        """The headers of a call that the coordinator makes itself."""
        agent = {"User-Agent": "ReleaseCoordinator/penstock"}
        return {**agent, "Authorization": await self.header()} if self._options.signs else agent

    async def _fetch(self, oauth: OAuth) -> None:
        form = {
            "grant_type": "client_credentials",
            "client_id": oauth.client_id,
            "client_secret": oauth.client_secret,
        }
        if oauth.audience is not None:
            form["audience"] = oauth.audience
        answer = await self._engine.fetch(
            oauth.token_url,
            method="POST",
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            body=urlencode(form).encode(),
            timeout=self._options.request_timeout,
        )
        try:
            said = msgspec.json.decode(answer.body) if answer.status == 200 else {}
        except msgspec.DecodeError:
            said = {}
        token = said.get("access_token") if isinstance(said, dict) else None
        if not isinstance(token, str):
            raise CallFailed(f"{oauth.token_url} gave no access token (it answered {answer.status})", "error")
        now, life = datetime.now(UTC), _life(said.get("expires_in"))
        self._token, self._until, self._ends = token, now + max(life - EARLY, life / 2), now + life


def _life(said: object) -> timedelta:
    """How long a token lasts, said as a number or as a text."""
    try:
        seconds = float(said) if isinstance(said, int | float | str) else 0.0
    except (ValueError, OverflowError):
        return LIFE
    return timedelta(seconds=seconds) if 0 < seconds < LIFE.total_seconds() else LIFE
