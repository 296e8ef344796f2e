"""Workflows and tasks that the pages beside the editor are tried with, and what every page must be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from playwright.sync_api import Page

if TYPE_CHECKING:
    from tests.web.conftest import Site

PAGE_TASKS = """

import time
from pathlib import Path

from penstock import Fatal


@task("plain", task_list="video")
def plain(ctx: Context):
    "Ends at once."
    ctx.log("this is plain")
    return {"plain": True}


@task("mendable", task_list="video")
def mendable(ctx: Context, file: str = ""):
    "Fails until somebody has put the file there."
    if not Path(file).exists():
        raise Fatal("out of memory")
    return {"mended": True}


@task("gated", task_list="video")
def gated(ctx: Context, file: str = ""):
    "Is done when the file is there."
    while not Path(file).exists() and not ctx.canceled:
        time.sleep(0.02)  # nothing announces a file to a task
    return {"gate": "open"}


@task("telling", task_list="video")
def telling(ctx: Context, file: str = ""):
    "Tells what stands in the file, until there is an end of it."
    told = ""
    while told != "end" and not ctx.canceled:
        said = Path(file).read_text() if Path(file).exists() else ""
        if said != told:
            ctx.log(f"half of {said}")
            ctx.heartbeat(0.5)
        told = said
        time.sleep(0.02)  # nothing announces a file to a task
    return {"told": told}
"""

AXE = (Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text
"""The program that looks for what cannot be used without eyes, a mouse or colours."""


def fresh(word: str) -> str:
    """A name that no other test has."""
    return f"{word}-{uuid4().hex[:8]}"


def published(site: Site, name: str, steps: dict[str, Any], **more: Any) -> str:
    """A workflow that has its first version, whatever the checks say of it."""
    said = {"penstock": 1, "name": name, "steps": steps, **more}
    site.ask(
        "POST", f"/api/workflows/{name}/publish", {"definition": said, "start": True, "override": "a test"}
    )
    return name


def started(site: Site, name: str, subject: str | None = None, **more: Any) -> str:
    run: str = site.ask("POST", f"/api/workflows/{name}/runs", {"subject": subject, **more})["id"]
    return run


def status_of(site: Site, run: str) -> str:
    said: str = site.ask("GET", f"/api/runs/{run}")["status"]
    return said


LOOKED_AT = """async (without) => {
  const passing = document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime !== Infinity)
  await Promise.allSettled(passing.map((each) => each.finished))
  const found = await axe.run({exclude: [without]}, {resultTypes: ['violations']})
  return found.violations.map(v => ({id: v.id, help: v.help,
    nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 300) + ' ' + n.failureSummary)}))
}"""


THEMES = ("light", "dark")


def wear(page: Page, theme: str) -> None:
    """The page as it is, in another theme."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)


def violations_in_both(page: Page, without: str = "#none") -> list[str]:
    """What axe finds in the light theme and in the dark one."""
    found = []
    for theme in THEMES:
        wear(page, theme)
        found += violations(page, without)
    return found


def violations(page: Page, without: str = "#none") -> list[str]:
    """What axe finds, one line each, once every colour that is changing has changed."""
    page.evaluate(AXE())
    found = page.evaluate(LOOKED_AT, without)
    print(f"axe finds {len(found)} violations at {page.url}")
    return [f"{each['id']}: {each['help']}\n{json.dumps(each['nodes'], indent=1)}" for each in found]
