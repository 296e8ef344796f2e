"""The Mediathread example as its document lists it: the errors show, the trace plays, the fix turns the seal green."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.sides import BROKEN, MEDIATHREAD, Sides, definition, draft, put, put_text, wait_for


def test_errors_show_the_trace_plays_and_the_fix_turns_the_seal_green(site: Site, visit: Visit) -> None:
    put_text(site, "sides-broken", BROKEN)
    editor = Sides.of(site, visit, "sides-broken")
    problems = editor.panel.get_by_role("list", name="Problems")
    expect(editor.seal("Not sound: 5 errors")).to_be_visible()
    expect(problems.locator("li")).to_have_count(8)

    mail = problems.locator('[data-code="fail-without-failure"]')
    mail.get_by_role("button", name="Show me").click()
    trace = visit.page.get_by_role("region", name="How it gets there")
    expect(trace.locator("[aria-current]")).to_contain_text("the run ends as failed", timeout=10_000)
    visit.picture("sides-broken-light")

    mail.get_by_role("button", name="Wait for “failed” instead").click()
    missing = problems.locator('[data-code="missing-event"]').first
    missing.get_by_role("button", name="Mark “ET Job finished” as from outside").click()

    expect(editor.seal("Proved")).to_be_visible()
    wait_for(visit.page, lambda: definition(site, "sides-broken").get("external") == ["ET Job finished"])
    assert definition(site, "sides-broken")["steps"]["email user (failure)"]["after"] == "failed"
    visit.picture("sides-mended-light")


def test_what_is_proved_stands_in_six_sentences_and_a_run_can_be_played(site: Site, visit: Visit) -> None:
    put_text(site, "sides-proved", MEDIATHREAD)
    editor = Sides.of(site, visit, "sides-proved")
    proved = editor.panel.get_by_role("region", name="This workflow is sound")
    expect(proved.get_by_role("listitem")).to_have_count(6)
    expect(proved).to_contain_text("Each of the 7 steps fires in at least one run.")

    proved.get_by_role("button", name="Play a run").click()

    trace = visit.page.get_by_role("region", name="How it gets there")
    expect(trace).to_contain_text("“et_job_finished” comes from outside")
    expect(trace.get_by_role("listitem").last).to_contain_text("the run ends as succeeded")


@pytest.mark.long("test_errors_show_the_trace_plays_and_the_fix_turns_the_seal_green")
def test_a_failure_that_leads_to_a_standstill_is_handled_by_a_button(site: Site, visit: Visit) -> None:
    steps = {
        "a": {"task": "video.extract_metadata", "fails": "broken"},
        "b": {"task": "video.pull_thumbnails"},
        "join": {"task": "video.mediathread_submit", "after": ["a", "b"], "emits": "OK"},
        "note": {"task": "mail.send", "after": "broken"},
    }
    put(site, "sides-stuck", steps)
    editor = Sides.of(site, visit, "sides-stuck")
    stuck = editor.panel.locator('[data-code="deadlock"]')
    expect(stuck).to_be_visible()

    stuck.get_by_role("button", name="Let “join” wait for either").click()

    wait_for(visit.page, lambda: definition(site, "sides-stuck")["steps"]["join"]["after"] == "a | b")
    expect(stuck).to_have_count(0)


@pytest.mark.long("test_errors_show_the_trace_plays_and_the_fix_turns_the_seal_green")
def test_what_is_played_is_led_and_left_by_keys(site: Site, visit: Visit) -> None:
    put_text(site, "sides-keys", BROKEN)
    editor = Sides.of(site, visit, "sides-keys")
    page = visit.page
    editor.inspect("extract metadata")
    show = editor.panel.locator('[data-code="fail-without-failure"]').get_by_role("button", name="Show me")
    show.click()
    trace = page.get_by_role("region", name="How it gets there")
    expect(trace).to_be_focused()

    page.keyboard.press(" ")
    expect(trace.get_by_role("button", name="Play")).to_be_visible()
    for _ in range(3):
        page.keyboard.press(",")
    expect(trace).to_contain_text("Step 1 of")
    page.keyboard.press(".")
    expect(trace).to_contain_text("Step 2 of")
    page.keyboard.press("Escape")

    expect(trace).to_have_count(0)
    expect(editor.inspector.locator(".sec").first).to_contain_text("extract metadata")


@pytest.mark.long("test_text_that_cannot_be_read_is_kept_and_not_called_saved")
def test_what_was_not_removed_is_not_told_of_as_removed(site: Site, visit: Visit) -> None:
    put(site, "sides-not-removed", {"a": {"task": "mail.send"}})
    editor = Sides.of(site, visit, "sides-not-removed")
    page = visit.page
    page.get_by_role("button", name="Text").click()
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("\n]]")
    editor.box("a").click()
    page.keyboard.press("Delete")
    page.get_by_role("button", name="Keep the text").click()

    expect(editor.box("a")).to_be_visible()
    expect(page.get_by_text("1 thing removed")).to_have_count(0)
    visit.forgive(400)


@pytest.mark.long("test_keys_move_disable_remove_undo")
def test_start_is_not_counted_among_what_was_removed(site: Site, visit: Visit) -> None:
    put(
        site,
        "sides-all-gone",
        {"a": {"task": "mail.send"}, "b": {"task": "mail.send", "after": "a", "emits": "OK"}},
    )
    editor = Sides.of(site, visit, "sides-all-gone")
    expect(editor.box("b")).to_be_visible()
    editor.canvas.focus()
    editor.keys("Control+a", "Delete")

    expect(visit.page.get_by_text("3 things removed")).to_be_visible()  # two steps and OK
    assert editor.after_save(site)["steps"] == {}


SAID = {
    "ask": {"task": "decide", "with": {"if": "true"}, "emits": {"then": "large", "else": "small"}},
    "split": {"task": "plain", "after": "large", "emits": ["p", "left over"]},
    "copy": {"task": "plain", "after": "small", "emits": "q"},
    "report": {"task": "mail", "title": "Bericht", "after": ["p", "q | lost"]},
    "gone": {"task": "nobody.offers.it", "after": "report", "fails": "small"},
}
"""Steps that many things are wrong with; one has a title."""


def test_the_pages_say_what_the_server_says(site: Site, visit: Visit) -> None:
    def in_print(text: str) -> str:
        return re.sub(r"'([^']+)'|`([^`]+)`", lambda name: f"“{name[1] or name[2]}”", text).replace(
            "“report”", "“Bericht”"
        )

    put(site, "sides-said", SAID)
    findings = [each for each in draft(site, "sides-said")["findings"] if each["code"] != "missing-setting"]
    editor = Sides.of(site, visit, "sides-said")
    problems = editor.panel.get_by_role("list", name="Problems")

    assert {"dead-step", "deadlock", "missing-event", "unknown-task"} < {each["code"] for each in findings}
    for each in findings:
        told = problems.locator("li").filter(has_text=in_print(each["message"]))
        expect(told.filter(has_text=in_print(each["hint"]))).to_be_visible()
    needs = "Step “Bericht” is not filled in: “mail” needs “To”."
    expect(problems.locator("li").filter(has_text=needs)).to_be_visible()
    visit.picture("sides-said")


def test_findings_are_said_in_german_with_their_names(site: Site, visit: Visit) -> None:
    put(site, "sides-german", SAID)
    visit.page.add_init_script("localStorage.setItem('penstock.language', 'de')")
    editor = Sides(visit.page, site.base, "sides-german", new=False)
    problems = editor.page.get_by_role("list", name="Probleme")

    for text in (
        "Der Lauf kann zum Stillstand kommen: „Bericht“ wartet noch auf entweder „q“ oder „lost“",
        "Lösen Sie entweder „q“ oder „lost“ auf jedem Weg hierher aus",
        "„gone“ kann nie laufen: Er wartet auf „Bericht“, das nur „Bericht“ auslöst",
        "„Bericht“ nimmt auch „lost“, aber nichts löst das aus.",
        "„Bericht“ ist noch nicht ausgefüllt: „mail“ braucht „An“.",
        "Noch kein Worker bietet „nobody.offers.it“ an.",
    ):
        expect(problems).to_contain_text(text)
    expect(problems).not_to_contain_text(re.compile("Step|fires|waits for"))
    stuck = problems.locator('[data-code="deadlock"]')
    stuck.get_by_role("button", name="Zeigen").click()
    expect(stuck.get_by_role("button", name="Läuft")).to_be_visible()
    visit.picture("sides-german")


@pytest.mark.long("test_errors_show_the_trace_plays_and_the_fix_turns_the_seal_green")
def test_each_of_two_findings_of_one_kind_stands_beside_its_step(site: Site, visit: Visit) -> None:
    reads = {"to": "${ steps.late.output }", "subject": "${ events['never'] }"}
    times = {"start_to_close": "10h", "heartbeat": "11h", "schedule_to_close": "2h"}
    mail = {"task": "mail.send", "with": reads}
    put(site, "sides-two", {"mail": {**mail, "timeouts": times}, "late": {"task": "plain"}})
    editor = Sides.of(site, visit, "sides-two")
    editor.inspect("mail")

    notes = editor.inspector.locator(".fnote.warn")
    expect(notes).to_have_count(4)
    expect(notes.filter(has_text="never matters")).to_have_count(2)
    visit.page.get_by_role("button", name="Publish").click()
    expect(visit.page.get_by_role("dialog").get_by_role("listitem")).to_have_count(4)
    visit.page.keyboard.press("Escape")
    less = {"heartbeat": "11h", "start_to_close": "10h"}
    put(site, "sides-two", {"mail": {**mail, "timeouts": less}, "late": {"task": "plain"}})
    visit.page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(notes).to_have_count(3)
