"""The list of runs: its filters are its address, many runs are acted on at once, and nothing jumps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Site, Visit
from tests.web.plant import fresh, published, started, status_of
from tests.web.sides import wait_for


@pytest.fixture
def mixed(site: Site) -> Iterator[str]:
    """A workflow with two failed runs, one that succeeded and one that waits."""
    name = fresh("mixed")
    gate = f"{name}.mended"
    published(
        site,
        name,
        {"look": {"task": "mendable", "with": {"file": gate}}, "end": {"task": "plain", "after": "look"}},
        title="Mixed runs",
    )
    for subject in ("first.mov", "second.mov"):
        started(site, name, subject)
    page_through(site, name, "failed", 2)
    (site.folder / gate).write_text("")
    started(site, name, "third.mov")
    page_through(site, name, "succeeded", 1)
    yield name


def page_through(site: Site, name: str, status: str, count: int) -> None:
    """Wait until so many runs have a status: each look is a real call, and the last one decides."""
    for _ in range(400):
        found = site.ask("GET", f"/api/runs?workflow={name}&status={status}")["items"]
        if len(found) == count:
            return
    raise AssertionError(f"{len(found)} runs of {name} are {status}, not {count}")


def subjects(page: Page) -> list[str]:
    return page.locator("table.runs a.subj").all_inner_texts()


def test_a_filter_that_is_chosen_is_in_the_address(site: Site, visit: Visit, mixed: str) -> None:
    page = visit.open(f"/app/runs?workflow={mixed}")
    expect(page.locator("table.runs tbody tr")).to_have_count(3)

    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("checkbox", name="Failed").check()
    page.get_by_role("button", name="Apply").click()

    expect(page).to_have_url(re.compile(r"status=failed"))
    expect(page.locator("table.runs tbody tr")).to_have_count(2)
    page.reload()
    expect(page.locator("table.runs tbody tr")).to_have_count(2)
    assert sorted(subjects(page)) == ["first.mov", "second.mov"]


@pytest.mark.long("test_a_filter_that_is_chosen_is_in_the_address")
def test_what_is_searched_for_is_in_the_address_and_can_be_taken_away(visit: Visit, mixed: str) -> None:
    page = visit.open(f"/app/runs?workflow={mixed}")
    expect(page.locator("table.runs tbody tr")).to_have_count(3)

    page.keyboard.press("f")
    page.keyboard.type("nothing like this")

    expect(page).to_have_url(re.compile(r"q=nothing"))
    expect(page.get_by_text("No run matches.")).to_be_visible()
    page.get_by_role("button", name=re.compile("Remove “Workflow")).last.click()
    expect(page).not_to_have_url(re.compile(r"workflow="))


def test_many_runs_are_retried_after_a_preview(site: Site, visit: Visit, mixed: str) -> None:
    page = visit.open(f"/app/runs?workflow={mixed}&status=failed")
    expect(page.locator("table.runs tbody tr")).to_have_count(2)

    page.get_by_role("checkbox", name="Select all").check()

    bar = page.get_by_role("region", name="What to do with the selected runs")
    expect(bar.get_by_role("status")).to_have_text("Preview: retry 2 runs; 0 are left out")
    visit.picture("runs-bulk-light")
    bar.get_by_role("button", name="Retry 2").click()
    page.get_by_role("button", name="Do it now").click()
    expect(page.get_by_text("2 runs: retry, done")).to_be_visible()
    page_through(site, mixed, "succeeded", 3)


def test_all_runs_of_a_filter_are_acted_on_after_a_question(site: Site, visit: Visit) -> None:
    name = published(site, fresh("waiting"), {"a": {"task": "plain", "after": "go"}}, external=["go"])
    runs = [started(site, name, f"s{at}") for at in range(60)]
    page = visit.open(f"/app/runs?workflow={name}")
    expect(page.locator("table.runs tbody tr")).to_have_count(50)

    page.get_by_role("checkbox", name="Select all").check()
    page.get_by_role("button", name="all 60 of this filter").click()
    page.get_by_role("button", name="Cancel 60").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Preview: cancel 60 runs; 0 are left out")
    dialog.get_by_role("button", name="Cancel 60").click()
    page.get_by_role("button", name="Do it now").click()

    expect(page.get_by_text("60 runs: cancel, done")).to_be_visible(timeout=20_000)
    assert {status_of(site, run) for run in runs[::20]} == {"canceled"}


def test_the_next_page_comes_by_its_cursor(site: Site, visit: Visit) -> None:
    name = published(site, fresh("pages"), {"a": {"task": "plain", "after": "go"}}, external=["go"])
    for at in range(60):
        started(site, name, f"s{at}")
    page = visit.open(f"/app/runs?workflow={name}")
    expect(page.locator("table.runs tbody tr")).to_have_count(50)

    page.get_by_role("button", name="Show more").click()

    expect(page.locator("table.runs tbody tr")).to_have_count(60)
    assert len(set(subjects(page))) == 60


def test_new_runs_are_offered_and_do_not_push_the_others_away(site: Site, visit: Visit, mixed: str) -> None:
    page = visit.open(f"/app/runs?workflow={mixed}")
    expect(page.locator("table.runs tbody tr")).to_have_count(3)
    expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
    before = subjects(page)

    started(site, mixed, "fourth.mov")

    offer = page.get_by_role("button", name="1 new or changed run")
    expect(offer).to_be_visible()
    assert subjects(page) == before
    offer.click()
    expect(page.locator("table.runs a.subj").filter(has_text="fourth.mov")).to_be_visible()


LENGTH_IS = """(seconds) => {
  const [shown, unit] = document.querySelector('table.runs tbody tr td:last-child').innerText.split(/\\s/)
  return Math.abs(Number(shown) * (unit === 'ms' ? 0.001 : 1) - seconds) < (seconds < 10 ? 0.06 : 0.6)
}"""
"""Whether the run in the list took so long: one that is still counted is longer with every second."""


@pytest.mark.long("test_new_runs_are_offered_and_do_not_push_the_others_away")
def test_a_run_that_ends_in_the_list_waits_no_more_and_its_length_stands(site: Site, visit: Visit) -> None:
    name = published(site, fresh("lines"), {"end": {"task": "plain", "after": "go"}}, external=["go"])
    run = started(site, name, "one.mov")
    page_through(site, name, "waiting", 1)
    page = visit.open(f"/app/runs?workflow={name}")
    row = page.locator("table.runs tbody tr")
    expect(row).to_contain_text("go")
    expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()

    site.ask("POST", f"/api/runs/{run}/events", {"event": "go"})

    expect(row).to_contain_text("Succeeded")
    told = site.ask("GET", f"/api/runs/{run}")
    begun, ended = (datetime.fromisoformat(told[each]) for each in ("started_at", "ended_at"))
    page.wait_for_function(LENGTH_IS, arg=(ended - begun).total_seconds())
    expect(row.locator("td").nth(4)).to_have_text("")


@pytest.mark.long("test_a_filter_that_is_chosen_is_in_the_address")
def test_a_list_is_kept_as_a_view_on_the_server(site: Site, visit: Visit, mixed: str) -> None:
    page = visit.open(f"/app/runs?workflow={mixed}&status=failed")
    page.get_by_role("button", name="Keep this list as a view").click()
    page.get_by_role("textbox", name="Name of the view").fill(f"Broken {mixed}")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("button", name=f"Broken {mixed}", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    kept = [each for each in site.ask("GET", "/api/views")["items"] if each["title"] == f"Broken {mixed}"]
    assert kept[0]["filter"] == {"workflow": mixed, "status": "failed"}


def test_the_keys_of_a_list_walk_and_select(visit: Visit, mixed: str) -> None:
    page = visit.open(f"/app/runs?workflow={mixed}")
    expect(page.locator("table.runs tbody tr")).to_have_count(3)

    for key in ("j", "j", "k", "j", "x"):
        page.keyboard.press(key)

    expect(page.get_by_text("1 selected")).to_be_visible()
    expect(page.locator("tr.sel a.subj")).to_have_text(subjects(page)[1])


@pytest.mark.long("test_the_grid_shows_steps_and_runs_and_opens_a_run")
def test_the_grid_of_all_runs_asks_for_a_workflow(site: Site, visit: Visit) -> None:
    name = published(site, fresh("picked"), {"end": {"task": "plain"}})
    started(site, name)
    page = visit.open("/app/runs?show=grid")
    expect(page.get_by_text("Choose one workflow.")).to_be_visible()
    expect(page.locator("table")).to_have_count(0)
    visit.picture("runs-grid-pick")

    page.get_by_role("combobox", name="Workflow").click()
    page.get_by_role("option", name=name).click()

    expect(page.locator("svg.rgrid")).to_be_visible()
    assert f"workflow={name}" in page.url and "show=grid" in page.url


def test_the_grid_shows_steps_and_runs_and_opens_a_run(visit: Visit, mixed: str) -> None:
    page = visit.open(f"/app/runs?workflow={mixed}&show=grid")

    columns = page.locator("svg.rgrid a")
    expect(columns).to_have_count(3)
    visit.picture("runs-grid-light")
    columns.last.click()
    expect(page.get_by_role("heading", name="third.mov")).to_be_visible()


@pytest.mark.long("test_the_grid_shows_steps_and_runs_and_opens_a_run")
def test_the_grid_has_the_steps_of_what_ran_and_not_of_the_draft(
    site: Site, visit: Visit, mixed: str
) -> None:
    drawn = {"penstock": 1, "name": mixed, "steps": {"another": {"task": "plain"}}}
    site.ask("PUT", f"/api/workflows/{mixed}", drawn)

    page = visit.open(f"/app/runs?workflow={mixed}&show=grid")

    expect(page.locator("svg.rgrid > text")).to_have_text(["Length of the run", "look", "end"])


@pytest.mark.long("test_the_grid_shows_steps_and_runs_and_opens_a_run")
def test_the_grid_asks_again_only_for_runs_that_changed(site: Site, visit: Visit, mixed: str) -> None:
    page = visit.page
    page.clock.install()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(site.base)))
    visit.open(f"/app/runs?workflow={mixed}&show=grid")
    expect(page.locator("svg.rgrid a")).to_have_count(3)
    asked.clear()

    page.clock.run_for(16_000)
    wait_for(page, lambda: any(url.startswith("/api/runs?") for url in asked))
    started(site, mixed, "fourth.mov")
    page_through(site, mixed, "succeeded", 2)
    page.clock.run_for(16_000)

    expect(page.locator("svg.rgrid a")).to_have_count(4)
    assert len({url for url in asked if url.startswith("/api/runs/")}) == 1


@pytest.mark.long("test_the_grid_shows_steps_and_runs_and_opens_a_run")
def test_the_grid_shows_how_long_a_run_goes_on(site: Site, visit: Visit) -> None:
    name, page = fresh("long"), visit.page
    published(site, name, {"rest": {"task": "wait", "with": {"for": "1h"}}})
    started(site, name)
    page.clock.install()
    visit.open(f"/app/runs?workflow={name}&show=grid")
    column = page.locator("svg.rgrid a")
    expect(column).to_have_count(1)
    page.clock.run_for(20_000)
    page.wait_for_timeout(500)  # answers to what was asked for by then: they too would change the label
    label = column.get_attribute("aria-label") or ""

    page.clock.run_for(5_000)

    expect(column).not_to_have_attribute("aria-label", label)


def test_a_run_is_started_with_a_form_made_of_what_it_takes(site: Site, visit: Visit) -> None:
    params = {
        "type": "object",
        "required": ["course"],
        "properties": {"course": {"type": "integer", "title": "Course"}, "user": {"type": "string"}},
    }
    name = published(site, fresh("form"), {"a": {"task": "plain"}}, params=params)
    page = visit.open(f"/app/workflows/{name}")
    page.get_by_role("button", name="Start a run").click()
    start = page.get_by_role("button", name="Start", exact=True).last
    start.click()
    expect(page.get_by_text("it is needed").first).to_be_visible()
    page.get_by_role("spinbutton", name="Course").fill("1180")
    page.get_by_role("textbox", name="Subject").fill("lecture.mov")
    page.get_by_role("textbox", name="Labels").fill("team=red")
    start.click()

    expect(page.get_by_role("heading", name="lecture.mov")).to_be_visible()
    run = site.ask("GET", f"/api/runs/{page.url.rsplit('/', 1)[1]}")
    assert (run["input"], run["labels"]) == ({"course": 1180}, {"team": "red"})


@pytest.mark.long("test_calls_are_counted_and_leave_no_run")
def test_calls_are_among_the_figures_of_a_workflow(site: Site, visit: Visit) -> None:
    name = published(site, fresh("called"), {"judge": {"task": "set", "with": {"allowed": True}}})
    for _ in range(2):
        site.ask("POST", f"/api/workflows/{name}/call", {})

    figures = visit.open(f"/app/workflows/{name}").get_by_role("region", name="Statistics")

    expect(figures.get_by_text("2 calls of this server since")).to_be_visible()
    place = figures.get_by_role("columnheader").all_text_contents().index("In calls")
    expect(figures.get_by_role("row").filter(has_text="judge").get_by_role("cell").nth(place)).to_have_text(
        "2"
    )


@pytest.mark.long("test_a_run_is_started_with_a_form_made_of_what_it_takes")
def test_the_example_that_is_shown_is_what_a_run_is_started_with(site: Site, visit: Visit) -> None:
    params = {"examples": [{"course": 17}]}
    name = published(site, fresh("example"), {"a": {"task": "plain"}}, params=params)
    page = visit.open(f"/app/workflows/{name}")
    page.get_by_role("button", name="Start a run").click()
    expect(page.get_by_role("textbox", name="Input")).to_have_value(re.compile("17"))

    page.get_by_role("dialog").get_by_role("button", name="Start", exact=True).click()

    expect(page).to_have_url(re.compile("/app/runs/"))
    assert site.ask("GET", f"/api/runs/{page.url.rsplit('/', 1)[1]}")["input"] == {"course": 17}


@pytest.mark.long("test_the_keys_of_a_list_walk_and_select")
def test_letters_do_nothing_to_a_list_behind_a_dialog(visit: Visit, mixed: str) -> None:
    page = visit.open(f"/app/runs?workflow={mixed}")
    expect(page.locator("table.runs tbody tr")).to_have_count(3)
    page.get_by_role("button", name="Start a run").click()
    leave = page.get_by_role("dialog").get_by_role("button", name="Leave as it is")
    leave.focus()

    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(leave).to_be_focused()
    leave.click()

    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("table.runs tbody tr.cur, table.runs tbody tr.sel")).to_have_count(0)
