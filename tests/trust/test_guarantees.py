"""Every guarantee is in the docs once, with tests on both databases that could prove it false, and they are there."""

from __future__ import annotations

import re

import pytest

from tests.simulation.guarantees import ELSEWHERE
from tests.simulation.guarantees import GUARANTEES as SIMULATED
from tests.trust.indices import (
    GUARANTEES,
    SCARS,
    TEST,
    by_store,
    collected,
    guaranteed,
    listed,
    sections,
    unknown,
)

NUMBERS = [f"C{number}" for number in range(1, 19)]
NEIGHBOURS = [f"N{number}" for number in range(1, 21)]
_NAMED = re.compile(r"^- .*tests/.*$", re.MULTILINE)


@pytest.fixture(scope="module")
def page() -> str:
    return GUARANTEES.read_text(encoding="utf-8")


def lacking(text: str) -> list[str]:
    """What is wrong with the page, in plain words."""
    said = sections(text)
    if [number for number, _ in said] != NUMBERS:
        return [f"the page has {[number for number, _ in said]}, and should have {NUMBERS}"]
    return [
        f"{number} has no test on {store}"
        for number, section in said
        for store in ("SQLite", "PostgreSQL")
        if not by_store(section).get(store)
    ]


def test_every_guarantee_is_there_once_and_has_a_test_on_each_database(page: str) -> None:
    assert lacking(page) == []


def test_a_guarantee_without_a_test_is_missed(page: str) -> None:
    number, section = sections(page)[6]
    without = re.sub(r"^- PostgreSQL: .*\n?", "", section, flags=re.MULTILINE)

    assert lacking(page.replace(section, without)) == [f"{number} has no test on PostgreSQL"]
    assert lacking(page.replace("## C7 · ", "## "))[0].startswith("the page has ['C1', 'C2'")


def test_every_guarantee_is_said_before_its_tests(page: str) -> None:
    for number, section in sections(page):
        assert len(section.split("\n- ")[0]) > 80, f"{number} does not say what is promised"
        odd = [line for line in _NAMED.findall(section) if not TEST.fullmatch(line)]
        assert odd == [], f"{number} names tests in a way that nobody reads"


def test_the_simulation_knows_the_same_guarantees() -> None:
    assert sorted([*SIMULATED, *ELSEWHERE], key=lambda number: int(number[1:])) == NUMBERS


def test_every_scar_of_a_neighbour_has_a_test() -> None:
    scars = listed(SCARS)

    assert list(scars) == NEIGHBOURS
    assert [number for number, tests in scars.items() if not tests] == []


def test_every_test_that_is_named_is_there(request: pytest.FixtureRequest) -> None:
    scars = [test for tests in listed(SCARS).values() for test in tests]
    elsewhere = unknown([*guaranteed(), *scars], [item.nodeid for item in request.session.items])

    assert elsewhere == [] or unknown(elsewhere, collected(elsewhere)) == []


def test_every_guarantee_has_a_test_on_each_database_that_everybody_runs(page: str) -> None:
    short = collected(guaranteed(), "-m", "not long")

    assert [
        f"{number} on {store}"
        for number, section in sections(page)
        for store, tests in by_store(section).items()
        if len(unknown(tests, short)) == len(dict.fromkeys(tests))
    ] == []


def test_a_test_that_is_not_there_is_missed() -> None:
    known = ["a.py::one", "a.py::two[sqlite]"]

    assert unknown(["a.py::one", "a.py::two", "a.py::two[sqlite]"], known) == []
    assert unknown(["a.py::two[paper]", "b.py::one"], known) == ["a.py::two[paper]", "b.py::one"]
