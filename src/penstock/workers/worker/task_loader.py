"""Tasks from modules and files: what `--tasks` names, and the file beside a definition."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from penstock.runtime.errors import Invalid
from penstock.workers.task import Task, tasks_made, tasks_of


class TasksUnreadable(Invalid):
    """A module of tasks cannot be imported or defines none."""

    code = "unreadable_tasks"


def load_tasks(sources: Iterable[str]) -> dict[str, Task]:
    """The tasks of dotted modules and `.py` files, by name. Raises TasksUnreadable."""
    found: dict[str, Task] = {}
    origin: dict[str, str] = {}
    for source in sources:
        for name, task in _tasks_in(source).items():
            if name in found and not _same(found[name], task):
                raise TasksUnreadable(
                    f"task '{name}' is defined in {origin[name]} and again in {source}: rename one of them"
                )
            found[name], origin[name] = task, source
    return found


def beside(definition: Path) -> Path | None:
    """The Python file with the name of a definition, in the same folder."""
    path = definition.with_suffix(".py")
    return path if path.is_file() else None


def _tasks_in(source: str) -> Mapping[str, Task]:
    """What the module holds, and what its import defined elsewhere."""
    with tasks_made() as made:
        module = _import_file(Path(source)) if is_file(source) else _import_module(source)
    _reject_duplicates(made)
    found = {**{task.name: task for task in made}, **tasks_of(module)}
    if not found:
        raise TasksUnreadable(f"{source} defines no task: mark its functions with @task")
    return found


def _same(one: Task, other: Task) -> bool:
    """Whether both are one function; a file that is imported under two names defines it once."""
    if one.function is other.function:
        return True
    return one.place is not None and _resolved(one.place) == _resolved(other.place)


def _resolved(place: tuple[str, int] | None) -> tuple[Path, int] | None:
    return None if place is None else (Path(place[0]).resolve(), place[1])


def _reject_duplicates(made: Iterable[Task]) -> None:
    """One file must not define a task twice: the first would silently be gone."""
    first: dict[tuple[str, str], int] = {}
    for task in made:
        if task.place is None:
            continue
        file, line = task.place
        before = first.setdefault((task.name, file), line)
        if before != line:
            raise TasksUnreadable(
                f"{file}: task '{task.name}' is defined in line {before} and again in line {line}: "
                "rename one of them"
            )


def is_file(source: str) -> bool:
    """Whether tasks come from a file, not from a module."""
    return source.endswith(".py") or "/" in source or "\\" in source


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        why = "is a folder: name a .py file in it" if path.is_dir() else "does not exist: look at the path"
        raise TasksUnreadable(f"{path}: the tasks file {why}")
    name = f"penstock_tasks_{sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TasksUnreadable(f"{path}: the tasks file is not Python: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: what resolves type hints looks here
    try:
        with _importing(str(path), path.resolve().parent):
            spec.loader.exec_module(module)
    except TasksUnreadable:
        del sys.modules[name]
        raise
    return module


def _import_module(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise TasksUnreadable(f"'{name}' is neither a module such as shop.tasks nor a path that ends in .py")
    with _importing(name, Path.cwd()):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # A module that is there and misses another is a mistake inside it, told with its line.
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise TasksUnreadable(
                f"there is no module '{name}' here: look at its name, or pass the path of a .py file"
            ) from None


@contextmanager
def _importing(source: str, folder: Path) -> Iterator[None]:
    """Its folder can be imported from; whatever the import raises becomes a sentence with file and line."""
    sys.path.insert(0, str(folder))
    try:
        yield
    except TasksUnreadable:
        raise
    except (Exception, SystemExit) as error:
        raise TasksUnreadable(_sentence(source, error)) from error
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def _sentence(source: str, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        where = f"{error.filename or source}:{error.lineno}"
        return f"{where}: the tasks cannot be read: {error.msg}: correct this line"
    found = traceback.extract_tb(error.__traceback__)
    frames = [each for each in found if each.filename != __file__ and not _is_inside_python(each.filename)]
    mine = [frame for frame in frames if _is_own(frame.filename, source)] or frames
    where = f"{mine[-1].filename}:{mine[-1].lineno}" if mine else source
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"{where}: the tasks cannot be imported: {what}: correct this line"


def _is_inside_python(filename: str) -> bool:
    return filename.startswith("<") or "importlib" in filename


def _is_own(filename: str, source: str) -> bool:
    """Whether a frame is in what the user named, not in a library it uses."""
    if is_file(source):
        return Path(filename).resolve() == Path(source).resolve()
    return Path(filename).stem in source.split(".")
