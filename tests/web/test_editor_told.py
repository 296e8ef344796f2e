"""What an edit does besides is told: a step that starts at once now, boxes that stay where they stand."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Site, Visit
from tests.web.plant import fresh, published, started, status_of
from tests.web.sides import Sides, definition, put, wait_for

CHAIN = {
    "look": {"task": "video.extract_metadata"},
    "copy": {"task": "video.copy_to_cunix", "after": "look"},
    "mail": {"task": "mail.send", "after": "copy"},
}
PLACED = {"positions": {"look": [120, 100], "copy": [340, 100], "mail": [560, 100]}}


def cut(page: Page, event: str) -> None:
    """The wire of an event, by a click in its middle and Delete."""
    wire = page.locator(f"path.hit[data-wire^='{event}|']").first
    box = wire.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.press("Delete")


@pytest.mark.long("test_a_step_waits_for_what_is_said")
def test_a_step_whose_last_wire_is_cut_says_that_it_starts_at_once(site: Site, visit: Visit) -> None:
    put(site, "told-cut", CHAIN, view=PLACED)
    editor, page = Sides.of(site, visit, "told-cut"), visit.page
    expect(editor.box("look").get_by_text("starts at once")).to_be_visible()
    expect(editor.box("copy").get_by_text("starts at once")).to_have_count(0)

    cut(page, "look")

    expect(editor.box("copy").get_by_text("starts at once")).to_be_visible()
    expect(page.get_by_text("“copy” starts at once now")).to_be_visible()
    editor.inspect("copy")
    expect(editor.section("Waits for")).to_contain_text("Starts at once")
    expect(page.get_by_role("treeitem", name="copy, starts at once")).to_be_attached()


@pytest.mark.long("test_undo_and_redo_go_through_everything_and_outlive_the_page")
def test_a_cut_wire_is_had_back_from_what_told_of_it(site: Site, visit: Visit) -> None:
    put(site, "told-back", CHAIN, view=PLACED)
    editor, page = Sides.of(site, visit, "told-back"), visit.page
    cut(page, "look")
    told = page.locator(".toast").filter(has_text="starts at once now")

    editor.drag_box("Decide", 400, 300)
    told.get_by_role("button", name="Undo").click()

    wait_for(page, lambda: set(definition(site, "told-back")["steps"]) == {*CHAIN, "Decide"})
    wait_for(page, lambda: definition(site, "told-back")["steps"]["copy"].get("after") == "look")


def places_of(page: Page) -> dict[str, tuple[int, int]]:
    """Where the boxes of the drawing stand on the canvas, by name."""
    found: dict[str, list[int]] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.react-flow__node')].map((node) => {
          const { m41, m42 } = new DOMMatrix(getComputedStyle(node).transform)
          return [node.dataset.id, [Math.round(m41), Math.round(m42)]]
        }))"""
    )
    return {name: (at[0], at[1]) for name, at in found.items()}


@pytest.mark.long("test_a_drawing_without_places_is_seen_whole_when_it_is_opened")
def test_the_first_box_put_into_a_drawing_without_places_moves_no_other(site: Site, visit: Visit) -> None:
    put(site, "told-first", {**CHAIN, "tell": {"task": "mail.send", "after": "look"}}, external=["paid"])
    editor, page = Sides.of(site, visit, "told-first"), visit.page
    expect(editor.box("mail")).to_be_visible()
    before = places_of(page)

    editor.drag_box("Decide", 300, 400)

    expect(editor.box("Decide")).to_be_visible()
    after = places_of(page)
    assert {name: after[name] for name in before} == before


@pytest.mark.long("test_a_drawing_without_places_is_seen_whole_when_it_is_opened")
def test_a_box_dragged_in_a_drawing_without_places_moves_alone(site: Site, visit: Visit) -> None:
    put(site, "told-drag", {**CHAIN, "tell": {"task": "mail.send", "after": "look"}})
    editor, page = Sides.of(site, visit, "told-drag"), visit.page
    expect(editor.box("mail")).to_be_visible()
    before = places_of(page)
    box = editor.box("tell").bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + 60, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 132, steps=6)
    page.mouse.up()

    expect(editor.saved).to_be_visible()
    after = places_of(page)
    assert {name for name in before if after[name] != before[name]} == {"tell"}


