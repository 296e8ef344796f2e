"""A part that the server does not send says so; what is around it works on."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.cli.serving import serving
from tests.cli.test_front import base_of
from tests.web.conftest import SIZE, Site, Visit
from tests.web.drawing import Editor
from tests.web.plant import fresh, published
from tests.web.sides import wait_for

LAST = "/pinned-"
"""Of what the editor fetches after it has been drawn, this comes behind the others."""


def send_again(page: Page) -> None:
    """The server sends everything, and somebody tries again, if the page has not by itself yet."""
    page.unroute_all()
    page.get_by_role("button", name="Try again").evaluate_all("all => all.forEach((each) => each.click())")


@pytest.mark.long("test_an_edit_survives_a_restart_of_the_server")
def test_publish_and_text_open_while_the_server_is_away(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]
    came: list[str] = []
    page.on("requestfinished", lambda request: came.append(request.url))
    with serving("up", "--port", 0, cwd=tmp_path) as up:
        editor = Editor(page, base_of(up), "parted")
        editor.drag_box("Wait", 300, 120)
        editor.wait_saved()
        wait_for(page, lambda: any(LAST in url for url in came))
        up.signal(signal.SIGKILL)
        up.process.wait()
        page.get_by_role("button", name="Text").click()
        expect(page.locator(".cm-content")).to_contain_text("parted")
        page.get_by_role("button", name="Publish").click()

        expect(page.get_by_role("dialog")).to_contain_text("Publish")
        expect(editor.box("Wait")).to_be_visible()
        page.context.close()


@pytest.mark.long("test_a_page_that_is_not_sent_says_so_beside_the_others")
def test_a_dialog_that_is_not_sent_says_so_and_the_drawing_stays(site: Site, visit: Visit) -> None:
    page = visit.page
    page.route("**/assets/publish-*.js*", lambda route: route.abort())
    editor = Editor(page, site.base, fresh("unsent"))
    editor.drag_box("Wait", 300, 120)
    editor.wait_saved()
    page.get_by_role("button", name="Publish").click()

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The server did not send it.")
    expect(editor.box("Wait")).to_be_visible()
    visit.picture("part-not-sent")
    send_again(page)
    expect(page.get_by_role("dialog")).to_contain_text("Publish")
    visit.said.clear()  # the browser notes by itself what it was not sent


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("audit", id="program"),
        pytest.param(
            "pages",
            id="texts",
            marks=pytest.mark.long("test_a_page_that_is_not_sent_says_so_beside_the_others"),
        ),
    ],
)
def test_a_page_that_is_not_sent_says_so_beside_the_others(site: Site, visit: Visit, what: str) -> None:
    page = visit.open("/")
    expect(page.get_by_role("link", name="Audit")).to_be_visible()
    page.route(f"**/assets/{what}-*.js*", lambda route: route.abort())
    page.get_by_role("link", name="Audit").click()

    expect(page.get_by_role("alert")).to_contain_text("The server did not send it.")
    expect(page.get_by_role("link", name="Workflows")).to_be_visible()
    send_again(page)
    expect(page.get_by_role("heading", name="Audit")).to_be_visible()
    visit.said.clear()  # the browser notes by itself what it was not sent


@pytest.mark.long("test_a_page_that_is_not_sent_says_so_beside_the_others")
def test_texts_that_never_come_keep_only_their_own_pages_away(site: Site, visit: Visit) -> None:
    page = visit.open("/")
    expect(page.get_by_role("link", name="Releases")).to_be_visible()
    for name in texts_of_releases():
        page.route(f"**/assets/{name}*", lambda route: route.abort())
    for _ in range(2):
        page.get_by_role("link", name="Releases").click()
        expect(page.get_by_role("alert")).to_contain_text("The server did not send it.")
        page.get_by_role("link", name="Approvals").click()
        expect(page.get_by_role("heading", name="Approvals")).to_be_visible()

    page.unroute_all()
    page.get_by_role("link", name="Releases").click()
    expect(page.get_by_role("heading", name="Releases")).to_be_visible()
    visit.said.clear()  # the browser notes by itself what it was not sent


def texts_of_releases() -> list[str]:
    """The files that were built of them: the program of their pages has a name like it."""
    built = Path("src/penstock/web/dist/assets").glob("releases-*.js")
    found = [path.name for path in built if '"re.none":' in path.read_text()]
    assert len(found) == 2, found
    return found


@pytest.mark.long("test_a_page_that_is_not_sent_says_so_beside_the_others")
def test_the_first_texts_are_asked_for_until_they_come(site: Site, visit: Visit) -> None:
    page = visit.page
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    page.route("**/assets/en-*.js*", refuse)
    page.goto(site.base)
    wait_for(page, lambda: len(asked) > 1)
    page.unroute_all()

    expect(page.get_by_role("link", name="Audit")).to_be_visible()
    visit.said.clear()  # the browser notes by itself what it was not sent


@pytest.mark.long("test_a_page_that_is_not_sent_says_so_beside_the_others")
def test_the_first_page_says_nothing_of_figures_that_did_not_come(site: Site, visit: Visit) -> None:
    published(site, fresh("unmeasured"), {"a": {"task": "plain"}})
    visit.page.route("**/api/stats*", lambda route: route.fulfill(status=500, body="{}"))
    page = visit.open("/")

    expect(page.get_by_role("alert")).to_be_visible(timeout=30_000)
    expect(page.locator(".wcard").first).to_contain_text("Runs a day–")
    expect(page.get_by_role("region", name="Figures")).to_have_count(0)
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".tiles")).to_be_visible()
    visit.forgive(500)
