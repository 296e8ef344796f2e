"""The text beside the drawing: each follows the other, and comments stay."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Site, Visit
from tests.web.sides import MEDIATHREAD, Sides, definition, draft, put, put_text, wait_for

TEA = """\
# made by hand
penstock: 1
name: tea
steps:
  # first of all
  boil: {task: wait, with: {for: 2s}}
  pour: {task: set, after: boil}
"""


def opened(page: Page) -> Locator:
    page.get_by_role("button", name="Text", exact=True).click()
    found = page.get_by_role("textbox", name="Definition as YAML")
    expect(found).to_be_visible()
    return found


def test_the_drawing_follows_the_text_and_comments_are_kept(site: Site, visit: Visit) -> None:
    put_text(site, "sides-tea", TEA)
    editor = Sides.of(site, visit, "sides-tea")
    text = opened(visit.page)
    expect(text).to_contain_text("# first of all")

    text.press("Control+End")
    visit.page.keyboard.type("  drink: {task: tea.drink, after: pour}  # at last")

    expect(editor.box("drink")).to_be_visible()
    wait_for(visit.page, lambda: "# at last" in draft(site, "sides-tea")["text"])
    found = draft(site, "sides-tea")
    assert found["definition"]["steps"]["drink"] == {"task": "tea.drink", "after": "pour"}
    assert found["text"].startswith("# made by hand")


def test_the_text_follows_the_drawing_and_comments_are_kept(site: Site, visit: Visit) -> None:
    put_text(site, "sides-tea-2", TEA)
    editor = Sides.of(site, visit, "sides-tea-2")
    text = opened(visit.page)

    editor.box("pour").click()
    editor.canvas.focus()
    editor.keys("Delete")

    expect(text).not_to_contain_text("pour")
    wait_for(visit.page, lambda: "pour" not in draft(site, "sides-tea-2")["definition"]["steps"])
    assert "# first of all" in draft(site, "sides-tea-2")["text"]


@pytest.mark.long("test_the_text_follows_the_drawing_and_comments_are_kept")
def test_comments_outlive_an_edit_while_the_text_is_closed(site: Site, visit: Visit) -> None:
    put_text(site, "sides-tea-3", MEDIATHREAD)
    editor = Sides.of(site, visit, "sides-tea-3")
    editor.inspect("submit")

    editor.fill(editor.section("When it goes wrong").get_by_label("Retries", exact=True), "4")

    wait_for(visit.page, lambda: definition(site, "sides-tea-3")["steps"]["submit"].get("retries") == 4)
    assert "# The join: three slots" in draft(site, "sides-tea-3")["text"]


@pytest.mark.long("test_text_that_cannot_be_read_is_kept_and_not_called_saved")
def test_what_cannot_be_read_is_told_with_its_line_and_changes_nothing(site: Site, visit: Visit) -> None:
    put_text(site, "sides-tea-4", TEA)
    editor = Sides.of(site, visit, "sides-tea-4")
    text = opened(visit.page)
    before = draft(site, "sides-tea-4")["etag"]

    text.press("Control+End")
    visit.page.keyboard.type("  more: {task: tea.more, emit: x}")

    told = visit.page.get_by_role("alert").filter(has_text="Line 8: Unknown key 'emit'")
    expect(told).to_contain_text("did you mean `emits`?")
    expect(editor.box("more")).to_have_count(0)
    assert draft(site, "sides-tea-4")["etag"] == before
    told.get_by_role("button", name="Go to line 8").click()
    visit.page.keyboard.press("End")
    for _ in ", emit: x}":
        visit.page.keyboard.press("Backspace")
    visit.page.keyboard.type("}")
    expect(editor.box("more")).to_be_visible()
    visit.forgive(422, 400)


def test_text_that_cannot_be_read_is_kept_and_not_called_saved(site: Site, visit: Visit) -> None:
    put_text(site, "sides-tea-6", TEA)
    editor = Sides.of(site, visit, "sides-tea-6")
    text = opened(visit.page)
    text.press("Control+End")
    visit.page.keyboard.type("  more: {task: [")

    expect(visit.page.locator('[data-save="typed"]')).to_contain_text("Not saved.")
    expect(visit.page.get_by_role("button", name="Publish", exact=True)).to_have_class(re.compile("off"))
    editor.box("pour").click()
    editor.canvas.focus()
    editor.keys("Delete")
    visit.page.get_by_role("button", name="Keep the text").click()
    expect(text).to_contain_text("more: {task: [")
    expect(editor.box("pour")).to_be_visible()
    visit.page.reload()

    expect(visit.page.get_by_role("textbox", name="Definition as YAML")).to_contain_text("more: {task: [")
    expect(visit.page.locator('[data-save="typed"]')).to_be_visible()
    visit.forgive(422, 400)


@pytest.mark.long("test_the_drawing_follows_the_text_and_comments_are_kept")
def test_the_step_at_the_cursor_is_selected(site: Site, visit: Visit) -> None:
    put_text(site, "sides-tea-5", TEA)
    editor = Sides.of(site, visit, "sides-tea-5")
    text = opened(visit.page)

    text.get_by_text("boil", exact=False).first.click()

    expect(editor.section("Waits for")).to_be_visible()
    expect(editor.inspector.get_by_text("boil").first).to_be_visible()


@pytest.mark.long("test_the_drawing_follows_the_text_and_comments_are_kept")
def test_the_drawing_is_seen_whole_beside_the_text(site: Site, visit: Visit) -> None:
    steps = {
        "a": {"task": "plain"},
        "b": {"task": "plain", "after": "a"},
        "c": {"task": "plain", "after": "b"},
    }
    places = {"a": [80, 80], "b": [400, 80], "c": [720, 80]}
    put(site, "sides-beside", steps, view={"positions": places})
    editor = Sides.of(site, visit, "sides-beside")
    editor.inspect("c")

    opened(visit.page)

    visit.page.wait_for_function(
        """() => document.querySelector('[data-step=c]').getBoundingClientRect().right
          < document.querySelector('.edtext').getBoundingClientRect().left"""
    )
