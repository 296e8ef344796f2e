"""Who may not do something is shown no button for it, on any page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.serving import serving
from tests.postgres_server import free_port
from tests.web.conftest import SIZE
from tests.web.plant import violations
from tests.web.test_elsewhere import ADMIN, asked

STEPS = {"a": {"task": "wait", "title": "Wait for Ann", "with": {"for": "1h"}}}
BROKEN = {"a": {"task": "set", "with": {"x": "${ data.none }"}}}
ACTS = ("Pause", "Fire event", "Cancel", "Rerun from", "Start a run", "Stop", "New workflow", "New token")


class Guarded:
    """A server that wants a sign-in, with a run that waits and one that failed."""

    def __init__(self, base: str, browser: Browser) -> None:
        self.base, self.browser = base, browser
        self.run = self._started("slow", STEPS)
        self.failed = self._started("broken", BROKEN)

    def _started(self, name: str, steps: dict[str, Any]) -> str:
        definition = {"penstock": 1, "name": name, "steps": steps}
        path = f"/api/workflows/{name}"
        asked(self.base, "POST", f"{path}/publish", {"definition": definition, "start": True})
        return asked(self.base, "POST", f"{path}/runs", {"subject": name})["id"]

    def signed_in(self, role: str, **more: Any) -> Page:
        token = asked(self.base, "POST", "/api/access", {"name": f"a {role}", "role": role, **more})["token"]
        page = self.browser.new_context(viewport=SIZE, locale="en-GB").new_page()  # type: ignore[arg-type]
        page.goto(f"{self.base}/app/settings")
        page.get_by_label("Token").fill(token)
        page.get_by_role("dialog").get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        return page


@pytest.fixture(scope="module")
def guarded(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder: Path = tmp_path_factory.mktemp("guarded")
    port = free_port()
    with serving("up", "--port", port, cwd=folder, PENSTOCK_TOKEN=ADMIN) as up:
        yield Guarded(f"http://127.0.0.1:{port}", browser)
        up.stop()


def offered(page: Page) -> set[str]:
    """Which of the acts the page has a button for."""
    return {name for name in ACTS if page.get_by_role("button", name=name, exact=True).count() > 0}


def test_a_viewer_is_shown_no_act_and_told_why(guarded: Guarded) -> None:
    page = guarded.signed_in("viewer")
    found = {}

    for path in ("runs", f"runs/{guarded.run}", "workflows/slow", "incidents"):
        page.goto(f"{guarded.base}/app/{path}")
        expect(page.get_by_text("Who signs in as an operator can.")).to_be_visible()
        found[path] = offered(page)
        assert violations(page) == []
    for path in ("workflows", "access", "audit", "queues"):
        page.goto(f"{guarded.base}/app/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("button", name="Verify the record")).to_have_count(0)
        found[path] = offered(page)

    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.long("test_a_viewer_is_shown_no_act_and_told_why")
def test_a_viewer_selects_no_runs_and_retries_none(guarded: Guarded) -> None:
    page = guarded.signed_in("viewer")
    page.goto(f"{guarded.base}/app/runs")
    table = page.get_by_role("table", name="Runs")

    expect(table.get_by_role("link", name="slow")).to_be_visible()
    expect(page.get_by_text("Who signs in as an operator can.")).to_be_visible()
    expect(table.get_by_role("checkbox")).to_have_count(0)
    expect(page.get_by_role("button", name="Keep this list as a view")).to_have_count(0)
    page.goto(f"{guarded.base}/app/runs/{guarded.failed}")
    expect(page.get_by_role("heading", name="Why did it fail?")).to_be_visible()
    expect(page.get_by_text("Who signs in as an operator can.")).to_be_visible()
    expect(page.get_by_role("button", name="Retry")).to_have_count(0)


def test_an_operator_runs_a_workflow_and_leaves_it_as_it_is(guarded: Guarded) -> None:
    page = guarded.signed_in("operator")
    page.goto(f"{guarded.base}/app/workflows/slow")

    expect(page.get_by_role("link", name="Look inside")).to_be_visible()
    assert offered(page) == {"Pause", "Start a run"}
    page.get_by_role("tab", name="Versions").click()
    expect(page.get_by_text("v1").first).to_be_visible()
    expect(page.get_by_role("button", name="Restore")).to_have_count(0)
    page.get_by_role("link", name="Look inside").click()
    expect(page.get_by_text("You can look at this workflow, not change it.")).to_be_visible()
    expect(page.get_by_role("button", name="Publish")).to_have_count(0)
    expect(page.get_by_role("tab", name="Try")).to_have_count(0)


@pytest.mark.long("test_an_operator_runs_a_workflow_and_leaves_it_as_it_is")
def test_who_is_bound_to_workflows_keeps_no_list_for_everybody(guarded: Guarded) -> None:
    page = guarded.signed_in("operator", workflows=["slow"])
    page.goto(f"{guarded.base}/app/runs?status=running,waiting")

    expect(page.get_by_role("link", name="slow", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Start a run")).to_be_visible()
    expect(page.get_by_role("button", name="Keep this list as a view")).to_have_count(0)
