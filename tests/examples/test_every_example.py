"""What holds for every example: it reads well, it is whole, and it runs with the input that it proposes."""

from __future__ import annotations

import pytest
from tests.examples.shelf import FOLDER, NAMES, path_of, played, tasks

from penstock.engine.loading import load
from penstock.flow.task_box import TaskBox

SHELF = [
    "audio",
    "authorization",
    "auto_tag",
    "mediathread",
    "mirrors",
    "pinball_cycle",
    "tea",
    "viblio",
    "youtube",
]


def test_the_shelf_holds_these_examples() -> None:
    assert NAMES == SHELF


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_named_like_its_file_and_says_what_it_is(name: str) -> None:
    definition = load(path_of(name), tasks(name)).definition

    untitled = [step for step, made in definition.steps.items() if not made.title]

    assert definition.name == name
    assert definition.title
    assert definition.description
    assert untitled == []


@pytest.mark.parametrize("name", NAMES)
def test_every_task_of_an_example_is_defined_beside_it(name: str) -> None:
    flow = load(path_of(name), tasks(name)).flow

    used = {step.task for step in flow.steps.values() if isinstance(step.box, TaskBox)}

    assert used == set(tasks(name))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_succeeds_with_the_input_that_it_proposes(name: str) -> None:
    run = played(name)
    if run.status == "waiting":
        assert run.emit("et_job_finished", {"s3_key": "encoded/42.mp4"}) == "accepted"

    run.expect("succeeded")
    assert run.marking() == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_names_every_example(name: str) -> None:
    assert f"`{name}.yaml`" in (FOLDER / "README.md").read_text()
