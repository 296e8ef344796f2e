"""How the editor looks, kept as pictures beside those of the design."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor

PLACES = {
    "@START": [13, 85],
    "extract": [72, 36],
    "create": [72, 118],
    "@outside": [72, 200],
    "pull": [250, 184],
    "copy": [250, 266],
    "@outside:mirror 1 stored": [250, 336],
    "submit": [514, 150],
    "email_ok": [754, 160],
    "@OK": [906, 164],
    "email_failure": [514, 400],
    "@FAIL": [738, 410],
}
LONG = pytest.mark.long("test_the_editor_looks_like_its_design")
MIRRORS = ["mirror 1 stored", "mirror 2 stored", "mirror 3 stored"]


def step(title: str, task: str, emits: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "task": task, "emits": emits, "fails": "failed", **more}


def mediathread(name: str, after: str) -> dict[str, Any]:
    """The example of the design, with what starts the failure mail left open."""
    waits = ["metadata extracted", "poster created", "uploaded", {"need": 2, "of": MIRRORS}]
    failure = step("Email user (failure)", "mail.send", "FAIL", after=after) | {"fails": "FAIL"}
    return {
        "penstock": 1,
        "name": name,
        "title": "Video for Mediathread",
        "external": ["ET job finished", "ET job failed", *MIRRORS],
        "steps": {
            "extract": step("Extract metadata", "video.extract_metadata", "metadata extracted"),
            "create": step("Create ET job", "video.create_et_job", "ET job created"),
            "pull": step(
                "Pull thumbnails", "video.pull_thumbnails", "poster created", after="ET job finished"
            ),
            "copy": step("Copy to cunix", "video.copy_to_cunix", "uploaded", after="ET job finished"),
            "submit": step("Mediathread submit", "video.mediathread_submit", "submitted", after=waits),
            "email_ok": step("Email user (ok)", "mail.send", "OK", after="submitted"),
            "email_failure": failure,
        },
        "view": {"positions": PLACES},
    }


@pytest.mark.parametrize("theme", [pytest.param("light", marks=LONG), "dark"])
@pytest.mark.parametrize(
    ("picture", "after", "chosen"),
    [
        pytest.param("editor", "START | ET job failed", "email_failure", marks=LONG),
        ("editor-proved", "failed | ET job failed", "submit"),
    ],
)
def test_the_editor_looks_like_its_design(
    site: Site, visit: Visit, theme: str, picture: str, after: str, chosen: str
) -> None:
    name = f"{picture}-{theme}"
    site.ask("PUT", f"/api/workflows/{name}", mediathread(name, after))
    visit.page.add_init_script(f"localStorage.setItem('penstock.theme', '{theme}')")

    editor = Editor(visit.page, site.base, name, new=False)
    editor.box(chosen).click(position={"x": 60, "y": 15})

    expect(visit.page.locator(".seal.bad" if picture == "editor" else ".seal.ok")).to_be_visible()
    expect(editor.box("submit")).to_contain_text("all 4")
    expect(editor.box("submit")).to_contain_text("2 of 3")
    expect(editor.box("email_failure")).to_contain_text("either")
    visit.picture(name)


@pytest.mark.long("test_the_petri_net_stands_in_the_same_place")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_petri_net_looks_like_its_design(site: Site, visit: Visit, theme: str) -> None:
    name = f"editor-petri-{theme}"
    site.ask("PUT", f"/api/workflows/{name}", mediathread(name, "failed | ET job failed"))
    visit.page.add_init_script(f"localStorage.setItem('penstock.theme', '{theme}')")
    editor = Editor(visit.page, site.base, name, new=False)
    editor.box("submit").click(position={"x": 60, "y": 15})

    visit.page.get_by_role("button", name="Petri net").click()

    expect(visit.page.locator(".petri circle.place").first).to_be_visible()
    visit.picture(name)


@pytest.mark.long("test_all_that_is_said_is_there_in_german")
def test_german_has_room_in_the_bar(site: Site, visit: Visit) -> None:
    site.ask("PUT", "/api/workflows/editor-de", mediathread("editor-de", "failed | ET job failed"))
    visit.page.add_init_script("localStorage.setItem('penstock.language', 'de')")

    Editor(visit.page, site.base, "editor-de", new=False)

    bar = visit.page.locator("header.top")
    expect(bar.get_by_role("button", name="Rückgängig")).to_be_visible()
    expect(bar.get_by_text("v1 veröffentlichen")).to_be_in_viewport(ratio=1)
    heights = bar.locator("button").evaluate_all("all => all.map(each => each.offsetHeight)")
    assert max(heights) <= 30
    visit.picture("editor-de-light")
