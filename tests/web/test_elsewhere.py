"""From another machine: signed in with a token, over plain HTTP."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.serving import serving
from tests.postgres_server import free_port
from tests.web.conftest import SIZE, Site, Visit
from tests.web.drawing import Editor
from tests.web.plant import fresh, published, started

PLAIN = """
delete Crypto.prototype.randomUUID
Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined })
"""
"""What a browser keeps from a page that came over plain HTTP from another machine."""
ADMIN = "pst_" + "a" * 40


@pytest.mark.long(
    "test_an_event_fired_from_the_page_moves_the_run_to_its_end",
    "test_what_is_copied_is_text_and_can_be_pasted",
)
def test_a_page_over_plain_http_tells_copies_and_takes_notes(site: Site, visit: Visit) -> None:
    name = published(site, fresh("plain"), {"a": {"task": "plain", "after": "go"}}, external=["go"])
    visit.page.context.grant_permissions(["clipboard-read"])
    visit.page.add_init_script(PLAIN)
    page = visit.open(f"/app/runs/{started(site, name, 'plain.mov')}")

    page.get_by_role("button", name="Fire “go”").click()
    page.get_by_role("dialog").get_by_role("button", name="Fire", exact=True).click()
    expect(page.get_by_text("“go” is fired")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator(".headmore button").click()
    page.get_by_role("menuitem", name="Copy the id").click()
    expect(page.get_by_text("Copied")).to_be_visible()

    editor = Editor(page, site.base, name, new=False)
    page.get_by_role("button", name="Note", exact=True).click()
    page.keyboard.type("Ask Ann first")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".notebox")).to_have_text("Ask Ann first")
    editor.box("a").click()  # which the note does not cover
    editor.canvas.focus()
    editor.keys("Control+c")
    expect(page.get_by_text("1 step copied")).to_be_visible()
    editor.keys("Control+v")
    expect(editor.box("a 2")).to_be_visible()


def asked(base: str, method: str, path: str, value: object) -> dict[str, str]:
    heads = {"content-type": "application/json", "authorization": f"Bearer {ADMIN}"}
    request = urllib.request.Request(base + path, json.dumps(value).encode(), heads, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: dict[str, str] = json.loads(answer.read())
        return found


@pytest.mark.long("test_an_operator_runs_a_workflow_and_leaves_it_as_it_is")
def test_who_may_not_change_a_workflow_looks_at_it(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    with serving("up", "--port", port, cwd=tmp_path, PENSTOCK_TOKEN=ADMIN) as up:
        steps = {"a": {"task": "wait", "title": "Wait for Ann", "with": {"for": "1m"}}}
        asked(base, "PUT", "/api/workflows/looked", {"penstock": 1, "name": "looked", "steps": steps})
        viewer = asked(base, "POST", "/api/access", {"name": "amy", "role": "viewer", "expires_in": 7})[
            "token"
        ]
        context = browser.new_context(viewport=SIZE, locale="en-GB")  # type: ignore[arg-type]
        page = context.new_page()
        written: list[str] = []
        page.on("request", lambda sent: written.extend([sent.url] if sent.method == "PUT" else []))
        page.goto(f"{base}/app/workflows/looked/edit")
        page.get_by_label("Token").fill(viewer)
        page.get_by_role("dialog").get_by_role("button", name="Sign in", exact=True).click()

        expect(page.get_by_text("You can look at this workflow, not change it.")).to_be_visible()
        expect(page.get_by_role("navigation", name="Boxes")).to_have_count(0)
        page.locator("[data-step='a']").click()
        title = (
            page.get_by_role("complementary", name="Settings of what is selected")
            .get_by_role("textbox")
            .first
        )
        expect(title).to_be_disabled()
        page.locator(".edcanvas").focus()
        page.keyboard.press("Delete")
        expect(page.locator("[data-step='a']")).to_be_visible()
        assert written == []
        context.close()
        up.stop()
