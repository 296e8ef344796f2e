"""Publishing from the page, and two people on one draft."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Site, Visit
from tests.web.sides import Sides, definition, draft, put, wait_for

SOUND = {"a": {"task": "video.extract_metadata"}, "b": {"task": "video.pull_thumbnails", "after": "a"}}


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def test_errors_hold_it_back_and_the_mended_one_is_published(site: Site, visit: Visit) -> None:
    put(site, "sides-publish", {**SOUND, "c": {"task": "mail.send", "after": "never"}})
    editor, page = Sides.of(site, visit, "sides-publish"), visit.page
    expect(editor.seal("Not sound")).to_be_visible()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(dialog(page)).to_contain_text("holds it back")
    expect(dialog(page).get_by_role("button", name="Publish v1")).to_be_disabled()
    dialog(page).get_by_role("button", name="Cancel").click()

    editor.panel.get_by_role("button", name="Mark “never” as from outside").first.click()
    page.get_by_role("button", name="Publish v1").click()
    dialog(page).get_by_label("What is new").fill("The first one")
    dialog(page).get_by_role("button", name="Publish v1").click()

    expect(page.get_by_text("v1 is published")).to_be_visible()
    versions = site.ask("GET", "/api/workflows/sides-publish/versions")["items"]
    assert [(each["version"], each["note"]) for each in versions] == [(1, "The first one")]
    assert draft(site, "sides-publish")["started"] is True


@pytest.mark.long("test_errors_hold_it_back_and_the_mended_one_is_published")
def test_what_was_said_of_publishing_goes_with_the_editor(site: Site, visit: Visit) -> None:
    put(site, "sides-news", SOUND)
    editor, page = Sides.of(site, visit, "sides-news"), visit.page
    expect(editor.seal("Proved")).to_be_visible()
    page.get_by_role("button", name="Publish v1").click()
    dialog(page).get_by_role("button", name="Publish v1").click()
    expect(page.get_by_text("v1 is published")).to_be_visible()

    page.get_by_role("link", name="Workflows", exact=True).click()

    expect(page.get_by_role("heading", name="Workflows")).to_be_visible()
    expect(page.get_by_text("v1 is published")).to_have_count(0, timeout=3_000)  # not when its time is over


def test_warnings_must_be_seen_and_the_difference_is_shown(site: Site, visit: Visit) -> None:
    put(site, "sides-warned", SOUND)
    site.ask("POST", "/api/workflows/sides-warned/publish", {})
    put(site, "sides-warned", {**SOUND, "extra": {"task": "nobody.offers_it", "after": "b"}})
    editor, page = Sides.of(site, visit, "sides-warned"), visit.page
    expect(editor.seal("Proved, 1 warning")).to_be_visible()

    page.get_by_role("button", name="Publish v2").click()
    expect(dialog(page).get_by_role("button", name="Publish v2")).to_be_disabled()
    dialog(page).get_by_text("Against v1: 1 step differs").click()
    expect(dialog(page).locator(".diffline.add").filter(has_text="nobody.offers_it")).to_be_visible()
    dialog(page).get_by_label("I have seen the warning").check()
    dialog(page).get_by_role("button", name="Publish v2").click()

    expect(page.get_by_text("v2 is published")).to_be_visible()


def test_an_administrator_publishes_with_a_reason_what_is_refuted(site: Site, visit: Visit) -> None:
    put(site, "sides-override", {**SOUND, "c": {"task": "mail.send", "after": "never"}})
    editor, page = Sides.of(site, visit, "sides-override"), visit.page
    expect(editor.seal("Not sound")).to_be_visible()

    page.get_by_role("button", name="Publish", exact=True).click()
    dialog(page).get_by_label("Publish it all the same").check()
    button = dialog(page).get_by_role("button", name="Publish v1 all the same")
    expect(button).to_be_disabled()
    dialog(page).get_by_label("Reason").fill("The other half comes tomorrow")
    button.click()

    expect(page.get_by_text("v1 is published")).to_be_visible()


@pytest.mark.long("test_what_somebody_else_saved_is_not_written_over")
def test_two_people_on_one_draft_lose_nothing(site: Site, visit: Visit) -> None:
    put(site, "sides-two", SOUND)
    editor, page = Sides.of(site, visit, "sides-two"), visit.page
    editor.inspect("a")
    put(site, "sides-two", {**SOUND, "theirs": {"task": "mail.send", "after": "b"}})

    editor.fill(editor.section("When it goes wrong").get_by_label("Retries", exact=True), "3")
    expect(page.locator('[data-save="conflict"]')).to_be_visible(timeout=10_000)
    assert "theirs" in definition(site, "sides-two")["steps"]
    page.get_by_role("button", name="Compare").click()
    expect(dialog(page)).to_contain_text("2 things differ")
    dialog(page).get_by_role("radiogroup", name="Whose “theirs” is kept").get_by_role(
        "radio", name="Elsewhere"
    ).click()
    visit.picture("sides-compare-light")
    dialog(page).get_by_role("button", name="Keep what is chosen").click()

    wait_for(page, lambda: definition(site, "sides-two")["steps"]["a"].get("retries") == 3)
    assert "theirs" in definition(site, "sides-two")["steps"]
    expect(page.locator('[data-save="saved"]')).to_be_visible()
    visit.forgive(412)


def test_a_draft_that_changed_under_the_dialog_is_not_published(site: Site, visit: Visit) -> None:
    put(site, "sides-late", SOUND)
    editor, page = Sides.of(site, visit, "sides-late"), visit.page
    expect(editor.seal("Proved")).to_be_visible()
    page.get_by_role("button", name="Publish v1").click()
    put(site, "sides-late", {**SOUND, "theirs": {"task": "mail.send", "after": "b"}})

    dialog(page).get_by_role("button", name="Publish v1").click()

    expect(dialog(page)).to_contain_text(re.compile("Not published. Somebody else saved"))
    assert draft(site, "sides-late")["published_version"] is None
    visit.forgive(412)


@pytest.mark.long("test_the_note_of_a_version_outlives_a_click_beside_it_and_escape")
def test_undo_in_the_dialog_leaves_the_drawing_behind_it_as_it_is(site: Site, visit: Visit) -> None:
    put(site, "sides-behind", {"a": {"task": "plain"}})
    editor = Sides.of(site, visit, "sides-behind")
    editor.inspect("a")
    editor.canvas.focus()
    editor.keys("d")
    editor.wait_saved()
    editor.keys("Control+Enter")
    leave = visit.page.get_by_role("dialog").get_by_role("button", name="Cancel")
    leave.focus()

    editor.keys("Control+z")
    leave.click()

    expect(visit.page.get_by_role("dialog")).to_have_count(0)
    assert editor.after_save(site)["steps"]["a"]["disabled"] is True
