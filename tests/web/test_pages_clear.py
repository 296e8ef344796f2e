"""What cannot be is told in plain words, with a way on; and a moment of a run is the same in all of its parts."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.plant import fresh, published, started
from tests.web.sides import definition, put, wait_for

JOIN = {"both": {"task": "plain", "after": ["first", "second"], "emits": "OK"}}


@pytest.mark.long("test_a_filter_that_is_chosen_is_in_the_address")
def test_an_address_that_asks_for_what_cannot_be_says_so(visit: Visit) -> None:
    page = visit.open("/app/runs?status=nonsense")

    expect(page.get_by_text("No run can match “Status: nonsense”.")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Remove").last.click()
    expect(page).to_have_url(re.compile("/app/runs$"))
    expect(page.get_by_text("No run can match")).to_have_count(0)


def test_a_run_that_is_not_there_is_told_with_a_way_back(visit: Visit) -> None:
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    visit.page.clock.install()
    page = visit.open("/app/runs/nope")

    expect(page.get_by_text("There is no run “nope”.")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    so_far = len([url for url in asked if "/api/runs/nope" in url])
    page.clock.run_for(6_000)  # longer than the pause of a stream that broke
    assert len([url for url in asked if "/api/runs/nope" in url]) == so_far
    page.get_by_role("link", name="Show all runs").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    visit.forgive(404)


@pytest.mark.long("test_a_run_is_started_with_a_form_made_of_what_it_takes")
def test_bad_json_and_a_large_input_say_what_to_do(site: Site, visit: Visit) -> None:
    published(site, "clear-start", {"a": {"task": "plain", "emits": "OK"}})
    page = visit.open("/app/runs?workflow=clear-start")
    page.get_by_role("button", name="Start a run").first.click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Input")
    field.fill("{'to': 1}")
    expect(dialog).to_contain_text("Text stands between double quotes: look at line 1, character 2.")
    field.fill('{"a": "' + "x" * 319_000 + '"}')
    dialog.get_by_role("button", name="Start").last.click()

    expect(dialog).to_contain_text(
        "This is 312 KiB; a run or an event may carry 256 KiB. Store it and pass its address."
    )
    visit.forgive(413)


@pytest.mark.long("test_the_past_of_a_run_can_be_looked_at")
def test_a_moment_of_a_run_is_the_same_in_all_its_parts(site: Site, visit: Visit) -> None:
    published(site, "clear-then", JOIN, external=["first", "second"])
    run = started(site, "clear-then", "then.mov")
    site.ask("POST", f"/api/runs/{run}/events", {"event": "first"})
    page = visit.open(f"/app/runs/{run}")
    why = page.get_by_role("complementary", name="Why is it waiting?")
    expect(why).to_contain_text("first")
    expect(page.get_by_text("entry 2 of 2")).to_be_visible()

    page.get_by_role("slider").first.press("Home")
    expect(page.get_by_text("You are looking at").first).to_be_visible()
    expect(why).to_contain_text("What it waited for then")
    expect(why.get_by_role("button", name="Fire")).to_have_count(0)
    expect(page.locator("[data-then]")).to_be_visible()
    visit.picture("clear-then-light")
    page.locator(".runhead").get_by_role("button", name="Fire").click()
    page.get_by_role("dialog").get_by_role("button", name="Fire").last.click()

    expect(page.get_by_text("You are looking at")).to_have_count(0)
    expect(page.locator("[data-then]")).to_have_count(0)


@pytest.mark.long("test_the_past_of_a_run_can_be_looked_at")
def test_a_step_that_is_open_is_of_the_moment_that_is_looked_at(site: Site, visit: Visit) -> None:
    name = published(site, fresh("step-then"), JOIN, external=["first", "second"])
    run = started(site, name, "then.mov")
    site.ask("POST", f"/api/runs/{run}/events", {"event": "first"})
    page = visit.open(f"/app/runs/{run}")
    page.locator("[data-step=both]").click()
    step = page.get_by_role("complementary", name="Step")
    expect(step.get_by_text("Waiting here")).to_be_visible()
    expect(step.get_by_role("button", name="Skip")).to_be_visible()

    page.get_by_role("slider").first.press("Home")

    expect(step.get_by_text("Waiting here")).to_have_count(0)
    expect(step.get_by_role("button", name="Skip")).to_have_count(0)
    page.get_by_role("button", name="Back to now").click()
    expect(step.get_by_text("Waiting here")).to_be_visible()


@pytest.mark.long("test_the_past_of_a_run_can_be_looked_at")
def test_moments_of_another_day_say_which_day_that_was(site: Site, visit: Visit) -> None:
    name = published(site, fresh("dated"), JOIN, external=["first", "second"])
    run = started(site, name, "dated.mov")
    site.ask("POST", f"/api/runs/{run}/events", {"event": "first"})
    visit.page.clock.set_fixed_time(datetime.now() + timedelta(days=3))
    page = visit.open(f"/app/runs/{run}")
    dated = re.compile(r"[A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d")

    why = page.get_by_role("complementary", name="Why is it waiting?")
    expect(why.get_by_text(re.compile(f"arrived {dated.pattern}"))).to_be_visible()
    expect(page.get_by_text("Data at").locator("time")).to_have_text(dated)
    page.get_by_role("tab", name="History").click()
    expect(page.locator(".hrow time").first).to_have_text(dated)
    page.locator(".hrow").last.click()
    expect(page.get_by_role("status").filter(has_text="You are looking at").locator("time")).to_have_text(
        dated
    )


@pytest.mark.long("test_the_changes_of_a_draft_can_be_discarded_and_what_is_published_stays")
def test_a_draft_that_was_never_published_can_be_removed(site: Site, visit: Visit) -> None:
    put(site, "clear-remove", {"a": {"task": "plain"}}, title="Not wanted")
    page = visit.open("/app/workflows/clear-remove")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Remove the draft").click()
    expect(page.get_by_role("dialog")).to_contain_text("It was never published")
    visit.picture("clear-remove-light")
    page.get_by_role("dialog").get_by_role("button", name="Remove the draft").click()

    expect(page).to_have_url(re.compile("/app/workflows$"))
    names = [each["name"] for each in site.ask("GET", "/api/workflows?limit=200")["items"]]
    assert "clear-remove" not in names


def test_the_changes_of_a_draft_can_be_discarded_and_what_is_published_stays(
    site: Site, visit: Visit
) -> None:
    published(site, "clear-discard", {"a": {"task": "plain", "emits": "OK"}})
    put(site, "clear-discard", {"a": {"task": "plain"}, "b": {"task": "plain", "after": "a"}})
    page = visit.open("/app/workflows/clear-discard")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Discard the changes").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard the changes").click()

    expect(page.get_by_text("The draft is v1 again")).to_be_visible()
    assert list(definition(site, "clear-discard")["steps"]) == ["a"]


@pytest.mark.long("test_what_failed_for_one_cause_is_retried_at_once")
def test_incidents_call_workflows_by_their_titles(site: Site, visit: Visit) -> None:
    published(
        site,
        "clear-bad",
        {"a": {"task": "mendable", "with": {"file": "/nowhere/at/all"}}},
        title="Goes wrong",
    )
    run = started(site, "clear-bad", "bad.mov")
    wait_for(visit.page, lambda: site.ask("GET", f"/api/runs/{run}")["status"] == "failed")
    page = visit.open("/app/incidents")

    expect(page.get_by_role("link", name="Goes wrong").first).to_be_visible()
    expect(page.get_by_role("link", name="clear-bad")).to_have_count(0)


@pytest.mark.long("test_with_the_mouse_alone_it_is_drawn_published_started_and_ends")
def test_dragging_over_a_drawing_selects_no_text(site: Site, visit: Visit) -> None:
    put(site, "clear-drag", {"a": {"task": "plain"}, "b": {"task": "plain", "after": "a"}})
    page = visit.open("/app/workflows/clear-drag/edit")
    box = page.locator('[data-step="a"]').bounding_box()
    assert box is not None
    page.mouse.move(box["x"] - 60, box["y"] - 60)
    page.mouse.down()
    page.mouse.move(1300, 500, steps=6)
    assert page.evaluate("() => String(getSelection())") == ""
    page.mouse.up()


@pytest.mark.long("test_the_window_itself_does_not_scroll")
def test_a_button_beside_tabs_has_all_its_edges(site: Site, visit: Visit) -> None:
    name = published(site, fresh("edged"), {"a": {"task": "wait", "with": {"for": "1h"}}})
    page = visit.open(f"/app/runs/{started(site, name)}")
    page.get_by_role("tab", name="History").click()

    button = page.get_by_role("button", name="JSON, XES, CSV")
    edges = "each => ['top', 'right', 'bottom', 'left'].map(side => getComputedStyle(each)[`border-${side}`])"
    expect(button).to_be_visible()
    assert len(set(button.evaluate(edges))) == 1


@pytest.mark.long("test_the_window_itself_does_not_scroll")
def test_words_have_room_within_the_ring_of_a_tab_and_stand_in_the_middle_of_a_button(
    site: Site, visit: Visit
) -> None:
    name = published(site, fresh("words"), JOIN, external=["first", "second"])
    page = visit.open(f"/app/workflows/{name}")
    tab = page.get_by_role("tab", name="Versions")
    expect(tab).to_have_css("padding-left", "4px")
    expect(tab).to_have_css("margin-left", "-4px")

    page = visit.open("/app/runs")
    page.get_by_role("button", name="Filter", exact=True).click()

    expect(page.get_by_role("button", name="Apply")).to_have_css("justify-content", "center")


@pytest.mark.long("test_a_run_stuck_at_a_join_is_mended_by_moving_a_token")
def test_where_the_record_is_long_nobody_is_said_to_have_done_nothing(site: Site, visit: Visit) -> None:
    name = published(site, fresh("record"), JOIN, external=["first", "second"])
    run = started(site, name, "record.mov")
    visit.page.route("**/api/audit?*", lambda route: route.fulfill(json={"items": [], "next": "100"}))
    page = visit.open(f"/app/runs/{run}")

    page.get_by_role("tab", name="Audit").click()

    expect(page.get_by_text("among the last 1,000 entries of the record")).to_be_visible()
