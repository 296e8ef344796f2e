"""The request that is open stays open, with what was filled in, whatever comes in meanwhile."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Site, Visit
from tests.web.plant import fresh, published, started, status_of
from tests.web.sides import wait_for

SLOW = 20_000


def asked(site: Site, page: Page, name: str, text: str) -> str:
    """A run that asks a person, and is seen to ask."""
    fields = {"type": "object", "properties": {"reason": {"type": "string", "title": "Reason"}}}
    ask = {"task": "approval", "with": {"text": text, "fields": fields}, "emits": {"approved": "OK"}}
    run = started(site, published(site, name, {"ask": ask}))
    wait_for(
        page, lambda: run in {each["run"] for each in site.ask("GET", "/api/approvals?limit=200")["items"]}
    )
    return run


def choose(page: Page, text: str) -> None:
    """Open a request, where it is not open by itself."""
    row = page.get_by_role("button", name=text).or_(page.get_by_role("heading", name=text))
    row.click()
    expect(card(page).get_by_role("heading", name=text)).to_be_visible()


def card(page: Page) -> Locator:
    """The request that is open."""
    return page.get_by_role("article")


def fill(page: Page, reason: str, remark: str) -> None:
    card(page).get_by_role("textbox", name="Reason").fill(reason)
    card(page).get_by_role("textbox", name="Remark").fill(remark)


def filled(page: Page, reason: str, remark: str) -> None:
    expect(card(page).get_by_role("textbox", name="Reason")).to_have_value(reason)
    expect(card(page).get_by_role("textbox", name="Remark")).to_have_value(remark)


def test_a_new_request_does_not_take_over_the_one_that_is_open(site: Site, visit: Visit) -> None:
    mine, newer = fresh("First"), fresh("Second")
    run = asked(site, visit.page, fresh("kept-first"), mine)
    visit.page.clock.install()
    page = visit.open("/app/approvals")
    expect(card(page).get_by_role("heading", name=mine)).to_be_visible(timeout=SLOW)
    fill(page, "Because", "Seen by two of us")

    other = asked(site, visit.page, fresh("kept-second"), newer)
    page.clock.fast_forward(16_000)  # it is looked for every fifteen seconds

    expect(page.get_by_role("button", name=newer).or_(page.get_by_role("heading", name=newer))).to_be_visible(
        timeout=SLOW
    )
    visit.picture("approvals-newcomer")
    expect(card(page).get_by_role("heading", name=mine)).to_be_visible()
    filled(page, "Because", "Seen by two of us")
    card(page).get_by_role("button", name="Approve").click()
    wait_for(visit.page, lambda: status_of(site, run) == "succeeded")
    assert status_of(site, other) == "waiting"


def test_what_was_filled_in_is_there_when_one_comes_back_to_a_request(site: Site, visit: Visit) -> None:
    one, two = fresh("One"), fresh("Two")
    asked(site, visit.page, fresh("kept-one"), one)
    asked(site, visit.page, fresh("kept-two"), two)
    page = visit.open("/app/approvals")
    choose(page, one)
    fill(page, "Because", "Seen")

    choose(page, two)
    filled(page, "", "")
    choose(page, one)
    filled(page, "Because", "Seen")
    card(page).get_by_role("link").first.click()
    expect(page).not_to_have_url(f"{site.base}/app/approvals")
    page.go_back()
    choose(page, one)

    filled(page, "Because", "Seen")
