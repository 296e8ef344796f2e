"""Trying a draft in memory, from the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.sides import MEDIATHREAD, Sides, put, put_text

PATHS = {
    "look": {"task": "video.extract_metadata"},
    "long": {"task": "decide", "after": "look", "with": {"if": "steps.look.output.duration > 10"}},
    "cut": {"task": "video.copy_to_cunix", "after": "long.then"},
    "keep": {"task": "video.pull_thumbnails", "after": "long.else"},
}


def test_the_draft_is_tried_and_its_states_are_drawn(site: Site, visit: Visit) -> None:
    put_text(site, "sides-try", MEDIATHREAD)
    editor = Sides.of(site, visit, "sides-try")
    visit.page.get_by_role("button", name="Try", exact=True).click()

    editor.panel.get_by_role("button", name="Try all").click()

    expect(editor.panel.get_by_role("status")).to_contain_text("Succeeded")
    expect(editor.box("submit")).to_contain_text("Complete")
    visit.picture("sides-try-light")


@pytest.mark.long("test_the_draft_is_tried_and_its_states_are_drawn")
def test_a_stub_decides_which_way_it_goes(site: Site, visit: Visit) -> None:
    put(site, "sides-stubs", PATHS)
    editor = Sides.of(site, visit, "sides-stubs")
    editor.tab("Try")
    panel = editor.panel

    panel.get_by_label("What “look” comes to").select_option("done")
    editor.fill(panel.get_by_label("Output of “look”"), '{"duration": 12}')
    panel.get_by_role("button", name="Try all").click()
    expect(editor.box("cut")).to_contain_text("Complete")
    expect(editor.box("keep")).to_contain_text("Blocked")
    field = panel.get_by_label("Output of “look”").bounding_box()
    assert field and field["width"] > 150, "what is typed can be read"

    editor.fill(panel.get_by_label("Output of “look”"), '{"duration": 2}')
    panel.get_by_role("button", name="Try all").click()
    expect(editor.box("keep")).to_contain_text("Complete")
    editor.tab("Pinned data")
    expect(panel.get_by_label("Output of “look”").last).to_have_value('{\n  "duration": 2\n}')


@pytest.mark.long("test_the_draft_is_tried_and_its_states_are_drawn")
def test_a_failure_can_be_tried(site: Site, visit: Visit) -> None:
    put(site, "sides-fails", PATHS)
    editor = Sides.of(site, visit, "sides-fails")
    editor.tab("Try")

    editor.panel.get_by_label("What “look” comes to").select_option(label="fails")
    editor.fill(editor.panel.get_by_label("Error of “look”"), "no such file")
    editor.panel.get_by_role("button", name="Try all").click()

    expect(editor.panel.get_by_role("status")).to_contain_text("Failed")
    expect(editor.panel.get_by_text("no such file").last).to_be_visible()


@pytest.mark.long("test_the_draft_is_tried_and_its_states_are_drawn")
def test_only_a_part_is_tried(site: Site, visit: Visit) -> None:
    put_text(site, "sides-part", MEDIATHREAD)
    editor = Sides.of(site, visit, "sides-part")
    editor.inspect("submit")
    editor.tab("Try")

    editor.panel.get_by_role("button", name="Up to here").click()
    expect(editor.panel.get_by_role("status")).to_contain_text("stopped where it should")
    expect(editor.box("submit")).to_contain_text("Complete")
    expect(editor.box("email_ok")).not_to_contain_text("Complete")

    editor.panel.get_by_role("button", name="From here").click()
    expect(editor.box("email_ok")).to_contain_text("Complete")


@pytest.mark.long("test_the_draft_is_tried_and_its_states_are_drawn")
def test_what_was_tried_is_played_as_tokens(site: Site, visit: Visit) -> None:
    put_text(site, "sides-tokens", MEDIATHREAD)
    editor = Sides.of(site, visit, "sides-tokens")
    editor.tab("Try")
    editor.panel.get_by_role("button", name="Try all").click()

    editor.panel.get_by_role("button", name="Play it").click()

    trace = visit.page.get_by_role("region", name="How it gets there")
    expect(trace.get_by_role("listitem").last).to_contain_text("the run ends as succeeded")
    expect(trace).to_contain_text("“et_job_finished” comes from outside")


def test_real_tasks_do_their_work_after_a_warning(site: Site, visit: Visit) -> None:
    put(site, "sides-real", PATHS)
    editor, page = Sides.of(site, visit, "sides-real"), visit.page
    editor.tab("Try")
    panel = editor.panel

    panel.get_by_role("radio", name="Real").click()
    asked = page.get_by_role("dialog", name="Let tasks do their work?")
    expect(asked).to_contain_text("What they do outside is done")
    expect(asked.get_by_role("listitem")).to_have_count(3)
    visit.picture("sides-real-light")
    asked.get_by_role("button", name="Use real tasks").click()
    panel.get_by_role("button", name="Try all").click()

    expect(panel.get_by_text('{"duration":12.5}').first).to_be_visible()  # what the task says, not a stub
    expect(editor.box("cut")).to_contain_text("Complete")
    expect(editor.box("keep")).to_contain_text("Blocked")


@pytest.mark.long("test_real_tasks_do_their_work_after_a_warning")
def test_one_step_is_tried_for_real_with_what_is_pinned_before_it(site: Site, visit: Visit) -> None:
    put(site, "sides-real-one", PATHS)
    editor, page = Sides.of(site, visit, "sides-real-one"), visit.page
    editor.inspect("keep")
    editor.tab("Try")
    panel = editor.panel
    panel.get_by_label("What “look” comes to").select_option("done")
    editor.fill(panel.get_by_label("Output of “look”"), '{"duration": 2}')
    panel.get_by_label("What “long” comes to").select_option("else")
    panel.get_by_role("radio", name="Real").click()
    page.get_by_role("button", name="Use real tasks").click()

    panel.get_by_role("button", name="This step").click()

    expect(panel.get_by_text('{"poster":"p.png"}').first).to_be_visible()
    expect(editor.box("cut")).to_contain_text("Blocked")


@pytest.mark.long("test_the_draft_is_tried_and_its_states_are_drawn")
def test_where_nothing_has_run_there_is_no_data_of_a_run_to_take(site: Site, visit: Visit) -> None:
    put(site, "sides-no-run", PATHS)
    editor = Sides.of(site, visit, "sides-no-run")
    editor.tab("Try")

    editor.panel.get_by_role("button", name="Last run").click()

    expect(visit.page.get_by_text("There is no run to take data from.")).to_be_visible()
