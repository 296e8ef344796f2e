"""Releases in the browser: planned, followed live until they are published; services, studies and notes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from penstock.access.roles import ACTIONS, Role, allows
from tests.cli.serving import serving
from tests.web.conftest import SIZE, Site, Visit
from tests.web.plant import THEMES, violations, wear

EXAMPLE = Path(__file__).parents[2] / "examples" / "task_service" / "service.py"


def example(stack: ExitStack, name: str, *more: str) -> str:
    """The example service on a port of its own; its address."""
    command = [sys.executable, str(EXAMPLE), "--port", "0", "--name", name, *more]
    remote = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
    stack.callback(remote.kill)
    assert remote.stdout is not None
    return remote.stdout.readline().decode().split()[-1]


class Flaky(BaseHTTPRequestHandler):
    """A task service that fails to publish the first time, some polls after it began, and not the second time."""

    state, polls, failed = "pending", 0, False

    def do_GET(self) -> None:
        self._answer({"name": "flaky"})

    def do_POST(self) -> None:
        own = type(self)
        action = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["action"]
        own.polls += action == "get_status"
        if action == "publish":
            own.state, own.polls = "publishing", 0
        elif action == "get_status" and own.state == "publishing" and (own.failed or own.polls > 15):
            own.state, own.failed = "published" if own.failed else "failed", True
        else:
            own.state = {"initialize": "pending", "start": "staged", "cancel": "canceled"}.get(
                action, own.state
            )
        self._answer({"state": own.state})

    def _answer(self, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def flaky() -> Iterator[str]:
    """A service that publishes at the second try; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Flaky) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Releases(Site):
    """A server that may call this machine, and two services that were not registered yet."""

    urls: dict[str, str]


@pytest.fixture(scope="module")
def coordinator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Releases]:
    folder = tmp_path_factory.mktemp("releases")
    more: Any = {
        "PENSTOCK_EGRESS_ALLOW": "127.0.0.1",
        "PENSTOCK_RELEASE_POLL_INTERVAL": "100ms",
        "PENSTOCK_RELEASE_REQUEST_TIMEOUT": "2s",
    }
    with serving("up", cwd=folder, longest=600, **more) as up, ExitStack() as stack:
        site = Releases(up, folder)
        site.urls = {
            "quick": example(stack, "quick", "--seconds", "0.2"),
            "slow": example(stack, "slow", "--seconds", "4"),
        }
        for name in ("quick", "slow"):
            body = {"name": name, "description": f"the {name} one", "author": "me", "url": site.urls[name]}
            site.ask("POST", "/task-services", body)
        site.ask("POST", "/studies", {"kf_id": "SD_00000001", "name": "Congenital heart"})
        site.ask("POST", "/studies", {"kf_id": "SD_00000002", "name": "Ewing sarcoma"})
        yield site
        up.stop()


@pytest.fixture
def visit(browser: Browser, coordinator: Releases) -> Iterator[Visit]:
    context = browser.new_context(viewport=SIZE, locale="en-GB", timezone_id="Europe/Berlin")  # type: ignore[arg-type]
    visited = Visit(context.new_page(), coordinator.base)
    visited.forgive(400)
    yield visited
    context.close()
    assert visited.said == []


def planned(page: Page, name: str, *without: str) -> None:
    """Plan a release of one study, without some services, and begin it."""
    page.get_by_role("link", name="New release").first.click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("checkbox", name="Congenital heart").check()
    for each in without:
        page.get_by_role("checkbox", name=each).uncheck()
    page.get_by_role("button", name="Start the release").click()
    expect(page).to_have_url(re.compile(r"/app/releases/RE_[0-9A-Z]{8}$"))


