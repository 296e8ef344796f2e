"""From a file, a text or a map to a flow that can be checked and run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from penstock.flow.compile.compile import Flow, Places, compile_flow
from penstock.flow.format.definition_parser import from_plain, read_located
from penstock.flow.model.definition import Definition
from penstock.flow.model.offer import Offer
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.runtime.errors import Invalid
from penstock.steps.kinds import OFFERS, kinds_with
from penstock.workers.task import Task

SUFFIXES = (".yaml", ".yml", ".json")

Source = str | Path | Mapping[str, Any] | Definition


class Loaded(Struct, frozen=True):
    """A definition, read and compiled, with the places of its parts."""

    flow: Flow
    places: Places
    offers: Mapping[str, Offer]
    file: str | None = None

    @property
    def definition(self) -> Definition:
        return self.flow.definition


def load(
    source: Source,
    tasks: Mapping[str, Task] | None = None,
    elsewhere: Mapping[str, Offer] | None = None,
) -> Loaded:
    """Read and compile a definition. Raises DefinitionError with every problem at once.

    `elsewhere` is what workers in other processes offer; what is defined here goes before.
    """
    return _compiled(*_read(source), tasks, elsewhere)


def load_text(
    text: str,
    tasks: Mapping[str, Task] | None = None,
    elsewhere: Mapping[str, Offer] | None = None,
    unfinished: bool = False,
) -> Loaded:
    """The same for a text of unknown origin: never taken for a path. Raises DefinitionError."""
    located = read_located(text, unfinished=unfinished)
    return _compiled(located.definition, located.places, None, tasks, elsewhere)


def _compiled(
    definition: Definition,
    places: Places,
    file: str | None,
    tasks: Mapping[str, Task] | None,
    elsewhere: Mapping[str, Offer] | None,
) -> Loaded:
    here = {name: task.offer for name, task in (tasks or {}).items()}
    offers = {**(elsewhere or {}), **OFFERS, **here}
    flow = compile_flow(definition, kinds_with(offers), offers, version=1, places=places, file=file)
    return Loaded(flow, places, offers, file)


def _read(source: Source) -> tuple[Definition, Places, str | None]:
    if isinstance(source, Definition):
        return source, {}, None
    if isinstance(source, Mapping):
        return from_plain(dict(source)), {}, None
    if isinstance(source, str) and ("\n" in source or not source.endswith(SUFFIXES)):
        located = read_located(source)
        return located.definition, located.places, None
    if not isinstance(source, str | Path):
        given = type(source).__name__
        raise Invalid(f"a definition is YAML or JSON text, a path or a map, not a Python {given}")
    located = read_located(read_text(Path(source)), str(source))
    return located.definition, located.places, str(source)


def read_text(path: Path) -> str:
    """The text of a file. Raises DefinitionError where it cannot be read."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        raise _unreadable(path, "is not text in UTF-8: save it as UTF-8") from None
    except FileNotFoundError:
        raise _unreadable(path, "does not exist: look at the path") from None
    except IsADirectoryError:
        raise _unreadable(path, "is a folder: name a file in it") from None
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}") from None


def _unreadable(path: Path, why: str) -> DefinitionError:
    return DefinitionError([Problem("unreadable", "", f"the file {why}")], str(path))
