"""What is around every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.plant import violations

OTHER_PAGES = (
    *("Workflows", "Releases", "Queues and workers", "Schedules", "Stores and hooks", "Tokens", "Audit"),
    "Settings",
)


def test_the_first_page_lists_the_workflows_by_links_with_their_names(site: Site, visit: Visit) -> None:
    site.ask(
        "PUT",
        "/api/workflows/first-page",
        {"penstock": 1, "name": "first-page", "steps": {"a": {"task": "x"}}},
    )

    page = visit.open("/")

    expect(page.locator("a[href*='first-page']").first).to_be_visible()


def test_the_appearance_is_chosen_and_kept(visit: Visit) -> None:
    page = visit.open("/app/runs")
    page.get_by_role("button", name="You are").click()
    page.get_by_role("menuitemcheckbox", name="Dark").click()
    page.reload()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_all_that_is_said_is_there_in_german(visit: Visit) -> None:
    visit.page.add_init_script("localStorage.setItem('penstock.language', 'de')")

    page = visit.open("/app/runs")

    expect(page.get_by_role("heading", name="Läufe")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")


def test_a_narrow_window_has_its_pages_at_the_foot(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 380, "height": 780})

    page = visit.open("/app/runs")

    expect(page.locator("nav.bar")).to_be_visible()
    expect(page.locator(".side")).to_be_hidden()


@pytest.mark.long("test_a_narrow_window_has_its_pages_at_the_foot")
def test_a_phone_leads_to_every_page(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 380, "height": 780})
    page = visit.open("/app/runs")
    bar = page.get_by_role("navigation", name="Pages")
    expect(bar.get_by_role("link")).to_have_text(["Home", "Runs", "Approvals", "Incidents"])

    for name in OTHER_PAGES:
        bar.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name=name).click()
        expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    bar.get_by_role("button", name="More").click()
    expect(page.get_by_role("menuitemcheckbox", name="Dark")).to_be_visible()
    visit.picture("phone-more")

    assert violations(page, "[data-radix-popper-content-wrapper]") == []