def test_a_release_is_planned_followed_live_and_published(visit: Visit) -> None:
    page = visit.open("/app/releases")
    planned(page, "Autumn data")

    expect(page.get_by_role("heading", name="Autumn data")).to_be_visible()
    expect(page.get_by_role("list", name="Phases").locator("[aria-current=step]")).to_contain_text("Stage")
    expect(page.get_by_text("1 of 2 services are staged.")).to_be_visible()
    expect(page.get_by_role("progressbar", include_hidden=True)).to_be_visible()
    expect(page.get_by_role("button", name="Publish as 0.1.0")).to_be_disabled()
    visit.picture("release-running")
    expect(page.get_by_text("All 2 services are staged.")).to_be_visible()
    expect(page.get_by_role("list", name="Phases").locator("[aria-current=step]")).to_contain_text("Staged")
    expect(page.get_by_text("0.0.0 becomes 0.1.0")).to_be_visible()
    for theme in THEMES:
        wear(page, theme)
        assert violations(page) == []
        visit.picture(f"release-{theme}")
    page.set_viewport_size({"width": 380, "height": 780})
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    visit.picture("release-phone")
    page.set_viewport_size(SIZE)  # type: ignore[arg-type]
    page.get_by_role("button", name="Publish as 0.1.0").click()

    expect(page.get_by_text("Version 0.1.0 is published by all 2 services.")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel release")).to_be_disabled()
    expect(page.get_by_text(re.compile("changed from publishing to published")).first).to_be_visible()
    visit.picture("release-published")
    page.get_by_role("button", name="Show as table").click()
    table = page.get_by_role("table", name="Timeline")
    expect(table.get_by_role("row").filter(has_text="slow")).to_have_count(6)


@pytest.mark.long("test_a_release_is_planned_followed_live_and_published")
def test_a_service_may_be_left_out_of_a_release(visit: Visit, coordinator: Releases) -> None:
    page = visit.open("/app/releases")
    planned(page, "Only the quick one", "slow")

    expect(page.get_by_text("The service is staged.")).to_be_visible()
    rows = page.get_by_role("table", name="Services").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("quick")
    page.get_by_role("button", name="Cancel release").click()
    expect(page.get_by_role("dialog")).to_contain_text("The service gets “cancel”.")
    page.get_by_role("dialog").get_by_role("button", name="Cancel release").click()
    page.get_by_role("button", name="Do it now").click()
    expect(page.get_by_text("The release was canceled.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Publish"))).to_be_disabled()


@pytest.mark.long("test_a_release_is_planned_followed_live_and_published")
def test_notes_are_added_changed_and_removed(visit: Visit, coordinator: Releases) -> None:
    body = {"name": "Noted", "studies": ["SD_00000002"], "services": [_id(coordinator, "quick")]}
    made = coordinator.ask("POST", "/releases", body)
    page = visit.open(f"/app/releases/{made['kf_id']}")

    page.get_by_role("button", name="Add a note").click()
    page.get_by_role("dialog").get_by_label("Text").fill("Adds <b>1,204</b> participants.")
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    note = page.get_by_role("article")
    expect(note).to_contain_text("Adds <b>1,204</b> participants.")
    expect(note).to_contain_text("Ewing sarcoma")
    page.get_by_role("button", name="Edit the note").click()
    page.get_by_role("dialog").get_by_label("Text").fill("Adds 12.")
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    expect(note).to_contain_text("Adds 12.")
    page.get_by_role("button", name="Remove the note").click()
    expect(note).to_have_count(0)
    coordinator.ask("DELETE", f"/releases/{made['kf_id']}")


def _id(coordinator: Releases, name: str) -> str:
    found = coordinator.ask("GET", "/task-services?limit=100")["results"]
    return str(next(each["kf_id"] for each in found if each["name"] == name))


@pytest.mark.long("test_a_study_is_added_and_a_wrong_one_is_refused")
def test_a_service_is_registered_edited_switched_off_and_removed(visit: Visit, coordinator: Releases) -> None:
    page = visit.open("/app/releases?show=services")
    page.get_by_role("button", name="Register a service").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("third")
    dialog.get_by_label("Address").fill("http://127.0.0.1:9")
    dialog.get_by_label("Description").fill("one more")
    dialog.get_by_role("button", name="Register", exact=True).click()
    expect(dialog.get_by_text("could not reach http://127.0.0.1:9")).to_be_visible()
    dialog.get_by_label("Address").fill(coordinator.urls["quick"])
    dialog.get_by_role("button", name="Register", exact=True).click()
    row = page.get_by_role("row").filter(has_text="third")
    expect(row).to_contain_text("Healthy")
    assert violations(page) == []

    row.get_by_role("button", name="More for third").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog.get_by_label("Description").fill("another word")
    dialog.get_by_role("button", name="Keep").click()
    expect(row).to_contain_text("another word")
    row.get_by_role("switch").click()
    expect(row.get_by_role("switch")).not_to_be_checked()
    visit.picture("release-services")
    page.goto(visit.base + "/app/releases/new")
    expect(page.get_by_role("region", name="Services").get_by_text("not enabled")).to_be_visible()
    assert violations(page) == []
    visit.picture("release-planner")

    page.goto(visit.base + "/app/releases?show=services")
    row.get_by_role("button", name="More for third").click()
    page.get_by_role("menuitem", name="Remove").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)


def test_a_study_is_added_and_a_wrong_one_is_refused(visit: Visit, coordinator: Releases) -> None:
    page = visit.open("/app/releases?show=studies")
    page.get_by_role("button", name="Add a study").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Id").fill("heart")
    dialog.get_by_label("Name").fill("Orofacial clefts")
    dialog.get_by_role("button", name="Add a study").click()
    expect(dialog.get_by_text("Enter a valid id, such as SD_ABCDEFGH.")).to_be_visible()
    dialog.get_by_label("Id").fill("SD_00000003")
    dialog.get_by_role("button", name="Add a study").click()
    expect(page.get_by_role("row").filter(has_text="Orofacial clefts")).to_be_visible()


