"""Nothing is lost: a server that goes away, two people on one draft, an expired sign-in."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from tests.cli.serving import serving
from tests.cli.test_front import base_of
from tests.postgres_server import free_port
from tests.web.conftest import SIZE, Site, Visit
from tests.web.drawing import Editor
from tests.web.plant import fresh
from tests.web.sides import Sides, definition, put, wait_for


def test_an_edit_survives_a_restart_of_the_server(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    up = ("up", "--port", port)
    page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]

    with serving(*up, cwd=tmp_path) as first:
        editor = Editor(page, base_of(first), "restart")
        editor.drag_box("Wait", 300, 120)
        editor.wait_saved()
        first.signal(signal.SIGKILL)
        first.process.wait()
        editor.drag_box("Decide", 560, 240)
        expect(page.get_by_text("The server is away").first).to_be_visible(timeout=10_000)
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Redo").click()
    with serving(*up, cwd=tmp_path) as second:
        expect(editor.saved).to_be_visible(timeout=20_000)
        page.reload()
        expect(editor.box("Decide")).to_be_visible()
        site = Site(second, tmp_path)
        steps = site.ask("GET", "/api/workflows/restart")["definition"]["steps"]
        page.context.close()

    assert list(steps) == ["Wait", "Decide"]


def test_what_was_not_saved_is_still_there_after_the_page_was_closed(
    browser: Browser, tmp_path: Path
) -> None:
    port = free_port()
    up = ("up", "--port", port)
    context = browser.new_context(viewport=SIZE)  # type: ignore[arg-type]
    page = context.new_page()

    with serving(*up, cwd=tmp_path) as first:
        base = base_of(first)
        editor = Editor(page, base, "closed")
        editor.drag_box("Wait", 300, 120)
        editor.wait_saved()
        first.signal(signal.SIGKILL)
        first.process.wait()
        editor.drag_box("Decide", 560, 240)
        expect(page.locator('[data-save="away"]')).to_be_visible(timeout=10_000)
        page.close()
    with serving(*up, cwd=tmp_path) as second:
        editor = Editor(context.new_page(), base, "closed", new=False)
        expect(editor.box("Decide")).to_be_visible()
        editor.wait_saved()
        steps = Site(second, tmp_path).ask("GET", "/api/workflows/closed")["definition"]["steps"]
        context.close()

    assert list(steps) == ["Wait", "Decide"]


@pytest.mark.long("test_what_is_being_typed_when_the_page_is_closed_reaches_the_server")
def test_an_edit_made_right_before_the_page_is_closed_reaches_the_server(site: Site, visit: Visit) -> None:
    name = fresh("hasty")
    editor = Editor(visit.page, site.base, name)
    editor.drag_box("Wait", 300, 120)
    editor.wait_saved()

    editor.drag_box("Decide", 560, 240)
    expect(editor.box("Decide")).to_be_visible()
    visit.page.goto("about:blank")  # no pause: what waits to be sent is sent now or never

    wait_for(visit.page, lambda: "Decide" in steps_of(site, name))
    editor = Editor(visit.page, site.base, name, new=False)
    editor.wait_saved()
    editor.drag_box("Wait", 300, 300)
    editor.wait_saved()
    assert len(steps_of(site, name)) == 3


def test_what_is_being_typed_when_the_page_is_closed_reaches_the_server(site: Site, visit: Visit) -> None:
    name, page = fresh("typing"), visit.page
    put(site, name, {"greet": {"task": "set"}})

    Sides.of(site, visit, name).inspector.get_by_label("Title").fill("Half a ti")  # and the field is not left
    page.goto("about:blank")

    wait_for(page, lambda: definition(site, name).get("title") == "Half a ti")
    Sides.of(site, visit, name)
    page.get_by_role("button", name="Text", exact=True).click()
    text = page.get_by_role("textbox", name="Definition as YAML")
    text.click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\ndescription: typed last")
    page.goto("about:blank")

    wait_for(page, lambda: definition(site, name).get("description") == "typed last")


@pytest.mark.long("test_what_is_being_typed_when_the_page_is_closed_reaches_the_server")
def test_an_edit_made_while_another_is_sent_meets_no_stranger_after_the_page_was_closed(
    site: Site, visit: Visit
) -> None:
    name = fresh("hasty")
    editor = Editor(visit.page, site.base, name)
    editor.drag_box("Wait", 300, 120)
    editor.wait_saved()
    visit.page.route("**/api/workflows/*", pass_on_without_answer)

    editor.drag_box("Decide", 560, 240)
    wait_for(visit.page, lambda: "Decide" in steps_of(site, name))
    editor.drag_box("Wait", 300, 300)
    expect(visit.page.locator("[data-step]")).to_have_count(3)
    visit.page.goto("about:blank")
    visit.page.unroute_all()

    editor = Editor(visit.page, site.base, name, new=False)
    editor.wait_saved()
    assert len(steps_of(site, name)) == 3


def pass_on_without_answer(route: Route) -> None:
    """What is saved reaches the server; who saved it is not told."""
    if route.request.method != "PUT":
        return route.continue_()
    route.fetch()


def steps_of(site: Site, name: str) -> dict[str, Any]:
    steps: dict[str, Any] = definition(site, name)["steps"]
    return steps


def test_what_somebody_else_saved_is_not_written_over(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "two-people")
    editor.drag_box("Wait", 300, 120)
    editor.wait_saved()
    theirs = {
        "penstock": 1,
        "name": "two-people",
        "steps": {"theirs": {"task": "wait", "with": {"for": "2m"}}},
    }
    site.ask("PUT", "/api/workflows/two-people", theirs)

    editor.drag_box("Decide", 560, 240)

    page = visit.page
    expect(page.locator('[data-save="conflict"]')).to_contain_text("Not saved.")
    assert list(site.ask("GET", "/api/workflows/two-people")["definition"]["steps"]) == ["theirs"]
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="Keep what is chosen").click()
    editor.wait_saved()
    assert list(site.ask("GET", "/api/workflows/two-people")["definition"]["steps"]) == ["theirs", "Decide"]
    visit.forgive(412)


@pytest.mark.long("test_what_somebody_else_saved_is_not_written_over")
def test_theirs_can_be_taken_and_mine_had_back(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "two-take")
    editor.drag_box("Wait", 300, 120)
    editor.wait_saved()
    theirs = {"penstock": 1, "name": "two-take", "steps": {"theirs": {"task": "wait", "with": {"for": "2m"}}}}
    site.ask("PUT", "/api/workflows/two-take", theirs)
    editor.drag_box("Decide", 560, 240)
    page = visit.page

    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="All from elsewhere").click()
    page.get_by_role("button", name="Keep what is chosen").click()
    expect(editor.box("theirs")).to_be_visible()
    expect(editor.box("Decide")).to_have_count(0)

    page.get_by_role("button", name="Undo").click()
    expect(editor.box("Decide")).to_be_visible()
    visit.forgive(412)


@pytest.mark.long("test_what_was_not_saved_is_still_there_after_the_page_was_closed")
def test_two_tabs_of_one_browser_keep_each_what_is_theirs(site: Site, browser: Browser) -> None:
    steps = {"a": {"task": "wait", "with": {"for": "1m"}}}
    site.ask("PUT", "/api/workflows/tabs", {"penstock": 1, "name": "tabs", "steps": steps})
    context = browser.new_context(viewport=SIZE)  # type: ignore[arg-type]
    one = Editor(context.new_page(), site.base, "tabs", new=False)
    two = Editor(context.new_page(), site.base, "tabs", new=False)
    expect(one.box("a")).to_be_visible()
    expect(two.box("a")).to_be_visible()

    context.set_offline(True)
    for editor, box in ((one, "Decide"), (two, "Approval")):
        editor.page.bring_to_front()
        editor.drag_box(box, 560, 240)
        expect(editor.page.locator('[data-save="away"]')).to_be_visible(timeout=10_000)
    one.page.close()
    two.page.close()
    context.set_offline(False)

    third = Editor(context.new_page(), site.base, "tabs", new=False)
    expect(third.box("Approval")).to_be_visible()
    expect(third.page.get_by_text("A closed tab of this browser had changes")).to_be_visible()
    third.page.get_by_role("button", name="Show them").click()
    expect(third.box("Decide")).to_be_visible()
    third.wait_saved()
    context.close()


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_every_box_of_the_palette_can_be_kept_as_it_comes(site: Site, visit: Visit) -> None:
    editor = Editor(visit.page, site.base, "keeping-palette")
    boxes = visit.page.get_by_role("navigation", name="Boxes").locator("button.pi")
    expect(visit.page.get_by_role("button", name="Emit to a run")).to_be_visible()
    names = [name for name in boxes.all_inner_texts() if name not in ("Event from outside", "Note")]
    wanted = {
        "Approval",
        "Send mail",
        "Emit to a run",
        "Wait",
        "Decide",
        "Switch",
        "Workflow",
        "Shell",
        "Fail",
    }
    assert wanted <= set(names)

    for name in names:
        boxes.filter(has_text=re.compile(f"^{re.escape(name)}$")).click()
        expect(editor.box(name)).to_be_attached()
    editor.wait_saved()

    steps = site.ask("GET", "/api/workflows/keeping-palette")["definition"]["steps"]
    assert set(steps) == set(names)
    problem = visit.page.locator("[data-code=missing-setting]").filter(has_text="Emit to a run")
    expect(problem.first).to_contain_text("“Emit to a run” is not filled in: “emit” needs “Event”.")


@pytest.mark.long("test_text_that_cannot_be_read_is_kept_and_not_called_saved")
def test_why_a_draft_is_refused_is_told_whole_over_the_drawing(site: Site, visit: Visit) -> None:
    visit.forgive(422)
    editor = Editor(visit.page, site.base, "keeping-refused")
    editor.canvas.focus()
    editor.keys("/")
    editor.choose("Wait")
    editor.wait_saved()

    visit.page.get_by_role("textbox", name="For").fill("soon")
    visit.page.keyboard.press("Tab")

    told = visit.page.get_by_role("alert").filter(has_text="kept in this browser")
    expect(told).to_contain_text("“Wait”: “for” ")
    expect(visit.page.locator('[data-save="refused"]')).to_have_text("Not saved.")
    visit.picture("editor-refused-light")


def cannot_be_loaded(site: Site, visit: Visit, name: str) -> tuple[str, list[str]]:
    """Open a workflow that is there, but not to be had; its tag, and what the page writes from then on."""
    steps = {"a": {"task": "wait", "with": {"for": "1m"}}}
    etag = site.ask("PUT", f"/api/workflows/{name}", {"penstock": 1, "name": name, "steps": steps})["etag"]
    written: list[str] = []

    def hear(request: Request) -> None:
        written.extend([request.url] if request.method == "PUT" else [])

    visit.page.on("request", hear)
    page = visit.open(f"/app/workflows/{name}/edit")
    expect(page.get_by_text("This workflow could not be loaded.")).to_be_visible()
    expect(page.get_by_text("Nothing is drawn yet")).to_have_count(0)
    return etag, written


def is_loaded(site: Site, page: Page, name: str, etag: str) -> None:
    expect(page.locator('[data-step="a"]')).to_be_visible()
    expect(page.locator('[data-save="saved"]')).to_be_visible()
    assert site.ask("GET", f"/api/workflows/{name}")["etag"] == etag


def test_a_workflow_opened_while_the_server_is_unwell_is_not_empty(site: Site, visit: Visit) -> None:
    visit.forgive(503)
    visit.page.route("**/api/workflows/keeping-unwell", lambda route: route.fulfill(status=503, body="{}"))
    etag, written = cannot_be_loaded(site, visit, "keeping-unwell")
    visit.picture("editor-not-loaded")

    visit.page.unroute("**/api/workflows/keeping-unwell")
    visit.page.get_by_role("button", name="Try again").click()

    is_loaded(site, visit.page, "keeping-unwell", etag)
    assert written == []


@pytest.mark.long("test_a_workflow_opened_while_the_server_is_unwell_is_not_empty")
def test_a_workflow_opened_while_signed_out_is_loaded_after_the_sign_in(site: Site, visit: Visit) -> None:
    signed_in: list[bool] = []

    def signed_out(route: Route) -> None:
        if signed_in:
            route.continue_()
        elif route.request.method == "POST" and route.request.url.endswith("/api/session"):
            signed_in.append(True)
            route.fulfill(status=204)
        else:
            refused = '{"code": "unauthenticated", "detail": "Sign in."}'
            route.fulfill(status=401, content_type="application/json", body=refused)

    visit.forgive(401)
    visit.page.route("**/api/**", signed_out)
    etag, written = cannot_be_loaded(site, visit, "keeping-signed-out")
    visit.picture("editor-signed-out")

    visit.page.get_by_label("Token").fill("a token")
    visit.page.get_by_role("dialog").get_by_role("button", name="Sign in", exact=True).click()

    is_loaded(site, visit.page, "keeping-signed-out", etag)
    assert written == []


@pytest.mark.long("test_a_workflow_opened_while_the_server_is_unwell_is_not_empty")
def test_what_was_here_last_is_shown_meanwhile_and_not_sent_over_what_is_newer(
    site: Site, visit: Visit
) -> None:
    visit.forgive(503)
    name, page = "keeping-last", visit.page
    editor = Editor(page, site.base, name)
    editor.drag_box("Wait", 300, 120)
    editor.wait_saved()
    newer = {"newer": {"task": "wait", "with": {"for": "2m"}}}
    site.ask("PUT", f"/api/workflows/{name}", {"penstock": 1, "name": name, "steps": newer})
    page.route(f"**/api/workflows/{name}", lambda route: route.fulfill(status=503, body="{}"))

    visit.open(f"/app/workflows/{name}/edit")
    expect(editor.box("Wait")).to_be_visible()
    expect(page.locator('[data-save="unread"]')).to_contain_text("Not loaded.")
    visit.picture("editor-not-loaded-kept")
    page.unroute(f"**/api/workflows/{name}")

    expect(editor.box("newer")).to_be_visible()
    editor.wait_saved()
