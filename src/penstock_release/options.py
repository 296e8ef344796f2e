"""What the coordinator is told: time-outs, tokens and addresses."""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct


class OAuth(Struct, frozen=True, kw_only=True):
    """Client credentials with which a bearer token is fetched."""

    token_url: str
    client_id: str
    client_secret: str
    audience: str | None = None


class Options(Struct, frozen=True, kw_only=True):
    """The settings `release_…`."""

    poll_interval: timedelta = timedelta(seconds=10)
    request_timeout: timedelta = timedelta(seconds=30)
    task_timeout: timedelta = timedelta(hours=1)
    timeout: timedelta = timedelta(days=1)
    token: str | None = None
    oauth: OAuth | None = None
    open_reports: bool = False
    dataservice_url: str | None = None
    health_every: timedelta = timedelta(seconds=10)
    look_every: timedelta = timedelta(seconds=1)
    heartbeat: timedelta = timedelta(seconds=10)

    @property
    def signs(self) -> bool:
        """Whether calls to task services carry a bearer token."""
        return self.token is not None or self.oauth is not None
