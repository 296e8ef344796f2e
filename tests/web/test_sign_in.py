"""Signing in through an identity provider that really runs, with a real browser."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.access.provider import CLIENT, SECRET, TestProvider, running
from tests.cli.serving import serving
from tests.postgres_server import free_port
from tests.web.conftest import SIZE


@contextmanager
def providing(provider: TestProvider) -> Iterator[None]:
    """The provider on a loop of its own: the browser here speaks without one."""
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with running(provider):
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield
    finally:
        over.set()
        thread.join(10)


def identity(provider: TestProvider, port: int) -> str:
    said: dict[str, Any] = {
        "issuer": provider.issuer,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "redirect_uri": f"http://127.0.0.1:{port}/api/session/callback",
        "roles": {"flow-authors": {"role": "author"}},
    }
    return json.dumps(said)


def test_people_sign_in_through_the_provider_and_come_back_to_their_page(
    browser: Browser, tmp_path: Path
) -> None:
    provider, port = TestProvider(), free_port()
    provider.claims = {"iat": time.time() - 5, "exp": time.time() + 300}
    with (
        providing(provider),
        serving("up", "--port", port, cwd=tmp_path, PENSTOCK_OIDC=identity(provider, port)) as up,
    ):
        context = browser.new_context(viewport=SIZE, locale="en-GB")  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/app/runs?status=failed")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("heading", name="Sign in")).to_be_visible()

        dialog.get_by_role("link", name="Sign in with your organisation").click()

        expect(page).to_have_url(f"http://127.0.0.1:{port}/app/runs?status=failed")
        expect(page.get_by_role("button", name="You are amy@example.org")).to_be_visible()
        expect(dialog).to_be_hidden()
        page.get_by_role("button", name="You are amy@example.org").click()
        page.get_by_role("menuitem", name="Sign out").click()
        expect(dialog.get_by_role("heading", name="Sign in")).to_be_visible()
        context.close()
        up.stop()
