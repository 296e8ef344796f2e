"""Every page can be used by everybody: axe finds nothing, in both themes, wide and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.suites import first_short
from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor
from tests.web.plant import THEMES, fresh, published, started, violations, violations_in_both, wear

SLOW = 20_000
PATHS = {
    "home": "/",
    "workflows": "/app/workflows",
    "workflow": "/app/workflows/{workflow}",
    "runs": "/app/runs",
    "run": "/app/runs/{run}",
    "approvals": "/app/approvals",
    "incidents": "/app/incidents",
    "queues": "/app/queues",
    "schedules": "/app/schedules",
    "stores": "/app/stores",
    "releases": "/app/releases",
    "access": "/app/access",
    "audit": "/app/audit",
    "settings": "/app/settings",
    "new": "/app/new",
}
SHORT = ("home", "run")
"""Beside those that are looked at elsewhere: the editor, runs, a workflow, incidents, a release."""
LONG = pytest.mark.long("test_axe_finds_nothing")
READY = {
    "home": ".wcard",
    "workflows": ".wcard",
    "workflow": "[data-step]",
    "runs": "table.runs td",
    "run": "[data-step]",
    "queues": "main td",
    "audit": "main td",
    "settings": "main td",
}
"""What is there when a page has what it shows."""
STEPS = {
    "Extract metadata": {"task": "video.extract_metadata", "emits": "metadata extracted", "fails": "failed"},
    "Pull thumbnails": {
        "task": "video.pull_thumbnails",
        "after": "ET job finished",
        "emits": "poster created",
        "fails": "failed",
    },
    "Mediathread submit": {
        "task": "video.mediathread_submit",
        "after": ["metadata extracted", "poster created"],
        "emits": "OK",
        "fails": "failed",
    },
    "Email user (failure)": {"task": "mail.send", "after": "failed", "emits": "FAIL", "fails": "FAIL"},
}


@pytest.fixture(scope="module")
def shown(site: Site) -> dict[str, str]:
    """A workflow with a run that waits at a join."""
    name = published(site, fresh("seen"), STEPS, title="Video for Mediathread", external=["ET job finished"])
    return {"workflow": name, "run": started(site, name, "lecture-07-tides.mov", input={"course_id": 1180})}


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in SHORT else LONG) for name in PATHS])
def test_axe_finds_nothing(visit: Visit, shown: dict[str, str], name: str) -> None:
    page = visit.open(PATHS[name].format(**shown))
    expect(page.locator("main h1")).to_be_visible(timeout=SLOW)
    expect(page.locator(READY.get(name, "main h1")).first).to_be_visible(timeout=SLOW)
    found = []

    for theme in THEMES:
        wear(page, theme)
        found += violations(page)
        visit.picture(f"{name}-wide-{theme}" if name == "approvals" else f"{name}-{theme}")

    page.set_viewport_size({"width": 1280, "height": 360})  # too low: now the keys must reach what scrolls
    found += violations(page)
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("name", first_short(["approvals", "runs", "incidents", "run"]))
def test_axe_finds_nothing_on_a_phone(visit: Visit, shown: dict[str, str], name: str) -> None:
    visit.page.set_viewport_size({"width": 380, "height": 780})
    page = visit.open(PATHS[name].format(**shown))
    expect(page.locator("main h1")).to_be_visible(timeout=SLOW)

    found = violations(page)

    visit.picture(f"{name}-phone")
    assert found == [], "\n".join(found)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_axe_finds_nothing_in_the_editor(site: Site, visit: Visit) -> None:
    text = Path("examples/wardenclyffe/mediathread.yaml").read_text()
    name = "axe"
    site.ask(
        "PUT", f"/api/workflows/{name}", {"definition": text.replace("name: mediathread", f"name: {name}")}
    )
    editor = Editor(visit.page, site.base, name, new=False)
    expect(editor.box("submit")).to_be_visible()
    editor.box("submit").click()

    assert violations_in_both(visit.page) == []


def test_axe_finds_nothing_in_the_frame_of_the_pages(visit: Visit) -> None:
    page = visit.open("/app/nowhere")
    expect(page.get_by_role("link", name="Go home")).to_be_visible()

    assert violations_in_both(page) == []
