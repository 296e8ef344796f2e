"""What somebody who comes for the first time waits for: how much is loaded, when it is seen, how soon it answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.serving import serving
from tests.suites import first_short
from tests.web.conftest import SIZE, Site
from tests.web.plant import published

MOST = 200_000
"""Bytes of JavaScript, packed, that a first visit may take."""
SEEN = {"an empty installation": ".welcome", "a list of workflows": ".wcard"}

LOADED = """() => {
  const scripts = performance.getEntriesByType('resource').filter((each) => new URL(each.name).pathname.endsWith('.js'))
  return {
    bytes: scripts.reduce((sum, each) => sum + each.encodedBodySize, 0),
    files: scripts.length,
    painted: Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime),
    layout: scripts.some((each) => each.name.includes('elk')),
  }
}"""
ANSWERED = """async () => {
  const began = performance.now()
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))
  while (!document.querySelector('.cmdbar input')) await new Promise(requestAnimationFrame)
  return Math.round(performance.now() - began)
}"""


@pytest.mark.parametrize("tongue", first_short(["en-GB", "de-DE"]))
@pytest.mark.parametrize("what", first_short(SEEN))
def test_a_first_visit_loads_little(browser: Browser, tmp_path: Path, what: str, tongue: str) -> None:
    with serving("up", cwd=tmp_path) as up:
        site = Site(up, tmp_path)
        if what == "a list of workflows":
            published(site, "first", {"a": {"task": "wait", "with": {"for": "1m"}}})
        context = browser.new_context(viewport=SIZE, locale=tongue)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(site.base)
        expect(page.locator(SEEN[what]).first).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
        answered = page.evaluate(ANSWERED)  # by then all that comes with the first page has come
        found = page.evaluate(LOADED)
        context.close()
        up.stop()

    print(
        f"first load of {what} ({tongue}): {found['bytes'] / 1000:.0f} kB of JavaScript in {found['files']} files,"
        f" painted after {found['painted']} ms, the command bar opens in {answered} ms"
    )
    assert found["bytes"] < MOST
    assert not found["layout"]
