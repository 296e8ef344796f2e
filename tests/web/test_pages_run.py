"""One run: it moves while one looks, says why it waits, and is helped on from the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.cli.serving import serving
from tests.web.conftest import SIZE, Site, Visit
from tests.web.plant import PAGE_TASKS, fresh, published, started, status_of

JOINED = {
    "left": {"task": "plain", "emits": "left done"},
    "right": {"task": "plain", "after": "go", "emits": "right done"},
    "join": {"task": "plain", "after": ["left done", "right done"], "emits": "OK"},
}
SLOW = 20_000


def is_move(route: Route) -> bool:
    return route.request.method == "PATCH" and "dry_run" not in (route.request.post_data or "")


def refused(route: Route) -> None:
    """What the server answers who has not seen the latest."""
    body = '{"status": 409, "code": "changed", "detail": "run is at 9"}'
    route.fulfill(status=409, content_type="application/problem+json", body=body)


def opened(visit: Visit, run: str, subject: str) -> Page:
    page = visit.open(f"/app/runs/{run}")
    expect(page.get_by_role("heading", name=subject)).to_be_visible(timeout=SLOW)
    return page


def test_an_event_fired_from_the_page_moves_the_run_to_its_end(site: Site, visit: Visit) -> None:
    name = published(site, fresh("live"), JOINED, external=["go"])
    page = opened(visit, started(site, name, "lecture.mov"), "lecture.mov")
    expect(page.get_by_role("heading", name="Why is it waiting?")).to_be_visible()
    expect(page.locator("[data-step='join']")).to_contain_text("Blocked")

    page.get_by_role("button", name="Fire “go”").click()
    page.get_by_role("button", name="Fire", exact=True).click()

    expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)
    expect(page.locator("[data-step='join']")).to_contain_text("Complete", timeout=SLOW)
    page.get_by_role("tab", name="History").click()
    expect(page.get_by_role("button", name=re.compile("go arrives from outside"))).to_be_visible()
    for theme in ("light", "dark"):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        visit.picture(f"run-history-{theme}")


def test_a_failed_step_is_retried_from_the_page(site: Site, visit: Visit) -> None:
    name = fresh("mended")
    published(site, name, {"look": {"task": "mendable", "with": {"file": f"{name}.ok"}, "emits": "OK"}})
    page = opened(visit, started(site, name, "wedding.mp4"), "wedding.mp4")
    expect(page.get_by_role("heading", name="Why did it fail?")).to_be_visible(timeout=SLOW)
    expect(page.get_by_label("Why is it waiting?")).to_contain_text("out of memory")

    (site.folder / f"{name}.ok").write_text("")
    page.get_by_role("button", name="Retry “look”").click()

    expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)
    expect(page.locator("[data-step='look']")).to_contain_text("Complete", timeout=SLOW)


def test_a_run_stuck_at_a_join_is_mended_by_moving_a_token(site: Site, visit: Visit) -> None:
    name = published(site, fresh("stuck"), JOINED, external=[{"name": "go", "optional": True}])
    run = started(site, name, "seminar.mov")
    page = opened(visit, run, "seminar.mov")
    expect(page.locator(".runhead .st")).to_have_text("Stalled", timeout=SLOW)

    page.get_by_role("button", name="Move a token, with preview").click()
    dialog = page.get_by_role("dialog")
    move = dialog.get_by_role("button", name="Move it")
    expect(dialog.get_by_role("combobox", name="Put")).to_contain_text("“right done” to “join”")
    expect(dialog.get_by_role("status", name="Preview")).to_contain_text("Begins at once: “join”")
    expect(dialog.get_by_role("status", name="Preview")).to_contain_text("The run can still reach its end")
    expect(move).to_be_disabled()
    visit.picture("run-move-light")
    dialog.get_by_role("textbox", name="Reason").fill("the upload was done by hand")
    move.click()

    expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)
    said = site.ask("GET", "/api/audit")["items"]
    assert [each["reason"] for each in said if each["target"] == run] == ["the upload was done by hand"]


@pytest.mark.long("test_a_run_stuck_at_a_join_is_mended_by_moving_a_token")
def test_a_move_after_which_the_run_can_get_stuck_says_so(site: Site, visit: Visit) -> None:
    name = published(site, fresh("vain"), JOINED, external=[{"name": "go", "optional": True}])
    page = opened(visit, started(site, name, "vain.mov"), "vain.mov")
    expect(page.locator(".runhead .st")).to_have_text("Stalled", timeout=SLOW)

    page.get_by_role("button", name="Move a token, with preview").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Put").click()
    page.get_by_role("option", name="“left done” to “join”").click()

    preview = dialog.get_by_role("status", name="Preview")
    expect(preview).to_contain_text("The run can reach its end, but it can also get stuck.")
    expect(preview).to_contain_text("“join” would wait for “right done”.")


@pytest.mark.long("test_a_run_stuck_at_a_join_is_mended_by_moving_a_token")
def test_a_move_that_ends_the_run_says_how(site: Site, visit: Visit) -> None:
    steps = {**JOINED, "join": {"task": "plain", "after": ["left done", "right done"]}}
    name = published(site, fresh("ends"), steps, external=[{"name": "go", "optional": True}])
    page = opened(visit, started(site, name, "ends.mov"), "ends.mov")
    expect(page.locator(".runhead .st")).to_have_text("Stalled", timeout=SLOW)

    page.get_by_role("button", name="Move a token, with preview").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Take").click()
    page.get_by_role("option", name="“left done” from “join”").click()
    dialog.get_by_role("combobox", name="Put").click()
    page.get_by_role("option", name="nowhere").click()

    expect(dialog.get_by_role("status", name="Preview")).to_contain_text("The run ends by it: Succeeded.")
    visit.picture("run-move-ends")


@pytest.mark.long("test_a_run_stuck_at_a_join_is_mended_by_moving_a_token")
def test_a_token_is_dragged_to_another_slot(site: Site, visit: Visit) -> None:
    steps = {**JOINED, "other": {"task": "plain", "after": ["left done", "never"], "emits": "OK"}}
    more = [{"name": "go", "optional": True}, {"name": "never", "optional": True}]
    run = started(site, published(site, fresh("dragged"), steps, external=more), "dragged.mov")
    page = opened(visit, run, "dragged.mov")
    expect(page.locator(".runhead .st")).to_have_text("Stalled", timeout=SLOW)
    held = page.locator("[data-step='other'] .knob.left:has(.pt.full, .pt.half)").first
    target = page.locator("[data-step='join'] .knob.left:not(:has(.pt.full, .pt.half))").first
    begin, end = held.bounding_box(), target.bounding_box()
    assert begin is not None
    assert end is not None

    page.mouse.move(begin["x"] + begin["width"] / 2, begin["y"] + begin["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=8)
    expect(page.locator(".tok.dragged")).to_be_visible()
    page.mouse.up()

    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("combobox", name="Take")).to_contain_text("“left done” from “other”")
    expect(dialog.get_by_role("combobox", name="Put")).to_contain_text("“right done” to “join”")
    expect(dialog.get_by_role("status", name="Preview")).to_contain_text("Begins at once: “join”")
    dialog.get_by_role("textbox", name="Reason").fill("it was the other one")
    dialog.get_by_role("button", name="Move it").click()
    expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)


@pytest.mark.long("test_a_run_is_let_fail_only_after_a_while")
def test_a_cancel_can_be_undone_for_a_while(site: Site, visit: Visit) -> None:
    name = published(site, fresh("undone"), JOINED, external=["go"])
    run = started(site, name, "undone.mov")
    page = opened(visit, run, "undone.mov")
    for undo in (True, False):
        page.get_by_role("button", name="Cancel", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
        expect(page.get_by_text("“undone.mov” will be canceled")).to_be_visible()
        assert status_of(site, run) == "waiting"
        if undo:
            page.get_by_role("button", name="Undo").click()
            expect(page.get_by_text("Undone: nothing has changed")).to_be_visible()
            expect(page.get_by_text("“undone.mov” will be canceled")).to_be_hidden()

    expect(page.locator(".runhead .st")).to_have_text("Canceled", timeout=SLOW)


def test_who_leaves_the_page_does_not_undo_a_cancel(site: Site, visit: Visit) -> None:
    name = published(site, fresh("left"), JOINED, external=["go"])
    run = started(site, name, "left.mov")
    page = opened(visit, run, "left.mov")
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
    expect(page.get_by_text("“left.mov” will be canceled")).to_be_visible()

    page.goto(f"{visit.base}/app/runs/{run}")

    expect(page.locator(".runhead .st")).to_have_text("Canceled", timeout=SLOW)


@pytest.mark.long("test_a_run_stuck_at_a_join_is_mended_by_moving_a_token")
def test_a_move_made_on_what_is_no_longer_so_is_shown_anew(site: Site, visit: Visit) -> None:
    name = published(
        site,
        fresh("raced"),
        {**JOINED, "other": {"task": "plain", "after": "more"}},
        external=["go", {"name": "more", "many": True}],
    )
    run = started(site, name, "raced.mov")
    page = opened(visit, run, "raced.mov")
    page.get_by_role("button", name="Move a token, with preview").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Put").click()
    page.get_by_role("option", name="“right done” to “join”").click()
    expect(dialog.get_by_role("status", name="Preview")).to_contain_text("Begins at once")
    dialog.get_by_role("textbox", name="Reason").fill("by hand")
    # The page learns of it by its own pace; the answer of the server must win over what it has seen.
    page.route("**/marking", lambda route: refused(route) if is_move(route) else route.continue_())

    dialog.get_by_role("button", name="Move it").click()

    expect(dialog).to_contain_text("The run has moved on meanwhile")
    assert status_of(site, run) == "waiting"
    visit.forgive(409)


@pytest.mark.long("test_a_run_stuck_at_a_join_is_mended_by_moving_a_token")
def test_the_preview_of_a_move_follows_the_run(site: Site, visit: Visit) -> None:
    steps = {
        **JOINED,
        "join": {"task": "plain", "after": ["left done", "right done"]},
        "other": {"task": "plain", "after": "more"},
    }
    name = published(site, fresh("followed"), steps, external=["go", {"name": "more", "many": True}])
    run = started(site, name, "followed.mov")
    page = opened(visit, run, "followed.mov")
    expect(page.locator(".runhead .st")).to_have_text("Waiting", timeout=SLOW)
    page.get_by_role("button", name="Move a token, with preview").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Put").click()
    page.get_by_role("option", name="“right done” to “join”").click()
    preview = dialog.get_by_role("status", name="Preview")
    expect(preview).to_contain_text("Begins at once: “join”")
    dialog.get_by_role("textbox", name="Reason").fill("by hand")

    site.ask(
        "POST", f"/api/runs/{run}/events", {"event": "go"}
    )  # which takes what the move would have joined

    expect(preview).to_contain_text("Nothing begins by it", timeout=SLOW)
    expect(preview).to_contain_text("The run has moved on meanwhile")
    expect(dialog.get_by_role("textbox", name="Reason")).to_have_value("by hand")


def test_a_run_is_let_fail_only_after_a_while(site: Site, visit: Visit) -> None:
    run = started(site, published(site, fresh("fails"), JOINED, external=["go"]), "fails.mov")
    page = opened(visit, run, "fails.mov")
    expect(page.locator(".runhead .st")).to_have_text("Waiting", timeout=SLOW)

    page.locator(".headmore button").click()
    page.get_by_role("menuitem", name="Let it fail").click()
    expect(page.get_by_text("1 run will be let fail")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone: nothing has changed")).to_be_visible()
    page.locator(".headmore button").click()
    page.get_by_role("menuitem", name="Let it fail").click()
    expect(page.get_by_text("1 run will be let fail")).to_be_visible()
    assert status_of(site, run) == "waiting"
    page.get_by_role("button", name="Do it now").click()

    expect(page.locator(".runhead .st")).to_have_text("Failed", timeout=SLOW)


def answer_lost(route: Route) -> None:
    """The server does it, and its answer never comes."""
    route.fetch()
    route.abort("connectionreset")


def test_what_is_asked_for_again_after_a_lost_answer_is_done_once(site: Site, visit: Visit) -> None:
    name = published(
        site, fresh("again"), {"a": {"task": "plain", "after": "go"}}, external=[{"name": "go", "many": True}]
    )
    visit.forgiven.append("net::ERR_CONNECTION_RESET")
    page = visit.open(f"/app/workflows/{name}")
    page.get_by_role("button", name="Start a run").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Subject").fill("again.mov")
    page.route("**/api/workflows/*/runs", answer_lost, times=1)
    dialog.get_by_role("button", name="Start", exact=True).click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/app/runs/*")
    [run] = [each["id"] for each in site.ask("GET", f"/api/runs?workflow={name}")["items"]]

    page.get_by_role("button", name="Fire “go”").click()
    page.route("**/api/runs/*/events", answer_lost, times=1)
    dialog.get_by_role("button", name="Fire", exact=True).click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Fire", exact=True).click()
    expect(page.get_by_text("“go” is fired")).to_be_visible()
    expect(page.locator("[data-step='a']")).to_contain_text("Complete", timeout=SLOW)

    history = site.ask("GET", f"/api/runs/{run}/history")["items"]
    assert [each["event"] for each in history if each["kind"] == "event" and not each["step"]].count(
        "go"
    ) == 1


def test_the_past_of_a_run_can_be_looked_at(site: Site, visit: Visit) -> None:
    name = published(site, fresh("past"), JOINED, external=["go"])
    run = started(site, name, "past.mov", input={"course": 7})
    site.ask("POST", f"/api/runs/{run}/events", {"event": "go", "set": {"poster": "p.png"}})
    page = opened(visit, run, "past.mov")
    expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)
    expect(page.get_by_text('"p.png"')).to_be_visible()

    page.get_by_role("slider", name="Point in the history").press("Home")

    expect(page.get_by_text("You are looking at")).to_be_visible()
    expect(page.get_by_text('"p.png"')).to_be_hidden()
    expect(page.locator("[data-step='join']")).to_contain_text("Blocked")
    visit.picture("run-past-light")
    page.get_by_role("button", name="Back to now").click()
    expect(page.locator("[data-step='join']")).to_contain_text("Complete")


def test_a_step_is_skipped_with_a_port_and_an_output(site: Site, visit: Visit) -> None:
    name = fresh("skipped")
    steps = {
        "gate": {"task": "gated", "with": {"file": f"{name}.ok"}},
        "end": {"task": "plain", "after": "gate", "emits": "OK"},
    }
    published(site, name, steps)
    run = started(site, name, "gate.mov")
    page = opened(visit, run, "gate.mov")
    page.locator("[data-step='gate']").click()
    page.get_by_role("button", name="Skip", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Output").fill('{"by": "hand"}')
    dialog.get_by_role("button", name="Skip the step").click()
    page.get_by_role("button", name="Do it now").click()

    expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)
    (site.folder / f"{name}.ok").write_text("")
    assert site.ask("GET", f"/api/runs/{run}")["steps"]["gate"]["output"] == {"by": "hand"}


@pytest.mark.long("test_a_step_is_skipped_with_a_port_and_an_output")
def test_the_ports_to_skip_onto_are_those_that_the_task_has(site: Site, visit: Visit) -> None:
    steps = {
        "ask": {"task": "approval", "with": {"text": "Shall it?"}},
        "end": {"task": "plain", "after": "ask.approved", "emits": "OK"},
        "no": {"task": "plain", "after": "ask.rejected", "emits": "OK"},
    }
    name = published(site, fresh("ports"), steps)
    page = opened(visit, started(site, name, "ports.mov"), "ports.mov")
    page.locator("[data-step='ask']").click()
    page.get_by_role("button", name="Skip", exact=True).click()

    page.get_by_role("dialog").get_by_role("combobox", name="Port").click()

    expect(page.get_by_role("option")).to_have_text(["approved", "rejected", "failed"])


def test_what_a_task_wrote_is_shown_an_attempt(site: Site, visit: Visit) -> None:
    name = published(site, fresh("logs"), {"a": {"task": "plain", "emits": "OK"}})
    page = opened(visit, started(site, name, "logs.mov"), "logs.mov")
    page.get_by_role("tab", name="Logs").click()

    expect(page.get_by_text("this is plain")).to_be_visible(timeout=SLOW)


@pytest.mark.long("test_a_stream_goes_on_after_the_last_entry_that_was_seen")
def test_a_live_run_survives_a_restart_of_the_server(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text("from penstock import Context, task\n" + PAGE_TASKS)
    with serving("up", "--tasks", "tasks.py", cwd=tmp_path) as up:
        first = Site(up, tmp_path)
        port = first.base.rsplit(":", 1)[1]
        name = published(first, fresh("restart"), JOINED, external=["go"])
        run = started(first, name, "restart.mov")
        context = browser.new_context(viewport=SIZE)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{first.base}/app/runs/{run}")
        expect(page.locator("[data-step='left']")).to_contain_text("Complete", timeout=SLOW)
        up.stop()
    expect(page.get_by_text("The server is away", exact=True)).to_be_visible(timeout=SLOW)
    with serving("up", "--tasks", "tasks.py", "--port", port, cwd=tmp_path) as up:
        second = Site(up, tmp_path)
        second.ask("POST", f"/api/runs/{run}/events", {"event": "go"})

        expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)
        expect(page.locator("[data-step='join']")).to_contain_text("Complete", timeout=SLOW)
        expect(page.get_by_text("The server is away", exact=True)).to_be_hidden()
        page.get_by_role("tab", name="History").click()
        shown = [int(each) for each in page.locator(".hrow > :first-child").all_inner_texts()]
        assert shown == list(range(shown[0], 0, -1)), "an entry is missing, or there twice"
        context.close()
        up.stop()


@pytest.mark.long("test_a_run_that_waits_for_a_person_leads_to_its_question")
def test_what_a_step_came_to_does_not_cover_the_names_of_its_ports(site: Site, visit: Visit) -> None:
    with_ = {"text": "Go?", "role": "operator"}
    asks = {"task": "approval", "with": with_, "emits": {"approved": "OK", "rejected": "CANCEL"}}
    run = started(site, published(site, fresh("ports"), {"ask": asks}), "ports.mov")
    page = opened(visit, run, "ports.mov")
    box = page.locator("[data-step='ask']")
    expect(box).to_contain_text("Waits for a person", timeout=SLOW)

    [asked] = [each for each in site.ask("GET", "/api/approvals?limit=200")["items"] if each["run"] == run]
    site.ask("POST", f"/api/approvals/{asked['id']}", {"decision": "approved"})
    expect(box).to_contain_text("Complete · ", timeout=SLOW)

    said, port = box.locator(".mm .st .ell").bounding_box(), box.locator(".pname").first.bounding_box()
    assert said is not None and port is not None
    assert said["x"] + said["width"] <= port["x"]


@pytest.mark.long("test_what_a_task_wrote_is_shown_an_attempt")
def test_what_a_task_tells_while_it_runs_is_seen(site: Site, visit: Visit) -> None:
    name = fresh("telling")
    file = site.folder / f"{name}.told"
    published(site, name, {"long": {"task": "telling", "with": {"file": file.name}, "emits": "OK"}})
    run = started(site, name, "telling.mov")
    page = opened(visit, run, "telling.mov")
    page.get_by_role("tab", name="Logs").click()
    box = page.locator("[data-step='long']")
    expect(box).to_contain_text("Running")

    file.write_text("it")

    expect(page.get_by_text("half of it")).to_be_visible()
    expect(box).to_contain_text("50 %")
    file.write_text("end")
    expect(page.locator(".runhead .st")).to_have_text("Succeeded", timeout=SLOW)


def test_a_run_that_waits_for_a_person_leads_to_its_question(site: Site, visit: Visit) -> None:
    with_ = {"text": "Send it to Cunix?", "role": "operator"}
    asks = {"task": "approval", "with": with_, "emits": {"approved": "OK", "rejected": "CANCEL"}}
    name = published(site, fresh("asks"), {"ask": asks})
    run = started(site, name, "asked.mov")
    for number in range(3):
        started(site, name, f"other{number}.mov")
    page = opened(visit, run, "asked.mov")
    decide = page.get_by_role("link", name="Decide: Send it to Cunix?")
    expect(decide).to_be_visible(timeout=SLOW)
    visit.picture("run-asks")
    page.locator("[data-step='ask']").click()
    expect(page.get_by_role("complementary", name="Step")).to_contain_text("Waits for a person")

    decide.click()
    expect(page.locator("article.appr")).to_contain_text("asked.mov")
    page.get_by_role("button", name="Approve").click()

    expect(page.locator("article.appr")).not_to_contain_text("asked.mov")
    assert site.ask("GET", f"/api/runs/{run}")["status"] in ("running", "succeeded")


@pytest.mark.long("test_a_filter_that_is_chosen_is_in_the_address")
def test_the_runs_that_it_started_are_shown_and_listed(site: Site, visit: Visit) -> None:
    child = published(site, fresh("child"), {"only": {"task": "plain", "emits": "OK"}})
    calls = {"call": {"task": "workflow", "with": {"name": "${ data.which }", "subject": "below.mov"}}}
    run = started(site, published(site, fresh("caller"), calls), "above.mov", input={"which": child})
    started(site, child, "other.mov")
    page = opened(visit, run, "above.mov")

    expect(page.get_by_role("link", name=f"{child} below.mov")).to_be_visible(timeout=SLOW)
    visit.open(f"/app/runs?parent={run}")

    expect(page.get_by_role("link", name="below.mov").first).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("Started by")).to_be_visible()
    expect(page.get_by_text("other.mov")).to_have_count(0)


@pytest.mark.long("test_an_event_fired_from_the_page_moves_the_run_to_its_end")
def test_how_long_ago_something_young_was_is_told_by_the_second(site: Site, visit: Visit) -> None:
    run = started(
        site, published(site, fresh("ago"), {"a": {"task": "plain", "after": "go"}}, external=["go"]), "ago"
    )
    page = opened(visit, run, "ago")
    head = page.locator(".runhead")
    expect(head).to_contain_text(re.compile(r"\d+ s ago"))
    found = re.search(r"(\d+) s ago", head.inner_text())
    assert found is not None

    then = int(found[1])
    expect(head).to_contain_text(re.compile(rf"\b({then + 2}|{then + 3}) s ago"))


@pytest.mark.long("test_an_event_fired_from_the_page_moves_the_run_to_its_end")
def test_an_event_that_came_and_counts_once_is_not_told_as_one_to_come(site: Site, visit: Visit) -> None:
    steps = {
        "a": {"task": "plain", "emits": "left"},
        "j": {"task": "plain", "after": ["left", "up"]},
        "k": {"task": "plain", "after": "j", "emits": "left"},
    }
    run = started(site, published(site, fresh("once"), steps, external=["up"]), "talk.mov")
    site.ask("POST", f"/api/runs/{run}/events", {"event": "up"})
    page = opened(visit, run, "talk.mov")
    expect(page.get_by_role("heading", name="Why is it stalled?")).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("Came from outside before, and counts once")).to_be_visible()
    expect(page.locator(".wrow").get_by_text("From outside", exact=True)).to_have_count(0)

    page.get_by_role("button", name="Fire event").click()
    page.get_by_role("button", name="Fire", exact=True).click()
    expect(page.get_by_text("“up” is recorded, but nothing acts on it")).to_be_visible()
