"""Groups: folded to one box, opened again, moved as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor

STEPS = {
    "look": {"task": "video.extract_metadata"},
    "cut": {"task": "video.pull_thumbnails", "after": "look"},
    "copy": {"task": "video.copy_to_cunix", "after": "cut"},
    "mail": {"task": "mail.send", "after": "copy"},
}
PLACES = {"look": [80, 80], "cut": [288, 80], "copy": [496, 112], "mail": [704, 80]}


@pytest.fixture
def editor(site: Site, visit: Visit, request: pytest.FixtureRequest) -> Editor:
    """A chain whose two middle steps are a group."""
    name = f"groups-{request.node.name.replace('_', '-')[-40:]}"
    view = {"positions": PLACES, "groups": {"g": {"title": "Store it", "steps": ["cut", "copy"]}}}
    site.ask("PUT", f"/api/workflows/{name}", {"penstock": 1, "name": name, "steps": STEPS, "view": view})
    opened = Editor(visit.page, site.base, name, new=False)
    expect(opened.box("cut")).to_be_visible()
    return opened


def group(editor: Editor) -> Locator:
    return editor.page.locator("[data-group='Store it']")


def view_of(site: Site, editor: Editor) -> dict[str, Any]:
    found: dict[str, Any] = site.ask("GET", f"/api/workflows/{editor.name}")["definition"]["view"]
    return found


def test_a_group_is_folded_to_one_box_with_its_wires(site: Site, visit: Visit, editor: Editor) -> None:
    editor.page.get_by_role("button", name="Fold “Store it” to one box").click()

    expect(group(editor)).to_contain_text("2 steps")
    expect(editor.box("cut")).to_have_count(0)
    expect(editor.page.locator("path[data-wire]")).to_have_count(3)  # START, into the group, out of it
    editor.wait_saved()
    assert view_of(site, editor)["groups"]["g"]["folded"] is True
    visit.picture("editor-group-light")

    group(editor).get_by_role("button", name="Open “Store it”").click()
    expect(editor.box("copy")).to_be_visible()


@pytest.mark.long("test_a_group_is_folded_to_one_box_with_its_wires")
def test_a_group_is_folded_and_opened_by_keys(site: Site, visit: Visit, editor: Editor) -> None:
    editor.walk_to("cut")
    editor.keys("g")
    expect(group(editor)).to_be_visible()
    editor.walk_to("Group Store it")
    editor.keys("g")

    expect(group(editor)).to_have_count(0)
    expect(editor.box("cut")).to_be_visible()


@pytest.mark.long("test_a_group_is_folded_to_one_box_with_its_wires")
def test_a_folded_group_gets_another_name_by_keys(site: Site, visit: Visit, editor: Editor) -> None:
    editor.walk_to("cut")
    editor.keys("g", "F2")
    editor.choose("Keep it")

    expect(editor.page.locator("[data-group='Keep it']")).to_be_visible()
    editor.wait_saved()
    assert view_of(site, editor)["groups"]["g"] == {
        "title": "Keep it",
        "steps": ["cut", "copy"],
        "folded": True,
    }


@pytest.mark.long("test_a_group_is_folded_to_one_box_with_its_wires")
def test_an_open_group_gets_another_name_by_its_title(site: Site, visit: Visit, editor: Editor) -> None:
    editor.page.locator(".groupbox").get_by_text("Store it").dblclick()
    editor.choose("Keep it")

    expect(editor.page.locator(".groupbox")).to_contain_text("Keep it")
    editor.wait_saved()
    assert view_of(site, editor)["groups"]["g"] == {"title": "Keep it", "steps": ["cut", "copy"]}


@pytest.mark.long("test_a_group_is_folded_to_one_box_with_its_wires")
def test_a_folded_group_takes_its_steps_along(site: Site, visit: Visit, editor: Editor) -> None:
    editor.page.get_by_role("button", name="Fold “Store it” to one box").click()
    group(editor).hover()
    box = group(editor).bounding_box()
    assert box is not None
    mouse = editor.page.mouse
    mouse.down()
    mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2)
    mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2 + 160, steps=6)
    mouse.up()
    editor.wait_saved()

    after = view_of(site, editor)["positions"]
    by = after["cut"][1] - PLACES["cut"][1]
    assert by >= 140
    assert after["copy"][1] - PLACES["copy"][1] == by
    assert after["mail"] == PLACES["mail"]


@pytest.mark.long("test_a_group_is_folded_to_one_box_with_its_wires")
def test_a_folded_group_is_moved_by_keys_with_its_steps(site: Site, visit: Visit, editor: Editor) -> None:
    editor.walk_to("cut")
    editor.keys("g")
    expect(group(editor)).to_be_visible()
    editor.keys("Alt+ArrowDown")
    editor.wait_saved()

    after = view_of(site, editor)["positions"]
    assert (after["cut"], after["copy"], after["mail"]) == ([288, 96], [496, 128], [704, 80])
