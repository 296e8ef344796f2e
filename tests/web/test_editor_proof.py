"""What the checks say while one draws, and traces as moving tokens."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor, crowding

BROKEN = Path("examples/broken/mediathread.yaml").read_text()


def load(site: Site, name: str, text: str) -> None:
    body = re.sub(r"^name: .*$", f"name: {name}", text, flags=re.MULTILINE).encode()
    heads = {"content-type": "application/yaml"}
    path = f"{site.base}/api/workflows/{name}"
    urllib.request.urlopen(urllib.request.Request(path, body, heads, method="PUT"), timeout=30).close()


@pytest.mark.long("test_errors_show_the_trace_plays_and_the_fix_turns_the_seal_green")
def test_errors_show_as_badges_and_a_seal(site: Site, visit: Visit) -> None:
    load(site, "proof-broken", BROKEN)

    editor = Editor(visit.page, site.base, "proof-broken", new=False)

    expect(editor.box("email user (failure)").locator(".bdg")).to_be_visible()
    expect(editor.box("extract metadata").locator(".bdg")).to_have_count(0)
    expect(visit.page.get_by_role("button", name=re.compile("Not sound: 5 errors"))).to_be_visible()
    visit.picture("editor-broken-light")


@pytest.mark.long("test_errors_show_the_trace_plays_and_the_fix_turns_the_seal_green")
def test_the_trace_of_a_finding_plays_step_by_step(site: Site, visit: Visit) -> None:
    load(site, "proof-trace", BROKEN)
    editor = Editor(visit.page, site.base, "proof-trace", new=False)
    expect(editor.box("email user (failure)").locator(".bdg")).to_be_visible()
    editor.canvas.focus()

    editor.keys("Shift+F8")
    while not editor.page.locator(".react-flow__node.selected [data-step='email user (failure)']").count():
        editor.keys("F8")
    editor.keys("Space")

    trace = visit.page.get_by_role("region", name="How it gets there")
    expect(trace).to_contain_text("“email user (failure)” fires, takes “START”, ends on “done”")
    expect(trace).to_contain_text("Step 1 of 3")
    expect(trace).to_contain_text("Step 3 of 3", timeout=8000)
    expect(trace.locator("[aria-current]")).to_contain_text("FAIL is fired, the run ends as failed")
    editor.canvas.focus()
    editor.keys(",")
    expect(trace).to_contain_text("Step 2 of 3")
    visit.picture("editor-trace-light")
    editor.keys("Escape")
    expect(trace).to_have_count(0)


SEEN = """() => {
  window.seenAt = null
  new MutationObserver(() => {
    if (window.seenAt === null && document.querySelector('.seal.bad')) window.seenAt = performance.now()
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
  addEventListener('keydown', () => { window.editedAt = performance.now() }, true)
}"""


@pytest.mark.long("test_errors_show_the_trace_plays_and_the_fix_turns_the_seal_green")
def test_a_finding_appears_soon_after_the_edit_that_causes_it(site: Site, visit: Visit) -> None:
    text = Path("examples/wardenclyffe/mediathread.yaml").read_text()
    times = []
    for attempt in range(6):
        load(site, f"proof-soon-{attempt}", text)
        editor = Editor(visit.page, site.base, f"proof-soon-{attempt}", new=False)
        expect(visit.page.get_by_role("button", name=re.compile("Proved"))).to_be_visible()
        editor.box("extract_metadata").click()
        visit.page.evaluate(SEEN)
        editor.canvas.focus()
        editor.keys("Delete")
        expect(visit.page.get_by_role("button", name=re.compile("Not sound"))).to_be_visible()
        times.append(visit.page.evaluate("window.seenAt - window.editedAt"))
        if times[-1] < 300:
            break
    crowd = crowding(visit.page)
    print(f"a finding appears {min(times):.0f} ms after the edit (machine shared by {crowd:.1f})")
    assert min(times) < 300 * crowd


def test_tokens_can_be_played_with(site: Site, visit: Visit) -> None:
    load(site, "proof-game", Path("examples/wardenclyffe/mediathread.yaml").read_text())
    editor = Editor(visit.page, site.base, "proof-game", new=False)
    page = visit.page
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Play with tokens").click()

    page.get_by_role("button", name="Fire Extract metadata").click()
    page.get_by_role("option", name="failed").click()
    page.get_by_role("button", name="Fire Mail failure").click()
    page.get_by_role("option", name="done").click()

    game = page.get_by_role("region", name="Token game")
    expect(game).to_contain_text("2 moves")
    expect(editor.box("create_et_job")).to_be_visible()


GAME = """\
penstock: 1
name: proof-game-keys
external: [called]
steps:
  Check: {task: video.extract_metadata}
  Note: {task: video.pull_thumbnails, after: called}
  Submit: {task: video.mediathread_submit, after: Check}
"""


@pytest.mark.long("test_tokens_can_be_played_with")
def test_the_game_is_played_with_the_keys_alone(site: Site, visit: Visit) -> None:
    load(site, "proof-game-keys", GAME)
    editor = Editor(visit.page, site.base, "proof-game-keys", new=False)
    editor.command("Play with tokens")
    game = visit.page.get_by_role("region", name="Token game")
    expect(game).to_be_visible()
    expect(visit.page.get_by_role("button", name="Extract metadata", exact=True)).to_be_visible()
    editor.canvas.focus()

    editor.tab_to("button[aria-label='Fire Check']")
    editor.keys("Enter")
    editor.choose("done")
    expect(game).to_contain_text("1 move")
    expect(visit.page.get_by_role("button", name="Fire Submit")).to_be_focused()
    editor.keys("Space")
    editor.choose("done")
    expect(game).to_contain_text("2 moves")
    editor.tab_to(".react-flow__node-outside button")
    editor.keys("Enter")

    expect(game).to_contain_text("3 moves")


def test_no_key_of_the_game_changes_the_drawing(site: Site, visit: Visit) -> None:
    load(site, "proof-game-still", GAME)
    before = site.ask("GET", "/api/workflows/proof-game-still")
    editor = Editor(visit.page, site.base, "proof-game-still", new=False)
    editor.box("Check").click()
    editor.command("Play with tokens")
    editor.canvas.focus()

    editor.keys("d", "/", "Delete", "l", "g", "Alt+ArrowRight", "Control+x", "Control+z", "c", "F2")

    expect(visit.page.locator(".chooser")).to_have_count(0)
    expect(visit.page.get_by_role("region", name="Token game")).to_be_visible()
    expect(editor.box("Check")).not_to_contain_text("Disabled")
    visit.page.get_by_role("button", name="Fire Check").focus()
    editor.keys("Escape", "d")
    editor.wait_saved()
    after = site.ask("GET", "/api/workflows/proof-game-still")["definition"]["steps"]
    assert after == before["definition"]["steps"] | {
        "Check": {"task": "video.extract_metadata", "disabled": True}
    }


@pytest.mark.long("test_keys_move_disable_remove_undo")
def test_enter_presses_the_buttons_of_the_drawing(site: Site, visit: Visit) -> None:
    load(site, "proof-zoom", GAME)
    editor = Editor(visit.page, site.base, "proof-zoom", new=False)
    expect(editor.box("Submit")).to_be_visible()
    wide = editor.box("Submit").bounding_box()
    assert wide is not None

    visit.page.get_by_role("button", name="Zoom out").focus()
    editor.keys("Enter")

    width = "(box) => box.getBoundingClientRect().width"
    visit.page.wait_for_function(
        f"() => ({width})(document.querySelector('[data-step=Submit]')) < {wide['width'] - 5}"
    )


def test_the_petri_net_stands_in_the_same_place(site: Site, visit: Visit) -> None:
    load(site, "proof-petri", Path("examples/wardenclyffe/mediathread.yaml").read_text())
    editor = Editor(visit.page, site.base, "proof-petri", new=False)
    expect(editor.box("submit")).to_be_visible()

    editor.canvas.focus()
    editor.keys("p")

    expect(visit.page.locator(".petri circle.place").first).to_be_visible()
    visit.picture("petri-same-place")
    editor.keys("p")
    expect(visit.page.locator(".petri")).to_have_count(0)


@pytest.mark.long("test_what_is_proved_stands_in_six_sentences_and_a_run_can_be_played")
def test_what_comes_from_outside_is_in_sight_while_a_run_is_played(site: Site, visit: Visit) -> None:
    load(site, "proof-sight", Path("examples/wardenclyffe/mediathread.yaml").read_text())
    editor = Editor(visit.page, site.base, "proof-sight", new=False)
    expect(editor.box("submit")).to_be_visible()

    visit.page.get_by_role("button", name="Play a run").click()

    visit.page.wait_for_function(
        """() => {
          const [box, all] = ['.out', '.edcanvas'].map((each) => document.querySelector(each).getBoundingClientRect())
          const moves = document.querySelector('.react-flow__viewport').getAnimations().length
          return moves === 0 && !document.querySelector('.out.dim') && box.left > all.left && box.right < all.right
        }"""
    )


@pytest.mark.long("test_the_petri_net_stands_in_the_same_place")
def test_long_names_in_the_net_are_cut_and_told_on_hovering(site: Site, visit: Visit) -> None:
    title = "A very long title of a step that would run over what stands beside it"
    load(site, "proof-names", GAME.replace("Check: {", f"Check: {{title: {title}, "))
    editor = Editor(visit.page, site.base, "proof-names", new=False)
    expect(editor.box("Check")).to_be_visible()

    editor.canvas.focus()
    editor.keys("p")

    name = visit.page.locator(".petri text").filter(has_text="A very long title")
    expect(name.locator("title")).to_have_text(title)
    expect(name).to_have_text(f"{title[:25]}…{title}")
