"""Conditions: rows and CEL are the same thing, and have a value on a sample."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site, Visit
from tests.web.sides import Sides, definition, put, wait_for

PARAMS = {
    "type": "object",
    "properties": {"user": {"type": "string"}, "size": {"type": "integer"}},
    "examples": [{"user": "ada@test.edu", "size": 3}],
}


def decided(site: Site, name: str, condition: str) -> None:
    put(site, name, {"which": {"task": "decide", "with": {"if": condition}}}, params=PARAMS)


def condition_of(site: Site, name: str) -> Any:
    return definition(site, name)["steps"]["which"]["with"]["if"]


def test_rows_write_cel_and_have_a_value(site: Site, visit: Visit) -> None:
    decided(site, "sides-rows", "data.user.endsWith('@test.edu')")
    editor = Sides.of(site, visit, "sides-rows")
    editor.inspect("which")
    condition = editor.section("Condition")
    expect(condition.get_by_text("yes, so it goes on at “then”")).to_be_visible()

    condition.get_by_role("button", name="Add row").click()
    condition.get_by_label("Field of row 2").select_option("data.size")
    condition.get_by_label("Operator of row 2").select_option(">")
    editor.fill(condition.get_by_label("Value of row 2"), "5")

    wait_for(
        visit.page,
        lambda: condition_of(site, "sides-rows") == "data.user.endsWith('@test.edu') && data.size > 5",
    )
    expect(condition.get_by_text("no, so it goes on at “else”")).to_be_visible()
    condition.get_by_role("button", name="and: change to the other").click()
    expect(condition.get_by_text("yes, so it goes on at “then”")).to_be_visible()


@pytest.mark.long("test_rows_write_cel_and_have_a_value")
def test_cel_becomes_rows(site: Site, visit: Visit) -> None:
    decided(site, "sides-cel", "true")
    editor = Sides.of(site, visit, "sides-cel")
    editor.inspect("which")
    condition = editor.section("Condition")

    condition.get_by_role("radio", name="CEL").click()
    text = condition.get_by_label("Condition, as CEL")
    text.fill("data.size >= 3 || (data.user == 'x' && !has(tags.done))")
    text.blur()
    condition.get_by_role("radio", name="rows").click()

    expect(condition.get_by_label("Operator of row 1").first).to_have_value(">=")
    expect(condition.get_by_label("Field of row 2")).to_have_value("tags.done")


@pytest.mark.long("test_rows_write_cel_and_have_a_value")
def test_a_new_condition_begins_with_an_empty_row(site: Site, visit: Visit) -> None:
    decided(site, "sides-new-condition", "true")
    editor = Sides.of(site, visit, "sides-new-condition")
    editor.inspect("which")
    condition = editor.section("Condition")

    condition.get_by_label("Operator of row 1").select_option(">")
    editor.fill(condition.get_by_label("Value of row 1"), "5")
    condition.get_by_label("Field of row 1").select_option("data.size")

    wait_for(visit.page, lambda: condition_of(site, "sides-new-condition") == "data.size > 5")


@pytest.mark.long("test_rows_write_cel_and_have_a_value")
def test_what_rows_cannot_show_stays_text_and_says_so(site: Site, visit: Visit) -> None:
    decided(site, "sides-text-only", "size(data.user) > 3")
    editor = Sides.of(site, visit, "sides-text-only")
    editor.inspect("which")

    condition = editor.section("Condition")
    expect(condition.get_by_text("This cannot be shown as rows, so it stays text.")).to_be_visible()
    expect(condition.get_by_label("Condition, as CEL")).to_have_value("size(data.user) > 3")


@pytest.mark.long("test_rows_write_cel_and_have_a_value")
def test_what_has_no_value_says_why(site: Site, visit: Visit) -> None:
    decided(site, "sides-no-value", "data.usr == 'x'")
    editor = Sides.of(site, visit, "sides-no-value")
    editor.inspect("which")

    expect(editor.section("Condition").get_by_text("did you mean `user`")).to_be_visible()


@pytest.mark.long("test_rows_write_cel_and_have_a_value")
def test_a_case_without_a_condition_says_by_which_port_it_goes_on(site: Site, visit: Visit) -> None:
    steps = {
        "pick": {
            "task": "switch",
            "with": {"cases": {"large": "true", "small": "data.size < 3"}},
            "emits": {"large": "big", "small": "rest"},
        },
        "go": {"task": "video.copy_to_cunix", "after": "big | rest"},
    }
    put(site, "sides-case", steps)
    editor = Sides.of(site, visit, "sides-case")
    editor.inspect("pick")

    case, other = editor.section("“large” if"), editor.section("“small” if")
    expect(case.get_by_text("No condition yet: it always goes on at “large”.")).to_be_visible()
    other.get_by_role("button", name="More about case “small”").click()
    visit.page.get_by_role("menuitem", name="Remove").click()

    assert editor.after_save(site)["steps"]["pick"]["emits"] == {"large": "big"}, (
        "what is no port fires nothing"
    )
