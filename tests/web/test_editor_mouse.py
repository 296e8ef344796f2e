"""Drawing with the mouse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor


def definition_of(site: Site, name: str) -> dict[str, object]:
    found: dict[str, object] = site.ask("GET", f"/api/workflows/{name}")["definition"]
    return found


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_boxes_are_dragged_wired_and_saved(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "mouse-small")

    editor.drag_box("Extract metadata", 300, 120)
    editor.drag_box("Wait", 560, 240)
    editor.drag_wire(editor.knob("Extract metadata", "out:done"), editor.box("Wait"))
    editor.wait_saved()

    steps = definition_of(site, "mouse-small")["steps"]
    assert steps == {
        "Extract metadata": {"task": "video.extract_metadata"},
        "Wait": {"task": "wait", "after": "Extract metadata", "with": {"for": "1m"}},
    }


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_two_clicks_draw_a_wire_too(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "mouse-clicks")
    editor.drag_box("Extract metadata", 300, 120)
    editor.drag_box("Pull thumbnails", 560, 240)

    editor.knob("Extract metadata", "out:done").click()
    editor.knob("Pull thumbnails", "in0").click()
    editor.wait_saved()

    steps = definition_of(site, "mouse-clicks")["steps"]
    assert isinstance(steps, dict)
    assert steps["Pull thumbnails"]["after"] == "Extract metadata"


def test_a_wire_that_cannot_be_says_why_and_changes_nothing(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "mouse-refused")
    editor.drag_box("Extract metadata", 300, 120)
    editor.drag_box("Pull thumbnails", 560, 240)
    editor.drag_wire(editor.knob("Extract metadata", "out:done"), editor.box("Pull thumbnails"))
    editor.wait_saved()
    before = definition_of(site, "mouse-refused")

    editor.drag_wire(editor.knob("Extract metadata", "out:done"), editor.box("Pull thumbnails"))

    expect(visit.page.get_by_text("This wire cannot be.")).to_be_visible()
    expect(visit.page.get_by_text("waits for “Extract metadata” already")).to_be_visible()
    assert definition_of(site, "mouse-refused") == before


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_a_wire_into_the_open_finds_a_box(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "mouse-open")
    editor.drag_box("Extract metadata", 200, 120)
    knob = editor.knob("Extract metadata", "out:done").bounding_box()
    assert knob is not None

    mouse = visit.page.mouse
    mouse.move(knob["x"] + 12, knob["y"] + 12)
    mouse.down()
    mouse.move(knob["x"] + 200, knob["y"] + 120, steps=5)
    mouse.up()
    editor.choose("Copy to cunix")
    editor.wait_saved()

    steps = definition_of(site, "mouse-open")["steps"]
    assert isinstance(steps, dict)
    assert steps["Copy to cunix"]["after"] == "Extract metadata"


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_a_joined_step_asks_how_it_shall_wait(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "mouse-join")
    editor.drag_box("Extract metadata", 200, 80)
    editor.drag_box("Pull thumbnails", 200, 240)
    editor.drag_box("Mediathread submit", 520, 160)
    editor.drag_wire(editor.knob("Extract metadata", "out:done"), editor.box("Mediathread submit"))
    editor.drag_wire(editor.knob("Pull thumbnails", "out:done"), editor.box("Mediathread submit"))

    visit.page.get_by_role("option", name="This or the other").click()
    editor.wait_saved()

    steps = definition_of(site, "mouse-join")["steps"]
    assert isinstance(steps, dict)
    assert steps["Mediathread submit"]["after"] == "Extract metadata | Pull thumbnails"
    expect(editor.box("Mediathread submit")).to_contain_text("either")


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_a_wire_to_one_of_several_events_takes_the_place_of_that_one(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "mouse-join-one")
    for title, y in (("Extract metadata", 40), ("Pull thumbnails", 160), ("Create et job", 280)):
        editor.drag_box(title, 160, y)
    editor.drag_box("Mediathread submit", 520, 160)
    editor.drag_wire(editor.knob("Extract metadata", "out:done"), editor.box("Mediathread submit"))
    editor.drag_wire(editor.knob("Pull thumbnails", "out:done"), editor.box("Mediathread submit"))
    visit.page.get_by_role("option", name="Also wait for this").click()

    editor.drag_wire(editor.knob("Create et job", "out:done"), editor.knob("Mediathread submit", "in1"))
    visit.page.get_by_role("option", name="This or “Pull thumbnails”").click()
    editor.wait_saved()

    steps = definition_of(site, "mouse-join-one")["steps"]
    assert isinstance(steps, dict)
    assert steps["Mediathread submit"]["after"] == ["Extract metadata", "Pull thumbnails | Create et job"]


@pytest.mark.long("test_undo_and_redo_go_through_everything_and_outlive_the_page")
def test_a_box_that_is_dropped_on_a_wire_is_one_edit(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "mouse-dropped")
    editor.drag_box("Extract metadata", 160, 80)
    editor.drag_box("Mediathread submit", 620, 80)
    editor.drag_wire(editor.knob("Extract metadata", "out:done"), editor.box("Mediathread submit"))
    editor.drag_box("Pull thumbnails", 400, 300)
    editor.wait_saved()
    before = definition_of(site, "mouse-dropped")
    wire = visit.page.locator('path[data-wire^="Extract metadata|"]').bounding_box()
    assert wire is not None

    box = editor.box("Pull thumbnails")
    box.hover(position={"x": 60, "y": 25})
    visit.page.mouse.down()
    visit.page.mouse.move(wire["x"] + wire["width"] / 2, wire["y"] + wire["height"] / 2 + 40, steps=4)
    visit.page.mouse.move(wire["x"] + wire["width"] / 2, wire["y"] + wire["height"] / 2, steps=4)
    visit.page.mouse.up()
    editor.wait_saved()
    dropped = definition_of(site, "mouse-dropped")
    editor.keys("Control+z")
    expect(visit.page.locator('path[data-wire^="Pull thumbnails|"]')).to_have_count(0)
    editor.wait_saved()

    steps = dropped["steps"]
    assert isinstance(steps, dict)
    assert steps["Pull thumbnails"]["after"] == "Extract metadata"
    assert steps["Mediathread submit"]["after"] == "Pull thumbnails"
    assert definition_of(site, "mouse-dropped") == before


def test_undo_and_redo_go_through_everything_and_outlive_the_page(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "mouse-undo")
    editor.drag_box("Extract metadata", 300, 120)
    editor.drag_box("Pull thumbnails", 560, 240)
    editor.wait_saved()
    visit.page.reload()

    visit.page.get_by_role("button", name="Undo").click()
    expect(editor.box("Pull thumbnails")).to_have_count(0)
    visit.page.get_by_role("button", name="Undo").click()
    expect(editor.box("Extract metadata")).to_have_count(0)
    visit.page.get_by_role("button", name="Redo").click()
    visit.page.get_by_role("button", name="Redo").click()

    expect(editor.box("Extract metadata")).to_be_visible()
    expect(editor.box("Pull thumbnails")).to_be_visible()


@pytest.mark.long("test_a_wire_that_cannot_be_says_why_and_changes_nothing")
def test_a_wire_says_on_its_way_why_it_cannot_end_there(site: Site, visit: Visit) -> None:
    editor, page = Editor(visit.page, site.base, "mouse-says"), visit.page
    editor.drag_box("Extract metadata", 200, 80)
    editor.drag_box("Pull thumbnails", 480, 80)
    editor.drag_wire(editor.knob("Extract metadata", "out:done"), editor.box("Pull thumbnails"))
    expect(page.locator("path[data-wire^='Extract metadata|Extract metadata|']")).to_have_count(1)
    note = page.locator(".wirehint")
    knob = editor.knob("Extract metadata", "out:done").bounding_box()
    taken = editor.box("Pull thumbnails").bounding_box()
    assert knob is not None and taken is not None

    page.mouse.move(knob["x"] + 12, knob["y"] + 12)
    page.mouse.down()
    page.mouse.move(taken["x"] + 60, taken["y"] + 20, steps=5)
    expect(note).to_contain_text("“Pull thumbnails” waits for “Extract metadata” already.")
    expect(editor.box("Pull thumbnails")).to_have_class(re.compile(r"\bdim\b"))
    place = note.bounding_box()
    assert place is not None
    assert abs(place["x"] - taken["x"] - 60) < 40 and abs(place["y"] - taken["y"] - 20) < 40
    page.mouse.move(taken["x"] + 60, taken["y"] + 160, steps=3)
    expect(note).to_have_count(0)

    page.mouse.move(taken["x"] + 60, taken["y"] + 20, steps=3)
    page.mouse.up()
    expect(page.get_by_role("alert").filter(has_text="waits for “Extract metadata” already")).to_be_visible()


@pytest.mark.long("test_the_editor_looks_like_its_design")
def test_hovering_an_event_lights_who_fires_and_who_waits_for_it(site: Site, visit: Visit) -> None:
    steps = {
        "look": {"task": "video.extract_metadata", "emits": "seen"},
        "copy": {"task": "video.copy_to_cunix", "after": "seen"},
        "mail": {"task": "mail.send", "after": "copy"},
    }
    site.ask("PUT", "/api/workflows/mouse-linked", {"penstock": 1, "name": "mouse-linked", "steps": steps})
    editor = Editor(visit.page, site.base, "mouse-linked", new=False)
    lit = visit.page.locator("[data-step].linked")

    visit.page.locator("[data-pill='seen']").hover()
    expect(lit).to_have_count(2)
    expect(editor.box("look")).to_have_class(re.compile("linked"))
    expect(editor.box("copy")).to_have_class(re.compile("linked"))
    expect(visit.page.locator("path.linked")).to_have_count(1)

    editor.box("mail").hover()
    expect(lit).to_have_count(0)


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_guides_bring_a_dragged_box_in_line_with_another(site: Site, visit: Visit) -> None:
    view = {"positions": {"look": [100, 100], "copy": [430, 260]}}
    steps = {"look": {"task": "video.extract_metadata"}, "copy": {"task": "mail.send", "after": "look"}}
    site.ask(
        "PUT",
        "/api/workflows/mouse-guides",
        {"penstock": 1, "name": "mouse-guides", "steps": steps, "view": view},
    )
    editor, page = Editor(visit.page, site.base, "mouse-guides", new=False), visit.page
    editor.box("copy").hover()  # which waits until it stands still
    box, other = editor.box("copy").bounding_box(), editor.box("look").bounding_box()
    assert box is not None and other is not None

    page.mouse.move(box["x"] + 60, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 62, box["y"] + 12)  # what begins a drag does not count as a move
    page.mouse.move(box["x"] + 62, other["y"] + 15, steps=8)
    expect(page.locator(".guides path").first).to_be_attached()  # a line has no height that could be seen
    page.mouse.up()
    editor.wait_saved()

    expect(page.locator(".guides")).to_have_count(0)
    places = definition_of(site, "mouse-guides")["view"]
    assert isinstance(places, dict)
    assert places["positions"]["copy"][1] == 100  # where the other is, which is on no line of the grid


@pytest.mark.long("test_the_editor_looks_like_its_design")
def test_a_wire_that_would_cross_many_others_is_cut_and_named_at_both_ends(site: Site, visit: Visit) -> None:
    rows = range(7)
    fires = {f"a{row}": {"task": "mail.send", "emits": f"e{row}"} for row in rows}
    waits = {f"b{row}": {"task": "mail.send", "after": f"e{row}"} for row in rows}
    left = {f"a{row}": [160, 40 + 80 * row] for row in rows}
    right = {f"b{row}": [640, 40 + 80 * (6 - row)] for row in rows}
    drawn = {
        "penstock": 1,
        "name": "mouse-crowded",
        "steps": {**fires, **waits},
        "view": {"positions": {**left, **right}},
    }
    site.ask("PUT", "/api/workflows/mouse-crowded", drawn)
    editor, page = Editor(visit.page, site.base, "mouse-crowded", new=False), visit.page

    expect(page.locator("[data-pill='e0']")).to_have_count(2)
    expect(page.locator("[data-pill='e3']")).to_have_count(1)
    page.locator("[data-pill='e0']").first.hover()

    expect(page.locator("[data-pill='e0'].linked")).to_have_count(2)
    expect(editor.box("b0")).to_have_class(re.compile("linked"))
    visit.picture("editor-crowded-light")


def test_a_drawing_without_places_is_seen_whole_when_it_is_opened(site: Site, visit: Visit) -> None:
    chain = {
        f"s{n}": {"task": "wait", "with": {"for": "1m"}, **({"after": f"s{n - 1}"} if n else {})}
        for n in range(14)
    }
    site.ask("PUT", "/api/workflows/unplaced", {"penstock": 1, "name": "unplaced", "steps": chain})

    editor = Editor(visit.page, site.base, "unplaced", new=False)

    expect(editor.box("s0")).to_be_in_viewport(ratio=0.99)
    expect(editor.box("s13")).to_be_in_viewport(ratio=0.99)
    area, last = editor.canvas.bounding_box(), editor.box("s13").bounding_box()
    assert area is not None and last is not None
    assert last["x"] + last["width"] <= area["x"] + area["width"]
