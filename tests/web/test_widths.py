"""Narrow windows: nothing is cut to a letter or hangs over the edge, and what covers the drawing can be closed."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import Page, Route, expect

from tests.suites import first_short
from tests.web.conftest import Site, Visit
from tests.web.plant import fresh, published, started, status_of
from tests.web.sides import Sides, put, wait_for

LONG = "Reception and distribution of all films of the summer school of Rotterdam"
STEPS = {"mail": {"task": "mail.send", "emits": "OK"}}
PHONE = 380


def hanging(page: Page, within: str) -> list[str]:
    """The visible parts that reach beyond the right edge of what they are in, or lie upon the next one."""
    found: list[str] = page.evaluate(
        """(within) => {
          const bar = document.querySelector(within), edge = bar.getBoundingClientRect()
          const all = [...bar.children].map(each => [each, each.getBoundingClientRect()])
          const parts = all.filter(([, box]) => box.width > 0)
          return parts.filter(([each, box], at) => box.right > edge.right + 1 || box.height > edge.height
            || (parts[at + 1] && parts[at + 1][1].left < box.right - 1)).map(([each]) => each.outerHTML.slice(0, 90))
        }""",
        within,
    )
    return found


@pytest.mark.parametrize("width", first_short([PHONE, 1100, 1024, 800]))
def test_the_bar_of_the_editor_has_room_for_a_long_title(site: Site, visit: Visit, width: int) -> None:
    name = published(site, fresh("long"), STEPS, title=LONG)
    visit.page.set_viewport_size({"width": width, "height": 800})
    editor = Sides.of(site, visit, name)
    title = visit.page.get_by_role("heading", level=1)
    expect(title).to_be_visible()
    expect(editor.seal("Proved")).to_be_visible()

    visit.picture(f"bar-{width}")
    assert hanging(visit.page, ".ed .top") == []
    size = title.bounding_box()
    assert size and size["width"] >= 48, "the title is more than a letter"


@pytest.mark.long("test_the_window_itself_does_not_scroll")
def test_the_states_of_runs_are_whole_in_a_narrow_list(site: Site, visit: Visit) -> None:
    name = published(site, fresh("narrow-list"), STEPS, title=LONG)
    started(site, name, "narrow.mov")
    visit.page.set_viewport_size({"width": 800, "height": 700})
    page = visit.open(f"/app/runs?workflow={name}")
    chip = page.locator("table.runs td .st").first
    expect(chip).to_have_text("Succeeded")

    size, cell = chip.bounding_box(), chip.locator("xpath=..").bounding_box()

    assert size and cell and size["x"] + size["width"] <= cell["x"] + cell["width"]
    assert hanging(page, "table.runs tbody tr") == []


@pytest.mark.long("test_the_bar_of_the_editor_has_room_for_a_long_title")
def test_the_buttons_of_a_run_stand_in_one_line_also_in_german(site: Site, visit: Visit) -> None:
    name = published(site, fresh("head"), {"rest": {"task": "wait", "with": {"for": "10m"}}}, title=LONG)
    run = started(site, name, "uploads/slow.mov", labels={"demo": "true"})
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    visit.page.add_init_script("localStorage.setItem('penstock.language', 'de')")
    page = visit.open(f"/app/runs/{run}")
    head = page.locator(".runhead")
    expect(head.get_by_role("button", name="Abbrechen")).to_be_visible()

    tops = head.get_by_role("button").evaluate_all(
        "(all) => all.map((each) => Math.round(each.getBoundingClientRect().top))"
    )

    assert len(tops) == 5 and len(set(tops)) == 1, tops


@pytest.mark.long("test_the_bar_of_the_editor_has_room_for_a_long_title")
def test_the_inspector_over_the_drawing_fits_and_can_be_closed(site: Site, visit: Visit) -> None:
    name = fresh("covered")
    put(site, name, STEPS)
    visit.page.set_viewport_size({"width": 1100, "height": 800})
    editor = Sides.of(site, visit, name)
    editor.inspect("mail")
    bar, size = visit.page.locator(".ed .top").bounding_box(), editor.inspector.bounding_box()
    assert bar and size
    assert abs(size["y"] - (bar["y"] + bar["height"])) <= 1, "no gap below the bar"
    assert abs(size["x"] + size["width"] - 1100) <= 1, "no gap at the right"

    editor.inspector.get_by_role("button", name="Close").click()
    expect(editor.inspector).to_have_count(0)


def within(page: Page, part: str, frame: str) -> list[str]:
    """The parts that are not wholly in sight within a frame, or that the inspector lies over."""
    found: list[str] = page.evaluate(
        """([part, frame]) => {
          const edge = document.querySelector(frame).getBoundingClientRect()
          const over = document.querySelector('.insp')?.getBoundingClientRect()
          const right = Math.min(edge.right, over?.left ?? edge.right)
          return [...document.querySelectorAll(part)].filter((each) => {
            const box = each.getBoundingClientRect()
            return box.left < edge.left - 1 || box.right > right + 1 || box.bottom > edge.bottom + 1
          }).map((each) => each.getAttribute('data-id'))
        }""",
        [part, frame],
    )
    return found


LINE = {f"step {n}": {"task": "mail.send", **({"after": f"step {n - 1}"} if n else {})} for n in range(6)}


@pytest.mark.long("test_the_bar_of_the_editor_has_room_for_a_long_title")
def test_where_there_is_little_room_the_inspector_comes_with_what_is_selected(
    site: Site, visit: Visit
) -> None:
    name = fresh("little-room")
    put(site, name, LINE)
    visit.page.set_viewport_size({"width": 1024, "height": 800})
    editor = Sides.of(site, visit, name)
    expect(editor.box("step 5")).to_be_visible()
    expect(editor.inspector).to_have_count(0)
    visit.picture("inspector-1024-nothing")

    editor.inspect("step 1")
    panel, size = editor.panel.bounding_box(), editor.inspector.bounding_box()
    assert panel and size and size["y"] + size["height"] <= panel["y"] + 1, "the panel below is not covered"
    visit.page.get_by_role("button", name="Fit to the window").click()
    wait_for(visit.page, lambda: within(visit.page, ".react-flow__node", ".edcanvas") == [])
    visit.picture("inspector-1024-step")

    editor.canvas.click(position={"x": 40, "y": 20})
    expect(editor.inspector).to_have_count(0)
    visit.page.get_by_role("button", name="Show settings of what is selected").click()
    expect(editor.inspector).to_be_visible()


@pytest.mark.parametrize("path", first_short(["run", "editor", "release", "runs"]))
def test_the_window_itself_does_not_scroll(site: Site, visit: Visit, path: str) -> None:
    page = visit.page
    if path == "editor":
        name = fresh("tall")
        retried = {"retries": 3, "timeouts": {"start_to_close": "5m", "heartbeat": "1m"}}
        put(site, name, {**LINE, "step 3": {**LINE["step 3"], **retried}})
        page.set_viewport_size({"width": 1440, "height": 600})
        editor = Sides.of(site, visit, name)
        editor.inspect("step 3")
        editor.page.get_by_role("button", name="all of them").click()
    elif path == "run":
        visit.open(f"/app/runs/{started(site, published(site, fresh('tall'), LINE))}")
        expect(page.get_by_role("tab", name="Timeline")).to_be_visible()
    elif path == "runs":
        visit.open("/app/runs")
        expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    else:
        visit.open("/app/releases/new")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_timeout(300)  # what hangs over the edge would be there by now

    assert (
        page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
        == [page.evaluate("innerHeight")] * 2
    )


@pytest.mark.parametrize("path", first_short(["schedules", "workflows", "audit", "stores", "settings"]))
def test_a_page_fits_on_a_phone(site: Site, visit: Visit, path: str) -> None:
    clock = {"kind": "schedule", "every": "1d", "tz": "Europe/Amsterdam"}
    published(site, fresh("reception-and-distribution-of-films"), STEPS, title=LONG, source=clock)
    visit.page.set_viewport_size({"width": PHONE, "height": 780})
    page = visit.open(f"/app/{path}")
    expect(page.locator(".page").get_by_role("link").or_(page.get_by_role("cell")).first).to_be_visible()

    visit.picture(f"phone-{path}")
    over = page.evaluate(
        """() => [...document.querySelectorAll('.page, .card, table')].filter(each =>
          each.getBoundingClientRect().right > innerWidth + 1 || each.scrollWidth > each.clientWidth + 1
        ).map(each => each.outerHTML.slice(0, 200))"""
    )
    assert over == []


@pytest.mark.long("test_axe_finds_nothing")
def test_a_workflow_that_was_never_published_asks_for_no_statistics(site: Site, visit: Visit) -> None:
    name = fresh("only-drawn")
    put(site, name, STEPS)
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    page = visit.open(f"/app/workflows/{name}")
    expect(page.get_by_text("Draft", exact=True)).to_be_visible()
    expect(page.get_by_role("tab", name="Versions")).to_be_visible()

    assert [url for url in asked if f"{name}/stats" in url] == []


@pytest.mark.long("test_the_first_page_lists_the_workflows_by_links_with_their_names")
def test_the_seal_of_a_card_is_of_what_runs(site: Site, visit: Visit) -> None:
    name = published(site, fresh("sealed"), STEPS)
    put(site, name, {"mail": {"task": "mail.send", "after": "nobody"}})
    page = visit.open("/app/workflows")
    page.get_by_label("Find a workflow").fill(name)  # the cards of many are not drawn all at once
    card = page.get_by_role("article").filter(has_text=name)

    expect(card.get_by_text("Draft: Not sound")).to_be_visible()
    expect(card.locator("span[title^=Proved]")).to_be_visible()


INSIDE = """() => {
  const frame = document.querySelector('.canvas').getBoundingClientRect()
  const zoom = document.querySelector('.zoom').getBoundingClientRect()
  const boxes = [...document.querySelectorAll('[data-step]')].map((each) => each.getBoundingClientRect())
  const over = (box) => box.right > zoom.left && box.left < zoom.right && box.bottom > zoom.top
  return boxes.length > 0 && boxes.every((box) => box.top >= frame.top && box.bottom <= frame.bottom && !over(box))
}"""


@pytest.mark.long("test_a_drawing_without_places_is_seen_whole_when_it_is_opened")
def test_the_drawing_fits_again_when_its_figures_come(site: Site, visit: Visit) -> None:
    chain = {f"s{at}": {"task": "plain", **({"after": f"s{at - 1}"} if at else {})} for at in range(4)}
    name = published(site, fresh("figures"), chain)
    started(site, name)
    visit.page.set_viewport_size({"width": PHONE, "height": 800})
    held: list[Route] = []
    visit.page.route(re.compile(rf"/api/workflows/{name}/stats"), lambda route: held.append(route))
    page = visit.open(f"/app/workflows/{name}")
    expect(page.locator("[data-step='s0']")).to_be_visible()
    page.wait_for_function(INSIDE)

    wait_for(page, lambda: len(held) > 0)
    for route in held:
        route.continue_()
    expect(page.get_by_role("region", name="Statistics")).to_be_visible()

    visit.picture("workflow-phone")
    page.wait_for_function(INSIDE)


CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
  }
  const light = (part) => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b)
  const box = document.querySelector('.bx:has(.heat)'), heat = getComputedStyle(box.querySelector('.heat'))
  const share = Number(heat.opacity), over = rgb(heat.backgroundColor)
  const under = rgb(getComputedStyle(box).backgroundColor)
  const mixed = (base) => base.map((each, at) => each * (1 - share) + over[at] * share)
  const covered = !(Number(heat.zIndex) < 0)
  const text = rgb(getComputedStyle(box.querySelector('.mm')).color)
  const both = [luminance(covered ? mixed(text) : text), luminance(mixed(under))].sort()
  return (both[1] + 0.05) / (both[0] + 0.05)
}"""


