"""What hooks fetch is small, from where it was asked, and soon; everything else is an OSError."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from penstock.sources.hooks.fetch import fetch


async def small(request: web.Request) -> web.Response:
    return web.Response(body=b"x" * 100)


async def elsewhere(request: web.Request) -> web.Response:
    raise web.HTTPFound("/small")


def test_a_small_file_is_fetched_and_nothing_else() -> None:
    async def main() -> None:
        app = web.Application()
        app.router.add_get("/small", small)
        app.router.add_get("/elsewhere", elsewhere)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        here = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            assert await fetch(f"{here}/small", 100) == b"x" * 100
            with pytest.raises(OSError, match="more than 99 bytes"):
                await fetch(f"{here}/small", 99)
            for path, said in (("/elsewhere", "answered 302"), ("/none", "answered 404")):
                with pytest.raises(OSError, match=said):
                    await fetch(f"{here}{path}")
        finally:
            await runner.cleanup()
        with pytest.raises(OSError, match="does not answer"):
            await fetch(f"{here}/small")

    asyncio.run(main())
