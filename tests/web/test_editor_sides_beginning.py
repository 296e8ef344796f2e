"""The empty page, templates, files, the tour; the command bar and keys; a server that goes away; axe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.plant import violations_in_both
from tests.web.sides import BROKEN, MEDIATHREAD, Sides, put, put_text

TEMPLATES = sorted(Path("web/src/editor/templates").glob("*.yaml"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_every_template_is_proved(site: Site, path: Path) -> None:
    put_text(site, f"template-{path.stem}", path.read_text())

    assert site.ask("POST", f"/api/workflows/template-{path.stem}/check", {})["verdict"] == "proved"


def test_a_template_becomes_a_draft(site: Site, visit: Visit) -> None:
    page = visit.open("/app/new")
    expect(page.get_by_role("heading", name="Draw it, prove it, run it")).to_be_visible()
    visit.picture("new-workflow")

    page.get_by_role("button", name=re.compile("Release together")).click()

    expect(page.locator('[data-step="say_go"]')).to_be_visible()
    assert "# The gate" in site.ask("GET", "/api/workflows/release")["text"]


def test_a_file_is_brought_and_one_that_is_wrong_says_why(site: Site, visit: Visit, tmp_path: Path) -> None:
    page = visit.open("/app/new")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("penstock: 1\nname: wrong\nsteps:\n  a: {task: x, emit: y}\n")
    page.locator("input[type=file]").set_input_files(wrong)
    expect(page.get_by_role("alert")).to_contain_text("Line 4: Unknown key 'emit'")
    right = tmp_path / "brought.yaml"
    right.write_text("# from my folder\npenstock: 1\nname: brought\nsteps:\n  a: {task: x}\n")
    page.locator("input[type=file]").set_input_files(right)

    expect(page.locator('[data-step="a"]')).to_be_visible()
    assert site.ask("GET", "/api/workflows/brought")["text"].startswith("# from my folder")
    visit.forgive(422)


def test_a_new_workflow_gets_a_name_and_the_tour_has_five_hints(visit: Visit) -> None:
    page = visit.open("/app/new")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_label("Name").fill("not a name")
    expect(page.get_by_role("button", name="Draw", exact=True)).to_be_disabled()
    page.get_by_label("Name").fill("toured")
    page.get_by_role("button", name="Draw", exact=True).click()

    tour = page.get_by_role("region", name="Tour", exact=True)
    for n in range(1, 6):
        expect(tour).to_contain_text(f"Hint {n} of 5")
        tour.get_by_role("button", name="Done" if n == 5 else "Next").click()
    expect(tour).to_have_count(0)


def test_the_command_bar_has_every_action_page_and_workflow(site: Site, visit: Visit) -> None:
    put(site, "barred", {"a": {"task": "mail.send"}}, title="Behind bars")
    page = visit.open("/app/runs")
    expect(page.get_by_role("heading").first).to_be_visible()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search or do")
    field.fill("edit behind")
    field.press("Enter")
    expect(page.locator('[data-step="a"]')).to_be_visible(timeout=20_000)

    page.keyboard.press("Control+k")
    field.fill("petri")
    field.press("Enter")
    expect(page.get_by_role("button", name="Petri net")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Control+k")
    field.fill("go to incidents")
    field.press("Enter")
    expect(page).to_have_url(re.compile("/app/incidents"))


@pytest.mark.long("test_the_command_bar_has_every_action_page_and_workflow")
def test_keys_are_listed_changed_and_kept(site: Site, visit: Visit) -> None:
    put(site, "sides-keys", {"a": {"task": "mail.send"}})
    editor, page = Sides.of(site, visit, "sides-keys"), visit.page
    editor.canvas.focus()
    editor.keys("?")
    page.get_by_role("button", name="Petri net or diagram: P. Change").click()
    page.keyboard.press("j")
    expect(page.get_by_role("button", name="Petri net or diagram: J. Change")).to_be_visible()
    page.keyboard.press("Escape")
    page.reload()

    petri = page.get_by_role("button", name="Petri net")
    editor.canvas.focus()
    editor.keys("p")
    expect(petri).to_have_attribute("aria-pressed", "false")
    editor.keys("j")
    expect(petri).to_have_attribute("aria-pressed", "true")


@pytest.mark.long("test_axe_finds_nothing_in_the_editor")
def test_axe_finds_nothing_with_all_panels_open(site: Site, visit: Visit) -> None:
    put_text(site, "sides-axe", BROKEN)
    editor, page = Sides.of(site, visit, "sides-axe"), visit.page
    expect(editor.seal("Not sound")).to_be_visible()
    editor.inspect("email user (failure)")
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.get_by_role("textbox", name="Definition as YAML")).to_be_visible()
    editor.inspector.get_by_role("button", name="Special cases").click()
    editor.panel.locator('[data-code="fail-without-failure"]').get_by_role("button", name="Show me").click()
    trace = page.get_by_role("region", name="How it gets there")
    expect(trace).to_be_visible()
    found = violations_in_both(page, without=".edcanvas")  # what is not part of the trace is dimmed there
    trace.get_by_role("button", name="Close").click()
    for tab in ("Try", "Pinned data"):
        editor.tab(tab)
        expect(editor.panel.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        found += violations_in_both(page)
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_visible()
    found += violations_in_both(page)

    assert sorted(set(found)) == []


@pytest.mark.long("test_axe_finds_nothing_in_the_editor")
def test_axe_finds_nothing_on_the_workflow_and_the_empty_page(site: Site, visit: Visit) -> None:
    put_text(site, "sides-axe-flow", MEDIATHREAD)
    editor, page = Sides.of(site, visit, "sides-axe-flow"), visit.page
    expect(editor.seal("Proved")).to_be_visible()
    editor.inspector.get_by_role("button", name="How “et_job_finished” comes").click()
    found = violations_in_both(page)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option").first).to_be_visible()
    found += violations_in_both(page)
    visit.open("/app/new")
    expect(page.get_by_role("heading", name="Draw it, prove it, run it")).to_be_visible()
    found += violations_in_both(page)

    assert sorted(set(found)) == []
