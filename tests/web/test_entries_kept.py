"""What somebody typed is not lost by a click beside it, or by Escape."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor
from tests.web.plant import fresh, published
from tests.web.sides import wait_for

BESIDE = (20, 450)
"""A place outside of every dialog."""


def notes(site: Site, name: str) -> list[str]:
    """What the notes of a saved drawing say."""
    view: dict[str, Any] = site.ask("GET", f"/api/workflows/{name}")["definition"].get("view", {})
    return [each["text"] for each in view.get("notes", {}).values()]


@pytest.mark.long("test_the_note_of_a_version_outlives_a_click_beside_it_and_escape")
def test_a_click_beside_a_note_or_escape_sets_it(site: Site, visit: Visit) -> None:
    name = fresh("kept-note")
    editor, page = Editor(visit.page, site.base, name), visit.page
    editor.drag_box("Wait", 300, 120)
    editor.wait_saved()
    editor.command("Note")
    text = page.locator(".chooser textarea")
    text.fill("First line\nSecond line")

    editor.canvas.click(position={"x": 40, "y": 40})

    expect(text).to_have_count(0)
    drawn = page.locator(".react-flow__node").filter(has_text="Second line")
    expect(drawn).to_be_visible()
    visit.picture("note-set")
    drawn.dblclick()
    text.fill("Another")
    page.keyboard.press("Escape")
    expect(text).to_have_count(0)
    wait_for(visit.page, lambda: notes(site, name) == ["Another"])
    page.get_by_role("button", name="Undo").click()
    expect(drawn).to_be_visible()


def test_a_run_to_be_started_keeps_its_entries(site: Site, visit: Visit) -> None:
    params = {"type": "object", "properties": {"file": {"type": "string", "title": "File"}}}
    name = published(site, fresh("kept-start"), {"a": {"task": "plain", "emits": "OK"}}, params=params)
    page = visit.open(f"/app/workflows/{name}")
    start = page.get_by_role("button", name="Start a run").first
    start.click()
    dialog = page.get_by_role("dialog", name="Start a run")
    dialog.get_by_role("textbox", name="File").fill("a.mov")
    dialog.get_by_role("textbox", name="Subject").fill("Lecture 7")

    page.mouse.click(*BESIDE)
    expect(dialog.get_by_role("textbox", name="Subject")).to_have_value("Lecture 7")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    start.click()
    expect(dialog.get_by_role("textbox", name="Subject")).to_have_value("Lecture 7")
    expect(dialog.get_by_role("textbox", name="File")).to_have_value("a.mov")
    dialog.get_by_role("button", name="Leave as it is").click()
    start.click()
    expect(dialog.get_by_role("textbox", name="Subject")).to_have_value("")
    page.mouse.click(*BESIDE)

    expect(dialog).to_have_count(0)  # nothing was typed: a click beside it leaves


def test_the_note_of_a_version_outlives_a_click_beside_it_and_escape(site: Site, visit: Visit) -> None:
    name = fresh("kept-publish")
    steps = {"a": {"task": "plain"}}
    site.ask("PUT", f"/api/workflows/{name}", {"penstock": 1, "name": name, "steps": steps})
    editor, page = Editor(visit.page, site.base, name, new=False), visit.page
    expect(editor.box("a")).to_be_visible()
    publish = page.get_by_role("button", name="Publish v1")
    publish.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What is new").fill("Reads the poster too")

    page.mouse.click(*BESIDE)
    expect(dialog.get_by_label("What is new")).to_have_value("Reads the poster too")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    publish.click()
    expect(dialog.get_by_label("What is new")).to_have_value("Reads the poster too")
    dialog.get_by_role("button", name="Publish v1").click()

    expect(page.get_by_text("v1 is published")).to_be_visible()
    versions = site.ask("GET", f"/api/workflows/{name}/versions")["items"]
    assert [each["note"] for each in versions] == ["Reads the poster too"]