@pytest.mark.long("test_a_release_is_planned_followed_live_and_published")
def test_a_release_that_is_partly_published_is_finished_from_its_page(
    visit: Visit, coordinator: Releases
) -> None:
    with flaky() as url:
        body = {"name": "flaky", "description": "fails once", "author": "me", "url": url}
        id = coordinator.ask("POST", "/task-services", body)["kf_id"]
        wish = {"name": "Twice", "studies": ["SD_00000001"], "services": [id, _id(coordinator, "quick")]}
        made = coordinator.ask("POST", "/releases", wish)
        page = visit.open(f"/app/releases/{made['kf_id']}")
        page.get_by_role("button", name=re.compile("Publish as")).click()

        expect(page.get_by_text("Partly published", exact=True)).to_be_visible()
        expect(page.get_by_text("1 of 2 services have published.")).to_be_visible()
        visit.picture("release-partly")
        page.get_by_role("button", name="Publish the rest").click()
        expect(page.get_by_text(re.compile("is published by all 2 services"))).to_be_visible()
        coordinator.ask("DELETE", f"/task-services/{id}")


def looking(page: Page, coordinator: Releases, role: Role) -> None:
    """Let the pages know of somebody with this role."""
    may = [action for action in ACTIONS if allows(role, action)]
    who = {**coordinator.ask("GET", "/api/session"), "role": role, "may": may, "signed_in": True}
    page.route("**/api/session", lambda route: route.fulfill(json=who))


@pytest.mark.long("test_an_operator_makes_releases_and_leaves_services_as_they_are")
def test_who_may_only_look_is_shown_no_button_that_would_be_refused(
    visit: Visit, coordinator: Releases
) -> None:
    body = {"name": "Looked at", "studies": ["SD_00000002"], "services": [_id(coordinator, "quick")]}
    made = coordinator.ask("POST", "/releases", body)
    looking(visit.page, coordinator, "viewer")
    page = visit.open(f"/app/releases/{made['kf_id']}")

    expect(page.get_by_text("Who signs in as an operator can.")).to_be_visible()
    for name in ("Run again", "Cancel release", "Publish", "Add a note"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    assert violations(page) == []
    page.goto(visit.base + "/app/releases")
    expect(page.get_by_role("link", name="Looked at")).to_be_visible()
    expect(page.get_by_role("link", name="New release")).to_have_count(0)
    page.goto(visit.base + "/app/releases?show=services")
    expect(page.get_by_role("row").filter(has_text="quick").get_by_role("switch")).to_be_disabled()
    for name in ("Register a service", "Check now", "More for quick"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    page.goto(visit.base + "/app/releases/new")
    expect(page.get_by_text("Who signs in as an operator can.")).to_be_visible()
    coordinator.ask("DELETE", f"/releases/{made['kf_id']}")


def test_an_operator_makes_releases_and_leaves_services_as_they_are(
    visit: Visit, coordinator: Releases
) -> None:
    looking(visit.page, coordinator, "operator")
    page = visit.open("/app/releases?show=services")

    expect(page.get_by_role("button", name="Check now")).to_be_visible()
    expect(page.get_by_text("Who signs in as an author registers")).to_be_visible()
    expect(page.get_by_role("button", name="Register a service")).to_have_count(0)
    expect(page.get_by_role("link", name="New release")).to_be_visible()


@pytest.mark.long("test_the_next_page_comes_by_its_cursor")
def test_long_lists_say_how_much_they_show_and_show_more(visit: Visit, coordinator: Releases) -> None:
    quick = _id(coordinator, "quick")
    for number in range(52):
        wish = {"name": f"Many {number}", "studies": ["SD_00000001"], "services": [quick]}
        made = coordinator.ask("POST", "/releases", wish)
    for number in range(110):
        kind = "warning" if number == 0 else "info"
        said = {"event_type": kind, "message": f"said {number}", "release": made["kf_id"]}
        coordinator.ask("POST", "/events", said)
    page = visit.open("/app/releases")

    rows = page.get_by_role("table", name="Releases").get_by_role("row")
    expect(rows).to_have_count(51)
    expect(page.get_by_text(re.compile(r"^50 of \d+ shown$"))).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("link", name="Many 0", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)

    page.goto(f"{visit.base}/app/releases/{made['kf_id']}")
    events = page.get_by_role("region", name="Events")
    expect(events.get_by_role("listitem")).to_have_count(100)
    events.get_by_role("button", name="Show more").click()
    expect(events.get_by_text("said 0", exact=True)).to_be_visible()
    expect(events.get_by_role("button", name="Show more")).to_have_count(0)
    page.reload()
    expect(events.get_by_role("listitem")).to_have_count(100)
    events.get_by_text("Warnings", exact=True).click()
    expect(events.get_by_role("listitem")).to_have_count(1)
    expect(events.get_by_role("listitem")).to_contain_text("said 0")
