"""Hands for the editor's sides, and what the server has of a draft."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Site, Visit
from tests.web.drawing import Editor

BROKEN = Path("examples/broken/mediathread.yaml").read_text()
MEDIATHREAD = Path("examples/wardenclyffe/mediathread.yaml").read_text()


def put_text(site: Site, name: str, text: str) -> None:
    """A definition as the draft, as it is written."""
    body = re.sub(r"^name: .*$", f"name: {name}", text, flags=re.MULTILINE).encode()
    request = urllib.request.Request(
        f"{site.base}/api/workflows/{name}", body, {"content-type": "application/yaml"}, method="PUT"
    )
    urllib.request.urlopen(request, timeout=30).close()


def put(site: Site, name: str, steps: dict[str, Any], **more: Any) -> None:
    site.ask("PUT", f"/api/workflows/{name}", {"penstock": 1, "name": name, **more, "steps": steps})


def draft(site: Site, name: str) -> dict[str, Any]:
    found: dict[str, Any] = site.ask("GET", f"/api/workflows/{name}")
    return found


def definition(site: Site, name: str) -> dict[str, Any]:
    found: dict[str, Any] = draft(site, name)["definition"]
    return found


class Sides(Editor):
    """The editor with its inspector, its text and its panel."""

    @classmethod
    def of(cls, site: Site, visit: Visit, name: str) -> Sides:
        return cls(visit.page, site.base, name, new=False)

    @property
    def inspector(self) -> Locator:
        return self.page.locator(".insp")

    @property
    def panel(self) -> Locator:
        return self.page.get_by_role("region", name="Below the drawing")

    def section(self, title: str) -> Locator:
        return self.inspector.get_by_role("region", name=title)

    def inspect(self, step: str) -> None:
        self.box(step).click()
        expect(self.section("Waits for")).to_be_visible()

    def fill(self, field: Locator, text: str) -> None:
        field.fill(text)
        field.press("Enter")

    def after_save(self, site: Site) -> dict[str, Any]:
        """The definition once the server has it: an edit is on its way first."""
        self.wait_saved()
        return definition(site, self.name)

    def seal(self, text: str) -> Locator:
        return self.page.get_by_role("button", name=re.compile(rf"^{text}"))

    def tab(self, name: str) -> None:
        self.panel.get_by_role("tab", name=re.compile(f"^{name}")).click()


def wait_for(page: Page, check: Any, tries: int = 100) -> None:
    """Look again until it holds."""
    for _ in range(tries):
        if check():
            return
        page.wait_for_timeout(50)  # what is looked at is not in the page
    raise AssertionError("it did not come to be")
