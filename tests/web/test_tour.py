"""The tour leads to what there is on this installation."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.cli.serving import serving
from tests.web.conftest import SIZE, Site, Visit
from tests.web.drawing import Editor
from tests.web.plant import published, started

LONG = {"rest": {"task": "wait", "with": {"for": "1h"}, "emits": "OK"}}


def tour(page: Page) -> Locator:
    return page.get_by_role("region", name="Two-minute tour")


@pytest.mark.long("test_a_new_workflow_gets_a_name_and_the_tour_has_five_hints")
def test_the_tour_leads_to_what_is_there(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]
    with serving("up", cwd=tmp_path) as up:
        site = Site(up, tmp_path)
        page.goto(f"{site.base}/app/new")
        expect(tour(page)).to_contain_text("Nothing is published yet")
        tour(page).get_by_role("button", name="Take “Video for Mediathread”").click()
        expect(page).to_have_url(f"{site.base}/app/workflows/mediathread/edit")

        published(site, "long", LONG)
        page.goto(f"{site.base}/app/new")
        expect(tour(page).get_by_role("link", name="Start “long”")).to_be_visible()
        run = started(site, "long", "lecture.mov")
        page.reload()
        tour(page).get_by_role("link", name="Follow “lecture.mov”").click()
        expect(page).to_have_url(f"{site.base}/app/runs/{run}")

        page.goto(f"{site.base}/app/new")
        tour(page).get_by_role("link", name="Video for Mediathread").click()
        expect(page).to_have_url(f"{site.base}/app/workflows/mediathread/edit")
        page.context.close()


@pytest.mark.long("test_a_new_workflow_gets_a_name_and_the_tour_has_five_hints")
def test_a_hint_about_a_part_that_is_folded_away_is_still_seen(site: Site, visit: Visit) -> None:
    visit.page.add_init_script(
        "sessionStorage.setItem('penstock.tour', '0'); localStorage.setItem('penstock.folded', '{\"palette\": true}')"
    )
    Editor(visit.page, site.base, "toured-folded")

    expect(visit.page.get_by_role("region", name="Tour", exact=True)).to_contain_text("Hint 1 of 5")
