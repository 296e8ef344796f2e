"""What the editor says is the whole of it: of two drafts, of names, of events, of what is published already."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.sides import Sides, definition, put

SOUND = {
    "a": {"task": "mail.send", "with": {"to": "ann@example.org"}},
    "b": {"task": "mail.send", "after": "a"},
}


@pytest.mark.long("test_what_somebody_else_saved_is_not_written_over")
def test_a_conflict_is_told_in_full_with_its_time_and_both_values(site: Site, visit: Visit) -> None:
    put(site, "clear-two", SOUND)
    editor, page = Sides.of(site, visit, "clear-two"), visit.page
    editor.inspect("a")
    put(site, "clear-two", {**SOUND, "a": {"task": "mail.send", "with": {"to": "bob@example.org"}}})
    editor.fill(editor.section("Settings").get_by_label("To", exact=True), "cleo@example.org")

    told = page.get_by_role("alert").filter(has_text="Not saved.")
    expect(told).to_contain_text(
        re.compile(r"You saved this draft elsewhere at \d\d:\d\d\. .*compare the two\.")
    )
    assert told.locator("span").first.evaluate("(said) => said.scrollWidth <= said.clientWidth + 1")
    told.get_by_role("button", name="Compare").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("changed in two places")
    row = dialog.get_by_role("row").filter(has_text="with.to")
    expect(row).to_contain_text(re.compile(r"cleo@example\.org.*bob@example\.org"))
    visit.picture("clear-compare-light")
    dialog.get_by_role("button", name="All from elsewhere").click()
    dialog.get_by_role("button", name="Keep what is chosen").click()

    editor.wait_saved()
    assert definition(site, "clear-two")["steps"]["a"]["with"] == {"to": "bob@example.org"}
    visit.forgive(412)


@pytest.mark.long("test_boxes_are_found_connected_and_named_by_keys")
def test_another_title_says_what_it_comes_to_and_no_two_are_alike(site: Site, visit: Visit) -> None:
    put(
        site,
        "clear-names",
        {"copy": {"task": "mail.send"}, "mail": {"task": "mail.send", "title": "Tell", "after": "copy"}},
    )
    editor, page = Sides.of(site, visit, "clear-names"), visit.page
    field = page.locator(".rename")

    editor.box("mail").click()
    page.keyboard.press("F2")
    field.fill("copy")
    expect(page.locator(".renaming")).to_have_text("Another box is called “copy”.")
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    field.fill("Tell all")
    expect(page.locator(".renaming")).to_have_text("Only the title changes; the step stays “mail”.")
    visit.picture("clear-rename-light")
    page.keyboard.press("Enter")
    editor.box("copy").click()
    page.keyboard.press("F2")
    field.fill("Copy it")
    expect(page.locator(".renaming")).to_have_text("The step is renamed; its events and expressions follow.")
    page.keyboard.press("Enter")

    expect(editor.box("Copy it")).to_be_visible()
    steps = editor.after_save(site)["steps"]
    assert steps["mail"]["title"] == "Tell all"
    assert steps["mail"]["after"] == "Copy it"


def test_a_first_workflow_is_called_what_people_say(site: Site, visit: Visit) -> None:
    page = visit.open("/app/new")
    page.get_by_role("button", name="Draw a workflow").click()
    page.get_by_label("Title").fill("Prüfung der Rücksendung")
    expect(page.get_by_label("Name")).to_have_value("pruefung-der-ruecksendung")
    visit.picture("clear-name-light")
    page.get_by_label("Title").press("Enter")

    page.wait_for_url("**/pruefung-der-ruecksendung/edit")
    expect(page.locator(".edcanvas")).to_be_focused()
    assert definition(site, "pruefung-der-ruecksendung")["title"] == "Prüfung der Rücksendung"
    page.keyboard.press("/")
    expect(page.locator(".chooser input")).to_be_focused()
    page.keyboard.type("Wait")
    page.keyboard.press("Enter")
    expect(page.locator('[data-step="Wait"]')).to_be_visible()
    expect(page.locator(".edcanvas")).to_be_focused()


@pytest.mark.long("test_a_step_waits_for_what_is_said")
def test_a_pill_shows_its_event_who_fires_it_and_who_waits(site: Site, visit: Visit) -> None:
    steps = {
        "copy": {"task": "mail.send", "emits": "copied"},
        "mail": {"task": "mail.send", "title": "Tell", "after": "copied"},
    }
    put(site, "clear-event", steps)
    editor, page = Sides.of(site, visit, "clear-event"), visit.page

    page.locator("[data-pill='copied']").click()
    expect(editor.section("Fired by")).to_contain_text("copy")
    expect(editor.section("Waited for by")).to_contain_text("Tell")
    expect(page.locator(".chooser")).to_have_count(0)
    visit.picture("clear-event-light")
    page.keyboard.press("F2")
    editor.choose("stored")

    expect(editor.inspector.locator(".ev").first).to_contain_text("stored")
    assert editor.after_save(site)["steps"]["mail"]["after"] == "stored"
    page.locator("[data-pill='stored']").dblclick()
    expect(page.locator(".chooser input")).to_have_value("stored")


@pytest.mark.long("test_boxes_are_found_connected_and_named_by_keys")
def test_escape_leaves_a_title_as_it_was(site: Site, visit: Visit) -> None:
    put(site, "clear-escape", SOUND)
    editor, page = Sides.of(site, visit, "clear-escape"), visit.page
    editor.box("a").click()
    page.keyboard.press("F2")
    page.locator(".rename").fill("changed")
    page.keyboard.press("Escape")

    expect(page.locator(".rename")).to_have_count(0)
    expect(editor.box("a")).to_be_visible()
    expect(editor.box("changed")).to_have_count(0)


@pytest.mark.long("test_warnings_must_be_seen_and_the_difference_is_shown")
def test_what_is_published_already_is_not_offered_again(site: Site, visit: Visit) -> None:
    put(site, "clear-same", SOUND)
    site.ask("POST", "/api/workflows/clear-same/publish", {})
    editor, page = Sides.of(site, visit, "clear-same"), visit.page

    page.get_by_role("button", name="Publish", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("there is nothing to publish")
    expect(dialog.get_by_role("button", name="Publish")).to_have_count(0)
    dialog.get_by_role("button", name="Close").last.click()
    editor.inspect("a")
    editor.fill(editor.section("Settings").get_by_label("To", exact=True), "bob@example.org")

    editor.wait_saved()
    page.get_by_role("button", name="Publish v2").click()
    expect(dialog.get_by_role("button", name="Publish v2")).to_be_enabled()


@pytest.mark.long("test_a_form_from_the_schema_writes_the_parameters")
def test_an_approval_and_a_new_decision_are_asked_for_in_plain_words(site: Site, visit: Visit) -> None:
    put(site, "clear-forms", {"ask": {"task": "approval"}, "way": {"task": "decide", "with": {"if": "true"}}})
    editor = Sides.of(site, visit, "clear-forms")
    editor.inspect("ask")
    settings = editor.section("Settings")
    expect(settings.get_by_label("Due", exact=True)).to_have_attribute(
        "placeholder", re.compile("^such as 2d")
    )
    expect(settings).not_to_contain_text("JSON Schema")
    editor.fill(settings.get_by_label("Mail to", exact=True), "ann@example.org, bob@example.org")
    visit.picture("clear-approval-light")
    editor.inspect("way")

    expect(editor.inspector).to_contain_text("No condition yet: it always goes on at “then”.")
    expect(editor.inspector).not_to_contain_text("On the sample")
    assert editor.after_save(site)["steps"]["ask"]["with"]["to"] == ["ann@example.org", "bob@example.org"]


@pytest.mark.long("test_a_drawing_without_places_is_seen_whole_when_it_is_opened")
def test_a_drawing_that_was_laid_out_before_stands_at_once(site: Site, visit: Visit) -> None:
    put(site, "clear-laid", {**SOUND, "c": {"task": "mail.send", "after": "b"}})
    editor, page = Sides.of(site, visit, "clear-laid"), visit.page
    expect(editor.box("c")).to_be_visible()
    before = editor.box("c").bounding_box()
    page.route(re.compile("elk"), lambda route: route.abort())  # the engine cannot be had any more
    page.reload()

    expect(editor.box("c")).to_be_visible()
    assert editor.box("c").bounding_box() == before
