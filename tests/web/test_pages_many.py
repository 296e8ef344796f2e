"""More workflows than one page of the list holds: all are counted, found and gone to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.serving import serving
from tests.web.conftest import SIZE, Site, Visit
from tests.web.plant import fresh, published, started

MANY = 205


@pytest.mark.long("test_the_next_page_comes_by_its_cursor")
def test_every_workflow_is_counted_and_found_where_the_list_has_several_pages(
    browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]
    with serving("up", cwd=tmp_path) as up:
        site = Site(up, tmp_path)
        for n in range(MANY):
            name = f"flow-{n:03}"
            steps = {"rest": {"task": "wait", "with": {"for": "1m"}}}
            site.ask("PUT", f"/api/workflows/{name}", {"penstock": 1, "name": name, "steps": steps})
        last = f"flow-{MANY - 1}"

        page.goto(f"{site.base}/app/workflows")
        expect(page.get_by_text(f"{MANY} workflows")).to_be_visible()
        page.get_by_label("Find a workflow").fill(last)
        expect(page.get_by_role("link", name=last).first).to_be_visible()

        page.goto(site.base)
        expect(page.get_by_role("link", name=last).first).to_be_attached()
        page.keyboard.press("Control+k")
        page.keyboard.type(last)
        expect(page.get_by_role("option", name=last).first).to_be_visible()
        page.context.close()


@pytest.mark.long("test_the_grid_shows_steps_and_runs_and_opens_a_run")
def test_the_last_of_many_can_be_chosen_from_a_list(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]
    with serving("up", cwd=tmp_path) as up:
        site = Site(up, tmp_path)
        for n in range(40):
            published(site, f"flow-{n:03}", {"rest": {"task": "wait", "with": {"for": "1m"}}})

        page.goto(f"{site.base}/app/runs?show=grid")
        page.get_by_role("combobox", name="Workflow").click()
        page.get_by_role("option", name="flow-039").click()  # which must be brought into sight

        expect(page).to_have_url(re.compile("workflow=flow-039"))
        page.context.close()


@pytest.mark.long("test_the_past_of_a_run_can_be_looked_at")
def test_a_timeline_of_very_many_steps_says_where_the_others_are(site: Site, visit: Visit) -> None:
    steps = {f"step {n}": {"task": "set", "with": {"n": n}} for n in range(MANY)}
    name = published(site, fresh("many-steps"), steps)

    page = visit.open(f"/app/runs/{started(site, name, 'many.mov')}")

    expect(page.get_by_text(f"200 of {MANY} steps are drawn; the table has them all.")).to_be_visible()
    page.get_by_role("button", name="Show as table").click()
    expect(page.get_by_role("table", name="Timeline").get_by_role("row")).to_have_count(MANY + 1)
