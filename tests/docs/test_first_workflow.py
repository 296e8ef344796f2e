"""The first workflow, as its page tells it: drawn in a browser, then in YAML, then in Python, on one server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from penstock.flow.format.definition_parser import read_definition
from penstock.flow.format.yaml_writer import to_plain
from tests.cli.serving import serving
from tests.docs.test_pages import DOCS, folder, parts, play, run
from tests.waiting import until_sync
from tests.web.conftest import SIZE, Site, Visit
from tests.web.sides import Sides, definition

pytestmark = pytest.mark.long(
    "test_with_the_mouse_alone_it_is_drawn_published_started_and_ends",
    "test_what_the_readme_says_works_for_a_newcomer",
)

__all__ = ["folder"]  # the fixture

PAGE = DOCS / "tutorial" / "first.md"


def words() -> list[str]:
    """What the page has in bold: what a reader is told to look for, in its order."""
    return re.findall(r"\*\*(.+?)\*\*", PAGE.read_text(encoding="utf-8"))


class Reader:
    """Does what the numbered lines say; each bold word is used up, so that none is on the page in vain."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.page, self.left = visit, visit.page, words()
        self.editor = Sides.__new__(Sides)
        self.editor.page, self.editor.name = visit.page, "breakfast"

    def told(self, word: str) -> str:
        self.left.remove(word)
        return word

    def press(self, word: str) -> None:
        self.page.get_by_role("button", name=self.told(word), exact=True).last.click()

    def put(self, box: str, x: float, y: float, name: str) -> None:
        """Drag a box to its place and call it something else."""
        self.editor.drag_box(self.told(box), x, y)
        expect(self.editor.box(box)).to_be_visible()
        self.editor.box(box).click()
        self.page.keyboard.press("F2")
        expect(self.page.locator("input.rename")).to_be_focused()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")
        expect(self.editor.box(name)).to_be_visible()

    def take(self, seconds: str) -> None:
        field = self.editor.section("Settings").get_by_role("textbox", name=self.told("For"), exact=True)
        field.fill(seconds)
        field.press("Tab")

    def into_the_open(self, port: str, choice: str) -> None:
        knob = self.editor.knob("serve", f"out:{port}").bounding_box()
        assert knob is not None
        self.page.mouse.move(knob["x"] + 12, knob["y"] + 12)
        self.page.mouse.down()
        self.page.mouse.move(knob["x"] + 90, knob["y"] + 30, steps=4)
        self.page.mouse.up()
        self.page.get_by_role("option", name=self.told(choice)).click()

    def draw(self) -> None:
        editor = self.editor
        self.press("Draw a workflow")
        self.page.get_by_label("Name").fill("breakfast")
        self.press("Draw")
        self.put("Wait", 180, 120, "water")
        self.take("3")
        self.put("Wait", 180, 300, "toast")
        self.take("1")
        self.put("Approval", 480, 200, "serve")
        editor.drag_wire(editor.knob("water", "out:done"), editor.box("serve"))
        editor.drag_wire(editor.knob("toast", "out:done"), editor.box("serve"))
        self.page.get_by_role("option", name=self.told("Also wait for this")).click()
        self.into_the_open("approved", "End: OK")

    def mend(self) -> None:
        expect(self.editor.seal(self.told("Not sound"))).to_be_visible()
        expect(self.editor.panel).to_contain_text("The run can come to a standstill")
        self.visit.picture("first-refuted")
        self.press("Show me")
        self.page.keyboard.press("Escape")
        self.into_the_open("rejected", "End: FAIL")
        expect(self.editor.seal(self.told("Proved"))).to_be_visible()

    def publish(self) -> None:
        self.editor.wait_saved()
        self.press("Publish v1")
        expect(self.page.get_by_role("dialog")).to_be_visible()
        self.press("Publish v1")
        expect(self.page.get_by_role("dialog")).to_have_count(0)
        self.press("Text")
        expect(self.page.get_by_text("after: [water, toast]").first).to_be_visible()

    def run(self) -> None:
        self.page.get_by_role("link", name=self.told("Workflows"), exact=True).first.click()
        self.page.get_by_role("link", name="breakfast").first.click()
        expect(self.page).to_have_url(re.compile("/app/workflows/breakfast$"))
        main = self.page.get_by_role("main")  # a note about what was published offers the same for a while
        main.get_by_role("button", name=self.told("Start a run"), exact=True).click()
        self.page.get_by_role("dialog").get_by_role("button", name=self.told("Start"), exact=True).click()
        expect(self.page).to_have_url(re.compile("/app/runs/"))
        self.page.get_by_role("link", name=re.compile(f"^{self.told('Approvals')}")).first.click()
        self.press("Approve")
        self.page.go_back()
        expect(self.page.locator("h1 + *, header").get_by_text("Succeeded").first).to_be_visible()
        self.visit.picture("first-run")


def answer(site: Site, folder: Path, block: str) -> None:
    """The commands of a person who answers what a run asks, as soon as it asks; their id is that of the question."""
    asked = until_sync(lambda: site.ask("GET", "/api/approvals")["items"], "a question")
    first, second = block.splitlines()
    assert asked[0]["id"] in run(first, folder).stdout
    done = run(re.sub(r"[0-9a-f]{20}-\d+~\d+", asked[0]["id"], second), folder)
    assert (done.returncode, done.stdout[:9]) == (0, "approved:")


def test_the_page_is_done_word_for_word(
    folder: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, up_block, answers = [part["text"] for part in parts(PAGE) if part["kind"] == "sh"]
    with serving(*up_block.split()[1:], cwd=folder, longest=200) as up:
        site = Site(up, folder)
        monkeypatch.setenv("PENSTOCK_SERVER", site.base)
        context = browser.new_context(viewport=SIZE, locale="en-GB")  # type: ignore[arg-type]
        reader = Reader(Visit(context.new_page(), site.base))
        reader.visit.open("/")
        reader.draw()
        reader.mend()
        reader.publish()
        drawn = definition(site, "breakfast")
        reader.run()
        ran = play(PAGE, folder)
        answer(site, folder, answers)
        context.close()
        up.stop()

    written = to_plain(read_definition((folder / "breakfast.yaml").read_text(), "breakfast.yaml"))
    assert {**drawn, "view": None} == {**written, "view": None}
    assert (reader.visit.said, reader.left, ran) == ([], [], 6)