def test_removing_a_step_that_a_live_run_is_in_asks_first(site: Site, visit: Visit) -> None:
    name = fresh("told-live")
    gated = {"task": "gated", "with": {"file": f"{name}.ok"}, "emits": "OK"}
    published(site, name, {"hold": gated, "mail": {"task": "mail.send", "after": "hold"}})
    run = started(site, name)
    wait_for(visit.page, lambda: site.ask("GET", f"/api/runs?workflow={name}&step=hold")["items"])
    editor, page = Sides.of(site, visit, name), visit.page
    question = page.get_by_role("dialog", name="1 run is in “hold” now")

    editor.box("hold").click()
    page.keyboard.press("Delete")
    expect(question).to_contain_text("It stays on version 1")
    question.get_by_role("button", name="Cancel").click()
    expect(editor.box("hold")).to_be_visible()

    page.keyboard.press("Delete")
    question.get_by_role("button", name="Remove all the same").click()
    expect(editor.box("hold")).to_have_count(0)
    (site.folder / f"{name}.ok").write_text("")
    wait_for(page, lambda: status_of(site, run) == "succeeded")


@pytest.mark.long("test_removing_a_step_that_a_live_run_is_in_asks_first")
def test_removing_a_step_that_no_run_is_in_does_not_ask(site: Site, visit: Visit) -> None:
    name = fresh("told-idle")
    gated = {"task": "gated", "with": {"file": f"{name}.ok"}, "emits": "OK"}
    published(site, name, {"hold": gated, "mail": {"task": "mail.send", "after": "hold"}})
    started(site, name)
    editor = Sides.of(site, visit, name)

    editor.box("mail").click()
    visit.page.keyboard.press("Delete")

    expect(editor.box("mail")).to_have_count(0)
    expect(visit.page.get_by_role("dialog")).to_have_count(0)
    (site.folder / f"{name}.ok").write_text("")


@pytest.mark.long("test_what_somebody_else_saved_is_not_written_over")
def test_what_somebody_else_saved_is_seen_on_coming_back(site: Site, visit: Visit) -> None:
    put(site, "told-others", CHAIN, view=PLACED)
    editor, page = Sides.of(site, visit, "told-others"), visit.page
    editor.inspect("mail")
    put(site, "told-others", {"look": CHAIN["look"], "theirs": {"task": "mail.send", "after": "look"}})

    page.evaluate("() => globalThis.dispatchEvent(new Event('focus'))")

    expect(editor.box("theirs")).to_be_visible()
    expect(editor.box("mail")).to_have_count(0)
    told = page.locator(".toast").filter(has_text="saved this workflow")
    told.get_by_role("button", name="Undo").click()
    expect(editor.box("mail")).to_be_visible()
    editor.wait_saved()
    assert set(definition(site, "told-others")["steps"]) == set(CHAIN)


@pytest.mark.long("test_a_first_workflow_is_called_what_people_say")
def test_a_workflow_without_a_step_is_kept(site: Site, visit: Visit) -> None:
    name = fresh("told-empty")
    page = visit.open("/app/new")
    page.get_by_role("button", name="Draw a workflow").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Draw", exact=True).click()
    page.wait_for_url(f"**/{name}/edit")
    editor = Sides(page, site.base, name, new=False)
    editor.wait_saved()
    assert definition(site, name)["steps"] == {}

    editor.drag_box("Wait", 300, 120)
    expect(editor.box("Wait")).to_be_visible()
    wait_for(page, lambda: list(definition(site, name)["steps"]) == ["Wait"])
    editor.box("Wait").click()
    page.keyboard.press("Delete")
    wait_for(page, lambda: definition(site, name)["steps"] == {})
    editor.wait_saved()
    visit.open("/app/workflows")
    page.get_by_label("Find a workflow").fill(name)
    expect(page.get_by_role("link", name=name).first).to_be_visible()


@pytest.mark.long("test_keys_move_disable_remove_undo")
def test_what_was_removed_and_had_back_is_not_told_of_as_removed(site: Site, visit: Visit) -> None:
    put(site, "told-back", {"a": {"task": "plain"}, "b": {"task": "plain"}})
    editor = Sides.of(site, visit, "told-back")
    editor.inspect("a")
    editor.canvas.focus()
    editor.keys("Delete")
    expect(visit.page.get_by_text("1 thing removed")).to_be_visible()

    editor.keys("Control+z")

    expect(visit.page.get_by_text("1 thing removed")).to_have_count(0, timeout=2_000)
    expect(editor.box("a")).to_be_visible()
