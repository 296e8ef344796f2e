"""The seven steps of Mediathread, from nothing to a run that ended: once with the mouse, once with the keys."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor, trails, watch_tokens
from tests.web.sides import wait_for

FIRST = [
    "Extract metadata",
    "Create et job",
    "Pull thumbnails",
    "Copy to cunix",
    "Mediathread submit",
    "Send",
]
FAILURE = "Send 2"


def steps_of(site: Site, name: str) -> dict[str, Any]:
    found: dict[str, Any] = site.ask("GET", f"/api/workflows/{name}")["definition"]["steps"]
    return found


def wanted(steps: dict[str, Any]) -> None:
    """The net that the document means, whoever drew it."""
    assert len(steps) == 7
    assert {name: steps[name].get("after") for name in steps} == {
        "Extract metadata": None,
        "Create et job": None,
        "Pull thumbnails": "ET job finished",
        "Copy to cunix": "ET job finished",
        "Mediathread submit": ["Extract metadata", "Pull thumbnails", "Copy to cunix"],
        "Send": "Mediathread submit",
        FAILURE: "failed",
    }
    assert {steps[name]["fails"] for name in FIRST} == {"failed"}
    assert (steps["Send"]["emits"], steps[FAILURE]["emits"], steps[FAILURE]["fails"]) == (
        "OK",
        "FAIL",
        "FAIL",
    )


def moved(page: Page) -> int:
    """How many tokens went a way."""
    return sum(len({tuple(place) for place in trail}) > 3 for trail in trails(page))


def ends_green(page: Page) -> None:
    """The run that is open succeeds, every step of the good way is complete, and tokens went over the wires."""
    expect(page.locator(".runhead .st")).to_have_text("Succeeded")
    for step in FIRST:
        expect(page.locator(f"[data-step='{step}']")).to_contain_text("Complete")
    wait_for(page, lambda: moved(page) >= 4)  # the outside event, two steps, the submission and the mail fire


def waits_for_outside(page: Page) -> None:
    """The page of a run that has come as far as it can by itself."""
    page.wait_for_url("**/app/runs/*")
    expect(page.get_by_role("button", name="Fire “ET job finished”")).to_be_visible()
    expect(page.locator("[data-step='Create et job']")).to_contain_text("Complete")
    expect(page.locator("[data-step='Pull thumbnails']")).to_contain_text("Blocked")
    # The page moves no tokens for what its first look at the history brings.
    expect(page.get_by_role("tab", name=re.compile(r"History \d"))).to_be_visible()


def drawn_by_mouse(editor: Editor) -> None:
    """Boxes are dragged from the palette, wires from port to box."""
    page = editor.page
    places = [(220, 60), (220, 150), (420, 270), (420, 360), (600, 190), (770, 90), (600, 480)]
    for title, (x, y) in zip([*FIRST, "Send"], places, strict=True):
        editor.drag_box(title, x, y)
    page.get_by_role("button", name="Event from outside").click()
    editor.choose("ET job finished")

    def end(box: str, port: str, text: str) -> None:
        knob = editor.knob(box, port).bounding_box()
        assert knob is not None
        page.mouse.move(knob["x"] + 12, knob["y"] + 12)
        page.mouse.down()
        page.mouse.move(knob["x"] + 60, knob["y"] + 30, steps=4)
        page.mouse.up()
        page.get_by_role("option", name=text).click()

    outside = editor.knob("@outside", "out:ET job finished")
    editor.drag_wire(outside, editor.box("Pull thumbnails"))
    editor.drag_wire(outside, editor.box("Copy to cunix"))
    for source in ("Extract metadata", "Pull thumbnails", "Copy to cunix"):
        editor.drag_wire(editor.knob(source, "out:done"), editor.box("Mediathread submit"))
        if source != "Extract metadata":
            page.get_by_role("option", name="Also wait for this").click()
    editor.drag_wire(editor.knob("Mediathread submit", "out:done"), editor.box("Send"))
    for source in FIRST:
        editor.drag_wire(editor.knob(source, "out:failed"), editor.box(FAILURE))
    end("Send", "out:done", "End: OK")
    end(FAILURE, "out:done", "End: FAIL")
    editor.drag_wire(editor.knob(FAILURE, "out:failed"), editor.knob("@FAIL", "in0"))


def test_with_the_mouse_alone_it_is_drawn_published_started_and_ends(site: Site, visit: Visit) -> None:
    name, page = "mediathread-mouse", visit.page
    editor = Editor(page, site.base, name)
    drawn_by_mouse(editor)

    expect(page.get_by_role("button", name=re.compile("Proved"))).to_be_visible(timeout=10_000)
    editor.wait_saved()
    visit.picture("editor-mediathread-light")
    wanted(steps_of(site, name))
    watch_tokens(page)
    page.get_by_role("button", name="Publish v1").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish v1").click()
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("dialog").get_by_role("button", name="Start", exact=True).click()
    waits_for_outside(page)
    page.get_by_role("button", name="Fire “ET job finished”").click()
    page.get_by_role("dialog").get_by_role("button", name="Fire", exact=True).click()
    ends_green(page)
    visit.picture("run-mediathread-light")


def drawn_by_keys(editor: Editor) -> None:
    """Boxes are found by name, wires drawn with C."""
    editor.tab_to(".edcanvas")
    for number, title in enumerate([*FIRST, "Send"]):
        editor.keys("/")
        editor.choose(title)
        expect(editor.box(FAILURE if number == 6 else title)).to_be_visible()
    editor.keys("/")
    editor.choose("Event from outside")
    editor.choose("ET job finished")

    connect = editor.connect
    connect("From outside", None, "Pull thumbnails")
    connect("From outside", None, "Copy to cunix")
    connect("Extract metadata,", "done", "Mediathread submit")
    connect("Pull thumbnails,", "done", "Mediathread submit", "Also wait")
    connect("Copy to cunix,", "done", "Mediathread submit", "Also wait")
    connect("Mediathread submit,", "done", "Send")
    for source in FIRST:
        connect(f"{source},", "failed", FAILURE)
    connect("Send,", "done", "End: OK")
    connect(f"{FAILURE},", "done", "End: FAIL")
    connect(f"{FAILURE},", "failed", "End: FAIL")
    editor.keys("l")


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_with_the_keys_alone_it_is_drawn_published_started_and_ends(site: Site, visit: Visit) -> None:
    name, page = "mediathread-keys", visit.page
    editor = Editor(page, site.base, name)
    drawn_by_keys(editor)

    expect(page.get_by_role("button", name=re.compile("Proved"))).to_be_visible(timeout=10_000)
    editor.wait_saved()
    wanted(steps_of(site, name))
    watch_tokens(page)
    editor.keys("Control+Enter")
    asked = page.get_by_role("dialog", name="Publish v1")
    expect(asked.get_by_role("button", name="Publish v1")).to_be_enabled()  # once it is saved and proved
    page.keyboard.type("The first one")
    editor.keys("Control+Enter")
    expect(page.get_by_text("v1 is published")).to_be_visible()
    editor.command("Start a run")
    subject = page.get_by_role("dialog", name="Start a run").get_by_role("textbox").first
    expect(subject).to_be_focused()
    page.keyboard.type("lecture.mov")
    expect(subject).to_have_value("lecture.mov")
    editor.keys("Enter")
    waits_for_outside(page)
    editor.command("Fire event")
    expect(page.get_by_role("dialog", name="Fire event")).to_be_visible()
    editor.keys("Control+Enter")
    ends_green(page)
