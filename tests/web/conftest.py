"""A real server with pages, and a real browser that looks at it."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from penstock.web.built import document
from tests.cli.serving import Serving, serving
from tests.cli.test_front import base_of
from tests.web.plant import PAGE_TASKS

CHROMIUM = "/usr/bin/chromium"
expect.set_options(timeout=20_000)  # a crowded machine is slow, not wrong
SCREENS = Path("build/screens")
SIZE = {"width": 1440, "height": 900}
DRAWN = "h1, .empty, [role=alert], [role=dialog]"
"""What a page has once it is drawn, or says why it is not."""
TASKS = """\
from penstock import Context, task


@task("video.extract_metadata", task_list="video")
def extract_metadata(ctx: Context):
    "Read type, size and aspect ratio of a video."
    return {"duration": 12.5}


@task("video.create_et_job", task_list="video")
def create_et_job(ctx: Context):
    "Start a transcoding job."
    return {"job": "1"}


@task("video.pull_thumbnails", task_list="video")
def pull_thumbnails(ctx: Context):
    "Make a poster of the video."
    return {"poster": "p.png"}


@task("video.copy_to_cunix", task_list="video")
def copy_to_cunix(ctx: Context):
    "Copy the video to where it is served."
    return {"url": "u"}


@task("video.mediathread_submit", task_list="video")
def mediathread_submit(ctx: Context):
    "Tell Mediathread of the video."
    return {"asset": 7}


@task("mail.send", task_list="video")
def send(ctx: Context, to: str = "", subject: str = ""):
    "Send a mail."
    return None
"""


class Site:
    """A server with pages."""

    def __init__(self, up: Serving, folder: Path) -> None:
        self.up, self.folder, self.base = up, folder, base_of(up)

    def ask(self, method: str, path: str, value: Any = None) -> Any:
        """What the API answers."""
        body = None if value is None else json.dumps(value).encode()
        heads = {"content-type": "application/json"}
        request = urllib.request.Request(self.base + path, body, heads, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return json.loads(text) if text else None


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One `penstock up` with SQLite on a free port, for all tests of a process."""
    assert document() is not None, "the pages are not built: run `make setup`"
    folder = tmp_path_factory.mktemp("site")
    (folder / "tasks.py").write_text(TASKS + PAGE_TASKS)
    with serving("up", "--tasks", "tasks.py", cwd=folder, longest=3600) as up:
        yield Site(up, folder)
        up.stop()


@contextmanager
def launched() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield found
        found.close()


@pytest.fixture(scope="package")  # not longer: its event loop would stand in the way of other tests
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


def wait_until_there(page: Page, selector: str) -> None:
    """Wait for an element, looking at every frame: `expect` looks again after 0.1, 0.35, 0.85 and 1.85 seconds."""
    page.wait_for_function("(selector) => document.querySelector(selector)", arg=selector)


class Visit:
    """A page, and what its console said."""

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.said: list[str] = []
        self.forgiven: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.said.append(str(error)))

    def _hear(self, message: ConsoleMessage) -> None:
        refused = any(note in message.text for note in self.forgiven)
        if message.type in ("error", "warning") and not refused:
            self.said.append(f"{message.text} {message.location.get('url', '')}")

    def forgive(self, *statuses: int) -> None:
        """The browser writes every refusal into its console, some of them late: a test that provokes them says so."""
        self.forgiven += [f"status of {status}" for status in statuses]
        self.said = [said for said in self.said if not any(note in said for note in self.forgiven)]

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        wait_until_there(self.page, DRAWN)
        return self.page

    def picture(self, name: str) -> None:
        """Keep how it looks once what is fading has faded."""
        SCREENS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(SCREENS / f"{name}.png"), animations="disabled")


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Visit]:
    """A new window; that its console stays quiet is part of every test."""
    context = browser.new_context(viewport=SIZE, locale="en-GB", timezone_id="Europe/Berlin")  # type: ignore[arg-type]
    visited = Visit(context.new_page(), site.base)
    yield visited
    context.close()
    assert visited.said == []