@pytest.mark.long("test_axe_finds_nothing")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_hottest_box_can_be_read(site: Site, visit: Visit, theme: Literal["light", "dark"]) -> None:
    name = published(site, fresh("hot"), {"only": {"task": "plain", "emits": "OK"}})
    run = started(site, name)
    wait_for(visit.page, lambda: status_of(site, run) == "succeeded")
    visit.page.emulate_media(color_scheme=theme)
    page = visit.open(f"/app/workflows/{name}")
    page.get_by_role("radio", name="Count").or_(page.get_by_role("button", name="Count")).click()

    expect(page.locator(".bx .heat")).to_be_visible()
    visit.picture(f"workflow-hot-{theme}")
    assert page.evaluate(CONTRAST) >= 4.5


COVERED = """() => {
  const around = (each) => each.getBoundingClientRect()
  const boxes = [...document.querySelectorAll('.bx')].map(around)
  const pills = [...document.querySelectorAll('.ev.onwire')]
  const beside = (one, two) => one.left >= two.right || one.top >= two.bottom
  const clear = (pill) => boxes.every((box) => beside(pill, box) || beside(box, pill))
  return { all: pills.length, covered: pills.filter((each) => !clear(around(each))).map((each) => each.textContent) }
}"""


@pytest.mark.long("test_a_drawing_without_places_is_seen_whole_when_it_is_opened")
def test_a_drawing_that_nobody_placed_has_room_for_its_pills(site: Site, visit: Visit) -> None:
    steps = {
        "bill": {"task": "plain", "emits": {"done": "billed", "failed": "billfail"}},
        "ship": {"task": "plain", "after": "billed", "fails": "shipfail"},
        "tell": {"task": "plain", "after": "billfail"},
        "undo": {"task": "plain", "after": "shipfail"},
        "end": {"task": "plain", "after": "ship", "emits": "OK"},
    }
    page = visit.open(f"/app/workflows/{published(site, fresh('pills'), steps)}")
    expect(page.locator("[data-step='end']")).to_be_visible()

    assert page.evaluate(COVERED) == {"all": 3, "covered": []}


@pytest.mark.long("test_axe_finds_nothing_on_a_phone")
def test_the_menu_of_a_run_stands_beside_its_path_on_a_phone(site: Site, visit: Visit) -> None:
    waits = published(site, fresh("menu"), {"a": {"task": "plain", "after": "go"}}, external=["go"])
    run = started(site, waits, "a film with a rather long name of its own.mov")
    visit.page.set_viewport_size({"width": PHONE, "height": 800})
    page = visit.open(f"/app/runs/{run}")
    more, path = (
        page.locator(".runhead").get_by_role("button", name="More", exact=True),
        page.locator(".crumbs"),
    )
    expect(more).to_be_visible()

    visit.picture("run-phone")
    button, line, title = more.bounding_box(), path.bounding_box(), page.locator("h1").bounding_box()
    assert button and line and title
    assert button["y"] < line["y"] + line["height"], "it is no line of its own"
    assert title["x"] + title["width"] <= button["x"], "it does not lie upon the title"
    assert button["x"] + button["width"] <= PHONE
