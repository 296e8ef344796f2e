"""Tables that stand in pages written by hand are as the code has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts.reference.reference_tables import TABLES, filled

PAGES = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_as_the_code_has_it(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")

    assert page == filled(name, page), "run `make reference`"


@pytest.mark.parametrize("name", ["checks", "errors"])
def test_every_row_leads_to_its_part_of_the_page(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    headings = {each.strip("`").lower() for each in re.findall(r"^#{2,3} (\S+)$", page, re.M)}
    wanted = re.findall(r"\(#([\w-]+)\) \|", TABLES[name]())

    assert len(wanted) > 10
    assert [each for each in wanted if each not in headings] == []
