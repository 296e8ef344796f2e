"""Home, approvals, incidents, access: what needs a person is found, and done, in few clicks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.serving import serving
from tests.web.conftest import SIZE, Site, Visit
from tests.web.plant import PAGE_TASKS, fresh, published, started, status_of, violations
from tests.web.sides import wait_for

SLOW = 20_000
STALLING = {
    "a": {"task": "plain", "emits": "left"},
    "join": {"task": "plain", "after": ["left", "uploaded"], "emits": "OK"},
}
PHONE = {"width": 380, "height": 780}


def asking(site: Site) -> str:
    """A run that waits for a person with a form."""
    fields = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"title": "Kind of release", "enum": ["minor", "major"]}},
    }
    with_ = {"role": "operator", "text": "Publish release 0.3.1?", "fields": fields}
    name = published(
        site,
        fresh("ask"),
        {"ask": {"task": "approval", "with": with_, "emits": {"approved": "OK", "rejected": "CANCEL"}}},
        title="Kids First release",
    )
    return started(site, name, "RE_7Q2MZK4T")


def waits(page: Page) -> None:
    expect(page.get_by_role("heading", name="Publish release 0.3.1?").first).to_be_visible(timeout=SLOW)


def test_an_approval_is_decided_on_a_phone(site: Site, visit: Visit) -> None:
    run = asking(site)
    visit.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page = visit.open("/app/approvals")
    waits(page)
    approve = page.get_by_role("button", name="Approve")
    approve.click()
    expect(page.get_by_text("it is needed").first).to_be_visible()

    page.get_by_role("radio", name="minor").first.click()
    page.get_by_role("textbox", name="Remark").first.fill("Checked with the data team.")
    for theme in ("light", "dark"):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        visit.picture(f"approvals-{theme}")
    sizes = [each.bounding_box() for each in page.locator(".appr .acts .btn").all()]
    assert all(size and size["height"] >= 44 for size in sizes)
    assert sizes[0] and sizes[1] and sizes[0]["x"] < sizes[1]["x"], "the approving button is at the right"
    assert sizes[1]["y"] + sizes[1]["height"] <= PHONE["height"] - 56, "form and decision are on one screen"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    approve.click()

    expect(page.get_by_text("Approved. The run goes on")).to_be_visible(timeout=SLOW)
    assert status_of(site, run) == "succeeded"
    assert site.ask("GET", f"/api/runs/{run}")["steps"]["ask"]["output"]["fields"] == {"kind": "minor"}


@pytest.mark.long("test_an_approval_is_decided_on_a_phone")
def test_an_approval_with_a_list_is_filled_in_line_by_line(site: Site, visit: Visit) -> None:
    names = {"type": "array", "items": {"type": "string"}, "title": "Names"}
    fields = {"type": "object", "required": ["names"], "properties": {"names": names}}
    asked = {
        "task": "approval",
        "with": {"text": "Who is it?", "fields": fields},
        "emits": {"approved": "OK"},
    }
    run = started(site, published(site, fresh("faces"), {"ask": asked}))
    page = visit.open("/app/approvals")
    page.get_by_role("button", name="Who is it?").or_(
        page.get_by_role("heading", name="Who is it?")
    ).first.click()

    line = page.get_by_role("textbox", name="Names, line 1")
    expect(line).to_be_empty()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Fill in “Names”: it is needed.")).to_be_visible()
    assert status_of(site, run) == "waiting"
    visit.picture("approval-needs")

    line.fill("Ada")
    for n, name in enumerate(("Grace", "Nobody"), 2):
        page.get_by_role("button", name="Add a line to Names").click()
        page.get_by_role("textbox", name=f"Names, line {n}").fill(name)
    page.get_by_role("button", name="Remove line 3 of Names").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Approved").first).to_be_visible()

    output = site.ask("GET", f"/api/runs/{run}/history")
    assert '["Ada","Grace"]' in json.dumps(output, separators=(",", ":"))


def test_what_failed_for_one_cause_is_retried_at_once(site: Site, visit: Visit) -> None:
    name = fresh("cause")
    faces = {"title": "Recognize faces", "task": "mendable", "with": {"file": f"{name}.ok"}, "emits": "OK"}
    published(site, name, {"face": faces})
    runs = [started(site, name, f"{at}.mp4") for at in range(3)]
    page = visit.open("/app/incidents")
    cause = page.locator(".page section").filter(has_text=name).filter(has_text="3 runs failed")
    expect(cause).to_contain_text("out of memory", timeout=SLOW)
    expect(cause).to_contain_text("“Recognize faces”")

    (site.folder / f"{name}.ok").write_text("")
    cause.get_by_role("button", name="Retry 3").click()
    page.get_by_role("button", name="Do it now").click()

    expect(page.get_by_text("3 runs go on")).to_be_visible(timeout=SLOW)
    expect(cause).to_be_hidden(timeout=SLOW)
    for run in runs:
        page.goto(f"{visit.base}/app/runs/{run}")
        expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)


@pytest.mark.long("test_what_failed_for_one_cause_is_retried_at_once")
def test_what_one_run_refuses_does_not_hide_what_was_done_to_others(site: Site, visit: Visit) -> None:
    visit.forgive(409)
    name = fresh("partly")
    published(site, name, {"face": {"task": "mendable", "with": {"file": f"{name}.ok"}, "emits": "OK"}})
    runs = [started(site, name, f"{at}.mp4") for at in range(3)]
    page = visit.open("/app/incidents")
    cause = page.locator(".page section").filter(has_text=name).filter(has_text="3 runs failed")
    expect(cause).to_be_visible(timeout=SLOW)
    (site.folder / f"{name}.ok").write_text("")

    cause.get_by_role("button", name="Retry 3").click()
    site.ask("POST", f"/api/runs/{runs[0]}/retry")  # somebody else was quicker
    page.get_by_role("button", name="Do it now").click()

    expect(page.get_by_text("2 runs go on")).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("One was left as it is: ")).to_be_visible()


def test_a_source_that_fails_is_shown_with_what_to_do(site: Site, visit: Visit) -> None:
    name = fresh("ticking")
    source, params = {"kind": "schedule", "every": "1s"}, {"type": "object", "required": ["x"]}
    published(site, name, {"a": {"task": "plain"}}, source=source, params=params)
    for path in ("/app/incidents", "/app/stores"):
        page = visit.open(path)
        part = page.get_by_role("region", name="Sources that fail").locator(".fsrc").filter(has_text=name)
        expect(part).to_contain_text("made no run", timeout=SLOW)
        expect(part).to_contain_text("start it once by hand")
        assert violations(page) == []
    visit.picture("stores-failing-light")
    site.ask("POST", f"/api/workflows/{name}/stop")


def test_home_says_what_needs_attention_and_leads_there(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text("from penstock import Context, task\n" + PAGE_TASKS)
    with serving("up", "--tasks", "tasks.py", cwd=tmp_path, longest=120) as up:
        site = Site(up, tmp_path)
        context = browser.new_context(viewport=SIZE, locale="en-GB")  # type: ignore[arg-type]
        visit = Visit(context.new_page(), site.base)
        started(
            site,
            published(site, "join", STALLING, external=[{"name": "uploaded", "optional": True}]),
            "a.mov",
        )
        for at in range(8):  # more causes than are shown one by one
            published(site, f"bad-{at}", {f"step {at}": {"task": "mendable", "with": {"file": "none"}}})
            started(site, f"bad-{at}", f"{at}.mov")
            started(site, f"bad-{at}", f"{at}-again.mov") if at < 2 else None
        page = visit.open("/")
        expect(page.locator(".att").filter(has_text="2 runs failed for one cause")).to_have_count(
            2, timeout=SLOW
        )
        expect(page.locator(".att").filter(has_text="3 more causes")).to_be_visible()
        expect(page.get_by_role("region", name="Figures").locator(".figure")).to_have_count(3)

        row = page.locator(".att").filter(has_text="1 run is stalled")
        expect(row).to_contain_text("a.mov lacks “uploaded” at “join”")
        row.get_by_role("link", name="Help it on").click()

        expect(page.get_by_role("heading", name="Why is it stalled?")).to_be_visible(timeout=SLOW)
        assert visit.said == []
        context.close()
        up.stop()


@pytest.mark.long("test_the_charts_of_the_first_page_count_hours_as_the_rest_does")
def test_the_charts_of_home_have_a_table_of_the_same(site: Site, visit: Visit) -> None:
    name = published(site, fresh("figures"), {"a": {"task": "plain"}})
    run = started(site, name, "figures.mov")
    wait_for(visit.page, lambda: status_of(site, run) == "succeeded")
    page = visit.open("/")

    page.get_by_role("button", name="Show as table").click()

    rows = page.get_by_role("table", name="Figures").get_by_role("row")
    expect(rows.first).to_contain_text("Runs ended")
    assert int(rows.nth(1).get_by_role("cell").nth(1).inner_text()) > 0
    assert violations(page) == []


@pytest.mark.long("test_a_first_visit_loads_little")
def test_an_empty_installation_is_inviting_and_then_all_is_well(browser: Browser, tmp_path: Path) -> None:
    with serving("up", cwd=tmp_path) as up:
        site = Site(up, tmp_path)
        context = browser.new_context(viewport=SIZE, locale="en-GB")  # type: ignore[arg-type]
        visit = Visit(context.new_page(), site.base)
        page = visit.open("/")
        expect(page.get_by_role("heading", name="Draw it, prove it, run it")).to_be_visible(timeout=SLOW)
        for theme in ("light", "dark"):
            page.goto(f"{site.base}/?theme={theme}")
            expect(page.get_by_text("The server is up")).to_be_visible(timeout=SLOW)
            visit.picture(f"empty-{theme}")

        published(site, "tea", {"brew": {"task": "some.task"}})
        page.goto(site.base)

        expect(page.get_by_text("All is well.")).to_be_visible(timeout=SLOW)
        expect(page.locator("a[href*='tea']").first).to_be_visible()
        assert visit.said == []
        context.close()
        up.stop()


def test_a_token_is_shown_once_and_a_secret_never(site: Site, visit: Visit) -> None:
    name = fresh("nightly")
    page = visit.open("/app/access")
    page.get_by_role("button", name="New token").click()
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("It is shown here and never again.")).to_be_visible(timeout=SLOW)
    token = page.get_by_role("dialog").locator("code").inner_text()
    page.get_by_role("button", name="Close").last.click()
    page.get_by_role("button", name="Write a secret").click()
    page.get_by_role("textbox", name="Name").fill(f"{name}-key")
    page.get_by_label("Value").fill("hunter2")
    page.get_by_role("button", name="Write", exact=True).click()

    expect(page.get_by_role("cell", name=f"{name}-key")).to_be_visible(timeout=SLOW)
    assert token not in page.content() and "hunter2" not in page.content()
    page.get_by_role("row").filter(has_text=name).get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("Revoked: it does not count any more")).to_be_visible(timeout=SLOW)


@pytest.mark.long("test_new_runs_are_offered_and_do_not_push_the_others_away")
def test_the_figures_of_a_queue_and_the_runs_of_a_workflow_come_by_themselves(
    site: Site, visit: Visit
) -> None:
    name = fresh("alone")
    published(site, name, {"a": {"task": "nobody.does", "task_list": name}})
    started(site, name, "first.mov")
    page = visit.open("/app/queues")
    queue = page.get_by_role("table", name="Queues").get_by_role("row").filter(has_text=name)
    expect(queue.get_by_role("cell").nth(1)).to_have_text("1")
    other = page.context.new_page()
    other.goto(f"{site.base}/app/workflows/{name}")
    other.get_by_role("tab", name="Runs").click()
    expect(other.get_by_role("link", name="first.mov")).to_be_visible()

    started(site, name, "second.mov")

    expect(queue.get_by_role("cell").nth(1)).to_have_text("2")
    expect(other.get_by_role("link", name="second.mov")).to_be_visible()


def test_versions_are_compared_and_restored(site: Site, visit: Visit) -> None:
    name = published(
        site, fresh("versions"), {"a": {"task": "plain"}, "gone": {"task": "plain", "after": "a"}}
    )
    published(site, name, {"a": {"task": "plain", "retries": 2}, "come": {"task": "plain", "after": "a"}})
    page = visit.open(f"/app/workflows/{name}")
    page.get_by_role("tab", name="Versions").click()

    differences = page.locator("li.tag")
    expect(differences).to_have_count(3, timeout=SLOW)
    assert sorted(differences.all_text_contents()) == ["a: changed", "come: added", "gone: removed"]
    expect(page.locator("[data-step='gone']")).to_contain_text("removed", timeout=SLOW)
    expect(page.locator("[data-step='come']")).to_contain_text("added")
    visit.picture("versions-light")
    page.get_by_role("radio", name="Text").click()
    expect(page.locator(".diff .add").filter(has_text="come")).to_be_visible()
    page.get_by_role("listitem").filter(has_text="v1").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Version 1 is the draft now")).to_be_visible(timeout=SLOW)
    assert "gone" in site.ask("GET", f"/api/workflows/{name}")["definition"]["steps"]


@pytest.mark.long("test_versions_are_compared_and_restored")
def test_a_version_is_compared_with_an_older_one_and_never_with_itself(site: Site, visit: Visit) -> None:
    name = fresh("compared")
    for steps in ("a", "ab", "abc"):
        published(site, name, {step: {"task": "plain"} for step in steps})
    page = visit.open(f"/app/workflows/{name}")
    page.get_by_role("tab", name="Versions").click()
    page.get_by_role("combobox", name="Older version").click()
    page.get_by_role("option", name="v2").click()
    expect(page.locator("li.tag")).to_have_text(["c: added"])

    page.get_by_role("listitem").filter(has_text="v2").get_by_role("button").first.click()

    expect(page.locator("li.tag")).to_have_text(["b: added"])
    page.get_by_role("combobox", name="Older version").click()
    expect(page.get_by_role("option")).to_have_text(["v1"])


def test_restoring_a_version_asks_where_the_draft_would_be_lost(site: Site, visit: Visit) -> None:
    name = published(site, fresh("restore"), {"a": {"task": "plain"}})
    steps = {"a": {"task": "plain"}, "unpublished": {"task": "plain", "after": "a"}}
    site.ask("PUT", f"/api/workflows/{name}", {"penstock": 1, "name": name, "steps": steps})
    page = visit.open(f"/app/workflows/{name}")
    page.get_by_role("tab", name="Versions").click()
    restore = page.get_by_role("listitem").filter(has_text="v1").get_by_role("button", name="Restore")

    restore.click()
    question = page.get_by_role("dialog")
    expect(question.get_by_text("unpublished: added")).to_be_visible(timeout=SLOW)
    question.get_by_role("button", name="Keep the draft").click()
    assert "unpublished" in site.ask("GET", f"/api/workflows/{name}")["definition"]["steps"]

    restore.click()
    question.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("Version 1 is the draft now")).to_be_visible(timeout=SLOW)
    assert list(site.ask("GET", f"/api/workflows/{name}")["definition"]["steps"]) == ["a"]


@pytest.mark.long("test_a_source_that_fails_is_shown_with_what_to_do")
def test_schedules_and_sources_call_workflows_by_their_titles(site: Site, visit: Visit) -> None:
    clock = {"kind": "schedule", "cron": "0 3 1 1 *"}
    title = f"Yearly numbers {fresh('of')}"
    published(site, fresh("yearly"), {"a": {"task": "plain"}}, title=title, source=clock)

    page = visit.open("/app/schedules")
    expect(page.get_by_role("link", name=title)).to_be_visible()
    page = visit.open("/app/stores")

    expect(page.get_by_role("table", name="Sources").get_by_role("link", name=title)).to_be_visible()


def test_a_workflow_is_stopped_and_paused_from_its_page(site: Site, visit: Visit) -> None:
    name = published(site, fresh("life"), {"a": {"task": "plain"}})
    page = visit.open(f"/app/workflows/{name}")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=SLOW)

    state = site.ask("GET", f"/api/workflows/{name}")
    assert (state["started"], state["paused"]) == (False, True)


def test_a_sign_in_that_ran_out_is_asked_for_over_the_page(site: Site, visit: Visit) -> None:
    page = visit.open("/app/runs")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.route(  # only what the word asks for: a dialog that came before it would take what is typed
        lambda url: "/api/" in url and "half" in url,
        lambda route: route.fulfill(
            status=401,
            content_type="application/problem+json",
            body='{"status":401,"code":"unauthenticated","detail":"who are you?"}',
        ),
    )
    page.locator("input[type=search]").fill("half a word")

    expect(page.get_by_role("dialog")).to_contain_text(
        re.compile("Your sign-in ran out|Sign in"), timeout=SLOW
    )
    visit.forgive(401)
    expect(page.locator("input[type=search]")).to_have_value("half a word")


@pytest.mark.long("test_all_that_is_said_is_there_in_german")
def test_incidents_are_told_in_the_language_of_the_reader(site: Site, visit: Visit) -> None:
    name = published(site, fresh("german"), {"look": {"task": "plain", "emits": "FAIL"}})
    run = started(site, name)
    visit.page.add_init_script("localStorage.setItem('penstock.language', 'de')")
    wait_for(visit.page, lambda: status_of(site, run) == "failed")

    page = visit.open("/app/incidents")
    cause = page.locator("section section").filter(has=page.get_by_role("link", name=name))
    expect(cause).to_contain_text("Schritt „look“ hat FAIL ausgelöst")
    expect(cause).not_to_contain_text("fired FAIL")
    visit.open(f"/app/runs?workflow={name}")
    expect(page.get_by_text("hat FAIL ausgelöst").first).to_be_visible()


def test_the_hooks_that_are_shown_are_those_that_there_are(site: Site, visit: Visit) -> None:
    verify = {"method": "github", "secret": "hub"}
    steps = {"mail": {"task": "mail.send", "after": "told", "emits": "OK"}}
    told = [{"name": "told", "from": {"kind": "webhook", "verify": verify}}]
    plain = published(site, fresh("unhooked"), {"mail": {"task": "mail.send", "emits": "OK"}})
    called = published(
        site, fresh("called"), steps, external=told, source={"kind": "webhook", "verify": verify}
    )
    page = visit.open("/app/stores")
    hooks = page.get_by_role("table", name="Hooks")

    expect(hooks.get_by_text(f"/hooks/{called}/told", exact=True)).to_be_visible()
    expect(hooks.get_by_text(f"/hooks/{called}", exact=True)).to_be_visible()
    visit.picture("stores-hooks")
    expect(hooks.get_by_text(f"/hooks/{plain}")).to_have_count(0)
