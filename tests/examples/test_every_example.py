"""What holds for every example: it reads well, it is whole, and it runs with the input that it proposes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.examples.shelf import FOLDER, NAMES, path_of, played, tasks

from penstock.engine.authoring.loader import load
from penstock.flow.compile.compile import TaskBox

SHELF = [
    "audio",
    "authorization",
    "auto_tag",
    "mediathread",
    "mirrors",
    "notification",
    "pinball_cycle",
    "pinball_daily",
    "pinball_stream",
    "tea",
    "untagged",
    "viblio",
    "viblio_faces",
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

    assert used - {"http", "workflow"} == set(tasks(name))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_succeeds_with_the_input_that_it_proposes(name: str) -> None:
    run = played(name)
    if run.status == "waiting":
        [event] = [
            event.name for event in load(path_of(name)).definition.external or () if not event.optional
        ]
        assert run.emit(event) == "accepted"

    run.expect("succeeded")
    assert run.marking() == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_names_every_example(name: str) -> None:
    assert f"`{name}.yaml`" in (FOLDER / "README.md").read_text()


def test_every_file_that_the_docs_name_is_there() -> None:
    root = FOLDER.parent
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *FOLDER.rglob("*.md"), *FOLDER.rglob("*.yaml")]

    named = {name for page in pages for name in re.findall(r"examples/[\w./-]+\w", page.read_text())}

    assert [name for name in sorted(named) if not (root / name).exists()] == []


@pytest.mark.parametrize(
    "folder", sorted({path_of(name).parent for name in NAMES} - {FOLDER}), ids=lambda at: at.name
)
def test_the_page_of_a_folder_names_its_workflows(folder: Path) -> None:
    page = (folder / "README.md").read_text()

    assert [name for name in NAMES if path_of(name).parent == folder and f"`{name}.yaml`" not in page] == []


@pytest.mark.parametrize(
    "program",
    [
        text
        for page in FOLDER.rglob("*.md")
        for text in re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    ],
)
def test_the_programs_on_the_pages_run(program: str) -> None:
    exec(compile(program, "README.md", "exec"), {})


def test_the_files_of_the_examples_can_be_laid_out_in_one_folder_and_again(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(FOLDER)
    pages = [
        (FOLDER / system / "README.md").read_text(encoding="utf-8") for system in ("wardenclyffe", "viblio")
    ]
    lines = [line for page in pages for line in re.findall(r"^(?:mkdir|cp) .+$", page, re.M)]

    for _ in range(2):
        subprocess.run(["sh", "-euc", "\n".join(lines)], cwd=tmp_path, check=True, timeout=60)

    assert [path.name for path in (tmp_path / "media").iterdir()] == ["uploads"]
    assert sorted(path.name for path in (tmp_path / "media" / "uploads").iterdir()) == [
        "42.mov",
        "birthday.mov",
        "lecture.mp3",
    ]
