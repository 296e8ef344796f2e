"""Texts of strangers on every page: markup, links that are programs and marks of direction stay text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from tests.cli.serving import serving
from tests.web.conftest import SIZE, Site, Visit
from tests.web.plant import fresh, published, started

MARK = "prb7"
STUDY = "SD_0000PRB7"
SHORT = f"{MARK}<img src=x onerror=alert(1)>\u202e</script><script>hacked=1</script>"
EVIL = (
    f'{MARK}"\'><img src=x onerror="hacked=1"><svg onload=alert(1)></script></title></textarea>'
    "<script>hacked=2</script><iframe srcdoc='<script>top.hacked=3</script>'></iframe>"
    '<a href="javascript:alert(1)">go</a> '
    "[go](javascript:alert(1)) javascript:alert(1) {{7*7}} $(alert) <!-- <style>*{display:none}</style> "
    "\u202etxt.exe\u202c \u2066x\u2069 \u200f"
)
STEPS: dict[str, Any] = {
    "bad": {
        "task": "probe.fail",
        "task_list": "probe",
        "with": {"text": EVIL, EVIL[:100]: [EVIL]},
        "fails": "over",
    },
    "ask (onerror)": {
        "task": "approval",
        "after": "over",
        "with": {
            "text": EVIL,
            "fields": {
                "type": "object",
                "title": EVIL,
                "properties": {
                    "a": {"title": EVIL, "description": EVIL, "enum": [EVIL, "b"]},
                    "b": {"title": EVIL, "default": EVIL, "type": "string"},
                },
            },
        },
        "emits": {"approved": "OK", "rejected": "CANCEL"},
    },
}

PROBE = """() => {
  const own = (each) => each.tagName === 'SCRIPT' && each.src.startsWith(location.origin + '/app/assets/')
  const bad = [...document.querySelectorAll(
    'script, iframe, object, embed, [onerror], [onload], [onclick], img[src="x"], a[href^="javascript" i], form[action]'
  )].filter((each) => !own(each)).map((each) => each.outerHTML.slice(0, 200))
  return [...bad, ...window.__violations, ...(window.hacked === undefined ? [] : ['a script has run'])]
}"""
WATCH = """
  window.__violations = []
  addEventListener('securitypolicyviolation', (event) =>
    window.__violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`))
"""
LEAKS = """() => {
  const found = []
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) {
    const at = walk.currentNode.parentElement
    if (!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(walk.currentNode.data) || at.closest('svg, textarea')) continue
    const style = getComputedStyle(at)
    if (style.display === 'inline' && style.unicodeBidi === 'normal') found.push(at.outerHTML.slice(0, 200))
  }
  return found
}"""
"""Texts that could turn the words beside them around."""


class Planted:
    """Where the texts were put."""

    def __init__(self, site: Site) -> None:
        self.ask = site.ask
        self.workflow = published(
            site,
            fresh("probe"),
            STEPS,
            title=EVIL,
            description=EVIL,
            labels={"team": EVIL[:200]},
            external=["paid"],
        )
        broken = published(site, fresh("probe"), {"bad": STEPS["bad"] | {"fails": "FAIL"}}, title=SHORT)
        offer = {"name": "probe.fail", "title": SHORT, "doc": EVIL, "ports": ["done", "failed"]}
        worker = {"worker": "w", "name": SHORT, "task_lists": ["probe"], "concurrency": 1}
        self.ask("PUT", "/api/tasks/offers", {**worker, "offers": [offer]})
        self.run = started(
            site, self.workflow, EVIL, input={"key": EVIL, EVIL: [EVIL]}, labels={"evil": SHORT}
        )
        self._fail()
        self.failed = started(site, broken, SHORT)
        self._fail()
        held = started(site, self.workflow, EVIL)
        self.ask("POST", f"/api/runs/{held}/cancel", {"reason": EVIL})
        self.ask("POST", "/api/events", {"event": "paid", "key": {"order": SHORT}, "data": EVIL})
        self.ask("POST", "/api/access", {"name": SHORT[:100], "role": "viewer"})
        view = {"filter": {"status": "failed"}, "title": SHORT}
        self.ask("PUT", f"/api/views/{quote(SHORT[:60], safe='')}", view)
        self.release = self._released()

    def _fail(self) -> None:
        """What a worker says, of the next task."""
        asked = {"worker": "w", "task_list": "probe", "wait": 10}
        [task] = self.ask("POST", "/api/tasks/poll", asked)["tasks"]
        path, lease = f"/api/tasks/{task['id']}", task["lease"]
        self.ask("POST", f"{path}/log", {"lease": lease, "lines": [EVIL]})
        error = {"message": EVIL, "kind": "fatal", "detail": {EVIL: EVIL}}
        self.ask("POST", f"{path}/fail", {"lease": lease, "error": error, "retry": False})

    def _released(self) -> str:
        self.ask("POST", "/studies", {"kf_id": STUDY, "name": EVIL})
        said = {"name": SHORT, "description": EVIL, "studies": [STUDY], "tags": [SHORT[:50]]}
        id: str = self.ask("POST", "/releases", said)["kf_id"]
        self.ask("POST", "/release-notes", {"description": EVIL, "study": STUDY, "release": id})
        return id

    def paths(self) -> dict[str, bool]:
        """Every page, and whether it must show one of the texts."""
        shown = (
            "/",
            "/app/workflows",
            f"/app/workflows/{self.workflow}",
            "/app/runs",
            f"/app/runs/{self.run}",
            "/app/approvals",
            "/app/incidents",
            "/app/access",
            "/app/audit",
            "/app/releases",
            f"/app/releases/{self.release}",
            f"/app/runs/{self.failed}",
            f"/app/workflows/{self.workflow}/edit",
        )
        others = (
            "/app/queues",
            "/app/schedules",
            "/app/stores",
            "/app/settings",
            "/app/releases/new",
            "/app/new",
        )
        return {**dict.fromkeys(shown, True), **dict.fromkeys(others, False)}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with nothing else on it: the first page of each list must show what is planted."""
    folder = tmp_path_factory.mktemp("markup")
    with serving("up", cwd=folder, longest=600) as up:
        yield Site(up, folder)
        up.stop()


@pytest.fixture(scope="module")
def planted(own: Site) -> Planted:
    return Planted(own)


@pytest.fixture
def careful(browser: Browser, own: Site) -> Iterator[Visit]:
    """A window that notes what its policy stopped; a dialog fails the test."""
    context = browser.new_context(viewport=SIZE, locale="en-GB", timezone_id="Europe/Berlin")  # type: ignore[arg-type]
    context.add_init_script(WATCH)
    visited = Visit(context.new_page(), own.base)

    def note(dialog: Dialog) -> None:
        visited.said.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    visited.page.on("dialog", note)
    yield visited
    context.close()
    assert visited.said == []


def touched(page: Page, path: str) -> None:
    """Open what a page keeps closed: the tabs of a run, and what its steps have to say."""
    if path.startswith("/app/runs/"):
        for tab in page.get_by_role("tab").all():
            tab.click()
        for step in page.locator("[data-step]").all()[:2]:
            step.click()
    elif path.endswith("/edit"):
        page.locator("[data-step]").first.click()


def test_markup_of_strangers_is_text_on_every_page(careful: Visit, planted: Planted) -> None:
    found: dict[str, Any] = {}
    missing = []
    for path, must_show in planted.paths().items():
        page = careful.open(path)
        expect(page.locator("h1").first).to_be_attached()
        if must_show:
            expect(page.locator(f"text={MARK}").first).to_be_attached()
        touched(page, path)
        wrong = page.evaluate(PROBE) + page.evaluate(LEAKS)
        if wrong:
            found[path] = wrong
        if must_show and MARK not in page.content():
            missing.append(path)
    assert (found, missing) == ({}, [])


def test_the_probe_sees_what_would_be_wrong(careful: Visit) -> None:
    page = careful.open("/app/settings")
    expect(page.locator("h1").first).to_be_attached()
    assert page.evaluate(PROBE) + page.evaluate(LEAKS) == []

    page.evaluate(
        "(text) => document.querySelector('h1').insertAdjacentHTML('beforeend', `<u>\\u202ex</u>${text}`)",
        EVIL,
    )
    page.evaluate(
        "async () => { while (!window.__violations.length) await new Promise(requestAnimationFrame) }"
    )

    seen = page.evaluate(PROBE)
    assert [
        word
        for word in ("<img", "<svg", "<iframe", "javascript:", "script-src")
        if not any(word in each for each in seen)
    ] == []
    assert page.evaluate(LEAKS) != []
    careful.said.clear()
