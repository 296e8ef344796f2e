"""The only call that hooks make: it fetches a small file from a host that was checked before."""

from __future__ import annotations

import aiohttp

MAX_ANSWER = 64 * 1024
FETCH_TIMEOUT = 5.0


async def fetch(url: str, limit: int = MAX_ANSWER) -> bytes:
    """What is at an address: no redirects, no proxies, no cookies, little and soon. Raises OSError."""
    timeout = aiohttp.ClientTimeout(total=FETCH_TIMEOUT)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            if answer.status != 200:
                raise OSError(f"it answered {answer.status}")
            found = await answer.content.read(limit + 1)
            while len(found) <= limit and (more := await answer.content.read(limit + 1 - len(found))):
                found += more
    except (aiohttp.ClientError, TimeoutError) as error:
        raise OSError(f"it does not answer: {error}") from error
    if len(found) > limit:
        raise OSError(f"it has more than {limit} bytes")
    return found
