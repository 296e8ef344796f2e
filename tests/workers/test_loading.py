"""Tasks from modules and files: `load_tasks`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.workers.worker.task_loader import TasksUnreadable, beside, load_tasks

TASK = "from penstock import task\n\n\n@task('{name}')\ndef {function}():\n    return 1\n"


def module(folder: Path, file: str, name: str, extra: str = "") -> str:
    path = folder / file
    path.write_text(extra + TASK.format(name=name, function="function"))
    return str(path)


def refusal(*sources: str) -> str:
    with pytest.raises(TasksUnreadable) as caught:
        load_tasks(sources)
    return str(caught.value)


def test_a_file_offers_what_it_marks(tmp_path: Path) -> None:
    assert list(load_tasks([module(tmp_path, "jobs.py", "jobs.a")])) == ["jobs.a"]


def test_a_module_is_found_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module(tmp_path, "loading_here.py", "here.a")
    monkeypatch.chdir(tmp_path)

    assert list(load_tasks(["loading_here"])) == ["here.a"]


def test_a_file_can_import_its_neighbours_and_the_path_is_as_before(tmp_path: Path) -> None:
    module(tmp_path, "loading_neighbour.py", "neighbour.a")
    path, before = list(sys.path), module(tmp_path, "jobs.py", "jobs.a", "import loading_neighbour\n")

    found = load_tasks([before])

    assert sorted(found) == ["jobs.a", "neighbour.a"]
    assert sys.path == path


def test_the_folder_leaves_the_path_when_the_import_fails(tmp_path: Path) -> None:
    path = list(sys.path)

    refusal(module(tmp_path, "jobs.py", "jobs.a", "import not_there\n"))

    assert sys.path == path


def test_an_edited_file_is_read_anew(tmp_path: Path) -> None:
    load_tasks([module(tmp_path, "jobs.py", "jobs.before")])

    assert list(load_tasks([module(tmp_path, "jobs.py", "jobs.after")])) == ["jobs.after"]


def test_one_name_in_two_files_is_refused(tmp_path: Path) -> None:
    one, two = module(tmp_path, "one.py", "twice"), module(tmp_path, "two.py", "twice")

    assert refusal(one, two) == f"task 'twice' is defined in {one} and again in {two}: rename one of them"


def test_the_same_function_seen_twice_is_one_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module(tmp_path, "loading_shared.py", "shared.a")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("from loading_shared import function\n")

    assert list(load_tasks([str(tmp_path / "one.py"), str(tmp_path / "two.py")])) == ["shared.a"]


@pytest.mark.parametrize("second", ["other", "function"])
def test_one_name_twice_in_one_file_is_refused_with_both_lines(second: str, tmp_path: Path) -> None:
    again = f"\n\n@task('a')\ndef {second}():\n    return 2\n"
    path = Path(module(tmp_path, "jobs.py", "a"))
    path.write_text(path.read_text() + again)

    assert refusal(str(path)) == (
        f"{path}: task 'a' is defined in line 4 and again in line 9: rename one of them"
    )


@pytest.mark.parametrize("order", [["mediathread.py", "audio.py"], ["audio.py", "mediathread.py"]])
def test_a_file_that_another_imports_by_its_name_can_be_given_too(order: list[str]) -> None:
    examples = Path(__file__).parents[2] / "examples" / "wardenclyffe"

    found = load_tasks([str(examples / name) for name in order])

    assert {"audio.to_video", "video.create_et_job", "mail"} <= set(found)


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    path = module(tmp_path, "jobs.py", "jobs.a", "x = 1\nif x\n")

    assert refusal(path) == f"{path}:2: the tasks cannot be read: expected ':': correct this line"


def test_an_error_in_a_library_is_told_with_the_line_that_called_it(tmp_path: Path) -> None:
    path = module(tmp_path, "jobs.py", "jobs.a", "import json\njson.loads('{')\n")

    told = refusal(path)

    assert told.startswith(f"{path}:2: the tasks cannot be imported: JSONDecodeError: ")
    assert told.endswith(": correct this line")


def test_a_file_that_exits_is_told_too(tmp_path: Path) -> None:
    path = module(tmp_path, "jobs.py", "jobs.a", "import sys\nsys.exit(3)\n")

    assert refusal(path) == f"{path}:2: the tasks cannot be imported: SystemExit: 3: correct this line"


def test_a_missing_import_inside_a_module_is_not_a_missing_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module(tmp_path, "loading_inner.py", "inner.a", "import not_there\n")
    monkeypatch.chdir(tmp_path)

    assert "loading_inner.py:1: the tasks cannot be imported: ModuleNotFoundError" in refusal("loading_inner")


def test_a_half_imported_file_is_forgotten(tmp_path: Path) -> None:
    before = {name for name in sys.modules if name.startswith("penstock_tasks_")}

    refusal(module(tmp_path, "jobs.py", "jobs.a", "1 / 0\n"))

    assert {name for name in sys.modules if name.startswith("penstock_tasks_")} == before


def test_a_module_without_tasks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n")

    assert refusal(str(path)) == f"{path} defines no task: mark its functions with @task"


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    file, folder = tmp_path / "no.py", tmp_path / "folder.py"
    folder.mkdir()

    assert refusal(str(file)) == f"{file}: the tasks file does not exist: look at the path"
    assert refusal(str(folder)) == f"{folder}: the tasks file is a folder: name a .py file in it"
    assert refusal("no.such.module") == (
        "there is no module 'no.such.module' here: look at its name, or pass the path of a .py file"
    )
    assert refusal("no module") == (
        "'no module' is neither a module such as shop.tasks nor a path that ends in .py"
    )


def test_the_file_beside_a_definition_has_its_name(tmp_path: Path) -> None:
    path = module(tmp_path, "shop.py", "shop.a")

    assert beside(tmp_path / "shop.yaml") == Path(path)
    assert beside(tmp_path / "other.yaml") is None
