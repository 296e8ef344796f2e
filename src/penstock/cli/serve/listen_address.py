"""Where a server listens, and whether it may."""

from __future__ import annotations

import asyncio

from penstock.server.build import Front, has_tokens, releases_of, require_sign_in
from penstock.server.settings import Settings


def front_of(settings: Settings) -> Front:
    """Where a server listens. Raises NeedsToken, WeakToken, before anything is opened."""
    front = Front(
        settings["host"],
        settings["port"],
        settings["token"],
        settings["oidc"],
        settings["sns_topics"],
        settings.shown(),
        settings["trusted_proxies"],
        releases_of(settings),
    )
    unsure = not front.local and front.token is None
    require_sign_in(front, unsure and asyncio.run(has_tokens(settings["db"])))
    return front
