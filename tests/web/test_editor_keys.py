"""Drawing with the keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor


def steps_of(site: Site, name: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = site.ask("GET", f"/api/workflows/{name}")["definition"]["steps"]
    return found


def insert(editor: Editor, title: str) -> None:
    editor.canvas.focus()
    editor.keys("/")
    editor.choose(title)
    expect(editor.box(title)).to_be_visible()


def test_boxes_are_found_connected_and_named_by_keys(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "keys-small")
    insert(editor, "Extract metadata")
    insert(editor, "Pull thumbnails")
    editor.keys("ArrowLeft", "ArrowRight")
    expect(editor.page.locator(".react-flow__node.selected [data-step='Extract metadata']")).to_be_visible()

    editor.keys("c")
    editor.choose("done")
    editor.choose("Pull thumbnails")
    editor.keys("F2")
    editor.page.keyboard.type("Read the file")
    editor.keys("Enter")
    editor.wait_saved()

    assert steps_of(site, "keys-small") == {
        "Read the file": {"task": "video.extract_metadata"},
        "Pull thumbnails": {"task": "video.pull_thumbnails", "after": "Read the file"},
    }


def test_keys_move_disable_remove_undo(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "keys-more")
    insert(editor, "Extract metadata")
    editor.keys("d")
    expect(editor.box("Extract metadata")).to_contain_text("Disabled")
    editor.keys("Alt+ArrowRight", "Alt+ArrowDown")
    editor.wait_saved()
    at = site.ask("GET", "/api/workflows/keys-more")["definition"]["view"]["positions"]["Extract metadata"]

    editor.keys("Delete")
    expect(editor.box("Extract metadata")).to_have_count(0)
    editor.keys("Control+z")
    expect(editor.box("Extract metadata")).to_be_visible()
    editor.keys("Control+z", "Control+z")
    editor.wait_saved()

    back = site.ask("GET", "/api/workflows/keys-more")["definition"]["view"]["positions"]["Extract metadata"]
    assert [at[0] - back[0], at[1] - back[1]] == [16, 16]


@pytest.mark.long("test_keys_move_disable_remove_undo")
def test_letters_are_letters_where_somebody_types(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "keys-letters")
    insert(editor, "Extract metadata")

    field = editor.page.get_by_role("searchbox", name="Find a box")
    field.focus()
    editor.page.keyboard.type("dcl")

    expect(field).to_have_value("dcl")
    expect(editor.box("Extract metadata")).not_to_contain_text("Disabled")


def test_what_is_copied_is_text_and_can_be_pasted(site: Site, visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    editor = Editor(visit.page, site.base, "keys-copy")
    insert(editor, "Extract metadata")

    editor.keys("Control+c")
    expect(editor.page.get_by_text("1 step copied")).to_be_visible()
    editor.keys("Control+v")
    editor.wait_saved()

    assert list(steps_of(site, "keys-copy")) == ["Extract metadata", "Extract metadata 2"]


@pytest.fixture
def chain(site: Site, visit: Visit, request: pytest.FixtureRequest) -> Editor:
    """Four steps in a row, with a note below them."""
    name = f"chain-{request.node.name.replace('_', '-')[-40:]}"
    steps = {"a": {"task": "mail.send"}} | {
        step: {"task": "mail.send", "after": before} for before, step in ("ab", "bc", "cd")
    }
    places = {step: [80 + 208 * at, 80] for at, step in enumerate(steps)}
    view = {"positions": places, "notes": {"n": {"text": "Ask Ann first", "at": [720, 240]}}}
    site.ask("PUT", f"/api/workflows/{name}", {"penstock": 1, "name": name, "steps": steps, "view": view})
    opened = Editor(visit.page, site.base, name, new=False)
    expect(opened.box("d")).to_be_visible()
    return opened


def selected(editor: Editor) -> list[str]:
    boxes = editor.page.locator(".react-flow__node.selected [data-step]")
    return sorted(boxes.evaluate_all("(all) => all.map((each) => each.dataset.step)"))


@pytest.mark.long("test_boxes_are_found_connected_and_named_by_keys")
def test_several_boxes_are_selected_along_the_wires(chain: Editor) -> None:
    chain.walk_to("a")
    chain.canvas.focus()
    chain.keys("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight")
    expect(chain.page.get_by_text("4 things are selected")).to_be_visible()
    assert selected(chain) == ["a", "b", "c", "d"]

    chain.keys("Shift+ArrowLeft")
    expect(chain.page.get_by_text("3 things are selected")).to_be_visible()
    assert selected(chain) == ["a", "b", "c"]


@pytest.mark.long("test_boxes_are_found_connected_and_named_by_keys")
def test_several_steps_are_selected_in_the_list(chain: Editor) -> None:
    chain.walk_to("b")
    chain.keys("Shift+ArrowDown", "Shift+ArrowDown")
    expect(chain.page.get_by_role("treeitem", selected=True)).to_have_count(3)
    expect(chain.page.get_by_role("treeitem", name="d")).to_be_focused()

    chain.keys("ArrowUp")
    expect(chain.page.get_by_role("treeitem", selected=True)).to_have_count(1)


def note_of(site: Site, editor: Editor) -> dict[str, object] | None:
    editor.wait_saved()
    notes: dict[str, dict[str, object]] = site.ask("GET", f"/api/workflows/{editor.name}")["definition"][
        "view"
    ]["notes"]
    return notes.get("n")


@pytest.mark.long("test_keys_move_disable_remove_undo")
def test_a_note_is_reached_changed_moved_and_removed_by_keys(site: Site, chain: Editor) -> None:
    note = chain.page.locator(".notebox")
    chain.walk_to("Note: Ask Ann first")
    chain.keys("F2")
    expect(chain.page.locator(".chooser textarea")).to_be_focused()
    chain.keys("Control+a")
    chain.page.keyboard.type("Ask Bob first")
    chain.keys("Control+Enter")
    expect(note).to_have_text("Ask Bob first")

    chain.canvas.focus()
    chain.keys("ArrowUp", "ArrowDown")  # to the box above, and back
    chain.keys("Alt+ArrowRight", "Alt+ArrowDown")
    expect(note).to_be_visible()
    assert note_of(site, chain) == {"text": "Ask Bob first", "at": [736, 256]}

    chain.keys("Delete")
    expect(note).to_have_count(0)
    assert note_of(site, chain) is None
    expect(chain.box("b")).to_be_visible()
