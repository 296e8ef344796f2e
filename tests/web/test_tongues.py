"""Both languages: every page has its texts, and writes times as the others do."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.suites import first_short
from tests.web.conftest import SIZE, Site, Visit
from tests.web.plant import fresh, published, started

PAGES = (
    *("", "workflows", "runs", "approvals", "incidents", "releases", "releases/new", "queues", "schedules"),
    *("stores", "access", "audit", "settings", "new"),
)
ONE_RUN = {"en-GB": "1 step × last run", "de-DE": "1 Schritt × letzter Lauf"}


@pytest.mark.long("test_all_that_is_said_is_there_in_german")  # and in English by the test of markup
@pytest.mark.parametrize("tongue", ["de-DE", "en-GB"])
def test_every_page_has_its_texts(site: Site, browser: Browser, tongue: str) -> None:
    name = published(site, fresh("told"), {"a": {"task": "wait", "with": {"for": "1h"}}})
    run = started(site, name)
    context = browser.new_context(viewport=SIZE, locale=tongue, timezone_id="Europe/Berlin")  # type: ignore[arg-type]
    visit = Visit(context.new_page(), site.base)

    for path in (*PAGES, f"workflows/{name}", f"runs/{run}", f"runs?workflow={name}&show=grid"):
        page = visit.open(f"/app/{path}")
        expect(page.locator("main h1, main h2, .welcome").first).to_be_visible()
        expect(page.locator(".empty[role=alert]")).to_have_count(0)
        if path == f"runs/{run}":
            expect(page.locator('[data-step="a"]')).to_be_visible()
        if path.endswith("grid"):
            expect(page.get_by_text(ONE_RUN[tongue])).to_be_visible()
        kind = re.sub(r"\W+", "-", path.replace(name, "one").replace(run, "one"))
        visit.picture(f"tongue-{tongue[:2]}-{kind or 'home'}")
    visit.open(f"/app/workflows/{name}/edit")
    expect(visit.page.locator(".edcanvas")).to_be_visible()
    visit.picture(f"tongue-{tongue[:2]}-edit")
    context.close()

    assert visit.said == []


@pytest.mark.parametrize("tongue", first_short(["de-DE", "en-GB"]))
def test_the_charts_of_the_first_page_count_hours_as_the_rest_does(
    site: Site, browser: Browser, tongue: str
) -> None:
    published(site, fresh("charted"), {"a": {"task": "wait", "with": {"for": "1h"}}})
    context = browser.new_context(viewport=SIZE, locale=tongue, timezone_id="Europe/Berlin")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(site.base)

    begin = page.locator(".tiles svg.chart").first.locator("text", has_text=":")
    expect(begin).to_have_text(re.compile(r"^\w+\.?,? \d\d:\d\d$"))
    context.close()
