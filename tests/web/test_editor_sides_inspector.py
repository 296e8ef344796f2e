"""The inspector: what is filled in stands in the definition."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.sides import Sides, definition, put, wait_for

MAIL = {"mail": {"task": "mail.send"}, "next": {"task": "video.extract_metadata", "after": "mail"}}


def test_a_form_from_the_schema_writes_the_parameters(site: Site, visit: Visit) -> None:
    put(site, "sides-form", MAIL)
    editor = Sides.of(site, visit, "sides-form")
    editor.inspect("mail")

    settings = editor.section("Settings")
    editor.fill(settings.get_by_label("Subject", exact=True), "Your video ${ run.subject } failed")
    settings.get_by_role("button", name="To: Work it out with an expression").click()

    wait_for(visit.page, lambda: "to" in definition(site, "sides-form")["steps"]["mail"].get("with", {}))
    assert definition(site, "sides-form")["steps"]["mail"]["with"] == {
        "subject": "Your video ${ run.subject } failed",
        "to": "${ data }",
    }
    expect(settings.locator(".expr").filter(has_text="run.subject")).to_be_visible()


@pytest.mark.long("test_a_form_from_the_schema_writes_the_parameters")
def test_durations_are_written_as_people_say_them(site: Site, visit: Visit) -> None:
    put(site, "sides-times", {"rest": {"task": "wait", "with": {"for": "1m"}}})
    editor = Sides.of(site, visit, "sides-times")
    editor.inspect("rest")

    editor.fill(editor.section("Settings").get_by_label("For", exact=True), "90s")

    wait_for(visit.page, lambda: definition(site, "sides-times")["steps"]["rest"]["with"] == {"for": "90s"})


@pytest.mark.long("test_a_form_from_the_schema_writes_the_parameters")
def test_what_an_approval_asks_for_is_built_of_fields(site: Site, visit: Visit) -> None:
    put(site, "sides-asks", {"ask": {"task": "approval", "with": {"text": "Who?"}}})
    editor = Sides.of(site, visit, "sides-asks")
    editor.inspect("ask")
    settings = editor.section("Settings")

    settings.get_by_role("button", name="Add a field", exact=True).click()
    editor.fill(settings.get_by_label("Name of the field “field1”"), "names")
    settings.get_by_label("Type of “names”").select_option("array")
    settings.get_by_label("“names” is required").check()

    names = {"type": "array", "items": {"type": "string"}}
    wanted = {"type": "object", "required": ["names"], "properties": {"names": names}}
    wait_for(
        visit.page, lambda: definition(site, "sides-asks")["steps"]["ask"]["with"].get("fields") == wanted
    )


@pytest.mark.long("test_a_form_from_the_schema_writes_the_parameters")
def test_retries_and_time_outs_are_written(site: Site, visit: Visit) -> None:
    put(site, "sides-wrong", MAIL)
    editor = Sides.of(site, visit, "sides-wrong")
    editor.inspect("mail")

    wrong = editor.section("When it goes wrong")
    editor.fill(wrong.get_by_label("Retries", exact=True), "2")
    editor.fill(wrong.get_by_label("First pause"), "30s")
    wrong.get_by_role("button", name="all of them").click()
    editor.fill(wrong.get_by_label("Retries after time-outs"), "1, 2, 4")
    editor.fill(wrong.get_by_label("One attempt at most"), "15m")

    def written() -> bool:
        return "timeouts" in definition(site, "sides-wrong")["steps"]["mail"]

    wait_for(visit.page, written)
    step = definition(site, "sides-wrong")["steps"]["mail"]
    assert (step["retries"], step["timeout_retries"]) == (2, [1, 2, 4])
    assert step["backoff"] == {"initial": "30s"}
    assert step["timeouts"] == {"start_to_close": "15m"}


def test_a_step_waits_for_what_is_said(site: Site, visit: Visit) -> None:
    put(site, "sides-waits", MAIL, external=["go"])
    editor = Sides.of(site, visit, "sides-waits")
    editor.inspect("next")
    waits = editor.section("Waits for")

    waits.get_by_role("button", name="Add an event").click()
    field = waits.get_by_label("Add an event")
    field.fill("go")
    field.press("Enter")
    expect(waits.get_by_text("go", exact=True)).to_be_visible()
    waits.get_by_role("radio", name="either").click()
    wait_for(visit.page, lambda: definition(site, "sides-waits")["steps"]["next"]["after"] == "mail | go")

    waits.get_by_role("radio", name="n of m").click()
    waits.get_by_role("button", name="Wait for “mail” no more").click()
    wait_for(visit.page, lambda: "mail" not in str(definition(site, "sides-waits")["steps"]["next"]["after"]))


@pytest.mark.long("test_a_step_waits_for_what_is_said")
def test_a_port_fires_what_is_said(site: Site, visit: Visit) -> None:
    put(site, "sides-fires", MAIL)
    editor = Sides.of(site, visit, "sides-fires")
    editor.inspect("next")
    fires = editor.section("Fires")

    fires.get_by_role("button", name="Fire an event on “done”").click()
    field = fires.get_by_label("Fire an event on “done”")
    field.fill("OK")
    field.press("Enter")
    wait_for(visit.page, lambda: definition(site, "sides-fires")["steps"]["next"].get("emits") == "OK")
    fires.get_by_role("button", name="Fire “OK” on “done” no more").click()

    wait_for(visit.page, lambda: "emits" not in definition(site, "sides-fires")["steps"]["next"])


def test_the_workflow_itself_has_a_form(site: Site, visit: Visit) -> None:
    put(site, "sides-flow", MAIL, external=["go"])
    editor = Sides.of(site, visit, "sides-flow")
    inspector = editor.inspector

    editor.fill(inspector.get_by_label("Title"), "Two steps")
    inspector.get_by_label("Kind").click()
    visit.page.get_by_role("option", name="A clock", exact=True).click()
    expect(inspector.get_by_text("It ticks next")).to_be_visible()
    inspector.get_by_role("button", name="How “go” comes").click()
    inspector.get_by_role("switch", name="Comes many times").click()
    inspector.get_by_role("button", name="Add a field").click()

    wait_for(visit.page, lambda: "params" in definition(site, "sides-flow"))
    found = definition(site, "sides-flow")
    assert (found["title"], found["source"]) == ("Two steps", {"kind": "schedule", "cron": "0 6 * * *"})
    assert found["external"] == [{"name": "go", "many": True}]
    assert found["params"]["properties"] == {"field1": {"type": "string"}}


@pytest.mark.long("test_ticks_are_shown_before_saving")
@pytest.mark.parametrize(
    "clock", [{"cron": "0 9 * * MON#2", "tz": "Europe/Berlin"}, {"cron": "30 2 L * *"}, {"every": "30d"}]
)
def test_the_next_ticks_of_a_clock_are_those_of_the_server(
    clock: dict[str, str], site: Site, visit: Visit
) -> None:
    put(site, "sides-clock", MAIL, source={"kind": "schedule", **clock})
    editor = Sides.of(site, visit, "sides-clock")

    expect(editor.inspector.get_by_text("It ticks next")).to_be_visible()
    shown = [each.get_attribute("datetime") for each in editor.inspector.locator("li time").all()]

    assert shown == site.ask("POST", "/api/schedules/preview", {**clock, "count": 3})["next"]


@pytest.mark.long("test_the_workflow_itself_has_a_form")
def test_a_clock_that_never_ticks_is_told_in_the_words_of_the_server(site: Site, visit: Visit) -> None:
    put(site, "sides-never", MAIL, source={"kind": "schedule", "cron": "0 6 * * *"})
    visit.forgive(422)
    editor = Sides.of(site, visit, "sides-never")

    editor.fill(editor.inspector.get_by_label("Clock (cron)"), "0 0 30 2 *")

    expect(editor.inspector.get_by_text("never comes: no such day in these months")).to_be_visible()


@pytest.mark.long("test_the_workflow_itself_has_a_form")
def test_no_expression_is_offered_where_none_is_worked_out(site: Site, visit: Visit) -> None:
    put(site, "sides-plain", MAIL, source={"kind": "schedule", "cron": "0 6 * * *"})
    editor = Sides.of(site, visit, "sides-plain")

    expect(editor.inspector.get_by_label("Time zone")).to_be_visible()

    expect(editor.inspector.get_by_role("button", name="Work it out with an expression")).to_have_count(0)


@pytest.mark.long("test_markup_of_strangers_is_text_on_every_page")
def test_names_with_markup_are_shown_as_text(site: Site, visit: Visit) -> None:
    evil = "<img src=x onerror=\"document.title='taken'\">"
    put(site, "sides-markup", {"a": {"task": "mail.send", "title": evil, "with": {"to": evil}}}, title=evil)
    editor = Sides.of(site, visit, "sides-markup")
    editor.inspect("a")

    expect(editor.inspector.get_by_text(evil).first).to_be_visible()
    assert visit.page.locator("img").count() == 0
    assert "taken" not in visit.page.title()


@pytest.mark.long("test_undo_and_redo_go_through_everything_and_outlive_the_page")
def test_what_was_filled_in_is_undone(site: Site, visit: Visit) -> None:
    put(site, "sides-undo", MAIL)
    editor = Sides.of(site, visit, "sides-undo")
    editor.inspect("mail")
    editor.fill(editor.section("When it goes wrong").get_by_label("Retries", exact=True), "7")
    wait_for(visit.page, lambda: definition(site, "sides-undo")["steps"]["mail"].get("retries") == 7)

    visit.page.get_by_role("button", name="Undo").click()

    wait_for(visit.page, lambda: "retries" not in definition(site, "sides-undo")["steps"]["mail"])


@pytest.mark.long("test_errors_show_the_trace_plays_and_the_fix_turns_the_seal_green")
def test_a_finding_stands_in_its_section_with_the_fix(site: Site, visit: Visit) -> None:
    put(site, "sides-finding", {"a": {"task": "mail.send", "after": "never"}})
    editor = Sides.of(site, visit, "sides-finding")
    editor.inspect("a")

    editor.section("Waits for").get_by_role("button", name="Mark “never” as from outside").click()

    wait_for(visit.page, lambda: definition(site, "sides-finding").get("external") == ["never"])
    expect(editor.seal("Proved")).to_be_visible()


@pytest.mark.long("test_a_step_waits_for_what_is_said")
def test_what_becomes_of_later_events_outlives_an_edit_of_what_is_waited_for(
    site: Site, visit: Visit
) -> None:
    some = {"need": 2, "of": ["a", "b", "c"], "rest": "keep"}
    put(
        site,
        "sides-rest",
        {**{name: {"task": "mail.send"} for name in "abc"}, "d": {"task": "mail.send", "after": some}},
    )
    editor = Sides.of(site, visit, "sides-rest")
    editor.inspect("d")

    waits = editor.section("Waits for")
    expect(waits.get_by_label("Keep those that come later")).to_be_checked()
    editor.fill(waits.get_by_label("How many of 3 are needed"), "1")

    def written() -> bool:
        return bool(definition(site, "sides-rest")["steps"]["d"]["after"] == [{**some, "need": 1}])

    wait_for(visit.page, written)


@pytest.mark.long("test_a_form_from_the_schema_writes_the_parameters")
def test_what_a_task_does_is_told_without_signs_of_its_writer(site: Site, visit: Visit) -> None:
    put(site, "sides-signs", {"pick": {"task": "switch", "with": {"cases": {"a": "true"}}}})
    editor = Sides.of(site, visit, "sides-signs")
    editor.inspect("pick")

    expect(editor.inspector).to_contain_text("the first condition that holds, else else")
