"""The pages for those who come from elsewhere: their workflows are proved, their imports are what comes out."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from penstock.engine.authoring.loader import load
from penstock.flow.checks.checks import check_flow
from penstock.flow.format.definition_parser import read_definition
from penstock.importing.zenko import import_zenko
from penstock.steps.kinds import OFFERS
from tests.docs.test_pages import DOCS, folder, parts, play
from tests.importing.others import Diagram

__all__ = ["folder"]  # the fixture

PAGES = sorted(page for page in (DOCS / "coming-from").glob("*.md") if page.stem != "index")
SYSTEMS = {"banzai", "viblio", "zenko", "pinball", "release-coordinator"}
OTHERS = {"airflow", "temporal", "celery", "step-functions", "n8n"}


def workflows(page: Path) -> list[str]:
    return [part["text"] for part in parts(page) if part["text"] and "penstock: 1\n" in part["text"]]


def written(page: Path) -> list[str]:
    return [text for text in workflows(page) if not text.startswith("$")]


def test_every_system_has_its_page_and_the_first_one_leads_to_all() -> None:
    index = (DOCS / "coming-from" / "index.md").read_text(encoding="utf-8")

    assert {page.stem for page in PAGES} == SYSTEMS | OTHERS
    assert [page.name for page in PAGES if f"]({page.name})" not in index] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_a_table_of_words_what_is_different_two_definitions_and_the_way(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert len(re.findall(r"^\| ", text.split("## What is different")[0], re.M)) >= 12
    assert [
        each for each in ("## What is different", "## Side by side", "## How to move") if each not in text
    ] == []
    assert workflows(page) != []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_workflow_of_a_page_is_proved(page: Path) -> None:
    for text in written(page):
        loaded = load(text)

        report = check_flow(loaded.flow, {**OFFERS, **loaded.offers}, clock=time.perf_counter)

        findings = [each.code for each in report.findings if each.severity != "info"]
        assert (report.verdict, set(findings) - {"unknown-task"}) == ("proved", set())


@pytest.mark.parametrize("name", ["banzai", "viblio", "pinball", "release-coordinator"])
def test_every_command_of_a_page_says_what_it_shows(name: str, folder: Path) -> None:
    assert play(DOCS / "coming-from" / f"{name}.md", folder) >= 1


def test_what_the_page_about_zenko_shows_is_what_its_diagram_becomes() -> None:
    diagram = Diagram(
        "new>type type>picture picture>mark picture!>stop mark>write",
        new="data",
        type="function",
        picture="decision",
        mark=("tag", {"key": "kind", "value": "picture"}),
        write="update",
        stop="stopper",
    )

    [shown] = workflows(DOCS / "coming-from" / "zenko.md")
    assert import_zenko(diagram.text(), "tagging").definition == read_definition(shown, "tagging.yaml")
