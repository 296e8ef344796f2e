"""What is fed, and what is wrong with it, from the command line."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.cli.command import write
from tests.cli.served import Place, a_place

TICKING = """\
penstock: 1
name: {name}
source: {{kind: schedule, every: 1s}}
{more}
steps: {{only: {{task: greet}}}}
"""
LIMIT = 30


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_place(tmp_path_factory.mktemp("served")) as place:
        needs = "params: {type: object, required: [x]}"
        for name, more in (("well", ""), ("unwell", needs)):
            file = write(place.folder, f"{name}.yaml", TICKING.format(name=name, more=more))
            assert place("publish", file, "--start").code == 0
        end = time.monotonic() + LIMIT
        while not place("sources", "--failing", "--json").json:
            assert time.monotonic() < end, "nothing failed"
        yield place


def test_sources_are_listed_with_their_state_and_their_error(at: Place) -> None:
    found = {each["workflow"]: each for each in at("sources", "--json").json}

    assert (found["well"]["state"], found["well"]["hint"]) == ("fed", None)
    assert found["unwell"]["state"] == "failing"
    assert "made no run" in found["unwell"]["error"]
    assert found["unwell"]["hint"].startswith("See that the workflow can start")


def test_those_that_fail_are_shown_with_what_to_do(at: Place) -> None:
    said = at("sources", "--failing").out

    assert "unwell" in said
    assert "schedule" in said
    assert "start it once by hand" in said.replace("\n", " ")
